package record

import (
	"bytes"
	"errors"
	"iter"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

func collect(seq iter.Seq2[Line, error]) (notes []string, errs []error) {
	for l, err := range seq {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		notes = append(notes, string(l.Kind)+l.Note)
	}
	return notes, errs
}

func TestReadGoesOnAfterABadLine(t *testing.T) {
	_, raw, _ := sample(t)
	lines := splitLines(raw)
	raw = joinLines(lines[2], []byte("rubbish"), bytes.Repeat([]byte("x"), MaxLine+1), lines[3])
	notes, errs := collect(Read(bytes.NewReader(append(raw, "torn"...))))
	if strings.Join(notes, " ") != "notetwo notethree" {
		t.Errorf("read %q", notes)
	}
	for i, want := range []int{2, 3, 5} {
		var bad *BadLine
		if i >= len(errs) || !errors.As(errs[i], &bad) || bad.Line != want {
			t.Fatalf("errors %v", errs)
		}
	}
}

func TestReadAndVerifyPassOnReadErrors(t *testing.T) {
	boom := errors.New("boom")
	if _, errs := collect(Read(iotest.ErrReader(boom))); len(errs) != 1 || !errors.Is(errs[0], boom) {
		t.Errorf("read: %v", errs)
	}
	if _, err := Verify(iotest.ErrReader(boom), VerifyOptions{}); !errors.Is(err, boom) {
		t.Errorf("verify: %v", err)
	}
}

func TestFilter(t *testing.T) {
	e := decision()
	e.At = time.Date(2026, 10, 3, 14, 0, 0, 0, time.UTC)
	for _, f := range []Filter{
		{}, {Since: e.At}, {Until: e.At.Add(1)}, {Tool: "exec"}, {Tool: "bash"}, {Session: "agent:main:main"},
		{Session: "s1"}, {Decision: Allow}, {Ref: "7q4k"}, {Kind: "decision"}, {Person: "ada"},
		{Tool: "exec", Person: "ada", Decision: Allow},
	} {
		if !f.Match(e) {
			t.Errorf("%+v leaves it out", f)
		}
	}
	for _, f := range []Filter{
		{Since: e.At.Add(1)}, {Until: e.At}, {Tool: "read"}, {Session: "s2"}, {Agent: "aux"}, {Decision: Deny}, {Ref: "AAAA"},
		{Kind: "note"}, {Person: "Bob"}, {Tool: "exec", Person: "ada", Decision: Deny},
	} {
		if f.Match(e) {
			t.Errorf("%+v takes it", f)
		}
	}
}

func TestPrint(t *testing.T) {
	e := decision()
	e.At = time.Date(2026, 10, 3, 14, 2, 11, 0, time.UTC)
	e.Params = jsontext.Value(`{"command":"rm -rf x"}`)
	var b strings.Builder
	if err := Print(&b, e); err != nil {
		t.Fatal(err)
	}
	want := `2026-10-03 14:02:11Z ✓ allow · exec (sent as bash) · agent:main:main · external → untrusted · by person · minutes for 30 min · waited 4.3s · ref 7Q4K
    exec at external is confirm
    Ada said allow on telegram at 14:02:09Z after 4.2s
    params {"command":"rm -rf x"} (1 hidden)
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestPrintedValuesCannotActOnTheTerminal(t *testing.T) {
	const nasty = "a\x1b[2J\r\n\t\u202eb\u200b\u00a0\u3164\ufe0f\u2800\U000e0041\x00\xff\ufeff\u0085é漢"
	const shown = `a\u001b[2J\u000d\n\t\u202eb\u200b\u00a0\u3164\ufe0f\u2800\U000e0041\u0000\xff\ufeff\u0085é漢`
	if got := visible(nasty); got != shown {
		t.Errorf("visible\n got %s\nwant %s", got, shown)
	}
	e := Entry{
		Kind: nasty, RequestID: nasty, Ref: nasty, Client: nasty, Session: nasty, SessionID: nasty,
		Agent: nasty, Run: nasty, Tool: nasty, Sent: nasty + "2", Params: jsontext.Value(nasty), Level: nasty,
		RaisedTo: nasty + "2", Source: nasty, Mode: nasty, Decision: nasty, By: nasty,
		Why: []string{nasty}, Origins: []string{nasty}, Card: nasty, Scope: nasty, Reason: nasty, Error: nasty, Note: nasty,
		People: []Person{{Name: nasty, Via: nasty, Says: nasty}},
		Begin:  &Begin{Chain: nasty, Key: nasty},
	}
	var b strings.Builder
	if err := Print(&b, e); err != nil {
		t.Fatal(err)
	}
	for _, r := range strings.ReplaceAll(b.String(), "\n", "") {
		if !shows(r) {
			t.Errorf("%U printed raw", r)
		}
	}
	if got := strings.Count(b.String(), "\n"); got != 7 {
		t.Errorf("%d lines, want 7:\n%s", got, b.String())
	}
	if got := visible(strings.Repeat("é", 401)); !strings.HasSuffix(got, "é… (802 bytes in all)") {
		t.Errorf("long value ends %q", got[len(got)-40:])
	}
}

func TestAGrantSaysItsMinutesOnce(t *testing.T) {
	for want, e := range map[string]Entry{
		"for 30 minutes": {Scope: "for 30 minutes", Minutes: 30}, "for 1 minute": {Scope: "for 1 minute", Minutes: 1}, "turn for 30 min": {Scope: "turn", Minutes: 30}, "once": {Scope: "once"},
	} {
		if got := e.grant(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
