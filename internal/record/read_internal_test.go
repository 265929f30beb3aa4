package record

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/text"
)

func collect(t *testing.T, seq iter.Seq2[Raw, error]) (notes []string, bad int) {
	t.Helper()
	for raw, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		l, err := raw.Line()
		if _, ok := errors.AsType[*BadLine](err); ok {
			bad++
			continue
		}
		notes = append(notes, string(l.Kind)+l.Note)
	}
	return notes, bad
}

func TestReadGoesOnAfterABadLine(t *testing.T) {
	raw, _ := sample(t)
	lines := splitLines(raw)
	long := bytes.Repeat([]byte("x"), 3*MaxLine)
	rubbish := []byte("rubbish\n")
	raw = slices.Concat(rubbish, lines[2], rubbish, long, []byte("\n"), long[:MaxLine], []byte("\n"), lines[3],
		[]byte("torn"))
	path := filepath.Join(t.TempDir(), "r.jsonl")
	put(t, path, raw)
	notes, bad := collect(t, Since([]string{path}, time.Time{}))
	if strings.Join(notes, " ") != "notetwo notethree" || bad != 5 {
		t.Errorf("read %q and %d bad lines", notes, bad)
	}
	if notes, bad = collect(t, Backward([]string{path}, 0)); strings.Join(notes, " ") != "notethree notetwo" ||
		bad != 5 {
		t.Errorf("backward: %q and %d bad lines", notes, bad)
	}
}

// TestWhatIsWrittenMeanwhileIsLeftOut: a line that is finished while it is read is unfinished, and not two lines.
func TestWhatIsWrittenMeanwhileIsLeftOut(t *testing.T) {
	t.Parallel()
	raw, _ := sample(t)
	path, torn := filepath.Join(t.TempDir(), "r.jsonl"), len(raw)-5
	put(t, path, raw[:torn])
	unfinished := 0
	for l, err := range lines(path, 0, false) {
		if put(t, path, slices.Concat(raw, raw)); err != nil || unfinished > 0 {
			t.Fatalf("%.20q follows an unfinished line, %v", l.Text, err)
		}
		if l.bad != nil {
			unfinished++
		}
	}
	if unfinished != 1 {
		t.Errorf("%d unfinished lines", unfinished)
	}
}

func TestBackwardAndSinceReadNoMoreThanTheyMust(t *testing.T) {
	t.Parallel()
	path, o := newPath(t), rotating(300_000)
	at := time.Date(2026, 10, 3, 14, 0, 0, 0, time.UTC)
	clock := at
	o.Now = func() time.Time { return clock }
	l := mustOpen(t, path, o)
	for i := range 900 {
		clock = at.Add(time.Duration(i) * time.Second)
		if err := l.Append(Entry{Kind: KindNote, Note: fmt.Sprintf("%04d", i) + strings.Repeat("x", i*7)}); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, l)
	paths := listed(t, path)
	put(t, paths[len(paths)-1], append(contents(t, paths[len(paths)-1]), `{"seq":9999,"kind":"note","no`...))
	named := func(raw []byte) bool { return bytes.Contains(raw, []byte(`"kind":"note"`)) }
	next := 899
	lines := 0
	for range Backward(paths, 3) {
		lines++
	}
	if lines != 2 {
		t.Errorf("%d lines before entry 3", lines)
	}
	for raw, err := range Backward(paths, 0) {
		if !named(raw.Text) {
			continue
		}
		line, bad := raw.Line()
		if err = errors.Join(err, bad); err != nil || !strings.HasPrefix(line.Note, fmt.Sprintf("%04d", next)) {
			t.Fatalf("backward, after %d: %.8s %v", next, line.Note, err)
		}
		next--
	}
	if next != -1 || len(paths) < 5 {
		t.Errorf("backward stopped at %d in %d files", next, len(paths))
	}
	for _, from := range []int{-5, 0, 1, 300, 450, 777, 899, 2000} {
		next, bytesRead := max(0, from), 0
		for raw, err := range Since(paths, at.Add(time.Duration(from)*time.Second)) {
			if bytesRead += len(raw.Text); !named(raw.Text) {
				continue
			}
			line, bad := raw.Line()
			if err = errors.Join(err, bad); err != nil || !strings.HasPrefix(line.Note, fmt.Sprintf("%04d", next)) {
				t.Fatalf("since %d, at %d: %.8s %v", from, next, line.Note, err)
			}
			next++
		}
		if next != max(900, from) || from == 899 && bytesRead > 3*blockSize {
			t.Errorf("since %d: stopped at %d, %d bytes", from, next, bytesRead)
		}
	}
	for _, err := range Since([]string{path + "x"}, at) {
		if err == nil {
			t.Error("read what is not there")
		}
	}
}

func told(l *Line) string {
	what, more := l.Told()
	return strings.Join(append([]string{what}, more...), "\n")
}

func TestALineIsTold(t *testing.T) {
	e := decision()
	e.Params = jsontext.Value(`{"command":"rm -rf x"}`)
	want := `✓ allow · exec (sent as bash) · agent:main:main · external → untrusted · by person · for 30 minutes ` +
		`· waited 4.3s
exec at external is confirm
Ada said allow on telegram at 14:02:09Z after 4.2s
params {"command":"rm -rf x"} (1 hidden)`
	if got := told(&Line{Entry: e}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPrintedValuesCannotActOnTheTerminal(t *testing.T) {
	const nasty = "a\x1b[2J\r\n\t\u202eb\u200b\u00a0\u3164\ufe0f\u2800\U000e0041\x00\xff\ufeff\u0085é漢"
	l := Line{Entry: Entry{
		Kind: nasty, RequestID: nasty, Ref: nasty, Client: nasty, Session: nasty, SessionID: nasty,
		Agent: nasty, Run: nasty, Tool: nasty, Sent: nasty + "2", Params: jsontext.Value(nasty), Level: nasty,
		RaisedTo: nasty + "2", Source: nasty, Mode: nasty, Decision: nasty, By: nasty,
		Why: []string{nasty}, Origins: []string{nasty}, Card: nasty, Scope: nasty, Reason: nasty, Error: nasty,
		Note:   nasty,
		People: []Person{{Name: nasty, Via: nasty, Says: nasty}},
	}, Begin: &Begin{Chain: nasty}}
	got := told(&l)
	for _, r := range strings.ReplaceAll(got, "\n", "") {
		if !text.Shows(r) {
			t.Errorf("%U printed raw", r)
		}
	}
	if n := strings.Count(got, "\n"); n != 6 {
		t.Errorf("%d lines, want 7:\n%s", n+1, got)
	}
}

// Nothing but a result that the runtime reported without an error says that a call ran.
func TestOnlyAResultSaysThatACallRan(t *testing.T) {
	for want, e := range map[string]Entry{
		"":                                     decision(),
		"the runtime reported an error":        {Kind: KindEvent, Parts: []Part{{What: PartReturned, Failed: true}}},
		"ran: the runtime reported its result": {Kind: KindEvent, Parts: []Part{{What: PartReturned}}},
	} {
		if got := (&Line{Entry: e}).own(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	wanted := Line{Entry: Entry{Kind: KindEvent, Parts: []Part{{What: PartWanted}}}}
	if got := told(&wanted); strings.Contains(got, "ran") {
		t.Error(got)
	}
}

func decision() Entry {
	at := time.Date(2026, 10, 3, 16, 2, 9, 0, time.FixedZone("CEST", 7200))
	return Entry{
		Kind: KindDecision, RequestID: "r1", Ref: "7Q4K", Client: "default",
		Session: "agent:main:main", SessionID: "s1", Agent: "main", Run: "run1",
		Tool: "exec", Sent: "bash", Params: jsontext.Value(`{ "command": "rm -rf x" }`), Hidden: 1,
		Level: "external", RaisedTo: "untrusted", Mode: "confirm", Decision: Allow, By: "person",
		Why: []string{"exec at external is confirm"}, Card: "c1", Scope: "for 30 minutes",
		People:   []Person{{Name: "Ada", Via: "telegram", At: at, TookMs: 4200, Says: "allow"}},
		WaitedMs: 4300,
	}
}
