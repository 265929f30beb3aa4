package lineage_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/lineage"
)

var letter = []string{"to", "cc"}

// content is what calls may differ in and still be alike.
var content = []string{"subject", "body", "text"}

func alike(params string, destinations ...string) string {
	return lineage.AlikeOf(jsontext.Value(params), destinations, content).String()
}

func TestCallsToTheSamePlaceAreAlike(t *testing.T) {
	first := alike(`{"to":"bob@example.com","subject":"a","body":"hello"}`, letter...)
	if first == "" {
		t.Fatal("it is like nothing")
	}
	for what, params := range map[string]string{
		"another text":          `{"to":"bob@example.com","subject":"b","body":"something else"}`,
		"another order":         `{"body":"x","to":"bob@example.com","subject":""}`,
		"an argument of no use": `{"to":"bob@example.com","subject":null,"body":true}`,
	} {
		if got := alike(params, letter...); got != first {
			t.Errorf("%s: %s", what, got)
		}
	}
	for what, params := range map[string]string{
		"another place":              `{"to":"mallory@example.com","subject":"a","body":"hello"}`,
		"in other letters":           `{"to":"Bob@example.com","subject":"a","body":"hello"}`,
		"a place more":               `{"to":"bob@example.com","cc":"mallory@example.com","subject":"a","body":"x"}`,
		"a list":                     `{"to":["bob@example.com"],"subject":"a","body":"x"}`,
		"another argument":           `{"to":"bob@example.com","subject":"a","body":"x","bcc":"mallory@example.com"}`,
		"one less":                   `{"to":"bob@example.com","body":"x"}`,
		"the place elsewhere":        `{"cc":"bob@example.com","subject":"a","body":"x"}`,
		"inside another argument":    `{"to":"bob@example.com","subject":"a","body":{"to":"mallory@example.com"}}`,
		"an empty one and another":   `{"to":"bob@example.com","cc":"","subject":"a","body":"x"}`,
		"a path that looks the same": `{"to":"bob@example.com","subject":"a","body":[{"x":1}]}`,
	} {
		if got := alike(params, letter...); got == first {
			t.Errorf("%s is alike", what)
		}
	}
}

// An argument that no label names may be a destination.
func TestAnUnnamedArgumentIsBound(t *testing.T) {
	first := alike(`{"to":"bob","targets":["x"],"body":"x"}`, letter...)
	for what, params := range map[string]string{
		"another value":       `{"to":"bob","targets":["y"],"body":"x"}`,
		"one more":            `{"to":"bob","targets":["x","y"],"body":"x"}`,
		"content that is not": `{"to":"bob","targets":["x"],"body":{"webhook":"https://evil.example"}}`,
		"other letters":       `{"to":"bob","targets":["x"],"Body":"x"}`,
	} {
		if got := alike(params, letter...); got == first || first == "" {
			t.Errorf("%s is alike", what)
		}
	}
	if one, two := alike(`{"to":"bob","body":{"webhook":"a"}}`, letter...), alike(`{"to":"bob","body":{"webhook":"b"}}`, letter...); one == two {
		t.Error("what is inside an object is content")
	}
	if one, two := alike(`{"to":"bob","x":{"body":"a"}}`, letter...), alike(`{"to":"bob","x":{"body":"b"}}`, letter...); one == two {
		t.Error("content's name inside another argument is content")
	}
}

func TestAnotherActionIsNotAlike(t *testing.T) {
	send := `{"action":"send","to":"bob","text":"x"}`
	first := alike(send, letter...)
	if same := alike(`{"text":"y","to":"bob","action":"send"}`, letter...); first == "" || same != first {
		t.Fatalf("%q and %q", first, same)
	}
	for _, action := range []string{`"broadcast"`, `"channel-delete"`, `"removeParticipant"`, `"Send"`, `" send"`, `""`, `["send"]`, `{"action":"send"}`, `7`} {
		if got := alike(`{"action":`+action+`,"to":"bob","text":"x"}`, letter...); got == first {
			t.Errorf("%s is like send", action)
		}
	}
	if one, two := alike(`{"Action":"send","to":"bob"}`, letter...), alike(`{"Action":"ban","to":"bob"}`, letter...); one == two {
		t.Error("an action in other letters is not looked at")
	}
	if one, two := alike(`{"action":["a","b"],"to":"bob"}`, letter...), alike(`{"action":["a","c"],"to":"bob"}`, letter...); one == two {
		t.Error("what is inside an action is not looked at")
	}
	if got := alike(`{"action":"send","text":"x"}`, letter...); got != "" {
		t.Errorf("an action alone goes somewhere: %s", got)
	}
	if got := strings.Join(lineage.AlikeOf(jsontext.Value(send), letter, content).Where(), ", "); got != "action: send, to: bob" {
		t.Errorf("shown as %s", got)
	}
}

func TestADestinationThatIsNoTextIsBound(t *testing.T) {
	seen := map[string]string{}
	for _, value := range []string{`false`, `true`, `null`, `0`, `"false"`, `"true"`, `"null"`, `"0"`, `""`, `[false]`, `{"a":false}`, `{"a":true}`} {
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
	if got := alike(`{"to":null,"public":true}`, "to", "public"); got != "" {
		t.Errorf("it goes nowhere: %s", got)
	}
	shown := lineage.AlikeOf(jsontext.Value(`{"to":"bob","public":false}`), []string{"to", "public"}, nil).Where()
	if got := strings.Join(shown, ", "); got != "public: false, to: bob" {
		t.Errorf("shown as %s", got)
	}
}

func TestWhatGoesNowhereIsLikeNothing(t *testing.T) {
	for what, got := range map[string]string{
		"nobody has said":  alike(`{"to":"bob@example.com"}`),
		"no destination":   alike(`{"body":"x"}`, letter...),
		"an empty one":     alike(`{"to":"  "}`, letter...),
		"too long to read": alike(`{"to":"`+strings.Repeat("a", 2000)+`"}`, letter...),
		"too many":         alike(`{"to":"b","l":[`+strings.Repeat(`"x",`, 5000)+`"x"]}`, letter...),
		"no JSON":          alike(`{"to":`, letter...),
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
		a, b := lineage.AlikeOf(jsontext.Value(one), letter, content), lineage.AlikeOf(jsontext.Value(two), letter, content)
		if a.String() == "" || a.String() != b.String() {
			return
		}
		if x, y := strings.Join(a.Where(), "\n"), strings.Join(b.Where(), "\n"); x != y {
			t.Errorf("alike, and yet they go to\n%s\nand\n%s", x, y)
		}
	})
}
