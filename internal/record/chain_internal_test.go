package record

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// testKey is the same in every run, so that failures repeat.
func testKey() ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
}

func publicKey() ed25519.PublicKey { return public(testKey()) }

func testOptions() Options {
	now := time.Date(2026, 10, 3, 14, 2, 11, 123456789, time.UTC)
	return Options{
		Key:             testKey(),
		Now:             func() time.Time { return now },
		Rand:            bytes.NewReader(bytes.Repeat([]byte{9}, 1024)),
		CheckpointEvery: 4,
	}
}

func mustOpen(t testing.TB, path string, o Options) *Log {
	t.Helper()
	l, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustAppend(t testing.TB, l *Log, notes ...string) {
	t.Helper()
	for _, n := range notes {
		if err := l.Append(Entry{Kind: KindNote, Note: n}); err != nil {
			t.Fatal(err)
		}
	}
}

func mustClose(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func contents(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// verifies fails the test unless the file is a sound record up to head.
func verifies(t testing.TB, path string, head *Head) Report {
	t.Helper()
	r, err := Verify(bytes.NewReader(contents(t, path)), VerifyOptions{Secret: testKey(), Head: head})
	if err != nil {
		t.Fatalf("verify: %v\n%s", err, contents(t, path))
	}
	return r
}

// sample is a closed record of eight lines, and its head.
func sample(t testing.TB) (string, []byte, Head) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := mustOpen(t, path, testOptions())
	if err := l.Append(decision()); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, "two", "three", "four", "five")
	mustClose(t, l)
	return path, contents(t, path), l.Head()
}

func decision() Entry {
	at := time.Date(2026, 10, 3, 16, 2, 9, 0, time.FixedZone("CEST", 7200))
	return Entry{
		Kind: KindDecision, RequestID: "r1", Ref: "7Q4K", Client: "default",
		Session: "agent:main:main", SessionID: "s1", Agent: "main", Run: "run1",
		Tool: "exec", Sent: "bash", Params: jsontext.Value(`{ "command": "rm -rf x" }`), Hidden: 1,
		Level: "external", RaisedTo: "untrusted", Mode: "confirm", Decision: Allow, By: "person",
		Why: []string{"exec at external is confirm"}, Card: "c1", Scope: "minutes", Minutes: 30,
		People:   []Person{{Name: "Ada", Via: "telegram", At: at, TookMs: 4200, Says: "allow"}},
		WaitedMs: 4300,
	}
}

func TestChainRoundTrip(t *testing.T) {
	path, raw, head := sample(t)
	r := verifies(t, path, &head)
	want := Report{
		Files: 1, Lines: 8, Entries: 5, Checkpoints: 2, First: testOptions().Now(), Last: testOptions().Now(),
		Chain: strings.Repeat("09", 16), Key: fmt.Sprintf("%x", publicKey()), HeadChecked: true,
	}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("report\n got %+v\nwant %+v", r, want)
	}
	var got []Line
	for l, err := range Read(bytes.NewReader(raw)) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, l)
	}
	if d := got[1]; d.Number != 2 || d.Seq != 2 || d.Tool != "exec" || d.People[0].Name != "Ada" || string(d.Params) != `{"command":"rm -rf x"}` {
		t.Errorf("decision came back as %+v", d)
	}
	if at := got[1].People[0].At; at.Location() != time.UTC || at.Hour() != 14 {
		t.Errorf("person's time %v, want UTC", at)
	}
	if !strings.HasPrefix(string(raw), `{"seq":1,"prev":"0000`) {
		t.Errorf("first line starts %q", raw[:40])
	}
}

func TestAProcessThatDiesOftenStillGetsCheckpoints(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	for range 5 {
		l := mustOpen(t, path, testOptions())
		mustAppend(t, l, "short life")
		l.disk.Close() // dies: no checkpoint
	}
	if r := verifies(t, path, nil); r.Checkpoints < 2 {
		t.Errorf("%d checkpoints", r.Checkpoints)
	}
}

func TestCheckpointsComeAsOftenAsAsked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := mustOpen(t, path, testOptions())
	mustAppend(t, l, strings.Split("abcdefghijk", "")...)
	mustClose(t, l)
	mustClose(t, mustOpen(t, path, testOptions())) // nothing to sign
	var at []int
	for l := range Read(bytes.NewReader(contents(t, path))) {
		if l.Kind == KindCheckpoint {
			at = append(at, l.Number)
		}
	}
	if fmt.Sprint(at) != "[5 10 15]" {
		t.Errorf("checkpoints in lines %v", at)
	}
}

func TestTornTailIsRepairedAtEveryOffset(t *testing.T) {
	t.Parallel()
	path, raw, _ := sample(t)
	last := bytes.LastIndexByte(raw[:len(raw)-1], '\n') + 1
	for size := last; size < len(raw); size++ {
		torn(t, path, raw[:size], size-last, 7)
	}
}

func TestTornBeginLineIsRepairedAtEveryOffset(t *testing.T) {
	t.Parallel()
	path, raw, _ := sample(t)
	first := bytes.IndexByte(raw, '\n')
	for size := range first + 1 {
		torn(t, path, raw[:size], size, 0)
	}
	torn(t, path, make([]byte, 5000), 5000, 0) // lengthened, not filled
}

// torn opens a record that ends in cut bytes of an unfinished line after keep
// good ones.
func torn(t *testing.T, path string, raw []byte, cut, keep int) {
	t.Helper()
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	l := mustOpen(t, path, testOptions())
	mustClose(t, l)
	head := l.Head()
	r := verifies(t, path, &head)
	if want := min(cut, 1); r.Repairs != want || r.Lines <= keep {
		t.Fatalf("cut %d: report %+v", cut, r)
	}
	note := fmt.Sprintf("cut %d bytes of", cut)
	if cut > 0 && !bytes.Contains(contents(t, path), []byte(note)) {
		t.Fatalf("cut %d: no note in\n%s", cut, contents(t, path))
	}
}

func TestOpenRefuses(t *testing.T) {
	_, raw, _ := sample(t)
	edited := bytes.Clone(raw)
	edited[len(edited)-100] ^= 1
	other := testOptions()
	other.Key = otherKey()
	for name, c := range map[string]struct {
		content []byte
		mode    os.FileMode
		o       Options
		want    error
		hint    string
	}{
		"a file others may read":     {raw, 0o640, testOptions(), ErrPermissions, "chmod 600"},
		"an edited last line":        {edited, 0o600, testOptions(), ErrDamaged, "verifier audit verify"},
		"another key":                {raw, 0o600, other, ErrOtherKey, "key"},
		"some other file":            {[]byte("my diary"), 0o600, testOptions(), ErrDamaged, ""},
		"some other file with lines": {[]byte("my\ndiary\n"), 0o600, testOptions(), ErrDamaged, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.jsonl")
			if err := os.WriteFile(path, c.content, c.mode); err != nil {
				t.Fatal(err)
			}
			_, err := Open(path, c.o)
			var open *OpenError
			if !errors.Is(err, c.want) || !errors.As(err, &open) || !strings.Contains(open.Hint, c.hint) {
				t.Errorf("got %v", err)
			}
			if !bytes.Equal(contents(t, path), c.content) {
				t.Error("the file was changed")
			}
		})
	}
	if _, err := Open(filepath.Join(t.TempDir(), "x"), Options{}); err == nil {
		t.Error("opened without a key")
	}
}

func TestErrInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "audit.jsonl")
	l := mustOpen(t, path, testOptions())
	if _, err := Open(path, testOptions()); !errors.Is(err, ErrInUse) || !strings.Contains(hintIn(err), "stop the other") {
		t.Errorf("second open: %v", err)
	}
	mustClose(t, l)
	mustClose(t, mustOpen(t, path, testOptions()))
	for p, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v", p, info.Mode(), err)
		}
	}
}

func TestAppendRefuses(t *testing.T) {
	l := mustOpen(t, filepath.Join(t.TempDir(), "audit.jsonl"), testOptions())
	before := l.Head()
	for name, e := range map[string]Entry{
		"the log's own kinds":   {Kind: KindCheckpoint},
		"the log's own members": {Kind: KindNote, Checkpoint: &Head{}},
		"a removal of its own":  {Kind: KindNote, Removed: &Past{}},
		"a loss of its own":     {Kind: KindRepair, Lost: &Head{}},
		"an unknown kind":       {Kind: "gossip"},
		"an unknown decision":   {Kind: KindDecision, Decision: "maybe"},
		"a line too long":       {Kind: KindNote, Note: strings.Repeat("x", MaxLine)},
		"params not JSON":       {Kind: KindNote, Params: jsontext.Value(`{"a":`)},
		"params said twice":     {Kind: KindNote, Params: jsontext.Value(`{"a":1,"a":2}`)},
		"and in an escape":      {Kind: KindNote, Params: jsontext.Value(`{"\u0061":1,"a":2}`)},
		"two params":            {Kind: KindNote, Params: jsontext.Value(`1 2`)},
		"no number":             {Kind: KindNote, Params: jsontext.Value(`[0123]`)},
		"a control character":   {Kind: KindNote, Params: jsontext.Value("\"\x01\"")},
	} {
		if l.Append(e) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if l.Head() != before {
		t.Error("the chain moved")
	}
	mustClose(t, l)
	if err := l.Append(Entry{Kind: KindNote}); !errors.Is(err, ErrClosed) {
		t.Errorf("after close: %v", err)
	}
	if err := l.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("second close: %v", err)
	}
}

func TestStrangeValuesKeepTheChain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := mustOpen(t, path, testOptions())
	longest := strings.Repeat("x", MaxLine-500)
	mustAppend(t, l, "new\nline", `,"hash":"00"}`, "not \xff UTF-8", "\x00\u2028\u202e", longest)
	if err := l.Append(Entry{Kind: KindNote, Params: jsontext.Value("{\n \"a\" :\t[1,\r\n2]}"), Why: []string{}}); err != nil {
		t.Fatal(err)
	}
	mustClose(t, l)
	head := l.Head()
	verifies(t, path, &head)
	mustClose(t, mustOpen(t, path, testOptions()))
}
