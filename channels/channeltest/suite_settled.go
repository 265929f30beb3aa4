package channeltest

import (
	"context"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/channels/delivery"
)

// settledSpecs say that what is drawn while its card is settled keeps no buttons in the chat.
func settledSpecs() []spec {
	return []spec{
		{"details that arrive after their card was settled have no buttons", func(b *bench) {
			settledWhile(b, call{tool: "exec", params: plainExec})
		}},
	}
}

// settledWhile denies a card after the desk has taken a tap on More, and before the channel shows the details.
func settledWhile(b *bench, c call) {
	between := &interrupted{came: make(chan struct{}), goOn: make(chan struct{})}
	r := newRig(b, b.platform, func(o *approval.Options) {
		between.Channel = o.Channels[b.platform.Name()]
		o.Channels[b.platform.Name()] = between
	})
	v := r.ask(r.desk, c)
	m := r.card(0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.tap(r.who.Alice, m, "More…")
	}()
	select {
	case <-between.came:
	case <-time.After(patience):
		b.Fatal("the tap did not come")
	}
	o, err := r.desk.Answer(b.Context(), approval.Answer{ID: r.p.Name() + ":" + r.who.Bob.ID, Via: r.p.Name(), Ref: between.card.Ref()})
	if err != nil || o.State != approval.Denied {
		b.Errorf("bob's no: %+v, %v", o, err)
	}
	r.until("no button is in the chat", func() bool { return !r.hasButtons() })
	close(between.goOn)
	<-done
	r.get(v)
	r.desk.Close() // the work on the taps has ended then
	if r.hasButtons() {
		b.Errorf("buttons are left:\n%+v", r.p.Messages())
	}
}

// hasButtons reports whether all people see a button in the chat.
func (r *rig) hasButtons() bool {
	for _, m := range r.p.Messages() {
		if m.Only == "" && len(m.Buttons) > 0 {
			return true
		}
	}
	return false
}

// interrupted is a channel that waits before it shows the first details.
type interrupted struct {
	approval.Channel

	once       sync.Once
	came, goOn chan struct{}
	card       *approval.Card
}

// Listen implements approval.Channel.
func (i *interrupted) Listen(ctx context.Context, answer delivery.AnswerFunc) error {
	return i.Channel.Listen(ctx, func(ctx context.Context, a approval.Answer) (approval.Outcome, error) {
		o, err := answer(ctx, a)
		if o.Kind == approval.Shown {
			i.once.Do(func() {
				i.card = o.Card
				close(i.came)
				<-i.goOn
			})
		}
		return o, err
	})
}
