package discord

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/crash"
)

type answerFunc = func(context.Context, approval.Answer) (approval.Outcome, error)

// Times of what is under way.
const (
	handleTimeout = 20 * time.Second
	stopTimeout   = 2 * time.Second // once nobody listens any more
)

// ears work on what people do while somebody listens, a few at a time. Listening
// ends when all of it has ended.
type ears struct {
	hands chan struct{} // one is taken for each piece of work

	mu       sync.Mutex
	listener *listener // nil: nobody listens
}

type listener struct {
	ctx    context.Context
	answer answerFunc
	busy   sync.WaitGroup
}

// listen sets who is told what people answer. The returned function ends it.
func (e *ears) listen(ctx context.Context, answer answerFunc) (done func()) {
	l := &listener{ctx: ctx, answer: answer}
	e.set(l)
	return func() {
		e.set(nil)
		l.busy.Wait()
	}
}

func (e *ears) set(l *listener) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.listener = l
}

// take works on something, with a hand that was taken before. It reports false
// where nobody listens. A panic ends the work alone.
func (e *ears) take(log *slog.Logger, do func(ctx context.Context, answer answerFunc)) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.listener
	if l == nil {
		<-e.hands
		return false
	}
	l.busy.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				log.Error("what someone did ended in a panic", "channel", Name, "panic", crash.Recovered(p))
			}
			<-e.hands
		}()
		// What was begun is ended, even if listening ends meanwhile.
		ctx, cancel := delivery.Outlive(l.ctx, handleTimeout, stopTimeout)
		defer cancel()
		do(ctx, l.answer)
	})
	return true
}
