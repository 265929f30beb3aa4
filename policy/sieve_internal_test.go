package policy

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// pieces are what commands are made of, and what hides their words.
var pieces = strings.Split("curl|git|clone|-f|rm|python3|sh|sudo|30s|x|/|://|/dev/tcp/| |;|&| |=|'|\"|`|^|\\|\n|$|$@|$IFS|${IFS}|\x00|[|é", "|")

// TestTheSieveLosesNothing holds what is found with the sieve against what is found
// where everything is looked for.
func TestTheSieveLosesNothing(t *testing.T) {
	p, _, err := New(Config{Guard: Guard{
		Paths: []string{"/home/ann/verifier/token"}, Addresses: []string{"127.0.0.1:8787", "gate.example.com:443"},
		Commands: []string{"verifier"}, Names: []string{"VERIFIER_*", "redis-cli", "grüße"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	all := *p
	all.sieve = new(sieve)
	for i := range all.sieve {
		all.sieve[i].starts, all.sieve[i].ends = ofAnything, ofAnything
	}
	same := func(t rapid.TB, tool, said string) {
		t.Helper()
		params, err := jsontext.AppendQuote(nil, said)
		if err != nil {
			t.Fatal(err)
		}
		c := &toolcall.Call{Tool: tool, Sent: tool, Params: params}
		quick, slow := p.Plan(c), all.Plan(c)
		view := session.View{Version: 1, Level: taint.Owner}
		if got, want := quick.Judge(view), slow.Judge(view); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q:\n got %+v\nwant %+v", said, got, want)
		}
		if quick.Source != slow.Source || quick.Raise != slow.Raise || quick.Secret != slow.Secret || quick.Grantable != slow.Grantable {
			t.Fatalf("%q:\n got %+v\nwant %+v", said, quick, slow)
		}
	}
	named := strings.Fields("verifier verifier/token localhost:8787 http://gate.example.com verifier/approve VERIFIER_X redis-cli grüße .ssh openclaw.json /dev/tcp/x " +
		"// /. .. %2f \\x2e ／ \u200b \t ＄")
	for _, word := range named {
		for at := range word {
			for _, hidden := range []string{"", "'", "''", "$@", "\\", "\u200b", "/../", "$ifs"} {
				same(t, "exec", word[:at]+hidden+word[at:])
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		said := rapid.SliceOfN(rapid.SampledFrom(slices.Concat(pieces, named)), 0, 12).Draw(t, "said")
		same(t, rapid.SampledFrom([]string{"exec", "write"}).Draw(t, "tool"), strings.Join(said, ""))
	})
}

// TestNothingOfAnotherCallIsLeft: the memory of a text is used again.
func TestNothingOfAnotherCallIsLeft(t *testing.T) {
	first := &toolcall.Call{Tool: "exec", Sent: "exec", Params: []byte(`{"command":"c'ur'l $@ ${IFS} x","path":"a/b","url":"https://example.com"}`)}
	second := &toolcall.Call{Tool: "exec", Sent: "exec", Params: []byte(`{"command":"ls"}`)}
	s := newSieve(nil, &guard{})
	for range 100 {
		used := read(first, s)
		used.strip(s)
		used.release()
		fresh := read(second, s)
		fresh.strip(s)
		if fresh.param(paramURL) != "" || len(fresh.bare) > 0 || fresh.may != 0 || string(fresh.raw) != "ls\x00command\x00exec" {
			t.Fatalf("%q", fresh.raw)
		}
		fresh.release()
	}
}
