package approval

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/session"
)

// askLimit is how many questions an agent may ask within an hour.
type askLimit struct{ *core }

// window is over which an agent's questions are counted.
const window = time.Hour

// countAsk counts one more question of an agent, or returns errExhausted. An agent
// that asks too often is not put before people again until the hour has room, and
// they get one notice of it.
func (l *askLimit) countAsk(ctx context.Context, r *Request) error {
	if r.Ask.Test {
		return nil
	}
	agent, most := r.Ask.Agent, l.terms().MaxPromptsPerHour
	s, err := l.o.Store.Spend(ctx, session.AgentScope(agent), most, window)
	if err != nil || s.OK {
		return err
	}
	l.o.Observe(Event{Kind: EventExhausted})
	if s.First {
		text := fmt.Sprintf("%s has asked %d questions within an hour. What needs you is denied until %s; `.resume` lets it ask again before that.",
			whom(l.o.Hide(agent)), most, s.Room.UTC().Format("15:04:05 UTC"))
		l.note(ctx, audit.Entry{Kind: audit.KindPause, Agent: agent, Note: text})
		l.o.Log.WarnContext(ctx, text)
		l.Tell(ctx, text)
	}
	return errExhausted
}

// refundUnasked gives an agent back the question that could not be shown to anyone: it is not to be turned away because a chat was down.
func (l *askLimit) refundUnasked(ctx context.Context, r *Request, err error) {
	if !errors.Is(err, ErrNobody) || r.Ask.Test {
		return
	}
	l.runFor(ctx, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if err := l.o.Store.Refund(ctx, session.AgentScope(r.Ask.Agent)); err != nil {
			l.o.Log.WarnContext(ctx, "a question that could not be shown still counts", "err", err)
		}
	})
}
