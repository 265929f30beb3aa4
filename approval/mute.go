package approval

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/session"
)

// A mute ends questions about one agent or conversation for a while: what would ask is denied, without a card. What passes without a
// question still does; `.pause` stops that, too.

const (
	muteMinutes    = 60
	maxMuteMinutes = 24 * 60
)

// muted is until when no one wants to be asked about a call. A call that names no agent could be any agent's.
func (w words) muted(a *Ask, now time.Time) (until time.Time, muted bool) {
	for about, said := range w {
		agent, isAgent := strings.CutPrefix(about, aboutAgents)
		hash, isTalk := strings.CutPrefix(about, aboutTalks)
		asked := session.Conversation{Client: a.Conversation.Client, Key: a.SessionKey}
		meant := isAgent && (agent == session.AgentScope(a.Agent) || a.Agent == "") ||
			isTalk && (hash == a.Conversation.Hash() || hash == asked.Hash())
		if meant && now.Before(said.until) && said.until.After(until) {
			until, muted = said.until, true
		}
	}
	return until, muted
}

// mute takes `.mute`.
func (av *Availability) mute(ctx context.Context, person, via string, cmd *codes.Command) (Outcome, error) {
	minutes := cmp.Or(min(cmd.Minutes, maxMuteMinutes), muteMinutes)
	about, name, out, err := av.mutable(ctx, cmd)
	if about == "" {
		return out, err
	}
	before, err := av.words(ctx)
	if err != nil {
		return Outcome{Text: storeGone}, err
	}
	until := av.o.Now().Add(time.Duration(minutes) * time.Minute)
	text := fmt.Sprintf("%s muted by %s (%s) until %s. What would ask is denied without a question; what passes without one still does.", name, person, via, until.In(av.terms().zone(person)).Format(awayFormat))
	said := word{about: about, until: until, by: person}
	text += av.stillOpen(ctx, words{about: said})
	return av.tellWords(ctx, before, via, text, said)
}

// mutable is what a command names: about what a word would be, and how people read it. Without it the outcome says what is wrong.
func (av *Availability) mutable(ctx context.Context, cmd *codes.Command) (about, name string, _ Outcome, _ error) {
	if cmd.Session == "" {
		return aboutAgent(cmd.Agent), whom(av.o.Hide(cmd.Agent)), Outcome{}, nil
	}
	account, err := av.o.Store.Influences(ctx, cmd.Session)
	if err != nil {
		out, err := av.noConversation(cmd.Session, err)
		if err == nil {
			out.Text += " Nothing was changed."
		}
		return "", "", out, err
	}
	return aboutTalk(account.Conversation.Hash()), "The conversation " + account.Conversation.Ref(), Outcome{}, nil
}

// stillOpen names the open questions that a mute comes too late for: they can be answered.
func (av *Availability) stillOpen(ctx context.Context, said words) string {
	cards, now, err := av.openCards(ctx)
	if err != nil {
		return " Questions that are open stay open."
	}
	var refs []string
	for _, c := range cards {
		if slices.ContainsFunc(c.Questions, func(q Question) bool { _, muted := said.muted(&q.Ask, now); return muted }) {
			refs = append(refs, c.Ref())
		}
	}
	if len(refs) == 0 {
		return ""
	}
	return " Still open, and for you to answer: " + strings.Join(refs, ", ") + "."
}

// unmute takes `.unmute`; without a name, of all.
func (av *Availability) unmute(ctx context.Context, person, via string, cmd *codes.Command) (Outcome, error) {
	before, err := av.words(ctx)
	if err != nil {
		return Outcome{Text: storeGone}, err
	}
	only, name := "", "Everything that was muted"
	if cmd.Agent != "" || cmd.Session != "" {
		var out Outcome
		if only, name, out, err = av.mutable(ctx, cmd); only == "" {
			return out, err
		}
	}
	var end []word
	for about, said := range before {
		mute := strings.HasPrefix(about, aboutAgents) || strings.HasPrefix(about, aboutTalks)
		if mute && av.o.Now().Before(said.until) && (only == "" || about == only) {
			end = append(end, word{about: about, by: person})
		}
	}
	if len(end) == 0 {
		return Outcome{Kind: Replied, Text: "Nothing of that is muted."}, nil
	}
	return av.tellWords(ctx, before, via, fmt.Sprintf("%s asks again, by %s (%s).", name, person, via), end...)
}
