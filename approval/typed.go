package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/session"
)

// commands takes the lines that people type, here or in the chat of an agent's runtime.
type commands struct {
	*cardStore

	announcer *announcer
	votes     *votes
	edits     *edits
	pauses    *Pauses
	grants    *Grants
	sources   *Sources
}

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
.grants                                list what runs without asking, and until when
.revoke <ref|all>                      end one such grant, or all
.sources [session-ref]                 list what a conversation has read; without a reference, scheduled jobs that outside content started
.reset-trust <session-ref>             forget what a conversation has read, and end its grants`

// help is help with the limits in force.
func (t *terms) help() string {
	return helpLines + fmt.Sprintf("\nA question can be answered for %g minutes, and so long a yes waits for its call. A longer yes lasts %d minutes at most, for `all` %d.",
		t.TTL.Minutes(), t.MaxMinutes, min(allMinutes, t.MaxMinutes))
}

// typed takes a line that someone wrote.
func (cm *commands) typed(ctx context.Context, person string, a Answer) (Outcome, error) {
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
	again, err := cm.repeated(ctx, cmd.Verb, a)
	switch {
	case err != nil:
		return Outcome{Text: storeGone}, err
	case again:
		return Outcome{}, nil
	}
	switch cmd.Verb {
	case codes.Help:
		return Outcome{Kind: Replied, Text: cm.terms().help()}, nil
	case codes.Pending:
		return cm.list(ctx, a)
	case codes.ResetTrust:
		return cm.sources.reset(ctx, person, a.Via, cmd.Session)
	case codes.Sources:
		return cm.sources.listSources(ctx, a.Via, cmd.Session)
	case codes.Pause:
		return cm.pauses.pause(ctx, person, a.Via, cmd.Agent)
	case codes.Resume:
		return cm.pauses.resume(ctx, person, a.Via, cmd.Agent)
	case codes.Pair:
		return Outcome{Kind: Replied, Text: "Nothing is being set up here. `verifier setup` shows a code and waits for it."}, nil
	case codes.Grants:
		return cm.grants.listGrants(ctx, a.Via)
	case codes.Revoke:
		return cm.grants.revoke(ctx, revocation{person: person, via: a.Via, all: cmd.Grant == "", meant: func(g *session.Grant) bool {
			return strings.EqualFold(codes.Ref(g.ID), cmd.Grant)
		}})
	}
	return cm.withCode(ctx, person, a, cmd)
}

// keepMessages is for how long a message is not taken again. Telegram keeps what was not confirmed for a day.
const keepMessages = 25 * time.Hour

// repeated reports whether a platform brings a message for the second time, in whichever process, and its line lets more pass: that must not
// happen again when something else was said or read since. Any other line does no harm twice, and the first time may have failed.
func (cm *commands) repeated(ctx context.Context, verb codes.Verb, a Answer) (bool, error) {
	weakens := verb == codes.Approve || verb == codes.Resume || verb == codes.ResetTrust
	if a.Message == "" || !weakens {
		return false, nil
	}
	n, err := cm.o.Store.Count(ctx, "message:"+a.Via+":"+a.Message, keepMessages, true) // no person has a colon in the name
	return n > 1, err
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
func (cm *commands) withCode(ctx context.Context, person string, a Answer, cmd codes.Command) (Outcome, error) {
	t := cm.terms()
	tries, err := cm.o.Store.Count(ctx, person, t.TTL, false)
	if err != nil {
		return Outcome{Text: storeGone}, err
	}
	if tries >= maxTries {
		return Outcome{Kind: Locked, Text: "Too many wrong codes. Typed answers are locked for you for a while; buttons and references still work."}, nil
	}
	id, err := cm.find(ctx, cmd.Code, a.Carrier)
	if err != nil {
		return Outcome{Text: storeGone}, err
	}
	if id == "" {
		return cm.missed(ctx, person, a.Via)
	}
	if (cmd.Like || cmd.Exactly && !cmd.Turn) && cmd.Minutes == 0 {
		cmd.Minutes = tapMinutes
	}
	vote := Answer{code: cmd.Code, ID: a.ID, Name: a.Name, Via: a.Via, Carrier: a.Carrier, Allow: cmd.Verb == codes.Approve, Reason: cmd.Reason, Scope: Scope{Like: cmd.Like, Exactly: cmd.Exactly, Minutes: cmd.Minutes, Turn: cmd.Turn}}
	if cmd.With != "" {
		vote.Tool, vote.Params = cmd.Tool, cmd.With
		return cm.edits.edited(ctx, person, id, vote, t.MaxMinutes)
	}
	most := t.MaxMinutes
	if cmd.Verb == codes.Approve && cmd.Tool == "all" {
		vote.all, most = true, min(most, allMinutes)
	} else if cmd.Verb == codes.Approve {
		vote.Tool = cmd.Tool
	}
	return cm.votes.countLike(ctx, person, id, vote, most)
}

// missed counts a wrong code. The fifth locks the person out, and everyone who
// may approve gets a notice: someone may be guessing.
func (cm *commands) missed(ctx context.Context, person, via string) (Outcome, error) {
	ttl := cm.terms().TTL
	tries, err := cm.o.Store.Count(ctx, person, ttl, true)
	if err != nil {
		return Outcome{Text: storeGone}, err
	}
	if tries < maxTries {
		return Outcome{Kind: NotFound, Text: fmt.Sprintf("No question has this code. %d tries left.", maxTries-tries)}, nil
	}
	if tries == maxTries {
		text := fmt.Sprintf("%s typed %d wrong codes on %s. Typed answers are locked for %s for %g minutes.", person, maxTries, via, person, ttl.Minutes())
		cm.note(ctx, record.Entry{Kind: record.KindLock, People: []record.Person{{Name: person, Via: via}}, Note: text})
		cm.o.Log.WarnContext(ctx, "typed answers are locked", "person", person, "via", via)
		cm.Tell(ctx, text)
	}
	return Outcome{Kind: Locked, Text: "Too many wrong codes. Typed answers are locked for you for a while; buttons and references still work."}, nil
}

// list shows what waits for the one who asks. A chat shows what was put there: a code
// of another chat's card is not for all who read along.
func (cm *commands) list(ctx context.Context, a Answer) (Outcome, error) {
	cards, err := cm.Pending(ctx, a.ID)
	cards = slices.DeleteFunc(cards, func(c *Card) bool { return !cm.announcer.shownIn(c, a.Via) })
	if err != nil {
		return Outcome{Text: "The store can't be reached. Try again."}, err
	}
	var b strings.Builder
	if paused := cm.pauses.Text(); paused != "" {
		b.WriteString(paused + "\n")
	}
	if len(cards) == 0 {
		b.WriteString("Nothing is waiting.\n")
	}
	for _, c := range cards {
		fmt.Fprintf(&b, "%s  %s  .approve %s %s\n", c.Ref(), c.tools(), c.TypedTool(), c.Code)
	}
	if open, err := cm.grants.List(ctx); err == nil && len(open.Grants) > 0 {
		b.WriteString(Count(len(open.Grants), "grant is", "grants are") + " open. `.grants` lists them.\n")
	}
	return Outcome{Kind: Replied, Text: strings.TrimSuffix(b.String(), "\n")}, nil
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
