package lineage_test

import (
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/lineage"
	"github.com/openclaw-verifier/verifier/internal/protocol"
)

var letter = []string{"to", "cc"}

// content is what calls may differ in and still be alike.
var content = []string{"subject", "body", "text"}

// alikeOf is for params as they come, valid or not.
func alikeOf(params string, destinations, content []string) *lineage.Alike {
	all, _ := (&protocol.Call{Params: jsontext.Value(params)}).Values()
	return lineage.AlikeOf(all, destinations, content)
}

func alike(params string, destinations ...string) string {
	return alikeOf(params, destinations, content).String()
}

// TestAlike reads testdata/alike.txt.
func TestAlike(t *testing.T) {
	text, err := os.ReadFile("testdata/alike.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.SplitSeq(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		want, rest, _ := strings.Cut(line, " | ")
		to := letter
		if after, found := strings.CutPrefix(rest, "!"); found {
			rest, to = after, []string{"to", "public"}
		}
		params, second, _ := strings.Cut(rest, " => ")
		one, two := alike(params, to...), alike(second, to...)
		got := map[bool]string{true: "same", false: "other"}[one == two]
		if one == "" {
			got = "nothing"
		}
		if n++; got != want {
			t.Errorf("%s: %s, %q and %q", line, got, one, two)
		}
	}
	if n < 35 {
		t.Errorf("%d rows", n)
	}
}

func TestADestinationThatIsNoTextIsBound(t *testing.T) {
	seen := map[string]string{}
	for _, value := range []string{
		`false`, `true`, `null`, `0`, `"false"`, `"true"`, `"null"`, `"0"`, `""`, `[false]`, `{"a":false}`,
		`{"a":true}`,
	} {
		got := alike(`{"to":"bob","public":`+value+`,"text":"x"}`, "to", "public")
		if other, is := seen[got]; is || got == "" {
			t.Errorf("public: %s is like %s: %q", value, other, got)
		}
		seen[got] = value
	}
	for _, action := range []string{`true`, `false`, `null`, `"true"`} {
		got := alike(`{"action":`+action+`,"to":"bob"}`, "to")
		if other, is := seen[got]; is {
			t.Errorf("action: %s is like %s", action, other)
		}
		seen[got] = action
	}
	const send = `{"action":"send","to":"bob","text":"x"}`
	if got := strings.Join(alikeOf(send, letter, content).Where(), ", "); got != "action: send, to: bob" {
		t.Errorf("shown as %s", got)
	}
	shown := alikeOf(`{"to":"bob","public":false}`, []string{"to", "public"}, nil).Where()
	if got := strings.Join(shown, ", "); got != "public: false, to: bob" {
		t.Errorf("shown as %s", got)
	}
}

func TestWhatGoesNowhereIsLikeNothing(t *testing.T) {
	for what, got := range map[string]string{
		"nobody has said":  alike(`{"to":"bob@example.com"}`),
		"too long to read": alike(`{"to":"`+strings.Repeat("a", 2000)+`"}`, letter...),
		"a long path":      alike(`{"to":"bob","`+strings.Repeat("n", 300)+`":1}`, letter...),
		"too many":         alike(`{"to":"b","l":[`+strings.Repeat(`"x",`, 5000)+`"x"]}`, letter...),
	} {
		if got != "" {
			t.Errorf("%s: %s", what, got)
		}
	}
}

func FuzzAlike(f *testing.F) {
	f.Add(`{"to":"bob","body":"x"}`, `{"to":"eve","body":"x"}`)
	f.Add(`{"a":{"to":["x","y"]}}`, `{"to":"\u0000"}`)
	f.Fuzz(func(t *testing.T, one, two string) {
		a, b := alikeOf(one, letter, content), alikeOf(two, letter, content)
		if a.String() == "" || a.String() != b.String() {
			return
		}
		if x, y := strings.Join(a.Where(), "\n"), strings.Join(b.Where(), "\n"); x != y {
			t.Errorf("alike, and yet they go to\n%s\nand\n%s", x, y)
		}
	})
}
