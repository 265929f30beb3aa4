package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
)

// Pauses are the owner's pauses of agents. What binds a call is read in the update that allows it.
type Pauses struct{ *shows }

// binds reports whether one of the pauses binds an agent's calls. Calls that name no agent are bound by any.
func binds(all []store.Pause, agent string) bool {
	return slices.ContainsFunc(all, func(p store.Pause) bool {
		return p.Agent == "" || agent == "" || strings.EqualFold(p.Agent, agent)
	})
}

// List gives the pauses that hold.
func (ps *Pauses) List(ctx context.Context) ([]store.Pause, error) { return ps.o.Store.Pauses(ctx) }

// Text says what is paused and by whom; nothing if nothing is.
func (ps *Pauses) Text(ctx context.Context) string {
	all, err := ps.List(ctx)
	if err != nil {
		return "The store can't be reached, so we don't know which agents are paused."
	}
	var lines []string
	for _, p := range all {
		lines = append(lines, fmt.Sprintf("PAUSED: %s, by %s since %s UTC. `.resume` lifts it.",
			whom(ps.o.Hide(p.Agent)), p.By, p.At.UTC().Format(time.DateTime)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// by is a record entry about what the person says now.
func (an *answering) by(kind record.Kind, agent, note string) record.Entry {
	people := []record.Person{{Name: an.person, Via: an.Via, At: time.Now().UTC()}}
	return record.Entry{Kind: kind, Agent: agent, Note: note, People: people}
}

// pause stops an agent, or all: nothing but what is harmless passes from now on, in every process that shares the
// store.
func (an *answering) pause(ctx context.Context, agent string) (Outcome, error) {
	err := an.o.Store.Pause(ctx, store.Pause{Agent: agent, On: true, By: an.person, At: time.Now()})
	an.pauseWaits(ctx)
	if err != nil {
		return Outcome{}, err
	}
	text := fmt.Sprintf("%s paused by %s (%s). Only harmless tools run until `.resume`.",
		whom(an.o.Hide(agent)), an.person, an.Via)
	an.warn(ctx, an.by(record.KindPause, agent, whom(agent)), text)
	return replied(text), nil
}

// resume lifts what binds an agent, or all, and lets it ask again. It is recorded first: what can't be recorded is
// not lifted.
func (an *answering) resume(ctx context.Context, agent string) (Outcome, error) {
	if err := an.o.Record.Append(an.by(record.KindResume, agent, whom(agent))); err != nil {
		return Outcome{}, err
	}
	err := an.o.Store.Pause(ctx, store.Pause{Agent: agent, By: an.person, At: time.Now()})
	all, errRead := an.Pauses.List(ctx)
	if err = errors.Join(err, errRead); err != nil {
		return Outcome{}, err
	}
	text := fmt.Sprintf("%s resumed by %s (%s).", whom(an.o.Hide(agent)), an.person, an.Via)
	if agent != "" && binds(all, agent) {
		text += " A pause of all agents still holds; `.resume` lifts it."
	}
	an.Tell(ctx, text)
	return replied(text), nil
}

func whom(agent string) string {
	if agent == "" {
		return "All agents"
	}
	return "The agent " + quote(agent)
}

// Sources is a conversation by its short name, with what made it worse. store.ErrUnknown and store.ErrAmbiguous say
// that it was not found.
func (d *Desk) Sources(ctx context.Context, ref string) (store.Conversation, error) {
	n, err := d.o.Store.Find(ctx, ref)
	if err != nil {
		return store.Conversation{}, err
	}
	return d.o.Store.Look(ctx, n)
}

// noConversation says why none was found by a reference.
func (an *answering) noConversation(ref string, err error) (Outcome, error) {
	switch {
	case errors.Is(err, store.ErrUnknown):
		return notFound("No conversation has the reference " + quote(an.o.Hide(ref)) + "."), nil
	case errors.Is(err, store.ErrAmbiguous):
		return notFound("Several conversations begin with " + quote(an.o.Hide(ref)) + ". Write more of it."), nil
	}
	return Outcome{}, err
}

// sources answers `.sources`: what made the conversation worse, the last first.
func (an *answering) sources(ctx context.Context, ref string) (Outcome, error) {
	if ref == "" {
		return misunderstood(nil, "Add the reference from a card: it lists what came into that conversation."), nil
	}
	c, err := an.Sources(ctx, ref)
	if err != nil {
		return an.noConversation(ref, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s is at %s.", c.Ref(), c.Worst())
	if !c.Reset.IsZero() {
		fmt.Fprintf(&b, " Its owner reset it at %s UTC.", c.Reset.UTC().Format(time.DateTime))
	}
	for _, cause := range slices.Backward(c.Causes) {
		fmt.Fprintf(&b, "\n%s  %s  at %s UTC", quote(cause.What), cause.Level, cause.At.UTC().Format(time.DateTime))
	}
	if len(c.Causes) == 0 {
		b.WriteString("\nNothing made it worse.")
	}
	return replied(b.String()), nil
}

// reset forgets at the owner's word what a conversation has read, ends its grants and takes back its open cards. With
// the reference of files that were written unseen it says that the owner has looked at those.
func (an *answering) reset(ctx context.Context, ref string) (Outcome, error) {
	e := an.by(record.KindReset, "", "")
	if by := an.Carrier; by != nil { // it needs no code: only where it is typed, in full
		if own := by.Conversation; len(ref) < len(own.Ref()) || !strings.HasPrefix(own.Hash(), strings.ToLower(ref)) {
			return notFound("This conversation has another reference. One is reset where it is typed, with all 8 " +
				"characters, or where verifier asks you."), nil
		}
	}
	cleared, err := an.o.Store.ClearUnseen(ctx, ref)
	switch {
	case err != nil:
		return Outcome{}, err
	case cleared:
		e.Ref, e.Note = strings.ToUpper(ref), "the files that were written unseen were looked at"
		an.note(ctx, e)
		return replied("Noted: you have looked at the files. Builds and tests pass again."), nil
	case an.o.NoReset != nil && an.o.NoReset():
		return misunderstood(nil, "The profile strict never lowers a level. Start a new session instead."), nil
	}
	n, err := an.o.Store.Find(ctx, ref)
	if err == nil {
		all := func(*Card) bool { return true }
		_, err = an.takeBack(ctx, n, "the owner reset the conversation", all, func(t *store.Tx) error {
			t.C.Forget(t.Now)
			n = t.C.Name
			return nil
		})
	}
	if err != nil {
		return an.noConversation(ref, err)
	}
	e.Client, e.Session, e.Ref = n.Client, n.Key, n.Ref()
	an.note(ctx, e)
	return replied(fmt.Sprintf("The taint of %s is forgotten, its grants have ended and its open questions are "+
		"withdrawn. What the agent read is still in its context.", n.Ref())), nil
}
