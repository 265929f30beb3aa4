package policy

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/openclaw-verifier/verifier/toolcall"
)

// pieces are what commands are made of, and what hides their words.
var pieces = strings.Split("curl|git|clone|-f|rm|python3|sh|sudo|30s|x|/|://|/dev/tcp/| |;|&| |=|'|\"|`|^|\\|\n|$|$@|$IFS|${IFS}|\x00|[|é", "|")

// TestNoDeedIsMissedWhereQuotesJoinNothing: the second reading is left out only
// where it would tell nothing.
func TestNoDeedIsMissedWhereQuotesJoinNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		command := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), "")
		params, err := jsontext.AppendQuote(nil, command)
		if err != nil {
			t.Fatal(err)
		}
		said := read(&toolcall.Call{Tool: "exec", Sent: "exec", Params: params})
		defer said.release()
		said.strip()
		var both deeds
		both.read(said.values)
		if len(said.bare) > 0 {
			both.read(said.bareValues)
		}
		if got := said.deeds(); got != both {
			t.Fatalf("%q: %+v, not %+v", command, got, both)
		}
	})
}

// TestEveryWordOfTheLexiconIsFound: the table holds what the lists say.
func TestEveryWordOfTheLexiconIsFound(t *testing.T) {
	for w, e := range lexicon {
		if exactly([]byte(w)) != e {
			t.Errorf("%q is not found", w)
		}
		if exactly([]byte(w+"~")) != nil {
			t.Errorf("%q is found", w+"~")
		}
	}
	if lines := len(installers) + len(destroying); lines > 64 {
		t.Errorf("%d lines do not fit in a set of 64", lines)
	}
}

// TestNothingOfAnotherCallIsLeft: the memory of a text is used again.
func TestNothingOfAnotherCallIsLeft(t *testing.T) {
	first := &toolcall.Call{Tool: "exec", Sent: "exec", Params: []byte(`{"command":"c'ur'l $@ ${IFS} x","path":"a/b","url":"https://example.com"}`)}
	second := &toolcall.Call{Tool: "exec", Sent: "exec", Params: []byte(`{"command":"ls"}`)}
	for range 100 {
		used := read(first)
		used.strip()
		used.release()
		fresh := read(second)
		fresh.strip()
		if d := fresh.deeds(); d != (deeds{}) || fresh.param(paramURL) != "" || len(fresh.bare) > 0 || string(fresh.raw) != "ls\x00command\x00exec" {
			t.Fatalf("%+v in %q", d, fresh.raw)
		}
		fresh.release()
	}
}
