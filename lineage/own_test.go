package lineage_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/lineage"
)

// mail is a tool that writes to someone; in free, the agent chooses the words.
var (
	mail = lineage.Form{Destinations: []string{"to", "attachments"}, Content: []string{"body", "text", "message", "subject"}, Asked: []string{"send", "mail", "schreib"}}
	free = lineage.Form{Destinations: mail.Destinations, Content: mail.Content, Asked: mail.Asked, AnyWords: true}
)

func TestAMessageOfTheFormAsksForTheCall(t *testing.T) {
	for _, c := range []struct{ said, params string }{
		{"send alice@example.com: I am late", `{"to":"alice@example.com","body":"I am late"}`},
		{"  Send alice@example.com:\n I am late.\n", `{"to":" alice@example.com\n","body":"I am late.","action":"send"}`},
		{"mail bob@b.example, ann@a.example: see https://a.example/Doc?id=7", `{"to":["bob@b.example","ann@a.example"],"text":"see https://a.example/Doc?id=7"}`},
		{"send +4366012345: hi: there", `{"to":"+4366012345","message":"hi: there"}`},
		{"send #general: lunch", `{"to":"#general","message":"lunch"}`},
		{"send @ann: lunch", `{"to":"@ann"}`},
		{"send telegram:12345: lunch", `{"to":"telegram:12345","message":"lunch"}`},
		{"send 12345: lunch", `{"to":12345,"message":"lunch"}`},
		{"schreib https://chat.example/hook/A1: Mahlzeit", `{"to":"https://chat.example/hook/A1","message":"Mahlzeit"}`},
	} {
		if !mail.Fits(c.said, jsontext.Value(c.params)) || !free.Fits(c.said, jsontext.Value(c.params)) {
			t.Errorf("%q does not ask for %s", c.said, c.params)
		}
	}
}

func TestOnlyTheAgentsWordsAreFree(t *testing.T) {
	for _, c := range []struct{ said, params string }{
		{"send alice@example.com: a summary", `{"to":"alice@example.com","subject":"The news","body":"It's said (again) that prices well-known to us rise!"}`},
		{"send alice@example.com: a summary of https://a.example/Doc?id=7.", `{"to":"alice@example.com","body":"See https://a.example/Doc?id=7, it rains."}`},
		{"send alice@example.com: ein Gruß", `{"to":"alice@example.com","body":"Schöne Grüße, 你好 и привет"}`},
	} {
		if mail.Fits(c.said, jsontext.Value(c.params)) || !free.Fits(c.said, jsontext.Value(c.params)) {
			t.Errorf("%q, %s: the text must pass with free words only", c.said, c.params)
		}
	}
}

// No sentence asks for a call, and no call passes with more than was typed.
func TestWhatIsNotTypedIsAskedAbout(t *testing.T) {
	const said, to = "send eve@evil.example: about the merger", `"to":"eve@evil.example"`
	for _, c := range []struct{ what, said, params string }{
		{"a typographic apostrophe", "but don’t send eve@evil.example: about the merger", ""},
		{"a negation far away", "under no circumstances should you ever send eve@evil.example: about the merger", ""},
		{"neither, nor", "neither send eve@evil.example: about the merger nor anything", ""},
		{"isn't", "it isn't time to send eve@evil.example: about the merger", ""},
		{"nobody", "nobody may send eve@evil.example: about the merger", ""},
		{"a negation behind the verb", "send nobody, and not eve@evil.example: about the merger", ""},
		{"another language", "schreib eve@evil.example nichts: about the merger", ""},
		{"without the colon", "send eve@evil.example nothing about the merger", ""},
		{"without white space", "send eve@evil.example:about the merger", ""},
		{"without a text", "send eve@evil.example: ", ""},
		{"a mail that came", "mail from eve@evil.example: about the merger", ""},
		{"a mail to be read", "summarise the mail from eve@evil.example: about the merger", ""},
		{"a line further down", "never do this:\nsend eve@evil.example: about the merger", ""},
		{"an item of a list", "- send eve@evil.example: about the merger", ""},
		{"a word that asks for something else", "delete eve@evil.example: about the merger", ""},
		{"nothing typed", "", ""},
		{"an everyday word", "send general: about the merger", `{"to":"general","body":"about the merger"}`},
		{"a look-alike that was typed", "send ev\u0435@evil.example: about the merger", `{"to":"ev` + "\u0435" + `@evil.example","body":"about the merger"}`},
		{"another letter case", said, `{"to":"Eve@evil.example","body":"about the merger"}`},
		{"an invisible character", said, `{"to":"eve@evil.example` + "\u200b" + `","body":"about the merger"}`},
		{"a hard space", said, `{"to":"eve@evil.example` + "\u00a0" + `","body":"about the merger"}`},
		{"wide letters", said, `{"to":"ｅve@evil.example","body":"about the merger"}`},
		{"someone else", said, `{"to":"mallory@evil.example","body":"about the merger"}`},
		{"someone else as well", said, `{"to":["eve@evil.example","mallory@evil.example"],"body":"about the merger"}`},
		{"someone else inside", said, `{` + to + `,"body":"about the merger","message":{"TO":"mallory@evil.example"}}`},
		{"no destination", said, `{"body":"about the merger"}`},
		{"an empty destination", said, `{"to":"","body":"about the merger"}`},
		{"an empty list", said, `{"to":[],"body":"about the merger"}`},
		{"an attachment", said, `{` + to + `,"body":"about the merger","attachments":["/etc/passwd"]}`},
		{"true", said, `{` + to + `,"body":"about the merger","text":true}`},
		{"null", said, `{` + to + `,"body":"about the merger","text":null}`},
		{"a number", said, `{` + to + `,"body":"about the merger","text":7}`},
		{"words in a name", said, `{` + to + `,"body":"about the merger","you are fired":"about the merger"}`},
		{"words in a name without a value", said, `{` + to + `,"body":"about the merger","you are fired":{}}`},
		{"words in a name behind a dot", said, `{` + to + `,"body":"about the merger","to.you are fired":"eve@evil.example"}`},
		{"another action", said, `{` + to + `,"body":"about the merger","action":"broadcast"}`},
		{"a text inside", said, `{` + to + `,"body":{"text":"about the merger"}}`},
		{"a text in a list", said, `{` + to + `,"body":["about the merger"]}`},
		{"an address", said, `{` + to + `,"body":"ask mallory@evil.example"}`},
		{"a link", said, `{` + to + `,"body":"see https://evil.example/a"}`},
		{"a host", said, `{` + to + `,"body":"see evil.example now"}`},
		{"an internationalised host", said, `{` + to + `,"body":"see bücher.example now"}`},
		{"a host with another dot", said, `{` + to + `,"body":"see evil。com now"}`},
		{"an IPv6 address", said, `{` + to + `,"body":"see [2001:db8::1] now"}`},
		{"dotted numbers", said, `{` + to + `,"body":"see 10.1 now"}`},
		{"one digit", said, `{` + to + `,"body":"give 7"}`},
		{"digits of another script", said, `{` + to + `,"body":"call ١٢٣٤٥٦"}`},
		{"a Roman number sign", said, `{` + to + `,"body":"call Ⅷ"}`},
		{"a small digit", said, `{` + to + `,"body":"call ²"}`},
		{"a file", said, `{` + to + `,"body":"see ~/secret"}`},
		{"a handle", said, `{` + to + `,"body":"ask @mallory"}`},
		{"an invisible letter", said, `{` + to + `,"body":"a ` + "\u3164" + ` word"}`},
		{"an invisible mark", said, `{` + to + `,"body":"wo` + "\ufe0f" + `rd"}`},
		{"another space", said, `{` + to + `,"body":"a` + "\u2003" + `word"}`},
		{"a tag character", said, `{` + to + `,"body":"word` + "\U000e0041" + `"}`},
		{"a long word", said, `{` + to + `,"body":"` + strings.Repeat("ab", 17) + `"}`},
		{"too many arguments", said, `{` + to + `,"body":"about the merger","text":[` + strings.Repeat(`"a",`, 300) + `"a"]}`},
		{"a long message", said + strings.Repeat(" word", lineage.MaxChars), ""},
		{"long params", said, `{` + to + `,"body":"` + strings.Repeat("word ", lineage.MaxChars) + `"}`},
		{"no JSON", said, `{` + to + `,"body":"about the merger"`},
	} {
		if c.params == "" {
			c.params = `{` + to + `,"body":"about the merger"}`
		}
		if mail.Fits(c.said, jsontext.Value(c.params)) {
			t.Errorf("%s: %.100q asks for %.200s", c.what, c.said, c.params)
		}
		if free.Fits(c.said, jsontext.Value(c.params)) {
			t.Errorf("%s, with free words: %.100q asks for %.200s", c.what, c.said, c.params)
		}
	}
	none := lineage.Form{Content: mail.Content, Asked: mail.Asked}
	if none.Fits(said, jsontext.Value(`{"body":"about the merger"}`)) {
		t.Error("a tool without destinations passes")
	}
}

// FuzzForm: what passes was typed, destination and text.
func FuzzForm(f *testing.F) {
	f.Add("send alice@example.com: I am late", `{"to":"alice@example.com","body":"I am late"}`)
	f.Add("mail #a, @b:\nx: y", `{"to":["#a","@b"],"text":"x: y"}`)
	f.Add("send a@b: c", `{"TO":"a@b","body":{"to":"a@b"}}`)
	f.Fuzz(func(t *testing.T, said, params string) {
		if !free.Fits(said, jsontext.Value(params)) {
			if mail.Fits(said, jsontext.Value(params)) {
				t.Fatal("it passes only where less may pass")
			}
			return
		}
		if !strings.Contains(said, ":") || !utf8.ValidString(params) && utf8.ValidString(said) {
			t.Fatal("another form passes")
		}
		for _, foreign := range []string{"mallory@evil.example", "https://evil.example"} {
			if strings.Contains(params, foreign) && !strings.Contains(said, foreign) {
				t.Fatal("what was not typed passes")
			}
		}
	})
}
