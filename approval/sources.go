package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/session"
)

// Sources are what conversations have read, and the owner's word about it.
type Sources struct{ *core }

// Vouching is the owner's word about a source of a conversation.
type Vouching struct {
	ID           string    // who: platform:id, as in Answer
	Via          string    // where
	Conversation string    // its reference, or its hash
	Source       int64     // its number: session.Influence.Number
	Seen         time.Time // Influence.Last as the person saw it; zero: as it is now
	Take         bool      // the word is taken back
}

// Of returns the sources whose content is in a conversation, by its reference or its
// hash. ErrUnknown and ErrAmbiguous say that it was not found.
func (so *Sources) Of(ctx context.Context, ref string) (session.Account, error) {
	return so.o.Store.Influences(ctx, ref)
}

// Endorse takes a source out of the account at an approver's word, or back in.
// What it brought so far no longer counts; what it brings later does. Grants end,
// since one from before it had a say would cover again.
func (so *Sources) Endorse(ctx context.Context, v Vouching) (Outcome, error) {
	person, listed := so.terms().people[v.ID]
	if !listed {
		return Outcome{Kind: Unauthorised, Text: NotAuthorised}, nil
	}
	return so.vouch(ctx, person, v)
}

func (so *Sources) vouch(ctx context.Context, person string, v Vouching) (Outcome, error) {
	if !v.Take && so.o.NoReset != nil && so.o.NoReset() {
		return Outcome{Kind: Misunderstood, Text: "Under the profile strict a level is never lowered. Start a new session instead."}, nil
	}
	account, err := so.Of(ctx, v.Conversation)
	if err != nil {
		return so.noSource(v.Via, v.Conversation, err)
	}
	at := account.Influences.Find(v.Source)
	if at < 0 {
		return so.noSource(v.Via, v.Conversation, ErrNoSource)
	}
	one := account.Influences[at]
	switch {
	case !v.Seen.IsZero() && !v.Seen.Equal(one.Last):
		return so.noSource(v.Via, v.Conversation, ErrAgain)
	case !v.Take && one.Fixed:
		return so.noSource(v.Via, v.Conversation, ErrFixed)
	}
	// No record, no trust: the record says first who lowers a level.
	if err := so.o.Record.Append(vouchEntry(person, v, &account, &one)); err != nil && !v.Take {
		return Outcome{Text: "The record can't be written. Nothing was changed; try again."}, err
	}
	done, err := so.o.Store.Endorse(ctx, account.Conversation.Hash(), v.Source, !v.Take, one.Last)
	if err != nil {
		return so.noSource(v.Via, v.Conversation, err)
	}
	return Outcome{Kind: Replied, Text: vouched(&done, v.Take)}, nil
}

func vouchEntry(person string, v Vouching, account *session.Account, one *session.Influence) audit.Entry {
	says := "vouches for what it brought so far"
	if v.Take {
		says = "takes that back"
	}
	return audit.Entry{
		Kind: audit.KindEndorse, Client: account.Conversation.Client, Session: account.Conversation.Key, SessionID: one.Session,
		Ref: account.Conversation.Ref(), Level: one.Level.String(), Source: one.Label, Step: one.Step,
		Note:   fmt.Sprintf("source %d", one.Number),
		People: []audit.Person{{Name: person, Via: v.Via, At: time.Now().UTC(), Says: says}},
	}
}

// vouched says what it came to.
func vouched(e *session.Endorsement, take bool) string {
	what := fmt.Sprintf("%d (%s)", e.Influence.Number, quote(e.Influence.Label))
	level := fmt.Sprintf("The level of %s is %s", e.Conversation.Ref(), e.After)
	if take {
		return fmt.Sprintf("Source %s counts again. %s.", what, level)
	}
	if e.After == e.Before {
		level += " as before because of other sources: `.sources` lists them"
	} else {
		level += " now, it was " + e.Before.String()
	}
	return fmt.Sprintf("What source %s has brought so far counts no longer; what it brings from now on does. %s. Grants that were given there have ended. What the agent read is still in its context.", what, level)
}

// noSource says why nothing was changed.
func (so *Sources) noSource(via, ref string, err error) (Outcome, error) {
	switch {
	case errors.Is(err, ErrNoSource):
		return Outcome{Kind: NotFound, Text: "The conversation has no source with this number. " + command(via, "sources "+strings.ToUpper(ref)) + " lists them."}, nil
	case errors.Is(err, ErrFixed):
		return Outcome{Kind: Misunderstood, Text: "You can't endorse this one: it did not come from a tool, or we know too little about it. `.reset-trust` forgets all of them."}, nil
	case errors.Is(err, ErrAgain):
		return Outcome{Kind: TooLate, Text: "It has added something since you looked. Nothing was changed; look at " + command(via, "sources") + " once more."}, nil
	}
	return so.noConversation(ref, err)
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
		return so.noSource(via, ref, err)
	}
	all := slices.Clone(account.Influences)
	slices.SortStableFunc(all, func(a, b session.Influence) int { return b.Last.Compare(a.Last) })
	var b strings.Builder
	fmt.Fprintf(&b, "%s is at %s.\n", account.Conversation.Ref(), account.Level)
	last, err := so.renewed(ctx, account.Conversation)
	if err != nil {
		return so.noSource(via, ref, err)
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
	b.WriteString(command(via, "endorse "+account.Conversation.Ref()+" <number>") + " vouches for what one of them has brought so far.")
	return Outcome{Kind: Replied, Text: b.String()}, nil
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

// SourceLine says in one line what had a say, since when, and whether it counts.
func SourceLine(i *session.Influence) string {
	name := quote(i.Label)
	if i.Label == "" {
		name = "what is not known any more"
	}
	line := fmt.Sprintf("%d  %s  %s  since %s", i.Number, name, i.Level, i.First.UTC().Format(time.DateTime))
	if !i.Last.Equal(i.First) {
		line += ", last " + i.Last.UTC().Format(time.DateTime)
	}
	line += " UTC"
	switch {
	case !i.Endorsed.IsZero():
		line += "  vouched for"
	case i.Fixed:
		line += "  (can't be endorsed)"
	}
	return line
}

// Jobs are the agents with scheduled jobs that come from outside content, each with
// those jobs as its sources. Agents for all of whose jobs someone has vouched are
// left out.
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
		case slices.ContainsFunc(account.Influences, counts):
			out = append(out, account)
		}
	}
	return out, nil
}

func counts(i session.Influence) bool { return i.Endorsed.IsZero() }

// listJobs answers `.sources` without a reference.
func (so *Sources) listJobs(ctx context.Context, via string) (Outcome, error) {
	all, err := so.Jobs(ctx)
	if err != nil {
		return so.noSource(via, "", err)
	}
	if len(all) == 0 {
		return Outcome{Kind: Replied, Text: "No scheduled job comes from outside content. Add the reference from a card to list what came into that conversation."}, nil
	}
	var b strings.Builder
	b.WriteString("Scheduled jobs that come from a conversation with outside content in it:\n")
	for i := range all {
		ref := all[i].Conversation.Ref()
		for _, one := range all[i].Influences {
			if counts(one) {
				fmt.Fprintf(&b, "%s %s\n", ref, SourceLine(&one))
			}
		}
	}
	b.WriteString(command(via, "endorse <reference> <number>") + " vouches for one of them. Removing a job in your agent's software removes it here.")
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
	so.note(ctx, audit.Entry{
		Kind: audit.KindReset, Client: conv.Client, Session: conv.Key, Ref: conv.Ref(),
		People: []audit.Person{{Name: person, Via: via, At: time.Now().UTC()}},
	})
	return Outcome{Kind: Replied, Text: "The taint of " + conv.Ref() + " is forgotten and its grants have ended. What the agent read is still in its context."}, nil
}
