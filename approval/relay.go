package approval

import (
	"context"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/session"
)

// Carrier is an agent's runtime that passed on what someone typed into its own
// chat. It is nearer to the agent than any channel of ours, so less is taken
// through it and less is said: no code, no syntax, nothing about other clients,
// and nothing twice.
type Carrier struct {
	Conversation session.Conversation // in which it was typed
	Request      string               // the runtime's own id of the message
	Keep         time.Duration        // for how long the id is not taken again
}

const (
	notHere    = "That can't be done from this chat. Do it where verifier asks you."
	pausedHere = "Agents are paused. That is lifted where verifier asks you."
	takenOnce  = "This message was taken before. Nothing was changed."
)

// relayed takes a line that a runtime carried.
func (cm *commands) relayed(ctx context.Context, person string, a Answer) (Outcome, error) {
	cmd, err := codes.Parse(a.Text)
	if err != nil {
		return Outcome{Kind: Misunderstood, Text: "That is not a command as verifier knows them. Nothing was changed; `.help` lists them where it asks you."}, nil //nolint:nilerr // the person reads it
	}
	first, err := cm.first(ctx, a.Carrier)
	switch {
	case err != nil:
		return Outcome{Text: storeGone}, err
	case !first:
		return Outcome{Kind: TooLate, Text: takenOnce}, nil
	}
	switch cmd.Verb {
	case codes.Approve, codes.Deny:
		return cm.withCode(ctx, person, a, cmd)
	case codes.Pending:
		return cm.names(ctx, a)
	case codes.ResetTrust:
		return cm.resetOwn(ctx, person, a, cmd.Session)
	case codes.Pause:
		return cm.pauses.pause(ctx, person, a.Via, cmd.Agent)
	}
	return Outcome{Kind: Misunderstood, Text: notHere}, nil
}

// first reports whether a message comes for the first time: an eavesdropper on
// the wire could send it again, when a conversation has been tainted since.
func (cm *commands) first(ctx context.Context, c *Carrier) (bool, error) {
	// No person has a colon in the name.
	n, err := cm.o.Store.Count(ctx, "relay:"+c.Conversation.Client+":"+c.Request, c.Keep, true)
	return n == 1, err
}

// names lists what waits, without the codes.
func (cm *commands) names(ctx context.Context, a Answer) (Outcome, error) {
	cards, err := cm.Pending(ctx, a.ID)
	if err != nil {
		return Outcome{Text: "The store can't be reached. Try again."}, err
	}
	var lines []string
	if cm.pauses.Text() != "" {
		lines = append(lines, pausedHere)
	}
	waiting := 0
	for _, c := range cards {
		if a.Carrier.carries(c) {
			waiting++
			lines = append(lines, c.Ref()+"  "+c.tools())
		}
	}
	if waiting == 0 {
		lines = append(lines, "Nothing is waiting.")
	} else {
		lines = append(lines, "The codes are where verifier asked you.")
	}
	return Outcome{Kind: Replied, Text: strings.Join(lines, "\n")}, nil
}

// carries reports whether a card's calls came from the same client.
func (c *Carrier) carries(card *Card) bool {
	return len(card.Questions) > 0 && card.Questions[0].Ask.Conversation.Client == c.Conversation.Client
}

// resetOwn lowers the level of the conversation in which it was typed, and of no
// other: a reset needs no code.
func (cm *commands) resetOwn(ctx context.Context, person string, a Answer, ref string) (Outcome, error) {
	own := a.Carrier.Conversation
	if len(ref) < len(own.Ref()) || !strings.HasPrefix(own.Hash(), strings.ToLower(ref)) {
		return Outcome{Kind: NotFound, Text: "This conversation has another reference. One is reset where it is typed, with all 8 characters, or where verifier asks you."}, nil
	}
	return cm.sources.reset(ctx, person, a.Via, own.Hash())
}
