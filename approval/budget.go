package approval

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/session"
)

// window is over which an agent's questions are counted.
const window = time.Hour

// countAsk counts one more question of an agent, or returns errExhausted. An agent
// that asks too often is not put before people again until the hour has room, and
// they get one notice of it.
func (as *asker) countAsk(ctx context.Context, r *Request) error {
	agent, most := r.Ask.Agent, as.terms().MaxPromptsPerHour
	s, err := as.o.Store.Spend(ctx, session.AgentScope(agent), most, window)
	if err != nil || s.OK {
		return err
	}
	as.o.Observe(Event{Kind: EventExhausted})
	if s.First {
		text := fmt.Sprintf("%s has asked %d questions within an hour. What needs you is denied until %s; `.resume` lets it ask again before that.",
			whom(as.o.Hide(agent)), most, s.Room.UTC().Format("15:04:05 UTC"))
		as.note(ctx, record.Entry{Kind: record.KindPause, Agent: agent, Note: text})
		as.o.Log.WarnContext(ctx, text)
		as.Tell(ctx, text)
	}
	return errExhausted
}

// refundUnasked gives an agent back the question that could not be shown to anyone: it is not to be turned away because a
// chat was down. It is done before the answer, so that the agent's next question finds room.
func (as *asker) refundUnasked(ctx context.Context, r *Request, err error) {
	if !errors.Is(err, ErrNobody) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 250*time.Millisecond)
	defer cancel()
	if err := as.o.Store.Refund(ctx, session.AgentScope(r.Ask.Agent)); err != nil {
		as.o.Log.WarnContext(ctx, "a question that could not be shown still counts", "err", err)
	}
}
