package audit

import (
	"reflect"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// same holds the encoder against package json.
func same(t rapid.TB, e *Entry) {
	t.Helper()
	want, wantErr := json.Marshal(e, jsontext.AllowInvalidUTF8(true))
	var w encoder
	w.entry(e)
	if (w.err == nil) != (wantErr == nil) {
		t.Fatalf("%+v: %v, not %v", e, w.err, wantErr)
	}
	if wantErr == nil && string(w.buf) != string(want) {
		t.Fatalf("got  %s\nwant %s", w.buf, want)
	}
}

// TestEveryMemberIsWritten fails for a member of Entry, or of what is in it,
// that the encoder does not know.
func TestEveryMemberIsWritten(t *testing.T) {
	samples := map[string]any{
		"Kind": KindNote, "At": time.Unix(1, 5).UTC(), "Params": jsontext.Value(`{"a":1}`), "Why": []string{"a", "b"}, "Origins": []string{"c"}, "Replay": true, "Compact": true, "Graph": jsontext.Value(`{"nodes":[]}`),
		"Begin": &Begin{Format: 1, Chain: "c", Key: "k", File: 3, After: &Past{File: "f", Head: Head{Seq: 6}}}, "Checkpoint": &Head{Chain: "c", Seq: 7, Hash: "h", Format: 2, Sig: "s"},
		"Lost": &Head{Chain: "c", Seq: 7, Hash: "h", Sig: "s"}, "Removed": &Past{File: "f\"", Head: Head{Chain: "c", Seq: 7, Hash: "h", Sig: "s"}},
		"People": []Person{{Name: "ann", Via: "v", At: time.Unix(2, 0).UTC(), TookMs: 3, Says: "s", Passkey: "k"}, {}},
	}
	for i := range reflect.TypeFor[Entry]().NumField() {
		var e Entry
		name, field := reflect.TypeFor[Entry]().Field(i).Name, reflect.ValueOf(&e).Elem().Field(i)
		switch sample, ok := samples[name]; {
		case ok:
			field.Set(reflect.ValueOf(sample))
		case field.CanInt():
			field.SetInt(-7)
		default:
			field.SetString("a\"\\\x00<é\u2028\xff")
		}
		same(t, &e)
	}
	for of, n := range map[reflect.Type]int{reflect.TypeFor[Person](): 6, reflect.TypeFor[Begin](): 5, reflect.TypeFor[Past](): 2, reflect.TypeFor[Head](): 5} {
		if of.NumField() != n {
			t.Errorf("%s has %d members: write the new one in encode.go and here", of, of.NumField())
		}
	}
}

// TestCompactParamsAreWrittenAsTheyAre: what was checked once is not checked again.
func TestCompactParamsAreWrittenAsTheyAre(t *testing.T) {
	const params = `{"a":[1,"é\\n"]}`
	e := Entry{Kind: KindDecision, Params: jsontext.Value(params), Compact: true}
	same(t, &e)
	e.Compact = false
	same(t, &e)
}

func someText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.Just(""), rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
}

func someTime() *rapid.Generator[time.Time] {
	return rapid.OneOf(rapid.Just(time.Time{}), rapid.Custom(func(t *rapid.T) time.Time {
		return time.Unix(rapid.Int64Range(-1<<36, 1<<38).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC()
	}))
}

func someParams() *rapid.Generator[jsontext.Value] {
	texts := []string{
		`{}`, `[]`, ` { "a" : [ 1 , 2.50e3 , null ] } `, `{"a":1,"a":2}`, `{"a":"\u0041\/\ud83d\ude00"}`, `"\ud800"`, "\"\xff\"",
		`{"z":{"b":true},"a":"é"}`, `{`, `1 2`, `nul`, ``, `{"\u0061":1,"a":2}`, `[1e400,-0,0123]`, "\"\u2028<>&\"", `{"a":"` + "\x01" + `"}`,
	}
	return rapid.OneOf(rapid.Just(jsontext.Value(nil)), rapid.Map(rapid.SampledFrom(texts), func(s string) jsontext.Value { return jsontext.Value(s) }))
}

func TestEntriesAreWrittenAsPackageJSONDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := Entry{Kind: Kind(someText().Draw(t, "kind")), At: someTime().Draw(t, "at"), Params: someParams().Draw(t, "params")}
		for _, field := range []*string{&e.RequestID, &e.Session, &e.Tool, &e.Source, &e.Reason, &e.Note} {
			*field = someText().Draw(t, "text")
		}
		e.Why = rapid.SliceOfN(someText(), 0, 3).Draw(t, "why")
		e.Origins = rapid.SliceOfN(someText(), 0, 3).Draw(t, "origins")
		e.Step, e.Replay = rapid.Int64().Draw(t, "step"), rapid.Bool().Draw(t, "replay")
		for range rapid.IntRange(0, 3).Draw(t, "people") {
			e.People = append(e.People, Person{Name: someText().Draw(t, "name"), At: someTime().Draw(t, "person at"), TookMs: rapid.Int64().Draw(t, "took")})
		}
		same(t, &e)
	})
}

// TestEveryByteIsQuotedAsPackageJSONDoes tries each byte at every place among the
// eight that the encoder looks at together.
func TestEveryByteIsQuotedAsPackageJSONDoes(t *testing.T) {
	for c := range 256 {
		for at := range 18 {
			text := []byte("a plain text of 18")
			text[at] = byte(c)
			want, _ := jsontext.AppendQuote(nil, text)
			var w encoder
			if w.quote(string(text)); string(w.buf) != string(want) {
				t.Errorf("%q became %s, not %s", text, w.buf, want)
			}
		}
	}
}
