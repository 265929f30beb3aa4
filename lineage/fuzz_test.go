package lineage_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/lineage"
	"github.com/openclaw-verifier/verifier/taint"
)

// FuzzExtract: any text is fingerprinted within bounds, the same each time, and
// what a user wrote word for word comes from the user when it is an argument.
func FuzzExtract(f *testing.F) {
	for _, s := range append(scraps, strings.Join(scraps, " "), strings.Repeat("://", 99), strings.Repeat("12 ", 99), strings.Repeat("a@", 99)) {
		f.Add(s)
	}
	key := lineage.NewKey([]byte(secret))
	f.Fuzz(func(t *testing.T, text string) {
		got := key.Extract(text)
		if len(got.Fingerprints) > lineage.MaxValues+lineage.MaxRuns {
			t.Fatalf("%d fingerprints", len(got.Fingerprints))
		}
		if !slices.Equal(got.Fingerprints, key.Extract(text).Fingerprints) {
			t.Fatal("twice the same text, other fingerprints")
		}
		sorted := slices.Sorted(slices.Values(got.Fingerprints))
		if len(slices.Compact(sorted)) != len(got.Fingerprints) {
			t.Fatal("a fingerprint stands there twice")
		}
		for _, p := range got.Fingerprints {
			if !p.Valid() {
				t.Fatalf("%q is no fingerprint", p)
			}
		}
		traced(t, key, text, got)
	})
}

func traced(t *testing.T, key lineage.Key, text string, got lineage.Extract) {
	if !utf8.ValidString(text) || got.Truncated || len(got.Fingerprints) > 200 {
		return
	}
	params, err := json.Marshal(map[string]string{"x": text})
	if err != nil {
		t.Fatal(err)
	}
	user := lineage.NewIndex([]lineage.Seen{{Source: lineage.Source{User: true}, Fingerprints: got.Fingerprints}})
	if from := argumentsOf(t, user, params, key)[0].From; from == lineage.Tool || from == lineage.Nowhere {
		t.Fatalf("the user's own words come from %s", from)
	}
	tool := lineage.NewIndex([]lineage.Seen{{Source: lineage.Source{Tool: "read", Level: taint.Local}, Fingerprints: got.Fingerprints}})
	if from := argumentsOf(t, tool, params, key)[0].From; from != lineage.Tool && from != lineage.Nothing {
		t.Fatalf("a tool's own words come from %s", from)
	}
}

func argumentsOf(t *testing.T, x *lineage.Index, params []byte, keys ...lineage.Key) []lineage.Argument {
	t.Helper()
	all, err := x.Trace(t.Context(), jsontext.Value(params), keys...)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// FuzzTrace: no params make it fail or take it beyond its bounds.
func FuzzTrace(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":[{"b":"c"},1,null,true]}`, `[`, `{"a":`, `"x"`, `{"to":"bob@example.com","n":1e9}`, ``} {
		f.Add([]byte(s))
	}
	key := lineage.NewKey([]byte(secret))
	x := lineage.NewIndex([]lineage.Seen{{Source: lineage.Source{User: true}, Fingerprints: key.Extract("bob@example.com").Fingerprints}})
	f.Fuzz(func(t *testing.T, params []byte) {
		for _, a := range argumentsOf(t, x, params, key) {
			if a.Origin(1).String() == "" || len(a.Parts) > 64 {
				t.Fatalf("%+v", a)
			}
		}
	})
}

func TestTheCallersTimeEndsTheComparison(t *testing.T) {
	key := lineage.NewKey([]byte(secret))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, text := range []string{"bob@example.com", "the quick brown fox jumps over the lazy dog"} {
		x := lineage.NewIndex([]lineage.Seen{{Source: lineage.Source{User: true}, Fingerprints: key.Extract(text).Fingerprints}})
		if all, err := x.Trace(ctx, jsontext.Value(`{"x":"`+text+`"}`), key); err == nil || all != nil {
			t.Errorf("%s: got %v, want nothing", text, all)
		}
	}
}

// An argument beyond the bounds may have the same path as one that was looked at.
func TestBeyondTheBoundsNothingIsWhollyTheUsers(t *testing.T) {
	key := lineage.NewKey([]byte(secret))
	x := lineage.NewIndex([]lineage.Seen{{Source: lineage.Source{User: true}, Fingerprints: key.Extract("bob@example.com").Fingerprints}})
	for what, more := range map[string]string{
		"many arguments": `"l":[` + strings.Repeat("1,", 300) + `1]`,
		"a long name":    `"` + strings.Repeat("n", 2000) + `":1`,
	} {
		if got := argumentsOf(t, x, []byte(`{"a.b":"bob@example.com",`+more+`,"a":{"b":"mallory@evil.example"}}`), key)[0].From; got != lineage.Partly {
			t.Errorf("%s: got %s", what, got)
		}
	}
}
