package channeltest

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/approval"
)

// pickSpecs are about the question what a call does, which comes before a button allows something that needs care.
func pickSpecs() []spec {
	return []spec{
		{"H300 no tap alone allows what needs care: the person picks what the call does", func(b *bench) {
			r := newRig(b, b.platform, nil)
			v := r.ask(r.desk, carefulCall)
			m := r.card(0)
			r.tap(r.who.Alice, m, "Allow once")
			asked := r.asked()
			if !containsAll(asked.Text, []string{"Where does it go?", "bob@example.org", "it once"}) || len(asked.Buttons) != 5 {
				b.Fatalf("it asks\n%s\n%+v", asked.Text, asked.Buttons)
			}
			r.waiting(v)
			r.tap(r.who.Alice, asked, r.letter(asked, false))
			r.until("it asks again", func() bool { return strings.Contains(r.asked().Text, "That was not it") })
			r.waiting(v)
			r.tap(r.who.Alice, r.asked(), r.letter(r.asked(), true))
			if got := r.get(v); !got.Yes {
				b.Errorf("got %+v", got)
			}
			r.turns(m, "Approved", "alice")
		}},
		{"H300 the minutes are in the question", func(b *bench) {
			r := newRig(b, b.platform, nil)
			v := r.ask(r.desk, carefulCall)
			m := r.card(0)
			r.tap(r.who.Alice, m, "More…")
			var details Message
			r.until("the details come", func() bool {
				for _, m := range r.p.Messages() {
					if _, found := m.Button("Allow 30 min"); found {
						details = m
						return true
					}
				}
				return false
			})
			r.tap(r.who.Alice, details, "Allow 30 min")
			if asked := r.asked(); !strings.Contains(asked.Text, "it for 30 minutes, in this conversation") {
				b.Errorf("it asks\n%s", asked.Text)
			}
			r.tap(r.who.Alice, r.asked(), r.letter(r.asked(), true))
			if got := r.get(v); !got.Yes || got.Scope.Minutes != 30 {
				b.Errorf("got %+v", got)
			}
		}},
		{"H301 only the person who was asked can pick", func(b *bench) {
			r := newRig(b, b.platform, nil)
			v := r.ask(r.desk, carefulCall)
			m := r.card(0)
			r.tap(r.who.Alice, m, "Allow once")
			asked := r.asked()
			right, _ := asked.Button(r.letter(asked, true))
			o, err := r.desk.Answer(b.Context(), approval.Answer{ID: r.p.Name() + ":" + r.who.Bob.ID, Via: r.p.Name(), Handle: right.Data})
			if err != nil || o.Kind != approval.NotFound {
				b.Errorf("bob reads %+v, %v", o, err)
			}
			r.waiting(v)
			r.tap(r.who.Bob, m, "Deny")
			r.get(v)
		}},
		{"H302 after two wrong picks no button allows it", func(b *bench) {
			r := newRig(b, b.platform, nil)
			v := r.ask(r.desk, carefulCall)
			m := r.card(0)
			r.tap(r.who.Alice, m, "Allow once")
			first := r.asked()
			right, _ := first.Button(r.letter(first, true))
			r.tap(r.who.Alice, first, r.letter(first, false))
			r.until("it asks again", func() bool { return strings.Contains(r.asked().Text, "That was not it") })
			told := r.tap(r.who.Alice, r.asked(), r.letter(r.asked(), false))
			if !strings.Contains(told, "not it, twice") {
				b.Errorf("alice reads %q", told)
			}
			alice := approval.Answer{ID: r.p.Name() + ":" + r.who.Alice.ID, Via: r.p.Name(), Handle: right.Data}
			if o, err := r.desk.Answer(b.Context(), alice); err != nil || o.Kind != approval.Misunderstood {
				b.Errorf("the right one comes too late: %+v, %v", o, err)
			}
			if told := r.tap(r.who.Alice, m, "Allow once"); !strings.Contains(told, "not it, twice") {
				b.Errorf("and then alice reads %q", told)
			}
			r.waiting(v)
			r.tap(r.who.Alice, m, "Deny")
			if got := r.get(v); !got.Denied {
				b.Errorf("got %+v", got)
			}
		}},
	}
}

var carefulCall = call{tool: "message", params: `{"to":"bob@example.org","message":"hello"}`, edit: func(a *approval.Ask) {
	a.Careful, a.TargetParams, a.Shown = true, []string{"to"}, jsontext.Value(`{"to":"bob@example.org","message":"hello"}`)
}}

// asked waits for the question what a call does, as it is now.
func (r *rig) asked() (found Message) {
	r.Helper()
	r.until("the question what the call does is in the chat", func() bool {
		for _, m := range r.p.Messages() {
			if strings.Contains(m.Text, "Look once more") && len(m.Buttons) > 0 {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

// letter is the button of the right answer, or of a wrong one.
func (r *rig) letter(asked Message, right bool) string {
	r.Helper()
	for line := range strings.SplitSeq(asked.Text, "\n") {
		letter, text, found := strings.Cut(strings.TrimSpace(line), ":")
		if found && len(letter) == 1 && (strings.Contains(text, "bob@example.org") == right) {
			return letter
		}
	}
	r.Fatalf("there is no such answer in\n%s", asked.Text)
	return ""
}

// waiting says that a call got no answer so far.
func (r *rig) waiting(v <-chan verdict) {
	r.Helper()
	select {
	case got := <-v:
		r.Fatalf("it was answered: %+v", got)
	default:
	}
}
