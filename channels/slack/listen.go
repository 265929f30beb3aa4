package slack

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"github.com/openclaw-verifier/verifier/channels/delivery"
)

const (
	maxFrame = 1 << 20 // bytes that come at once over Socket Mode
	// A connection that ends sooner than this is not made anew at once.
	shortLife = time.Second
)

// Listen passes on what people answer until ctx ends. It comes back by itself.
// Slack lets an app have several connections and gives each thing to one of
// them, so that instances don't fight over it.
func (ch *Channel) Listen(ctx context.Context, answer delivery.AnswerFunc) error {
	defer ch.Listener.Listen(ctx, answer)()
	delivery.Keep(ctx, ch.Log, ch.Faults, func(ctx context.Context) error {
		if _, err := ch.introduce(ctx); err != nil {
			return err
		}
		return ch.connect(ctx)
	})
	return nil
}

// connect holds a connection of Socket Mode, and makes it anew when Slack asks
// for that, until something goes wrong.
func (ch *Channel) connect(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	client := socketmode.New(ch.api, socketmode.OptionReadLimit(maxFrame))
	ended := make(chan error, 1)
	go func() {
		defer close(ended)
		ended <- client.RunContext(ctx)
	}()
	defer func() {
		stop()
		for range ended { // until it has
		}
	}()
	s := socket{ch: ch, client: client}
	for {
		select {
		case err := <-ended:
			return ch.clean(connectMethod, err)
		case e := <-client.Events:
			if err := s.event(ctx, e); err != nil {
				return err
			}
		}
	}
}

// socket is a connection of Socket Mode.
type socket struct {
	ch     *Channel
	client *socketmode.Client
	since  time.Time // when it was last made
}

var errShortLived = errors.New("slack: the connection is closed as soon as it is made")

// event takes an event of the library. An error ends the connection: how long
// to wait before the next one is for [delivery.Keep] to say.
func (s *socket) event(ctx context.Context, e socketmode.Event) error {
	switch e.Type {
	case socketmode.EventTypeConnecting:
		if !s.since.IsZero() && time.Since(s.since) < shortLife {
			return errShortLived
		}
	case socketmode.EventTypeConnected:
		s.since = time.Now()
	case socketmode.EventTypeHello:
		s.ch.Faults.Note("listening", nil)
	case socketmode.EventTypeConnectionError:
		return s.failed(ctx, e.Data)
	case socketmode.EventTypeEventsAPI:
		return s.take(ctx, aNotification, e.Request)
	case socketmode.EventTypeInteractive:
		return s.take(ctx, anInteraction, e.Request)
	case socketmode.EventTypeSlashCommand:
		return s.ack(ctx, e.Request.EnvelopeID)
	case socketmode.EventTypeErrorBadMessage:
		return s.unknown(ctx, e.Data)
	default: // what else goes wrong ends the connection by itself
	}
	return nil
}

// failed says why there is no connection, after the pause that Slack asks for.
func (s *socket) failed(ctx context.Context, data any) error {
	e, ok := data.(*slack.ConnectionErrorEvent)
	if !ok {
		return fmt.Errorf("slack: no connection: %T", data)
	}
	if many, ok := errors.AsType[*slack.RateLimitedError](e.ErrorObj); ok {
		delivery.Sleep(ctx, many.RetryAfter)
	}
	return s.ch.clean(connectMethod, e.ErrorObj)
}

// take acknowledges something at once, and works on it afterwards.
func (s *socket) take(ctx context.Context, k kind, r *socketmode.Request) error {
	if err := s.ack(ctx, r.EnvelopeID); err != nil {
		return err
	}
	if p, err := readPayload(k, r.Payload); err == nil {
		s.ch.take(ctx, p)
	} else {
		s.ch.Log.Warn("what Slack sent can't be read", "type", r.Type)
	}
	return nil
}

func (s *socket) ack(ctx context.Context, envelope string) error {
	if envelope == "" {
		return nil
	}
	if err := s.client.AckCtx(ctx, envelope, nil); err != nil {
		return s.ch.clean("acknowledge", err)
	}
	return nil
}

// unknown acknowledges what the library can't read, so that it does not come
// again and again.
func (s *socket) unknown(ctx context.Context, data any) error {
	bad, ok := data.(*socketmode.ErrorBadMessage)
	if !ok {
		return nil
	}
	var envelope struct {
		ID string `json:"envelope_id"`
	}
	if err := json.Unmarshal(bad.Message, &envelope); err != nil {
		envelope.ID = "" // there is nothing to acknowledge
	}
	return s.ack(ctx, envelope.ID)
}

// take works on something that someone did, unless it was done before.
func (ch *Channel) take(ctx context.Context, p payload) {
	if ch.self.Load() == nil { // without knowing ourselves we could not tell our own messages from a person's
		return
	}
	if n := p.notification; n != nil && n.EventID != "" && !ch.seen.first(n.EventID, ch.Now()) {
		return
	}
	ch.Listener.Take(ctx, func(ctx context.Context, answer delivery.AnswerFunc) { ch.handle(ctx, answer, p) })
}

// seen remembers events that were taken, so that each is taken once: Slack sends one again where our acknowledgement was lost.
type seen struct {
	mu    sync.Mutex
	until map[string]time.Time
}

const (
	rememberFor = time.Hour // an event comes again for so long at most
	maxSeen     = 20_000
)

// first reports whether an event comes for the first time.
func (s *seen) first(id string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until, known := s.until[id]; known && now.Before(until) {
		return false
	}
	if len(s.until) >= maxSeen {
		s.tidy(now)
	}
	if s.until == nil {
		s.until = make(map[string]time.Time)
	}
	s.until[id] = now.Add(rememberFor)
	return true
}

// tidy makes room: what is over goes, and if that is not enough, whatever comes
// first.
func (s *seen) tidy(now time.Time) {
	for id, until := range s.until {
		if !now.Before(until) || len(s.until) >= maxSeen {
			delete(s.until, id)
		}
	}
}
