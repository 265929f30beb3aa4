package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/session"
)

// Sources are what conversations have read.
type Sources struct{ *core }

// Of returns the sources whose content is in a conversation, by its reference or its
// hash. ErrUnknown and ErrAmbiguous say that it was not found.
func (so *Sources) Of(ctx context.Context, ref string) (session.Account, error) {
	return so.o.Store.Influences(ctx, ref)
}

// mostListed is how many sources one message names.
const mostListed = 20

// listSources answers `.sources`: the last to have a say first.
func (so *Sources) listSources(ctx context.Context, via, ref string) (Outcome, error) {
	if ref == "" {
		return so.listJobs(ctx, via)
	}
	account, err := so.Of(ctx, ref)
	if err != nil {
		return so.noConversation(ref, err)
	}
	all := slices.Clone(account.Influences)
	slices.SortStableFunc(all, func(a, b session.Influence) int { return b.Last.Compare(a.Last) })
	var b strings.Builder
	fmt.Fprintf(&b, "%s is at %s.\n", account.Conversation.Ref(), account.Level)
	last, err := so.renewed(ctx, account.Conversation)
	if err != nil {
		return so.noConversation(ref, err)
	}
	if last.Count > 0 {
		fmt.Fprintf(&b, "The owner started it anew with /new or /reset at %s UTC. What came before counts for earlier runs only.\n", last.At.UTC().Format(time.DateTime))
	}
	if len(all) == 0 {
		b.WriteString("Nothing from outside came into it.")
		return Outcome{Kind: Replied, Text: b.String()}, nil
	}
	for _, i := range all[:min(len(all), mostListed)] {
		b.WriteString(SourceLine(&i))
		if last.Count > 0 && i.Session != "" && i.Session != session.RenewedName(last.Session, last.Count) {
			b.WriteString("  (before the owner started anew)")
		}
		b.WriteString("\n")
	}
	if len(all) > mostListed {
		b.WriteString("… and older ones.\n")
	}
	return Outcome{Kind: Replied, Text: strings.TrimSuffix(b.String(), "\n")}, nil
}

// renewed is the last time that the owner started a conversation anew, if ever.
func (so *Sources) renewed(ctx context.Context, c session.Conversation) (last session.Renewed, _ error) {
	texts, _, err := so.notes(ctx, "note", session.RenewedList(c))
	if err != nil {
		return last, err
	}
	read, err := session.ReadRenewals(texts)
	if err != nil {
		return last, err
	}
	return read.Last, nil
}

// SourceLine says in one line what had a say, and since when.
func SourceLine(i *session.Influence) string {
	name := quote(i.Label)
	if i.Label == "" {
		name = "what is not known any more"
	}
	line := fmt.Sprintf("%s  %s  since %s", name, i.Level, i.First.UTC().Format(time.DateTime))
	if !i.Last.Equal(i.First) {
		line += ", last " + i.Last.UTC().Format(time.DateTime)
	}
	return line + " UTC"
}

// Jobs are the agents with scheduled jobs that come from outside content, each with
// those jobs as its sources.
func (so *Sources) Jobs(ctx context.Context) (out []session.Account, _ error) {
	entries, err := so.o.Store.Notes(ctx, session.JobsList)
	if err != nil {
		return nil, err
	}
	seen := map[session.Conversation]bool{}
	for _, e := range entries {
		c, ok := session.UnpackJobs(e)
		if !ok || seen[c] {
			continue
		}
		seen[c] = true
		account, err := so.Of(ctx, c.Hash())
		switch {
		case errors.Is(err, ErrUnknown):
		case err != nil:
			return nil, err
		case len(account.Influences) > 0:
			out = append(out, account)
		}
	}
	return out, nil
}

// listJobs answers `.sources` without a reference.
func (so *Sources) listJobs(ctx context.Context, via string) (Outcome, error) {
	all, err := so.Jobs(ctx)
	if err != nil {
		return so.noConversation("", err)
	}
	if len(all) == 0 {
		return Outcome{Kind: Replied, Text: "No scheduled job comes from outside content. Add the reference from a card to list what came into that conversation."}, nil
	}
	var b strings.Builder
	b.WriteString("Scheduled jobs that come from a conversation with outside content in it:\n")
	for i := range all {
		ref := all[i].Conversation.Ref()
		for _, one := range all[i].Influences {
			fmt.Fprintf(&b, "%s %s\n", ref, SourceLine(&one))
		}
	}
	b.WriteString(command(via, "reset-trust <reference>") + " forgets those of an agent. Removing a job in your agent's software removes it here.")
	return Outcome{Kind: Replied, Text: b.String()}, nil
}

// reset lowers a conversation's level at the owner's word.
func (so *Sources) reset(ctx context.Context, person, via, ref string) (Outcome, error) {
	if so.o.NoReset != nil && so.o.NoReset() {
		return Outcome{Kind: Misunderstood, Text: "Under the profile strict a level is never lowered. Start a new session instead."}, nil
	}
	conv, err := so.o.Store.Reset(ctx, ref)
	if err != nil {
		return so.noConversation(ref, err)
	}
	so.note(ctx, record.Entry{
		Kind: record.KindReset, Client: conv.Client, Session: conv.Key, Ref: conv.Ref(),
		People: []record.Person{{Name: person, Via: via, At: time.Now().UTC()}},
	})
	return Outcome{Kind: Replied, Text: "The taint of " + conv.Ref() + " is forgotten and its grants have ended. What the agent read is still in its context."}, nil
}
