package channeltest

import (
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/approval"
)

// identitySpecs say whose answers count.
func identitySpecs() []spec {
	return []spec{
		{"H32 H34 someone else in the chat can tap nothing, whatever they call themselves", func(b *bench) {
			r := newRig(b, b.platform, nil)
			v := r.ask(r.desk, call{tool: "exec", params: plainExec})
			m := r.card(0)
			if r.who.Mallory.Name != r.who.Alice.Name {
				b.Fatal("Mallory must look like Alice")
			}
			for _, button := range m.Buttons {
				if told := r.p.Tap(b, r.who.Mallory, m, button); told != approval.NotAuthorised {
					b.Errorf("%s: told %q", button.Label, told)
				}
			}
			if now := r.now(m); now.Text != m.Text || len(now.Buttons) != len(m.Buttons) {
				b.Errorf("the card has changed:\n%s", now.Text)
			}
			if others := r.cards(); len(others) != 1 {
				b.Errorf("%d messages came of it", len(others)-1)
			}
			r.tap(r.who.Bob, m, "Allow once")
			if got := r.get(v); !got.Yes || len(got.Votes) != 1 || got.Votes[0].Person != "bob" {
				b.Errorf("got %+v", got)
			}
		}},
		{"H32 someone else can type nothing", func(b *bench) {
			r := newRig(b, b.platform, nil)
			v := r.ask(r.desk, call{tool: "exec", params: plainExec})
			m := r.card(0)
			for _, where := range []Place{{Direct: true}, {ReplyTo: m.ID}} {
				for _, line := range []string{".approve exec " + r.codeOf(m), ".pending", ".deny " + r.codeOf(m)} {
					if told := r.answered(r.p.Say(b, r.who.Mallory, where, line)); told != approval.NotAuthorised {
						b.Errorf("%q: told %q", line, told)
					}
				}
			}
			r.tap(r.who.Alice, m, "Allow once")
			if got := r.get(v); !got.Yes {
				b.Errorf("got %+v", got)
			}
		}},
		{"H33 with an empty list no one can approve", func(b *bench) {
			r := newRig(b, b.platform, func(o *approval.Options) { o.Terms.People = nil })
			if got := r.get(r.ask(r.desk, call{tool: "exec", params: plainExec})); got.err == nil || got.Yes {
				b.Errorf("got %+v", got)
			}
		}},
		{"H36 a bot is not heard, not even one on the list", func(b *bench) {
			r := newRig(b, b.platform, nil)
			v := r.ask(r.desk, call{tool: "exec", params: plainExec})
			m := r.card(0)
			lines := []string{
				r.p.Say(b, r.who.Robot, Place{Direct: true}, ".approve exec "+r.codeOf(m)),
				r.p.Say(b, r.who.Robot, Place{ReplyTo: m.ID}, ".approve exec "+r.codeOf(m)),
			}
			r.p.Tap(b, r.who.Robot, m, r.button(m, "Allow once"))
			r.answered(r.p.Say(b, r.who.Alice, Place{Direct: true}, ".pending")) // by now the bot's lines have been seen
			for _, x := range r.p.Messages() {
				if x.ReplyTo == lines[0] || x.ReplyTo == lines[1] {
					b.Errorf("the bot is answered with %q", x.Text)
				}
			}
			r.tap(r.who.Bob, m, "Deny")
			if got := r.get(v); got.Yes || len(got.Votes) != 1 {
				b.Errorf("got %+v", got)
			}
		}},
	}
}

// lateSpecs say that nothing shows success that has not happened.
func lateSpecs() []spec {
	return []spec{
		{"H53 an expired card says so and its buttons are dead", func(b *bench) {
			r := newRig(b, b.platform, func(o *approval.Options) { o.Terms.TTL = 2 * time.Second })
			v := r.ask(r.desk, call{tool: "exec", params: plainExec})
			m := r.card(0)
			r.turns(m, "Expired without an answer")
			told := r.tap(r.who.Alice, m, "Allow once")
			if !strings.Contains(told, "expired") || strings.Contains(told, "approved once") {
				b.Errorf("told %q", told)
			}
			if got := r.get(v); got.Yes {
				b.Errorf("got %+v", got)
			}
		}},
		{"H53 a card of another gateway's key does nothing", func(b *bench) {
			r := newRig(b, b.platform, nil)
			v := r.ask(r.desk, call{tool: "exec", params: plainExec, hold: time.Millisecond})
			m := r.card(0)
			r.get(v)
			r.desk.Close()
			r.open(func(o *approval.Options) { o.Key = append([]byte("another"), serverKey...) })
			if told := r.tap(r.who.Alice, m, "Allow once"); !strings.Contains(told, "belongs to no question") {
				b.Errorf("told %q", told)
			}
		}},
		{"H53 a store that fails is not a yes", func(b *bench) {
			r := newRig(b, b.platform, nil)
			v := r.ask(r.desk, call{tool: "exec", params: plainExec, hold: time.Millisecond})
			m := r.card(0)
			r.get(v)
			r.desk.Close()
			r.open(func(o *approval.Options) { o.Store = r.openStore(broken{r.backend}) })
			if told := r.tap(r.who.Alice, m, "Allow once"); !strings.Contains(told, "Nothing was approved") {
				b.Errorf("told %q", told)
			}
			if now := r.now(m); strings.Contains(now.Text, "Approved") {
				b.Errorf("the card says\n%s", now.Text)
			}
		}},
		{"H53 a card that could not be edited is corrected by the next tap", func(b *bench) {
			r := newRig(b, b.platform, nil)
			v := r.ask(r.desk, call{tool: "exec", params: plainExec})
			m := r.card(0)
			r.p.Break(Fault{Kind: Forbidden})
			if o, err := r.desk.Answer(b.Context(), approval.Answer{ID: r.p.Name() + ":" + r.who.Bob.ID, Via: "page", Text: ".deny " + r.codeOf(m)}); err != nil || o.Kind != approval.Counted {
				b.Fatalf("%+v, %v", o, err)
			}
			if got := r.get(v); !got.Denied {
				b.Errorf("got %+v", got)
			}
			r.until("the edit has failed", func() bool { return strings.Contains(r.log.String(), "could not be edited") })
			r.p.Break(Fault{})
			if len(r.now(m).Buttons) == 0 {
				b.Fatal("the card was edited although the platform failed")
			}
			if told := r.tap(r.who.Alice, m, "Allow once"); !strings.Contains(told, "denied by bob") {
				b.Errorf("told %q", told)
			}
			r.turns(m, "Denied", "bob")
		}},
	}
}
