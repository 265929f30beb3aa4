package lineage_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openclaw-verifier/verifier/lineage"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

func packable() lineage.Seen {
	got := lineage.NewKey([]byte(secret)).Extract(strings.Join(scraps, " "))
	source := lineage.Source{Tool: "web_fetch", Origin: "example.com", Level: taint.Untrusted, Call: 7}
	return lineage.Seen{Source: source, Fingerprints: got.Fingerprints, Truncated: true}
}

func TestWhatIsPackedComesBack(t *testing.T) {
	seen := packable()
	for _, want := range []lineage.Seen{seen, {Source: lineage.Source{User: true}}} {
		b, err := want.Pack()
		if err != nil {
			t.Fatal(err)
		}
		got, err := lineage.Unpack(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	seen.Fingerprints = append(seen.Fingerprints, "email:nothing", "word:0011223344556677")
	b, err := seen.Pack()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := lineage.Unpack(b); err != nil || len(got.Fingerprints) != len(seen.Fingerprints)-2 {
		t.Errorf("what is no fingerprint was packed, or stood in the way of what is one: %v", err)
	}
}

// FuzzUnpack: bytes that others wrote are refused, or read within bounds and
// written the same way again.
func FuzzUnpack(f *testing.F) {
	b, err := packable().Pack()
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{string(b), "", "{}", "{}\n", "{}\n\x00", "{}\n\xff12345678", "{\"level\":9}\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := lineage.Unpack(b)
		if err != nil {
			return
		}
		if len(got.Fingerprints) > lineage.MaxValues+lineage.MaxRuns {
			t.Fatalf("%d fingerprints", len(got.Fingerprints))
		}
		again, err := got.Pack()
		if err != nil {
			t.Fatal(err)
		}
		if second, err := lineage.Unpack(again); err != nil || !cmp.Equal(got, second) {
			t.Fatalf("%+v became %+v, %v", got, second, err)
		}
	})
}

func TestTwoArgumentsOfOnePathAreToldAsTheWorse(t *testing.T) {
	key := lineage.NewKey([]byte(secret))
	x := lineage.NewIndex([]lineage.Seen{
		{Source: lineage.Source{User: true}, Fingerprints: key.Extract("bob@good.example").Fingerprints},
		{Source: lineage.Source{Tool: "web_fetch", Level: taint.Untrusted}, Fingerprints: key.Extract("mallory@evil.example").Fingerprints},
	})
	for _, params := range []string{
		`{"a":{"b":"mallory@evil.example"},"a.b":"bob@good.example"}`, `{"a.b":"bob@good.example","a":{"b":"mallory@evil.example"}}`,
	} {
		got := lineage.Origins(argumentsOf(t, x, []byte(params), key), 3)
		if o := got.At("a.b"); o.From != session.FromTool {
			t.Errorf("%s: %+v", params, got)
		}
	}
}
