package approval

import (
	"context"
	"fmt"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/session"
)

// window is over which an agent's questions are counted.
const window = time.Hour

// afford counts one more question of an agent, and says whether it may be put.
// An agent that asks too often is not put before people again until the hour
// has room, and they are told of it once.
func (d *Desk) afford(ctx context.Context, agent string) (bool, error) {
	most := d.terms().MaxPromptsPerHour
	s, err := d.o.Store.Spend(ctx, session.AgentScope(agent), most, window)
	if err != nil || s.OK {
		return s.OK, err
	}
	d.o.Observe(Event{Kind: EventExhausted})
	if s.First {
		text := fmt.Sprintf("%s has asked %d questions within an hour. What needs you is denied until %s; `.resume` lets it ask again before that.",
			whom(d.o.Hide(agent)), most, s.Room.UTC().Format("15:04:05 UTC"))
		d.note(ctx, audit.Entry{Kind: audit.KindPause, Agent: agent, Note: text})
		d.o.Log.WarnContext(ctx, text)
		d.Tell(ctx, text)
	}
	return false, nil
}

// refund takes a question back that could not be shown: an agent is not to be turned
// away because a chat was down.
func (d *Desk) refund(ctx context.Context, agent string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := d.o.Store.Refund(ctx, session.AgentScope(agent)); err != nil {
		d.o.Log.WarnContext(ctx, "a question that could not be shown still counts", "err", err)
	}
}
