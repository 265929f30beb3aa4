package approval

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
)

// What a grant's Target begins with that is not for every call of its tool.
const (
	exactly = "exact "
	same    = "same "
)

// Granted is a grant that covers the call now: one of the conversation, or an always grant of its agent; nil: none
// does. It holds for the session, the agent and the run that it was given for, while the level is no worse, and as long
// as its givers may allow such a call.
func (d *Desk) Granted(t *store.Tx, a *Ask) *store.Grant {
	if !a.grantable() {
		return nil
	}
	holds := func(g *store.Grant) bool {
		return g.Tool == a.Tool && g.Agent == a.Agent && a.Level <= g.Level && t.Now.Before(g.Until) &&
			d.terms().uphold(g, *a)
	}
	for i := range t.C.Grants {
		g := &t.C.Grants[i]
		if g.Session == a.Window && (g.Run == "" || g.Run == a.Run) && a.targeted(g.Target) && holds(g) {
			return g
		}
	}
	if !a.always() || a.Unseen {
		return nil
	}
	always := t.Other(store.Always(t.Own.Client, a.Agent)).Grants
	for i := range always {
		if g := &always[i]; g.Target == a.Always && holds(g) {
			return g
		}
	}
	return nil
}

// targeted reports whether the call is one of those that a grant of its conversation is for.
func (a *Ask) targeted(target string) bool {
	switch {
	case target == "": // every call of the tool
		return a.Bound(Scope{Turn: true}).Target == AnyCall
	case strings.HasPrefix(target, same):
		return a.Same != "" && target == same+a.Same
	}
	return target == exactly+a.Digest
}

// grant is the lasting consent that an allowed card gives; nil: it gives none.
func (o *Options) grant(c *Card) *store.Grant {
	a, s := &c.Ask, c.scope()
	if !s.Lasting() || !a.grantable() {
		return nil
	}
	g := &store.Grant{ID: c.ID, Tool: a.Tool, Agent: a.Agent, Session: a.Window, Level: a.Level, Shown: "every call"}
	switch {
	case s.Days > 0:
		g.Target, g.Session = a.Always, ""
	case s.Target == Exactly:
		g.Target = exactly + a.Digest
	case s.Target == Same:
		g.Target = same + a.Same
	}
	if strings.HasPrefix(g.Target, same) {
		g.Shown = quoted(a.Goes)
	} else if g.Target != "" {
		g.Shown = o.Head(a)
	}
	if s.Turn {
		g.Run = a.Run
	}
	for i := range c.Votes {
		if v := &c.Votes[i]; v.Allow {
			g.By, g.IDs = append(g.By, v.Person), append(g.IDs, v.ID)
		}
	}
	g.Until = c.last().At.Add(time.Duration(min(s.Minutes, c.longest))*time.Minute + time.Duration(s.Days)*24*time.Hour)
	return g
}

// give adds the grant that goes with an allowed card, and says what people might not expect of their yes.
func (o *Options) give(t *store.Tx, c *Card) (said string) {
	g, days := o.grant(c), c.scope().Days > 0
	switch {
	case g == nil:
	case days:
		this := func(old *store.Grant) bool { return old.Tool == g.Tool && old.Target == g.Target }
		keepAlways(t, g.Agent, this, *g)
		said = " Such calls of " + quote(g.Agent) + " pass without a question until " +
			g.Until.Format(time.DateOnly) + "."
	default:
		t.C.Grant(*g)
	}
	if c.Ask.Unseen && (g == nil || days) {
		said += " If the agent no longer waits, it asks again: files were written that you have not seen."
	}
	if t.Paused(c.Ask.Agent) != nil {
		said += " The agent is paused: nothing of it runs until `.resume`."
	}
	return said
}

// MayAlways reports whether someone may give an always grant on a card.
func (d *Desk) MayAlways(id string, c *Card) bool {
	a := &c.Ask
	return d.MayAnswer(id, c) && a.grantable() && a.always() && a.Approvals <= 1 && d.o.Visible(a)
}

// always reports whether an always grant can cover the call.
func (a *Ask) always() bool { return a.Always != "" && a.Agent != "" && a.Owner && !a.Holds }

// keepAlways changes an agent's always grants in an update: some are over, others are new.
func keepAlways(t *store.Tx, agent string, over func(*store.Grant) bool, more ...store.Grant) {
	all := t.Other(store.Always(t.Own.Client, agent))
	all.EndGrants(over)
	for i := range more {
		all.Grant(more[i])
	}
}

// Grants lists and ends what lets calls pass without a question.
type Grants struct{ *shows }

// List gives what is granted in all conversations, those that end last first, and the time by the store's clock. What
// somebody gave who may not approve any more covers nothing, and is not listed.
func (gr *Grants) List(ctx context.Context) ([]store.Given, time.Time, error) {
	all, now, err := gr.o.Store.Grants(ctx)
	t := gr.terms()
	all = slices.DeleteFunc(all, func(g store.Given) bool { return !t.uphold(&g.Grant, Ask{Agent: g.Agent}) })
	slices.SortStableFunc(all, func(a, b store.Given) int { return b.Until.Compare(a.Until) })
	return all, now, err
}

// AllGrants is what Revoke takes for all that there are.
const AllGrants = "all"

// Revoke ends grants at an approver's word: those that were given on a card, by its id or its short name, or AllGrants.
// Once it returns without an error no call passes by them any more, in any process that shares the store.
func (gr *Grants) Revoke(ctx context.Context, a Answer, of string) (Outcome, error) {
	person := gr.terms().people[a.ID]
	if person == "" {
		return Outcome{Kind: Unauthorised, Text: NotAuthorised}, nil
	}
	all, _, err := gr.o.Store.Grants(ctx)
	if err != nil {
		return told(Outcome{}, err)
	}
	all = slices.DeleteFunc(all, func(g store.Given) bool {
		return of != AllGrants && of != g.ID && !strings.EqualFold(codes.Ref(g.ID), of)
	})
	for i := range all {
		if err := gr.end(ctx, &all[i]); err != nil {
			return told(Outcome{}, err)
		}
		g := &all[i]
		gr.note(ctx, record.Entry{
			Kind: record.KindRevoke, Ref: codes.Ref(g.ID), Card: g.ID, Client: g.Conversation.Client,
			Session: g.Conversation.Key, Agent: g.Agent, Run: g.Run, Tool: g.Tool, Level: g.Level.String(),
			Note: fmt.Sprintf("granted%s by %s until %s", Only(g), strings.Join(g.By, ", "),
				g.Until.UTC().Format(time.DateTime+" UTC")),
			People: []record.Person{{Name: person, Via: a.Via, At: time.Now().UTC()}},
		})
	}
	switch len(all) {
	case 0:
		return notFound("No such grant is open. Nothing was changed."), nil
	case 1:
		return replied(fmt.Sprintf("The grant for %s%s was ended by %s (%s). The next such call asks again.",
			quote(all[0].Tool), Only(&all[0]), person, a.Via)), nil
	}
	return replied(fmt.Sprintf("%d grants were ended by %s (%s).", len(all), person, a.Via)), nil
}

// end ends a grant, and takes back the yes on its card if no call has used it.
func (gr *Grants) end(ctx context.Context, g *store.Given) error {
	this := func(one *store.Grant) bool { return one.ID == g.ID }
	n, ends := g.Conversation, func(t *store.Tx) error {
		t.C.EndGrants(this)
		return nil
	}
	if g.Always {
		ends = func(t *store.Tx) error {
			keepAlways(t, g.Agent, this)
			return nil
		}
		if c, _, err := gr.load(ctx, g.ID); err == nil { // its card belongs to a conversation
			n = c.kept.Conversation
		}
	}
	_, err := gr.takeBack(ctx, n, "the yes was taken back", func(c *Card) bool {
		return c.ID == g.ID && c.State == Allowed
	}, ends)
	return err
}

// Only says of a grant which calls of its tool it covers; nothing of one that covers them all.
func Only(g *store.Given) string {
	switch {
	case g.Target == "":
		return ""
	case strings.HasPrefix(g.Target, same):
		return " only to " + g.Shown
	}
	return " only exactly " + quote(g.Shown)
}

// Holds says in which conversations a grant holds.
func Holds(g *store.Given) string {
	if g.Always {
		return "every conversation of " + quote(g.Agent)
	}
	return g.Conversation.Ref()
}

// mostListed is how many things one message names.
const mostListed = 20

// list answers `.grants`.
func (gr *Grants) list(ctx context.Context, via string) (Outcome, error) {
	open, _, err := gr.List(ctx)
	if len(open) == 0 {
		return replied("Nothing is granted: every call that needs a person asks."), err
	}
	var b strings.Builder
	for i := range open[:min(len(open), mostListed)] {
		g := &open[i]
		until := g.Until.UTC().Format(time.DateTime) + " UTC"
		if g.Run != "" {
			until += " or the end of the run"
		}
		fmt.Fprintf(&b, "%s  %s%s  in %s  until %s  by %s\n", codes.Ref(g.ID), quote(g.Tool), Only(g), Holds(g),
			until, strings.Join(g.By, ", "))
	}
	if more := len(open) - mostListed; more > 0 {
		fmt.Fprintf(&b, "… and %d more.\n", more)
	}
	b.WriteString(command(via, "revoke <ref>") + " ends one, " + command(via, "revoke all") + " all of them.")
	return replied(b.String()), err
}
