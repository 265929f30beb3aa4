package record

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// forged is a line that fits behind raw, as someone would write it who has read
// this package and lacks the key. With mac it carries one of the right form.
func forged(t testing.TB, raw []byte, mac string) []byte {
	t.Helper()
	lines := splitLines(raw)
	last, err := parse(bytes.TrimSuffix(lines[len(lines)-1], []byte("\n")))
	if err != nil {
		t.Fatal(err)
	}
	body := fmt.Sprintf(`{"seq":%d,"prev":"%s","kind":"decision","at":"2026-10-03T14:02:12Z","tool":"exec","decision":"allow","by":"person"`, last.Seq+1, last.Hash)
	if mac != "" {
		body += macOpen + mac + macClose
	}
	hash := digestOf([]byte(body))
	return []byte(body + hashOpen + string(hash[:]) + hashClose + "\n")
}

// crashed is a record whose process died: no signature covers its last lines.
func crashed(t testing.TB) (path string, raw []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "record.jsonl")
	l := mustOpen(t, path, testOptions())
	mustAppend(t, l, "one", "two", "three", "four", "five")
	if err := l.disk.Close(); err != nil {
		t.Fatal(err)
	}
	return path, contents(t, path)
}

func TestAnEndThatACrashLeftIsSignedAtTheNextStart(t *testing.T) {
	path, raw := crashed(t)
	r, err := Verify(bytes.NewReader(raw), VerifyOptions{Secret: testKey()})
	if err != nil || r.Unsigned < 2 || r.Unchecked != 0 || r.SelfAttested {
		t.Fatalf("before the start: %+v, %v", r, err)
	}
	l := mustOpen(t, path, testOptions())
	mustAppend(t, l, "six")
	mustClose(t, l)
	r, err = Verify(bytes.NewReader(contents(t, path)), VerifyOptions{Secret: testKey()})
	if err != nil || r.Unsigned != 1 {
		t.Errorf("after it: %+v, %v", r, err)
	}
}

func TestH123ALineThatTheServerDidNotWriteIsNotSignedOver(t *testing.T) {
	_, raw := crashed(t)
	genuineMAC := someMAC(t, raw)
	for name, mac := range map[string]string{
		"no MAC": "", "a made-up MAC": strings.Repeat("ab", 32), "the MAC of another line": genuineMAC,
	} {
		t.Run(name, func(t *testing.T) {
			path, raw := crashed(t)
			raw = append(raw, forged(t, raw, mac)...)
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			l, err := Open(path, testOptions())
			if !errors.Is(err, ErrForged) {
				t.Fatalf("it opens: %v, %v", l, err)
			}
			if !strings.Contains(hintIn(err), "audit verify") {
				t.Errorf("the hint is %q", hintIn(err))
			}
			if !bytes.Equal(contents(t, path), raw) {
				t.Error("the evidence was changed")
			}
			_, err = Verify(bytes.NewReader(raw), VerifyOptions{Secret: testKey()})
			bad, ok := errors.AsType[*BadLine](err)
			if !ok || bad.Line != len(splitLines(raw)) || !strings.Contains(bad.Reason, "not written by the server") {
				t.Errorf("verify says %v", err)
			}
		})
	}
}

// A signature behind a line of someone else would cover it up.
func TestH123AStopDoesNotSignOverALineThatTheServerDidNotWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.jsonl")
	l := mustOpen(t, path, testOptions())
	raw := contents(t, path)
	raw = append(raw, forged(t, raw, "")...)
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); !errors.Is(err, ErrGone) {
		t.Errorf("the stop says %v", err)
	}
	if !bytes.Equal(contents(t, path), raw) {
		t.Error("the stop wrote to it")
	}
	if _, err := Open(path, testOptions()); !errors.Is(err, ErrForged) {
		t.Errorf("the next start says %v", err)
	}
}

func someMAC(t testing.TB, raw []byte) string {
	t.Helper()
	lines := splitLines(raw)
	_, sum := cutMAC(bytes.TrimSuffix(lines[1], []byte("\n")))
	if sum == nil {
		t.Fatalf("no MAC in %s", lines[1])
	}
	return string(sum)
}

// Without the key a MAC of the right form can't be told from a made-up one, and
// the report says so.
func TestH123WithoutTheKeyTheReportSaysThatMACsWereNotChecked(t *testing.T) {
	_, raw := crashed(t)
	raw = append(raw, forged(t, raw, strings.Repeat("ab", 32))...)
	r, err := Verify(bytes.NewReader(raw), VerifyOptions{Key: publicKey()})
	if err != nil || r.Unchecked != r.Lines {
		t.Errorf("%+v, %v", r, err)
	}
	raw = append(raw, forged(t, raw, "")...)
	wantBad(t, raw, nil, len(splitLines(raw)), "carries no MAC")
}

func TestH123NoEditedByteOfAMACPasses(t *testing.T) {
	_, raw := crashed(t)
	rapid.Check(t, func(t *rapid.T) {
		lines := splitLines(raw)
		n := rapid.IntRange(0, len(lines)-1).Draw(t, "line")
		edited := bytes.Clone(bytes.TrimSuffix(lines[n], []byte("\n")))
		at := rapid.IntRange(0, len(edited)-tailLen-1).Draw(t, "at")
		edited[at] ^= byte(rapid.IntRange(1, 127).Draw(t, "by"))
		hash := digestOf(edited[:len(edited)-tailLen])
		copy(edited[len(edited)-tailLen+len(hashOpen):], hash[:])
		lines = append(slices.Clone(lines[:n]), append(edited, '\n'))
		if _, err := Verify(bytes.NewReader(bytes.Join(lines, nil)), VerifyOptions{Secret: testKey()}); err == nil {
			t.Fatalf("line %d, byte %d", n+1, at)
		}
	})
}

// TestH125ARecordOfAnotherVersionIsRefused, also one of a version whose lines carried no MAC, which anyone can make.
func TestH125ARecordOfAnotherVersionIsRefused(t *testing.T) {
	path, raw := crashed(t)
	lines := splitLines(raw)
	begin, err := parse(bytes.TrimSuffix(lines[0], []byte("\n")))
	if err != nil {
		t.Fatal(err)
	}
	body := fmt.Sprintf(`{"seq":1,"prev":"%s","kind":"begin","at":"2026-10-03T14:02:12Z","begin":{"format":1,"chain":"%s","key":"%s"}`,
		begin.Prev, begin.Begin.Chain, begin.Begin.Key)
	hash := digestOf([]byte(body))
	raw = []byte(body + hashOpen + string(hash[:]) + hashClose + "\n")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, testOptions()); !errors.Is(err, ErrVersion) || !strings.Contains(hintIn(err), "move the file away") {
		t.Errorf("open says %v, and as a hint %q", err, hintIn(err))
	}
	if !bytes.Equal(contents(t, path), raw) {
		t.Error("the file was changed")
	}
	wantBad(t, raw, nil, 1, "another version")
}

func TestH125ASecretThatIsNotTheKeysOtherHalfIsRefused(t *testing.T) {
	_, raw, _ := sample(t)
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, ed25519.SeedSize))
	for _, o := range []VerifyOptions{{Key: publicKey(), Secret: other}, {Secret: other[:10]}} {
		if _, err := Verify(bytes.NewReader(raw), o); err == nil {
			t.Errorf("%v passes", o)
		}
	}
}
