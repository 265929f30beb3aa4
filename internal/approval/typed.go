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

// typed takes a line that someone wrote.
func (an *answers) typed(ctx context.Context, person string, a *Answer) (Outcome, error) {
	cmd, err := codes.Parse(a.Text)
	if syntax, ok := errors.AsType[*codes.SyntaxError](err); ok {
		return misunderstood(nil, syntax.Hint), nil
	}
	if errors.Is(err, codes.ErrNotCommand) {
		return Outcome{Kind: Ignored}, nil
	}
	if err != nil {
		return Outcome{Text: "The line could not be read."}, err
	}
	switch again, err := an.repeated(ctx, cmd.Verb, a); {
	case err != nil:
		return Outcome{Text: storeGone}, err
	case again:
		return Outcome{}, nil
	}
	switch cmd.Verb {
	case codes.Help:
		return replied("%s", an.terms().help()), nil
	case codes.Pending:
		return an.list(ctx, a)
	case codes.ResetTrust:
		return an.sources.reset(ctx, person, a.Via, cmd.Session)
	case codes.Sources:
		return an.sources.list(ctx, cmd.Session)
	case codes.Pause:
		return an.pauses.pause(ctx, person, a.Via, cmd.Agent)
	case codes.Resume:
		return an.pauses.resume(ctx, person, a.Via, cmd.Agent)
	case codes.Pair:
		return replied("Nothing is being set up here. `verifier setup` shows a code and waits for it."), nil
	case codes.Grants:
		return an.grants.list(ctx, a.Via)
	case codes.Revoke:
		of := cmd.Grant
		if of == "" {
			of = AllGrants
		}
		return an.grants.Revoke(ctx, *a, of)
	}
	return an.withCode(ctx, person, a, &cmd)
}

// keepMessages is for how long a message is not taken again. Telegram keeps what was not confirmed for a day.
const keepMessages = 25 * hour

// repeated reports whether a platform brings a message for the second time, in whichever process, and its line lets
// more pass: that must not happen again when something else was said or read since. Any other line does no harm
// twice, and the first time may have failed.
func (an *answers) repeated(ctx context.Context, verb codes.Verb, a *Answer) (bool, error) {
	weakens := verb == codes.Approve || verb == codes.Resume || verb == codes.ResetTrust
	if a.Message == "" || !weakens {
		return false, nil
	}
	n, err := an.o.Store.Count(ctx, "message:"+a.Via+":"+a.Message, keepMessages, true)
	return n > 1, err
}

// command is a line as it is typed where someone looks: in a shell it is the program's own.
func command(via, line string) string {
	if via == Terminal {
		return "`verifier " + line + "`"
	}
	return "`." + line + "`"
}

// withCode takes `.approve` and `.deny`.
func (an *answers) withCode(ctx context.Context, person string, a *Answer, cmd *codes.Command) (Outcome, error) {
	ttl, tries := an.terms().TTL, "tries:"+person
	n, err := an.o.Store.Count(ctx, tries, ttl, false)
	switch {
	case err != nil:
		return Outcome{Text: storeGone}, err
	case n >= maxTries:
		return locked, nil
	}
	c, err := an.byCode(ctx, cmd.Code, a.Carrier)
	if err != nil {
		return Outcome{Text: storeGone}, err
	}
	if c == nil {
		return an.missed(ctx, person, a.Via)
	}
	vote := *a
	vote.Text, vote.code, vote.Reason, vote.Allow = "", cmd.Code, cmd.Reason, cmd.Verb == codes.Approve
	vote.Scope = Scope{Minutes: cmd.Minutes, Turn: cmd.Turn}
	switch {
	case cmd.Exactly:
		vote.Scope.Target = Exactly
	case cmd.Same:
		vote.Scope.Target = Same
	}
	if vote.Allow && cmd.Tool == "all" {
		return an.approveAll(ctx, person, c, &vote)
	}
	vote.Tool = cmd.Tool
	return an.count(ctx, person, c, &vote)
}

// byCode is the card behind a code; nil if there is none, or none that its carrier may answer. Both look the same, so
// that guessing tells nothing.
func (an *answers) byCode(ctx context.Context, code string, by *Carrier) (*Card, error) {
	k, _, err := an.o.Store.Card(ctx, code)
	if errors.Is(err, store.ErrGone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c, err := an.open(k)
	if err != nil || by != nil && !by.carries(c) {
		return nil, err
	}
	return c, nil
}

var locked = Outcome{
	Kind: Locked,
	Text: "Too many wrong codes. Typed answers are locked for you for a while; buttons and references still work.",
}

// missed counts a wrong code. The fifth locks the person out, and everyone who may approve gets a notice: someone may
// be guessing.
func (an *answers) missed(ctx context.Context, person, via string) (Outcome, error) {
	ttl := an.terms().TTL
	tries, err := an.o.Store.Count(ctx, "tries:"+person, ttl, true)
	if err != nil {
		return Outcome{Text: storeGone}, err
	}
	if tries < maxTries {
		return notFound("No question has this code. %d tries left.", maxTries-tries), nil
	}
	if tries == maxTries {
		text := fmt.Sprintf("%s typed %d wrong codes on %s. Typed answers are locked for %s for %g minutes.",
			person, maxTries, via, person, ttl.Minutes())
		an.note(ctx, record.Entry{Kind: record.KindLock, People: []record.Person{{Name: person, Via: via}}, Note: text})
		an.o.Log.WarnContext(ctx, "typed answers are locked", "person", person, "via", via)
		an.Tell(ctx, text)
	}
	return locked, nil
}

// approveAll allows the open cards of a conversation that were delivered to the person in an earlier second than they
// wrote, so that none is among them that came meanwhile. Where there are several it skips those that have to be
// looked at one by one, and names them.
func (an *answers) approveAll(ctx context.Context, person string, named *Card, a *Answer) (Outcome, error) {
	open, now, err := an.openCards(ctx)
	if err != nil {
		return Outcome{Text: storeGone}, err
	}
	if a.Sent.IsZero() {
		a.Sent = now
	}
	open = slices.DeleteFunc(open, func(c *Card) bool {
		return c.ID != named.ID && (c.Ask.Conversation != named.Ask.Conversation || !c.Ask.admits(person) ||
			!c.delivered(a.ID).Before(a.Sent.Truncate(time.Second)))
	})
	if len(open) <= 1 {
		return an.count(ctx, person, named, a)
	}
	var allowed, skipped []string
	var out Outcome
	for _, c := range open {
		line := "\n• " + c.Ref() + " " + an.o.Head(&c.Ask)
		if c.Ask.Marked || !an.o.inFull(c) {
			skipped = append(skipped, line)
			continue
		}
		one := *a
		if c.ID != named.ID {
			one.code = ""
		}
		counted, err := an.count(ctx, person, c, &one)
		if err != nil {
			return counted, err
		}
		if counted.Kind != Counted {
			skipped = append(skipped, line)
			continue
		}
		if allowed = append(allowed, line); out.Card == nil || c.ID == named.ID {
			out = counted
		}
	}
	text := "Your yes is for " + Count(len(allowed), "call", "calls") + ":" + strings.Join(allowed, "")
	if len(allowed) == 0 {
		out, text = misunderstood(named, ""), "Nothing was approved."
	}
	if len(skipped) > 0 {
		text += "\nNot answered by this, look at each:" + strings.Join(skipped, "")
	}
	out.Text = text
	return out, nil
}

// delivered is the second in which a card reached somebody, by their id: in the chat of their platform, else when it
// was put up. A card that is not shown there yet was not.
func (c *Card) delivered(id string) time.Time {
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
func (an *answers) list(ctx context.Context, a *Answer) (Outcome, error) {
	open, err := an.Pending(ctx, a.ID)
	if err != nil {
		return Outcome{Text: storeGone}, err
	}
	relayed := a.Carrier != nil
	open = slices.DeleteFunc(open, func(c *Card) bool {
		return relayed && !a.Carrier.carries(c) || !relayed && !an.shownIn(c, a.Via)
	})
	an.pauses.hear(ctx)
	var lines []string
	if paused := an.pauses.Text(); relayed && paused != "" {
		lines = append(lines, "Agents are paused. That is lifted where verifier asks you.")
	} else if paused != "" {
		lines = append(lines, paused)
	}
	for _, c := range open {
		line := c.Ref() + "  " + quote(c.Ask.Tool)
		if !relayed {
			line += "  .approve " + c.TypedTool() + " " + c.Code
		}
		lines = append(lines, line)
	}
	if len(open) == 0 {
		lines = append(lines, "Nothing is waiting.")
	} else if relayed {
		lines = append(lines, "The codes are where verifier asked you.")
	}
	if given, err := an.grants.List(ctx); err == nil && len(given.Grants) > 0 && !relayed {
		lines = append(lines, Count(len(given.Grants), "grant is", "grants are")+" open. `.grants` lists them.")
	}
	return replied("%s", strings.Join(lines, "\n")), nil
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

// relayed takes a line that a runtime carried.
func (an *answers) relayed(ctx context.Context, person string, a *Answer) (Outcome, error) {
	cmd, err := codes.Parse(a.Text)
	if err != nil {
		const text = "That is not a command as verifier knows them. Nothing was changed; " +
			"`.help` lists them where it asks you."
		return misunderstood(nil, text), nil //nolint:nilerr // the person reads it
	}
	n, err := an.o.Store.Count(ctx, "relay:"+a.Carrier.Conversation.Client+":"+a.Carrier.Request, a.Carrier.Keep, true)
	switch {
	case err != nil:
		return Outcome{Text: storeGone}, err
	case n != 1: // an eavesdropper could send it again, when a conversation has been tainted since
		return Outcome{Kind: TooLate, Text: "This message was taken before. Nothing was changed."}, nil
	}
	switch cmd.Verb {
	case codes.Approve, codes.Deny:
		return an.withCode(ctx, person, a, &cmd)
	case codes.Pending:
		return an.list(ctx, a)
	case codes.ResetTrust: // of the conversation in which it was typed, and of no other: a reset needs no code
		own := a.Carrier.Conversation
		if len(cmd.Session) < len(own.Ref()) || !strings.HasPrefix(own.Hash(), strings.ToLower(cmd.Session)) {
			return notFound("This conversation has another reference. One is reset where it is typed, with all 8 " +
				"characters, or where verifier asks you."), nil
		}
		return an.sources.reset(ctx, person, a.Via, own.Ref())
	case codes.Pause:
		return an.pauses.pause(ctx, person, a.Via, cmd.Agent)
	}
	return misunderstood(nil, "That can't be done from this chat. Do it where verifier asks you."), nil
}
