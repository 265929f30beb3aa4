package approval

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
)

// help are the lines that `.help` lists, with the limits in force.
func (t *terms) help() string {
	return `.approve <tool> <code>                  allow this call once
.approve <tool> <code> <minutes>        allow this tool in this conversation for so long
.approve <tool> <code> turn             the same until the run ends
.approve <tool> <code> same [minutes|turn]     allow calls to the same recipients
.approve <tool> <code> exactly [minutes|turn]  allow exactly this call again
.approve all <code> [minutes|turn]      allow the waiting calls of that conversation that you were shown before
.deny <code> [reason]                   deny the call; the agent reads the reason
.pending                                list what waits for you
.pause [agent]                          stop an agent, or all: only harmless tools run
.resume [agent]                         end the pause
.grants                                 list what runs without asking, and until when
.revoke <ref|all>                       end one such grant, or all
.sources <session-ref>                  list what made a conversation less trusted
.reset-trust <session-ref>              forget what a conversation has read, and end its grants
` + fmt.Sprintf("A question can be answered for %g minutes, and so long a yes waits for its call. "+
		"A longer yes lasts %d minutes at most.", t.TTL.Minutes(), t.MaxMinutes)
}

// relays are the commands that are taken through an agent's runtime: they answer, or make things safer.
var relays = []codes.Verb{codes.Approve, codes.Deny, codes.Pending, codes.Pause, codes.ResetTrust}

// typed takes a line that a person typed, in a channel of ours or in the agent's own chat.
func (an *answering) typed(ctx context.Context) (Outcome, error) {
	by := an.Carrier
	cmd, err := codes.Parse(an.Text)
	if err != nil {
		return an.noCommand(err), nil
	}
	again, err := an.repeated(ctx, cmd.Verb)
	switch {
	case err != nil:
		return Outcome{}, err
	case again && by != nil:
		return Outcome{Kind: TooLate, Text: "This message was taken before. Nothing was changed."}, nil
	case again:
		return Outcome{}, nil
	case by != nil && !slices.Contains(relays, cmd.Verb):
		return misunderstood(nil, "That can't be done from this chat. Do it where verifier asks you."), nil
	}
	switch cmd.Verb {
	case codes.Approve, codes.Deny:
		return an.withCode(ctx, &cmd)
	case codes.Pending:
		return an.list(ctx)
	case codes.Pause:
		return an.pause(ctx, cmd.Agent)
	case codes.ResetTrust:
		return an.reset(ctx, cmd.Session)
	case codes.Help:
		return replied(an.terms().help()), nil
	case codes.Sources:
		return an.sources(ctx, cmd.Session)
	case codes.Resume:
		return an.resume(ctx, cmd.Agent)
	case codes.Grants:
		return an.Grants.list(ctx, an.Via)
	case codes.Revoke:
		return an.Grants.Revoke(ctx, *an.Answer, cmp.Or(cmd.Grant, AllGrants))
	}
	return Outcome{Kind: Ignored}, nil
}

// keepMessages is for how long a message is not taken again. Telegram keeps what was not confirmed for a day.
const keepMessages = 25 * time.Hour

// noCommand answers a line that can't be read. What people say to each other is no business of ours.
func (an *answering) noCommand(err error) Outcome {
	syntax, ok := errors.AsType[*codes.SyntaxError](err)
	switch {
	case an.Carrier != nil:
		return misunderstood(nil, "That is not a command as verifier knows them. Nothing was changed; "+
			"`.help` lists them where it asks you.")
	case ok:
		return misunderstood(nil, syntax.Hint)
	}
	return Outcome{Kind: Ignored}
}

// repeated reports whether a message comes for the second time, in whichever process. What a runtime carries is not
// taken twice: an eavesdropper could send it again, when a conversation has been tainted since. A platform may bring a
// line twice, and then one that lets more pass must not do so again when something else was said since. Any other line
// does no harm twice, and the first time may have failed.
func (an *answering) repeated(ctx context.Context, verb codes.Verb) (bool, error) {
	name, keep := "message:"+an.Via+":"+an.Message, keepMessages
	if by := an.Carrier; by != nil {
		name, keep = "relay:"+by.Conversation.Client+":"+by.Request, by.Keep
	} else if an.Message == "" || verb != codes.Approve && verb != codes.Resume && verb != codes.ResetTrust {
		return false, nil
	}
	n, err := an.o.Store.Count(ctx, name, keep, true)
	return n != 1, err
}

// command is a line as it is typed where someone looks: in a shell it is the program's own.
func command(via, line string) string {
	if via == Terminal {
		return "`verifier " + line + "`"
	}
	return "`." + line + "`"
}

// withCode takes `.approve` and `.deny`. The fifth wrong code locks the person out of it, and everyone who may approve
// gets a notice: someone may be guessing.
func (an *answering) withCode(ctx context.Context, cmd *codes.Command) (Outcome, error) {
	ttl := an.terms().TTL
	wrong := func(more bool) (int, error) { return an.o.Store.Count(ctx, "tries:"+an.person, ttl, more) }
	n, err := wrong(false)
	var c *Card
	if err == nil && n < maxTries {
		c, _, err = an.byCode(ctx, cmd.Code)
		// a card that its carrier may not answer looks like none, so that guessing tells nothing
		if errors.Is(err, store.ErrGone) || err == nil && (an.Carrier != nil && !an.Carrier.carries(c) ||
			subtle.ConstantTimeCompare([]byte(cmd.Code), []byte(c.Code)) != 1) {
			c = nil
			n, err = wrong(true)
			if err == nil && n == maxTries {
				text := fmt.Sprintf("%s typed %d wrong codes on %s. Typed answers are locked for %s for %g minutes.",
					an.person, maxTries, an.Via, an.person, ttl.Minutes())
				an.warn(ctx, an.by(record.KindLock, "", text), text)
			}
		}
	}
	switch {
	case err != nil:
		return Outcome{}, err
	case c == nil && n < maxTries:
		return notFound(fmt.Sprintf("No question has this code. %d tries left.", maxTries-n)), nil
	case c == nil:
		return Outcome{Kind: Locked, Text: "Too many wrong codes. Typed answers are locked for you for a while; " +
			"buttons and references still work."}, nil
	}
	an.Reason, an.Allow = cmd.Reason, cmd.Verb == codes.Approve
	an.Scope = Scope{Minutes: cmd.Minutes, Turn: cmd.Turn}
	switch {
	case cmd.Exactly:
		an.Scope.Target = Exactly
	case cmd.Same:
		an.Scope.Target = Same
	}
	if an.Tool = cmd.Tool; an.Allow && cmd.Tool == "all" {
		an.Tool = ""
		return an.approveAll(ctx, c)
	}
	return an.count(ctx, c)
}

// approveAll allows the open cards of a conversation that were delivered to the person in an earlier second than they
// wrote, so that none is among them that came meanwhile. Where there are several it skips those that have to be
// looked at one by one, and names them.
func (an *answering) approveAll(ctx context.Context, named *Card) (Outcome, error) {
	open, now, err := an.openCards(ctx)
	if err != nil {
		return Outcome{}, err
	}
	if an.Sent.IsZero() {
		an.Sent = now
	}
	open = slices.DeleteFunc(open, func(c *Card) bool {
		return c.ID != named.ID && (c.Ask.Conversation != named.Ask.Conversation || !c.Ask.admits(an.person) ||
			!deliveredTo(an.ID, c).Before(an.Sent.Truncate(time.Second)))
	})
	if len(open) <= 1 {
		return an.count(ctx, named)
	}
	allowed, skipped, out := "", "", misunderstood(named, "Nothing was approved.")
	n := 0
	for _, c := range open {
		line, counted := "\n• "+c.Ref()+" "+an.o.Head(&c.Ask), Outcome{}
		if !c.Ask.Marked && an.o.Visible(&c.Ask) {
			if counted, err = an.count(ctx, c); err != nil {
				return counted, err
			}
		}
		if counted.Kind != Counted {
			skipped += line
			continue
		}
		if n, allowed = n+1, allowed+line; n == 1 || c.ID == named.ID {
			out = counted
		}
	}
	if n > 0 {
		out.Text = "Your yes is for " + Count(n, "call", "calls") + ":" + allowed
	}
	if skipped != "" {
		out.Text += "\nNot answered by this, look at each:" + skipped
	}
	return out, nil
}

// deliveredTo is the second in which a card reached somebody, by their id: in the chat of their platform, else when it
// was put up. A card that is not shown there yet was not.
func deliveredTo(id string, c *Card) time.Time {
	platform, _, _ := strings.Cut(id, ":")
	for _, at := range c.Copies {
		if at.Channel == platform {
			return at.At.Truncate(time.Second)
		}
	}
	return c.Ask.Created.Truncate(time.Second)
}

// list shows what waits for the one who asks. A chat shows what was put there: a code of another chat's card is not
// for all who read along. Through an agent's runtime nobody reads a code.
func (an *answering) list(ctx context.Context) (Outcome, error) {
	open, err := an.Pending(ctx, an.ID)
	relayed := an.Carrier != nil
	var lines []string
	if paused := an.Pauses.Text(ctx); relayed && paused != "" {
		lines = append(lines, "Agents are paused. That is lifted where verifier asks you.")
	} else if paused != "" {
		lines = append(lines, paused)
	}
	waiting := false
	for _, c := range open {
		line := c.Ref() + "  " + quote(c.Ask.Tool)
		switch {
		case relayed && an.Carrier.carries(c):
		case !relayed && an.shownIn(c, an.Via):
			line += "  .approve " + c.TypedTool() + " " + c.Code
		default:
			continue
		}
		lines, waiting = append(lines, line), true
	}
	if !waiting {
		lines = append(lines, "Nothing is waiting.")
	} else if relayed {
		lines = append(lines, "The codes are where verifier asked you.")
	}
	if given, _, err := an.Grants.List(ctx); err == nil && len(given) > 0 && !relayed {
		lines = append(lines, Count(len(given), "grant is", "grants are")+" open. `.grants` lists them.")
	}
	return replied(strings.Join(lines, "\n")), err
}

// Carrier is an agent's runtime that passed on what someone typed into its own chat. It is nearer to the agent than
// any channel of ours, so less is taken through it and less is said: no code, no syntax, nothing about other clients,
// and nothing twice.
type Carrier struct {
	Conversation store.Name    // in which it was typed
	Request      string        // the runtime's own id of the message
	Keep         time.Duration // for how long the id is not taken again
}

// carries reports whether a card's call came from the same client.
func (c *Carrier) carries(card *Card) bool {
	return card.Ask.Conversation.Client == c.Conversation.Client
}
