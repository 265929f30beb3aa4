package record

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// TestEveryMemberIsWrittenAndRead tries each member of an entry that a caller may set.
func TestEveryMemberIsWrittenAndRead(t *testing.T) {
	samples := map[string]any{
		"Parts": []Part{
			{What: PartReturned, Call: "c", Iteration: new(int), Sources: []Source{{Kind: "history"}}},
			{What: PartEnded},
		},
		"Kind": KindNote, "At": time.Unix(1, 5).UTC(), "Params": jsontext.Value(`{"a":["\u0041\/é",1.50e3]}`),
		"Why": []string{"a", "b"}, "Origins": []string{"c"}, "Replay": true, "Graph": jsontext.Value(`{"nodes":[]}`),
		"People": []Person{{Name: "ann", Via: "v", At: time.Unix(2, 0).UTC(), TookMs: 3, Says: "s", Passkey: "k"},
			{}}, "Decision": Allow,
	}
	e := Entry{}
	for i := range reflect.TypeFor[Entry]().NumField() {
		name, field := reflect.TypeFor[Entry]().Field(i).Name, reflect.ValueOf(&e).Elem().Field(i)
		switch sample, ok := samples[name]; {
		case ok:
			field.Set(reflect.ValueOf(sample))
		case field.CanInt():
			field.SetInt(-7)
		default:
			field.SetString("a\"\\\x00<é\u2028")
		}
	}
	l, _, path := faultyLog(t, testOptions())
	if err := l.Append(e); err != nil {
		t.Fatal(err)
	}
	mustClose(t, l)
	verifies(t, path, nil)
	for _, line := range read(t, path) {
		if line.Kind == KindNote && !reflect.DeepEqual(line.Entry, e) {
			t.Errorf("read %+v\nwant %+v", line.Entry, e)
		}
	}
}

// TestWhatIsNotUTF8CanBeRead: raw values that no reader would take are no reason to lose the record.
func TestWhatIsNotUTF8CanBeRead(t *testing.T) {
	empty := Line{Entry: Entry{Kind: KindNote, Params: jsontext.Value{}, Why: []string{}, Parts: []Part{}}}
	if text, err := empty.encode(time.Unix(1, 0)); string(text) != `{"kind":"note","at":"1970-01-01T00:00:01Z"}` {
		t.Errorf("empty members: %s, %v", text, err)
	}
	for _, raw := range []string{`"\ud800"`, `{"a":"x\udfff"}`, "\"\xff\"", "{\"\xff\":1}"} {
		for _, e := range []Entry{{Kind: KindNote, Params: jsontext.Value(raw)},
			{Kind: KindGraph, Graph: jsontext.Value(raw)}, {Kind: KindNote, Note: "a\xff", Tool: "b"}} {
			l, _, path := faultyLog(t, testOptions())
			if err := l.Append(e); err != nil {
				t.Fatal(err)
			}
			mustClose(t, l)
			verifies(t, path, nil)
			if text := contents(t, fileName(path, 1)); !bytes.Contains(text, []byte("\ufffd")) {
				t.Errorf("%q: %s", raw, text)
			}
		}
	}
}

// TestOnlyOurOwnWordsAreNotHidden names the texts of an entry that no one else chose the words of.
func TestOnlyOurOwnWordsAreNotHidden(t *testing.T) {
	t.Parallel()
	var ours []string
	each := func(v any) {
		e := reflect.ValueOf(v).Elem()
		for i := range e.NumField() {
			if e.Field(i).Kind() == reflect.String {
				e.Field(i).SetString("theirs")
			}
		}
	}
	see := func(of string, v any) {
		e := reflect.ValueOf(v)
		for i := range e.NumField() {
			if e.Field(i).Kind() == reflect.String && e.Field(i).String() == "theirs" {
				ours = append(ours, of+e.Type().Field(i).Name)
			}
		}
	}
	var e Entry
	var p Part
	var s Source
	each(&e)
	each(&p)
	each(&s)
	p.Sources = []Source{s}
	e.Parts = []Part{p}
	e.hide(func(string) string { return "hidden" })
	see("", e)
	see("Part.", e.Parts[0])
	see("Source.", e.Parts[0].Sources[0])
	want := "Kind Ref Client Digest Asked Edited Started Level RaisedTo Mode Decision By Auditor Card Scope Error " +
		"Turn Part.What Part.Trust Part.Birth Part.Hash Source.Kind Source.Trust Source.Hash"
	if got := strings.Join(ours, " "); got != want {
		t.Errorf("not hidden: %s", got)
	}
}

// TestNoTextOfAnEntryIsWrittenAsItCame but the params, which come hidden, and what
// the program itself says. What the entry was made of stays its owner's.
func TestNoTextOfAnEntryIsWrittenAsItCame(t *testing.T) {
	o := testOptions()
	o.Hide = func() func(string) string {
		return func(s string) string { return strings.ReplaceAll(s, "hunter22", "***") }
	}
	l, _, path := faultyLog(t, o)
	secret := func(n int) string { return fmt.Sprintf("%d hunter22", n) }
	e := Entry{
		Kind: KindDecision, RequestID: secret(1), Session: secret(2), SessionID: secret(3), Agent: secret(4),
		Run:  secret(5),
		Tool: "exec hunter22", Sent: "EXEC hunter22", Source: secret(6), Reason: secret(7), Note: secret(8),
		Why: []string{secret(9), "plain"}, Origins: []string{"plain", secret(10)}, Decision: Allow,
		Parts: []Part{{Label: secret(11), Sources: []Source{{Tool: secret(12)}}}, {Reason: secret(13)}},
	}
	before := e
	before.Why, before.Origins = slices.Clone(e.Why), slices.Clone(e.Origins)
	before.Parts = []Part{{Label: secret(11), Sources: []Source{{Tool: secret(12)}}}, {Reason: secret(13)}}
	if err := l.Append(e); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, "short")
	if err := l.Append(e); err != nil {
		t.Fatal(err)
	}
	mustClose(t, l)
	if !reflect.DeepEqual(e, before) {
		t.Errorf("the entry became %+v", e)
	}
	text := contents(t, fileName(path, 1))
	if bytes.Contains(text, []byte("hunter22")) {
		t.Errorf("not hidden:\n%s", text)
	}
	verifies(t, path, nil)
	decisions := 0
	for _, line := range read(t, path) {
		if line.Kind == KindNote && len(line.Why)+len(line.Origins) > 0 {
			t.Errorf("a note says what another entry does: %+v", line)
		}
		if line.Kind != KindDecision {
			continue
		}
		decisions++
		if line.Tool != "EXEC ***" || line.Sent != "EXEC ***" || line.Why[0] != "9 ***" || line.Why[1] != "plain" ||
			line.Origins[1] != "10 ***" {
			t.Errorf("%+v", line)
		}
	}
	if decisions != 2 {
		t.Errorf("%d decisions", decisions)
	}
}
