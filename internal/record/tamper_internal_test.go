package record

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// badLine verifies raw with everything known and returns the line it names.
func badLine(t testing.TB, raw []byte, head *Head) *BadLine {
	t.Helper()
	_, err := Verify(bytes.NewReader(raw), VerifyOptions{Key: publicKey(), Head: head})
	var bad *BadLine
	if !errors.As(err, &bad) {
		t.Fatalf("got %v, want a bad line", err)
	}
	return bad
}

func wantBad(t testing.TB, raw []byte, head *Head, line int, reason string) {
	t.Helper()
	if bad := badLine(t, raw, head); bad.Line != line || !strings.Contains(bad.Reason, reason) {
		t.Errorf("got %v, want line %d: …%s…", bad, line, reason)
	}
}

func lineAt(raw []byte, offset int) int { return 1 + bytes.Count(raw[:offset], []byte("\n")) }

func splitLines(raw []byte) [][]byte {
	return bytes.SplitAfter(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n"))
}

func joinLines(lines ...[]byte) []byte {
	var b []byte
	for _, l := range lines {
		b = append(append(b, bytes.TrimSuffix(l, []byte("\n"))...), '\n')
	}
	return b
}

// reseal gives an edited line a hash that fits, as someone would who has read
// this package.
func reseal(l []byte) []byte {
	body := bytes.TrimSuffix(l, []byte("\n"))
	body = body[:len(body)-tailLen]
	hash := digestOf(body)
	return slices.Concat(body, []byte(hashOpen), hash[:], []byte(hashClose))
}

func TestH50EveryEditedByteIsNamed(t *testing.T) {
	t.Parallel()
	_, raw, _ := sample(t)
	for i := range raw {
		for _, c := range []byte{raw[i] ^ 1, raw[i] ^ 0x20, '\n'} {
			if c == raw[i] {
				continue
			}
			edited := bytes.Clone(raw)
			edited[i] = c
			if bad := badLine(t, edited, nil); bad.Line != lineAt(raw, i) {
				t.Fatalf("byte %d %q→%q: %v, want line %d", i, raw[i], c, bad, lineAt(raw, i))
			}
		}
		shorter := slices.Delete(bytes.Clone(raw), i, i+1)
		if bad := badLine(t, shorter, nil); bad.Line != lineAt(raw, i) {
			t.Fatalf("byte %d removed: %v", i, bad)
		}
	}
}

func TestH50AnySpliceIsNamed(t *testing.T) {
	_, raw, head := sample(t)
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.IntRange(0, len(raw)).Draw(t, "from")
		to := rapid.IntRange(from, len(raw)).Draw(t, "to")
		put := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "put")
		if rapid.Bool().Draw(t, "fromFile") {
			a := rapid.IntRange(0, len(raw)).Draw(t, "a")
			put = raw[a:rapid.IntRange(a, len(raw)).Draw(t, "b")]
		}
		edited := slices.Concat(raw[:from], put, raw[to:])
		if bytes.Equal(edited, raw) {
			return
		}
		_, err := Verify(bytes.NewReader(edited), VerifyOptions{Key: publicKey(), Head: &head})
		var bad *BadLine
		if !errors.As(err, &bad) || bad.Line < min(lineAt(raw, from), 9) {
			t.Fatalf("splice %d:%d: %v", from, to, err)
		}
	})
}

func TestH50AnEditedLineWithAFreshHashBreaksTheNext(t *testing.T) {
	_, raw, _ := sample(t)
	lines := splitLines(raw)
	lines[2] = reseal(bytes.Replace(lines[2], []byte(`"two"`), []byte(`"owt"`), 1))
	wantBad(t, joinLines(lines...), nil, 4, "does not follow")
}

func TestH50RemovedLinesAreNamed(t *testing.T) {
	_, raw, _ := sample(t)
	lines := splitLines(raw)
	for i := range len(lines) - 1 {
		rest := slices.Delete(slices.Clone(lines), i, i+1)
		wantBad(t, joinLines(rest...), nil, i+1, fmt.Sprintf("entry %d where %d belongs", i+2, i+1))
	}
}

func TestH50ReorderedAndRepeatedLinesAreNamed(t *testing.T) {
	_, raw, _ := sample(t)
	lines := splitLines(raw)
	for i := range len(lines) - 1 {
		swapped := slices.Clone(lines)
		swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
		wantBad(t, joinLines(swapped...), nil, i+1, "reordered")
		repeated := slices.Insert(slices.Clone(lines), i, lines[i])
		wantBad(t, joinLines(repeated...), nil, i+2, "repeated")
	}
}

func TestH50ACutTailIsNamedIfTheHeadIsKnown(t *testing.T) {
	_, raw, head := sample(t)
	lines := splitLines(raw)
	for keep := range lines {
		cut := joinLines(lines[:keep]...)
		reason := fmt.Sprintf("lines %d.. are missing: the store has seen entry 8", keep+1)
		wantBad(t, cut, &head, keep+1, reason)
		r, err := Verify(bytes.NewReader(cut), VerifyOptions{Key: publicKey()})
		if keep > 0 && (err != nil || r.HeadChecked) {
			t.Errorf("%d lines without a head: %+v, %v", keep, r, err)
		}
	}
	wantBad(t, nil, nil, 1, "empty")
}

func TestH50ACutInTheMiddleOfALineIsNamed(t *testing.T) {
	t.Parallel()
	_, raw, head := sample(t)
	for size := range raw {
		if size == 0 || raw[size-1] == '\n' {
			continue
		}
		wantBad(t, raw[:size], &head, lineAt(raw, size), "ends in the middle")
	}
}

func TestH50ARewrittenChainFailsItsCheckpointOrTheHead(t *testing.T) {
	path, raw, head := sample(t)
	lines := splitLines(raw)
	// Without the key: the lines after the first checkpoint, written anew.
	body := bytes.Replace(lines[6], []byte(`"five"`), []byte(`"FIVE"`), 1)
	forged := joinLines(append(slices.Clone(lines[:6]), reseal(body))...)
	head7 := Head{
		Chain: head.Chain,
		Seq:   7,
		Hash:  string(lines[6][len(lines[6])-67 : len(lines[6])-3]),
	}.signed(
		testKey(),
	)
	wantBad(t, forged, &head7, 7, "not the entry 7 that the store has seen")

	sig := bytes.Index(lines[4], []byte(`"sig":"`)) + len(`"sig":"`)
	bad := bytes.Clone(lines[4])
	bad[sig] ^= 1
	wantBad(t, joinLines(append(slices.Clone(lines[:4]), reseal(bad))...), nil, 5, "signature is wrong")

	// A whole new record under a key of one's own.
	_ = os.Remove(path)
	o := testOptions()
	o.Key = otherKey()
	l := mustOpen(t, path, o)
	mustAppend(t, l, "all is well")
	mustClose(t, l)
	wantBad(t, contents(t, path), &head, 1, "another key")
	r, err := Verify(bytes.NewReader(contents(t, path)), VerifyOptions{})
	if err != nil || !r.SelfAttested {
		t.Errorf("without a key: %+v, %v", r, err)
	}
	if _, err := Verify(bytes.NewReader(contents(t, path)), VerifyOptions{Head: &head}); !errors.Is(err, ErrHead) {
		t.Errorf("head of another key: %v", err)
	}
}

func TestH50ACheckpointFromElsewhereIsNamed(t *testing.T) {
	_, raw, head := sample(t)
	lines := splitLines(raw)
	for _, c := range []Head{
		{Chain: head.Chain, Seq: 3, Hash: head.Hash},
		{Chain: "another", Seq: 4, Hash: head.Hash},
		{Chain: head.Chain, Seq: 4, Hash: head.Hash},
	} {
		c = c.signed(testKey())
		start := bytes.Index(lines[4], []byte(`"checkpoint":`))
		body := fmt.Appendf(
			bytes.Clone(lines[4][:start]),
			`"checkpoint":{"chain":%q,"seq":%d,"hash":%q,"sig":%q}`,
			c.Chain,
			c.Seq,
			c.Hash,
			c.Sig,
		)
		moved := reseal(append(body, make([]byte, tailLen)...))
		wantBad(t, joinLines(append(slices.Clone(lines[:4]), moved)...), nil, 5, "of another place")
	}
}

func TestH50AForgedHeadIsAnError(t *testing.T) {
	_, raw, head := sample(t)
	head.Seq--
	if _, err := Verify(bytes.NewReader(raw), VerifyOptions{Key: publicKey(), Head: &head}); !errors.Is(err, ErrHead) {
		t.Errorf("got %v", err)
	}
	other := Head{Chain: "another", Seq: 3, Hash: head.Hash}.signed(testKey())
	wantBad(t, raw, &other, 1, "has seen chain another")
}

func TestH50DuplicateMembersAndStrayKindsAreNamed(t *testing.T) {
	_, raw, _ := sample(t)
	lines := splitLines(raw)
	tail := func(from, to string) []byte {
		return joinLines(lines[0], lines[1], reseal(bytes.Replace(lines[2], []byte(from), []byte(to), 1)))
	}
	wantBad(t, tail(`"note":"two"`, `"note":"two","note":"owt"`), nil, 3, "duplicate")
	wantBad(t, tail(`"kind":"note"`, `"kind":"begin"`), nil, 3, "one begin line")
	wantBad(t, tail(`"kind":"note"`, `"kind":"checkpoint"`), nil, 3, "without a head")
	wantBad(
		t,
		joinLines(reseal(bytes.Replace(lines[0], []byte(`"format":3`), []byte(`"format":9`), 1))),
		nil,
		1,
		"format",
	)
	wantBad(t, append(joinLines(lines...), bytes.Repeat([]byte("x"), MaxLine+2)...), nil, 9, "ends in the middle")
	wantBad(
		t,
		append(joinLines(lines...), append(bytes.Repeat([]byte("x"), MaxLine+2), '\n')...),
		nil,
		9,
		"longer than",
	)
}

// A cut tail must not be covered up by the heads of the next run.
func TestH50OpeningNotesWhatWasSeenAndIsGone(t *testing.T) {
	_, raw, head := sample(t)
	lines := splitLines(raw)
	forged := head
	forged.Seq = 3
	five := Head{Chain: head.Chain, Seq: 5, Hash: strings.Repeat("ab", 32)}.signed(testKey())
	for name, c := range map[string]struct {
		content []byte
		seen    Head
		want    string
	}{
		"cut":       {joinLines(lines[:5]...), head, "entries 6 to 8, seen before, are missing"},
		"rewritten": {raw, five, "entry 5 is not the one seen before"},
		"replaced":  {nil, head, "not the chain seen last"},
		"forged":    {raw, forged, "not signed by this key"},
		"intact":    {raw, head, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.jsonl")
			if err := os.WriteFile(path, c.content, 0o600); err != nil {
				t.Fatal(err)
			}
			o := testOptions()
			o.Seen = &c.seen
			l := mustOpen(t, path, o)
			mustClose(t, l)
			if got := strings.Join(l.Repairs(), "|"); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
				t.Errorf("repairs %q", got)
			}
			if got := contents(t, path); !bytes.Contains(got, []byte(c.want)) {
				t.Errorf("not in the record:\n%s", got)
			}
		})
	}
}

func FuzzVerify(f *testing.F) {
	_, raw, head := sample(f)
	f.Add(raw)
	f.Add(raw[:len(raw)-1])
	f.Add([]byte("\n"))
	f.Add(bytes.Repeat(raw, 2))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Verify(bytes.NewReader(data), VerifyOptions{Secret: testKey(), Head: &head})
		if err == nil && !bytes.Equal(data, raw) {
			t.Errorf("accepted a changed record: %+v", r)
		}
		for l := range Read(bytes.NewReader(data)) {
			_ = Filter{Person: "ada"}.Match(l.Entry)
			if s := l.Sentence(); strings.ContainsAny(s, "\n\r\x1b\u202e") {
				t.Errorf("sentence %q", s)
			}
		}
	})
}
