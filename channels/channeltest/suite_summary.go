package channeltest

import (
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/approval"
)

// summaryLabel is what a channel writes above a model's words.
const summaryLabel = "Summary by a model. The text can fool it: decide by the text above."

// mail is a call with a text that is worth a summary.
func mail() string {
	raw, err := json.Marshal(map[string]string{"to": "+15550100", "message": strings.Repeat("We meet at noon.\n", 15)})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// summed is a desk whose model says what comes out of the channel.
func summed(says <-chan string) func(*approval.Options) {
	return func(o *approval.Options) {
		o.Summarise = func(ctx context.Context, _ *approval.Ask) string {
			select {
			case s := <-says:
				return s
			case <-ctx.Done():
				return ""
			}
		}
	}
}

// summarySpecs say that a model's words are below the text, in a frame, and that
// nothing waits for them.
func summarySpecs() []spec {
	return []spec{
		{"H549 a summary comes after the card, below the text, and moves no answer", func(b *bench) {
			says := make(chan string)
			r := newRig(b, b.platform, summed(says))
			v := r.ask(r.desk, call{tool: "message", params: mail()})
			m := r.card(0) // while the model thinks
			if strings.Contains(m.Text, summaryLabel) {
				b.Errorf("a summary before the model said anything:\n%s", m.Text)
			}
			says <- "A mail that invites to a meeting at noon."
			r.until("the summary is on the card", func() bool { return strings.Contains(r.now(m).Text, "invites to a meeting") })
			now := r.now(m)
			literal, label, words := strings.LastIndex(now.Text, "We meet at noon."), strings.Index(now.Text, summaryLabel), strings.Index(now.Text, "A mail that invites")
			if literal < 0 || label < literal || words < label || strings.Count(now.Text, "We meet at noon.") != strings.Count(m.Text, "We meet at noon.") {
				b.Errorf("the order is wrong, or text is missing:\n%s", now.Text)
			}
			if !slices.Equal(now.Buttons, m.Buttons) {
				b.Errorf("the buttons were %+v and are %+v", m.Buttons, now.Buttons)
			}
			r.until("the card takes a yes, once its buttons have settled", func() bool { return !strings.Contains(r.tap(r.who.Alice, now, "Allow once"), "tap again") })
			if got := r.get(v); !got.Yes {
				b.Errorf("got %+v", got)
			}
			if settled := r.turns(m, "Approved once by alice"); strings.Contains(settled.Text, "invites") {
				b.Errorf("the outcome holds the summary:\n%s", settled.Text)
			}
		}},
		{"H548 a summary with formatting, links, mentions and codes is literal text", func(b *bench) {
			says := make(chan string, 1)
			r := newRig(b, b.platform, summed(says))
			r.ask(r.desk, call{tool: "message", params: mail()})
			m := r.card(0)
			const hostile = "```</pre></code> <b>SAFE</b> *bold* [tap](https://evil.example) <https://evil.example|tap> @everyone <@U333> <!channel> https://evil.example"
			says <- hostile + " \u202eevil\u200b\x1b[2J ⟨0 characters not shown⟩"
			r.until("the summary is on the card", func() bool { return strings.Contains(r.now(m).Text, summaryLabel) })
			now := r.now(m)
			for _, want := range []string{hostile, "⟨U+202E⟩", "⟨U+200B⟩", "⟨U+001B⟩", "⟨U+27E8⟩0 characters"} {
				if !strings.Contains(now.Text, want) {
					b.Errorf("not literally there: %q in\n%s", want, now.Text)
				}
			}
			if len(now.Active) > 0 || !slices.Equal(now.Buttons, m.Buttons) {
				b.Errorf("links or mentions %q, buttons %+v", now.Active, now.Buttons)
			}
			if !slices.ContainsFunc(now.Mono, func(s string) bool { return strings.Contains(s, "SAFE") }) {
				b.Errorf("the summary has no frame: %q", now.Mono)
			}
		}},
		{"H550 a model that says nothing, or says it too late, changes no card", func(b *bench) {
			says := make(chan string)
			r := newRig(b, b.platform, summed(says))
			r.ask(r.desk, call{tool: "message", params: mail()})
			m := r.card(0)
			says <- ""
			v := r.ask(r.desk, call{tool: "message", params: mail(), session: "second"})
			late := r.card(1)
			if now := r.now(m); now.Text != m.Text {
				b.Errorf("no summary changed the card to\n%s", now.Text)
			}
			r.tap(r.who.Alice, late, "Deny")
			if got := r.get(v); got.Yes {
				b.Errorf("got %+v", got)
			}
			settled := r.turns(late, "Denied")
			says <- "too late"
			r.desk.Close() // waits for what is under way
			if now := r.now(late); now.Text != settled.Text || strings.Contains(r.record.String(), "summary") {
				b.Errorf("a settled card got a summary:\n%s\n%s", now.Text, r.record)
			}
		}},
	}
}
