package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/recent"
	"github.com/openclaw-verifier/verifier/session"
)

// helpLines are the lines that `.help` lists.
const helpLines = `.approve <tool> <code>                 allow this call once
.approve <tool> <code> <minutes>       allow this tool in this conversation for so long; of a shell, only commands that do the same
.approve <tool> <code> turn            the same until the run ends
.approve <tool> <code> exactly [minutes|turn]  allow exactly this call again; 30 minutes if you give no number
.approve <tool> <code> like [minutes]  allow calls like it to the same destination: you first read what that covers
.approve <tool> <code> with {"…"}      allow it once with these arguments instead: you first read what that changes
.approve all <code> [minutes|turn]     allow the calls that are listed on that card, and no call that came later
.deny <code> [reason]                  deny every call on that card; the agent reads the reason
.pending                               list what waits for you
.pause [agent]                         stop an agent, or all: only harmless tools run
.resume [agent]                        end the pause
.mute <agent> [minutes]                deny what would ask, without a question; 60 minutes if you give no number
.mute in <session-ref> [minutes]       the same for one conversation
.unmute [agent]                        end that; without an agent, all of it
.unmute in <session-ref>               end it for one conversation
.away until <friday|18:30|2d> [name]   you are not asked until then; the approver you name decides what they may
.back                                  you are asked again
.grants                                list what runs without asking, and until when
.revoke <ref|all>                      end one such grant, or all
.sources [session-ref]                 list what a conversation has read; without a reference, scheduled jobs that outside content started
.endorse <session-ref> <number>        trust what that source has brought so far
.distrust <session-ref> <number>       take that back
.reset-trust <session-ref>             forget what a conversation has read, and end its grants`

// help is help with the limits in force.
func (t *terms) help() string {
	return helpLines + fmt.Sprintf("\nA question can be answered for %g minutes, and so long a yes waits for its call. A longer yes lasts %d minutes at most, for `all` %d.",
		t.TTL.Minutes(), t.MaxMinutes, min(allMinutes, t.MaxMinutes))
}

// typed takes a line that someone wrote.
func (d *Desk) typed(ctx context.Context, person string, a Answer) (Outcome, error) {
	cmd, err := codes.Parse(a.Text)
	if syntax, ok := errors.AsType[*codes.SyntaxError](err); ok {
		return Outcome{Kind: Misunderstood, Text: syntax.Hint}, nil
	}
	if errors.Is(err, codes.ErrNotCommand) {
		return Outcome{Kind: Ignored}, nil
	}
	if err != nil {
		return Outcome{Text: "The line could not be read."}, err
	}
	switch cmd.Verb {
	case codes.Help:
		return Outcome{Kind: Told, Text: d.terms().help()}, nil
	case codes.Pending:
		return d.list(ctx, a)
	case codes.ResetTrust:
		return d.reset(ctx, person, a.Via, cmd.Session)
	case codes.Sources:
		return d.listSources(ctx, a.Via, cmd.Session)
	case codes.Endorse, codes.Distrust:
		return d.vouch(ctx, person, Vouching{Via: a.Via, Conversation: cmd.Session, Source: cmd.Source, Take: cmd.Verb == codes.Distrust})
	case codes.Pause:
		return d.pause(ctx, person, a.Via, cmd.Agent)
	case codes.Resume:
		return d.resume(ctx, person, a.Via, cmd.Agent)
	case codes.Away:
		return d.away(ctx, person, a.Via, &cmd)
	case codes.Back:
		return d.back(ctx, person, a.Via)
	case codes.Mute:
		return d.mute(ctx, person, a.Via, &cmd)
	case codes.Unmute:
		return d.unmute(ctx, person, a.Via, &cmd)
	case codes.Pair:
		return Outcome{Kind: Told, Text: "Nothing is being set up here. `verifier setup` shows a code and waits for it."}, nil
	case codes.Grants:
		return d.listGrants(ctx, a.Via)
	case codes.Revoke:
		return d.revoke(ctx, revocation{person: person, via: a.Via, all: cmd.Grant == "", meant: func(g *session.Grant) bool {
			return strings.EqualFold(codes.Ref(g.ID), cmd.Grant)
		}})
	}
	return d.withCode(ctx, person, a, cmd)
}

// command is a line as it is typed where someone looks: in a shell it is the
// program's own.
func command(via, line string) string {
	if via == Terminal {
		return "`verifier " + line + "`"
	}
	return "`." + line + "`"
}

// withCode takes `.approve` and `.deny`.
func (d *Desk) withCode(ctx context.Context, person string, a Answer, cmd codes.Command) (Outcome, error) {
	t := d.terms()
	tries, err := d.o.Store.Miss(ctx, person, t.TTL, false)
	if err != nil {
		return Outcome{Text: "The store can't be reached. Nothing was changed; try again."}, err
	}
	if tries >= maxTries {
		return Outcome{Kind: Locked, Text: "Too many wrong codes. Typed answers are locked for you for a while; buttons and references still work."}, nil
	}
	id, err := d.find(ctx, cmd.Code, a.Carrier)
	if err != nil {
		return Outcome{Text: "The store can't be reached. Nothing was changed; try again."}, err
	}
	if id == "" {
		return d.missed(ctx, person, a.Via)
	}
	if (cmd.Like || cmd.Exactly && !cmd.Turn) && cmd.Minutes == 0 {
		cmd.Minutes = tapMinutes
	}
	vote := Answer{code: cmd.Code, ID: a.ID, Name: a.Name, Via: a.Via, Carrier: a.Carrier, Allow: cmd.Verb == codes.Approve, Reason: cmd.Reason, Scope: Scope{Like: cmd.Like, Exactly: cmd.Exactly, Minutes: cmd.Minutes, Turn: cmd.Turn}}
	if cmd.With != "" {
		vote.Tool, vote.Params = cmd.Tool, cmd.With
		return d.edited(ctx, person, id, vote, t.MaxMinutes)
	}
	most := t.MaxMinutes
	if cmd.Verb == codes.Approve && cmd.Tool == "all" {
		vote.all, most = true, min(most, allMinutes)
	} else if cmd.Verb == codes.Approve {
		vote.Tool = cmd.Tool
	}
	return d.countLike(ctx, person, id, vote, most)
}

// missed counts a wrong code. The fifth locks the person out and is told to
// everyone who may approve: someone may be guessing.
func (d *Desk) missed(ctx context.Context, person, via string) (Outcome, error) {
	ttl := d.terms().TTL
	tries, err := d.o.Store.Miss(ctx, person, ttl, true)
	if err != nil {
		return Outcome{Text: "The store can't be reached. Nothing was changed; try again."}, err
	}
	if tries < maxTries {
		return Outcome{Kind: NotFound, Text: fmt.Sprintf("No question has this code. %d tries left.", maxTries-tries)}, nil
	}
	if tries == maxTries {
		text := fmt.Sprintf("%s typed %d wrong codes on %s. Typed answers are locked for %s for %g minutes.", person, maxTries, via, person, ttl.Minutes())
		d.note(ctx, audit.Entry{Kind: audit.KindLock, People: []audit.Person{{Name: person, Via: via}}, Note: text})
		d.o.Log.WarnContext(ctx, "typed answers are locked", "person", person, "via", via)
		d.Tell(ctx, text)
	}
	return Outcome{Kind: Locked, Text: "Too many wrong codes. Typed answers are locked for you for a while; buttons and references still work."}, nil
}

// Notice is a card that asks nothing and tells something.
func (c *Card) Notice() string { return c.notice }

// Tell shows a notice on every channel.
func (d *Desk) Tell(ctx context.Context, text string) {
	for name, ch := range d.o.Channels {
		d.runFor(ctx, func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, sendDeadline)
			defer cancel()
			if _, err := ch.Send(ctx, &Card{notice: text}); err != nil {
				d.o.Log.ErrorContext(ctx, "a notice could not be sent", "channel", name, "err", err)
			}
		})
	}
}

// list shows what waits for the one who asks. A chat shows what was put there: a code
// of another chat's card is not for all who read along.
func (d *Desk) list(ctx context.Context, a Answer) (Outcome, error) {
	cards, err := d.Pending(ctx, a.ID)
	cards = slices.DeleteFunc(cards, func(c *Card) bool { return !d.shownIn(c, a.Via) })
	if err != nil {
		return Outcome{Text: "The store can't be reached. Try again."}, err
	}
	var b strings.Builder
	if paused := d.Paused(); paused != "" {
		b.WriteString(paused + "\n")
	}
	b.WriteString(d.Absent(ctx, a.Via))
	if len(cards) == 0 {
		b.WriteString("Nothing is waiting.\n")
	}
	for _, c := range cards {
		fmt.Fprintf(&b, "%s  %s  .approve %s %s\n", c.Ref(), c.tools(), c.TypedTool(), c.Code)
	}
	if open, err := d.Grants(ctx, ""); err == nil && len(open.Grants) > 0 {
		b.WriteString(counted(len(open.Grants), "grant is", "grants are") + " open. `.grants` lists them.\n")
	}
	return Outcome{Kind: Told, Text: strings.TrimSuffix(b.String(), "\n")}, nil
}

// TypedTool is what `.approve` names: the tool, or all of the card where there
// are several or the name can't be typed.
func (c *Card) TypedTool() string {
	if len(c.Questions) == 1 && Typeable(c.Questions[0].Ask.Tool) {
		return c.Questions[0].Ask.Tool
	}
	return "all"
}

// Typeable reports whether a tool's name can go into a line that people copy,
// perhaps into a shell by mistake.
func Typeable(tool string) bool {
	const plain = "abcdefghijklmnopqrstuvwxyz0123456789_-.:/"
	return tool != "" && len(tool) <= 40 && strings.Trim(tool, plain) == ""
}

// ErrNotApprover says that someone asked for what only approvers may see.
var ErrNotApprover = errors.New("approval: not an approver")

// Pending lists the open cards that an approver may answer, with their codes.
func (d *Desk) Pending(ctx context.Context, id string) ([]*Card, error) {
	person, listed := d.terms().people[id]
	if !listed {
		return nil, ErrNotApprover
	}
	cards, _, err := d.openCards(ctx)
	return slices.DeleteFunc(cards, func(c *Card) bool {
		return slices.ContainsFunc(c.all(), func(q *Question) bool { return !q.Ask.admits(person) })
	}), err
}

// shownIn reports whether a stage that has begun puts a card into a channel. Where
// people look by themselves, they see all.
func (d *Desk) shownIn(c *Card, channel string) bool {
	if channel == Terminal || d.o.Channels[channel] == nil {
		return true
	}
	for stage := range c.Stage + 1 {
		if names, _ := d.channels(c, stage); slices.Contains(names, channel) {
			return true
		}
	}
	return false
}

// openCards are those that wait for an answer, oldest first.
func (d *Desk) openCards(ctx context.Context) (cards []*Card, now time.Time, err error) {
	ids, err := d.o.Store.Open(ctx)
	if err != nil || len(ids) == 0 {
		return nil, now, err
	}
	stored, now, err := d.o.Store.Load(ctx, ids...)
	if err != nil {
		return nil, now, err
	}
	now = now.UTC()
	for _, s := range stored {
		c, err := d.open(s, now)
		if err != nil {
			d.o.Log.ErrorContext(ctx, "a stored card can't be read and is not shown", "card", s.ID, "err", err)
			continue
		}
		if c.Frozen && !c.closed(now) {
			cards = append(cards, c)
		}
	}
	return cards, now, nil
}

// reset lowers a conversation's level at the owner's word.
func (d *Desk) reset(ctx context.Context, person, via, ref string) (Outcome, error) {
	if d.o.NoReset != nil && d.o.NoReset() {
		return Outcome{Kind: Misunderstood, Text: "Under the profile strict a level is never lowered. Start a new session instead."}, nil
	}
	conv, err := d.o.Store.Reset(ctx, ref)
	switch {
	case errors.Is(err, ErrUnknown):
		return Outcome{Kind: NotFound, Text: "No conversation has the reference " + quote(d.o.Hide(ref)) + "."}, nil
	case errors.Is(err, ErrAmbiguous):
		return Outcome{Kind: NotFound, Text: "Several conversations begin with " + quote(d.o.Hide(ref)) + ". Write more of it."}, nil
	case err != nil:
		return Outcome{Text: "The store can't be reached. Nothing was changed; try again."}, err
	}
	d.note(ctx, audit.Entry{
		Kind: audit.KindReset, Client: conv.Client, Session: conv.Key, Ref: conv.Ref(),
		People: []audit.Person{{Name: person, Via: via, At: time.Now().UTC()}},
	})
	return Outcome{Kind: Told, Text: "The taint of " + conv.Ref() + " is forgotten and its grants have ended. What the agent read is still in its context."}, nil
}

// recentCards remembers the cards of this process by their short names, so that a
// late answer is told what happened instead of "no such card".
type recentCards struct {
	mu    sync.Mutex
	byRef recent.Map[string, string]
}

const mostRecentCards = 1024

func (r *recentCards) note(ref, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byRef.Put(ref, id, mostRecentCards)
}

func (r *recentCards) find(ref string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	id, _ := r.byRef.Get(ref)
	return id
}
