package web

import (
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
)

type oneToken struct{}

func (oneToken) Who(string) (string, bool)       { return "", false }
func (oneToken) Mark(name string) (string, bool) { return "mark", name == "owner" || name == "a.b" }

func sealing() *tickets {
	return &tickets{key: hmac.Key(strings.Repeat("k", 32)), people: func() People { return oneToken{} }, now: func() time.Time { return time.Unix(1000, 0) }}
}

func TestATicketComesBackAsItWas(t *testing.T) {
	p := sealing()
	for _, want := range []ticket{newTicket("owner", false, time.Unix(2000, 0)), newTicket("a.b", true, time.Unix(1001, 0))} {
		text, ok := p.write(forSession, want)
		got, opened := p.read(forSession, text)
		if !ok || !opened || got != want {
			t.Errorf("%+v came back as %+v", want, got)
		}
		if _, opened := p.read(forLink, text); opened {
			t.Error("a session is good as a link")
		}
	}
	if text, _ := p.write(forSession, newTicket("owner", false, time.Unix(1000, 0))); text != "" {
		if _, opened := p.read(forSession, text); opened {
			t.Error("an expired ticket is good")
		}
	}
	if _, ok := p.write(forSession, newTicket("stranger", false, time.Unix(2000, 0))); ok {
		t.Error("someone without a token got a ticket")
	}
}

// FuzzTicket holds that no text opens but one that was written here.
func FuzzTicket(f *testing.F) {
	p := sealing()
	good, _ := p.write(forSession, newTicket("owner", true, time.Unix(2000, 0)))
	for _, seed := range []string{"", "....", good, good + "0", strings.Replace(good, ".v.", ".a.", 1), strings.ToUpper(good)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := p.read(forSession, text)
		if again, _ := p.write(forSession, got); ok && again != text && text != good {
			t.Errorf("%q opened as %+v", text, got)
		}
	})
}
