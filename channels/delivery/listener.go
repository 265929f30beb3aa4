package delivery

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/text"
)

// AnswerFunc takes a person's answer: see [approval.Channel].
type AnswerFunc = func(context.Context, approval.Answer) (approval.Outcome, error)

// Limits of the work on what people do.
const (
	MaxWorkers    = 16 // taps and lines that are worked on at a time; the rest waits at the platform
	HandleTimeout = 20 * time.Second
	StopTimeout   = 2 * time.Second // once the desk has stopped listening
)

// Listener works on what people do while the desk listens.
type Listener struct {
	log     *slog.Logger
	workers chan struct{} // holds one for each piece of work

	mu   sync.Mutex
	desk *desk // nil: the desk does not listen
}

// desk is the receiver of answers.
type desk struct {
	ctx    context.Context
	answer AnswerFunc
	busy   sync.WaitGroup
}

// Listen passes answers to the desk until done is called, which waits for the work that has begun.
func (l *Listener) Listen(ctx context.Context, answer AnswerFunc) (done func()) {
	d := &desk{ctx: ctx, answer: answer}
	l.set(d)
	return func() {
		l.set(nil)
		d.busy.Wait()
	}
}

func (l *Listener) set(d *desk) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.desk = d
}

// Take starts work as soon as a worker is free. It reports false if none is before ctx ends, or if the desk does not listen. Where ctx has
// ended already it waits for none. Work that has begun goes on for a moment when the desk stops listening. A panic ends that work alone.
func (l *Listener) Take(ctx context.Context, work func(ctx context.Context, answer AnswerFunc)) bool {
	select {
	case l.workers <- struct{}{}:
	default:
		select {
		case l.workers <- struct{}{}:
		case <-ctx.Done():
			return false
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.desk
	if d == nil {
		<-l.workers
		return false
	}
	d.busy.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				l.log.Error("the work on an answer ended in a panic", "panic", text.Panic(p))
			}
			<-l.workers
		}()
		ctx, cancel := Outlive(d.ctx, HandleTimeout, StopTimeout)
		defer cancel()
		work(ctx, d.answer)
	})
	return true
}
