package channeltest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/store"
)

// answerSpecs say that there is one outcome, and that everyone reads it.
func answerSpecs() []spec {
	return []spec{
		{"H27 a double tap counts once, and the second says so", func(b *bench) {
			r := newRig(b, b.platform, nil)
			r.ask(r.desk, call{tool: "exec", params: plainExec})
			m := r.card(0)
			r.tap(r.who.Alice, m, "Allow once")
			if told := r.tap(r.who.Alice, m, "Allow once"); !strings.Contains(told, "approved once by alice") {
				b.Errorf("the second tap gets %q", told)
			}
			r.turns(m, "Approved")
		}},
		{"H27 a tap that the platform delivers twice is one answer", func(b *bench) {
			r := newRig(b, b.platform, func(o *approval.Options) { o.Terms.Approvals = 2 })
			v := r.ask(r.desk, call{tool: "exec", params: plainExec})
			m := r.card(0)
			if p, ok := b.platform.(interface{ Repeat(n int) }); ok {
				p.Repeat(1)
			}
			r.tap(r.who.Alice, m, "Allow once")
			r.until("one of two is counted", func() bool { return strings.Contains(r.now(m).Text, "1 of 2") })
			r.tap(r.who.Bob, m, "Allow once")
			if got := r.get(v); !got.Yes {
				b.Errorf("got %+v", got)
			}
			r.turns(m, "Approved", "alice", "bob")
		}},
		{"H27 allow and deny at once end in one state, and the loser reads it", func(b *bench) {
			r := newRig(b, b.platform, nil)
			v := r.ask(r.desk, call{tool: "exec", params: plainExec})
			m := r.card(0)
			told := make([]string, 2)
			var both sync.WaitGroup
			both.Go(func() { told[0] = r.tap(r.who.Alice, m, "Allow once") })
			both.Go(func() { told[1] = r.tap(r.who.Bob, m, "Deny") })
			both.Wait()
			got := r.get(v)
			word, loser := "denied by bob", told[0]
			if got.Yes {
				word, loser = "approved once by alice", told[1]
			}
			if got.Yes == got.Denied || !strings.Contains(loser, word) {
				b.Errorf("%+v, and they read %q", got, told)
			}
			r.turns(m, strings.ToUpper(word[:1])+word[1:])
		}},
		{"H27 an answer that comes another way settles the card here", func(b *bench) {
			r := newRig(b, b.platform, func(o *approval.Options) {
				o.Terms.People = append(o.Terms.People, approval.Person{Name: "carol", IDs: []string{"token:carol"}})
			})
			r.ask(r.desk, call{tool: "exec", params: plainExec})
			m := r.card(0)
			if o, err := r.desk.Answer(b.Context(), approval.Answer{ID: "token:carol", Via: "terminal", Text: ".deny " + r.codeOf(m)}); err != nil || o.Kind != approval.Counted {
				b.Fatalf("%+v, %v", o, err)
			}
			r.turns(m, "Denied by carol")
			if told := r.tap(r.who.Alice, m, "Allow once"); !strings.Contains(told, "denied by carol") {
				b.Errorf("the tap gets %q", told)
			}
		}},
		{"a tap that comes before the send has returned is taken", func(b *bench) {
			release := b.platform.Hold()
			r := newRig(b, b.platform, nil)
			v := r.ask(r.desk, call{tool: "exec", params: plainExec})
			m := r.card(0)
			told := make(chan string, 1)
			var tapped sync.WaitGroup
			tapped.Go(func() { told <- r.p.Tap(b, r.who.Alice, m, r.button(m, "Allow once")) })
			if got := r.get(v); !got.Yes {
				b.Errorf("got %+v", got)
			}
			release()
			tapped.Wait()
			<-told
			r.turns(m, "Approved", "alice")
		}},
		{"another process takes the tap and edits the card", func(b *bench) {
			r := newRig(b, b.platform, nil)
			v := r.ask(r.desk, call{tool: "exec", params: plainExec, hold: time.Millisecond})
			m := r.card(0)
			r.get(v)
			r.desk.Close()
			r.open(nil)
			r.tap(r.who.Alice, m, "Allow once")
			r.turns(m, "Approved", "alice")
		}},
		{"two replicas do not fight over who listens, and the cards of both are answered", func(b *bench) {
			r := newRig(b, b.platform, nil)
			other, _ := r.open(nil)
			for i, d := range []*approval.Desk{r.desk, other, r.desk} {
				v := r.ask(d, call{tool: "exec", params: command(fmt.Sprint("echo ", i)), session: fmt.Sprint(i)})
				m := r.card(i)
				r.tap(r.who.Alice, m, "Allow once")
				if got := r.get(v); !got.Yes {
					b.Errorf("got %+v", got)
				}
				r.turns(m, "Approved", "alice")
			}
			if text := r.log.String(); strings.Contains(text, "level=ERROR") || strings.Contains(text, "level=WARN") {
				b.Errorf("the log:\n%s", text)
			}
		}},
		{"H47 the waiter sees an answer whose wake-up was lost", func(b *bench) {
			r := newRig(b, b.platform, nil)
			deafened, _ := r.open(func(o *approval.Options) { o.Store = r.openStore(deaf{r.backend}) })
			v := r.ask(deafened, call{tool: "exec", params: plainExec})
			m := r.card(0)
			began := time.Now()
			if _, err := r.desk.Answer(b.Context(), approval.Answer{ID: r.p.Name() + ":" + r.who.Alice.ID, Via: "page",
				Handle: r.handle(m)}); err != nil {
				b.Fatal(err)
			}
			if got := r.get(v); !got.Yes || time.Since(began) > 10*time.Second {
				b.Errorf("%+v after %v", got, time.Since(began))
			}
		}},
	}
}

// handle is what the first button of a card carries, as the desk gave it.
func (r *rig) handle(m Message) string {
	r.Helper()
	cards, err := r.desk.Pending(r.Context(), r.p.Name()+":"+r.who.Alice.ID)
	if err != nil || len(cards) != 1 {
		r.Fatalf("%d cards, %v", len(cards), err)
	}
	h := cards[0].Handle(approval.AllowOnce)
	if !strings.Contains(buttonData(m), h) {
		r.Fatalf("no button carries the handle: %+v", m.Buttons)
	}
	return h
}

// deaf is a backend whose wake-ups get lost.
type deaf struct{ store.Backend }

// Watch hears nothing.
func (deaf) Watch(ctx context.Context, _ func(string)) error {
	<-ctx.Done()
	return nil
}

// Close leaves it open for the others.
func (deaf) Close() error { return nil }

// typedSpecs are about lines that people write.
func typedSpecs() []spec {
	return []spec{
		{"the line on the card approves in a direct message", func(b *bench) { typedLine(b, func(Message) Place { return Place{Direct: true} }) }},
		{"the line on the card approves as a reply to it", func(b *bench) { typedLine(b, func(m Message) Place { return Place{ReplyTo: m.ID} }) }},
		{"a typed deny brings its reason along", func(b *bench) {
			r := newRig(b, b.platform, nil)
			v := r.ask(r.desk, call{tool: "exec", params: plainExec})
			m := r.card(0)
			r.answered(r.p.Say(b, r.who.Bob, Place{Direct: true}, ".deny "+r.codeOf(m)+" not now"))
			if got := r.get(v); !got.Denied || got.Reason != "not now" {
				b.Errorf("got %+v", got)
			}
		}},
		{"help and the list of what waits are answered, talk is not", func(b *bench) {
			r := newRig(b, b.platform, nil)
			talk := r.p.Say(b, r.who.Alice, Place{Direct: true}, "good morning")
			if text := r.answered(r.p.Say(b, r.who.Alice, Place{Direct: true}, ".help")); !strings.Contains(text, ".approve") {
				b.Errorf("help: %q", text)
			}
			if text := r.answered(r.p.Say(b, r.who.Alice, Place{Direct: true}, ".pending")); !strings.Contains(text, "Nothing is waiting") {
				b.Errorf("pending: %q", text)
			}
			for _, m := range r.p.Messages() {
				if m.ReplyTo == talk {
					b.Errorf("talk is answered with %q", m.Text)
				}
			}
		}},
		{"H24 five wrong codes lock the person, and everyone gets a notice", func(b *bench) {
			r := newRig(b, b.platform, nil)
			v := r.ask(r.desk, call{tool: "exec", params: plainExec})
			m := r.card(0)
			wrong := "00000000"
			if r.codeOf(m) == wrong {
				wrong = "00000001"
			}
			// The notice to all may come before the answer, and both stand in the chat.
			locked := func() (n int) {
				for _, m := range r.p.Messages() {
					if strings.Contains(m.Text, "Too many wrong codes") {
						n++
					}
				}
				return n
			}
			for range 5 {
				r.answered(r.p.Say(b, r.who.Alice, Place{Direct: true}, ".approve exec "+wrong))
			}
			r.until("the fifth has its reply", func() bool { return locked() == 1 })
			r.answered(r.p.Say(b, r.who.Alice, Place{Direct: true}, ".approve exec "+r.codeOf(m)))
			r.until("the right one has its reply", func() bool { return locked() == 2 })
			r.until("the chat has the notice", func() bool {
				for _, m := range r.p.Messages() {
					if strings.Contains(m.Text, "alice typed 5 wrong codes") {
						return true
					}
				}
				return false
			})
			r.tap(r.who.Alice, m, "Deny") // buttons still work
			if got := r.get(v); !got.Denied {
				b.Errorf("got %+v", got)
			}
		}},
		{"H26 a code is good for its own question only", func(b *bench) {
			r := newRig(b, b.platform, nil)
			first := r.ask(r.desk, call{tool: "exec", params: command("a"), session: "a"})
			one := r.card(0)
			second := r.ask(r.desk, call{tool: "message", params: command("b"), session: "b"})
			two := r.card(1)
			if text := r.answered(r.p.Say(b, r.who.Alice, Place{Direct: true}, ".approve message "+r.codeOf(one))); !strings.Contains(text, "does not ask about this tool") {
				b.Errorf("told %q", text)
			}
			r.answered(r.p.Say(b, r.who.Alice, Place{Direct: true}, ".approve exec "+r.codeOf(one)))
			if got := r.get(first); !got.Yes {
				b.Errorf("a: %+v", got)
			}
			r.turns(one, "Approved")
			if len(r.now(two).Buttons) == 0 {
				b.Error("the other card is settled too")
			}
			r.tap(r.who.Alice, two, "Deny")
			if got := r.get(second); got.Yes {
				b.Errorf("b: %+v", got)
			}
		}},
	}
}

func typedLine(b *bench, where func(Message) Place) {
	r := newRig(b, b.platform, nil)
	v := r.ask(r.desk, call{tool: "exec", params: plainExec})
	m := r.card(0)
	text := r.answered(r.p.Say(b, r.who.Alice, where(m), ".approve exec "+r.codeOf(m)+" 30"))
	if !strings.Contains(text, "approved exactly this for 30 minutes by alice") || !strings.Contains(text, "could do anything") {
		b.Errorf("told %q", text)
	}
	if got := r.get(v); !got.Yes || got.Scope != (approval.Scope{Target: approval.Exactly, Minutes: 30}) {
		b.Errorf("got %+v", got)
	}
	r.turns(m, "Approved")
}
