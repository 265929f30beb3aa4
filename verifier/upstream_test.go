package verifier_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/toolcall"
	"github.com/openclaw-verifier/verifier/verifier"
)

// elsewhere is a further verifier that allows what it is asked about, after so
// long, or never.
type elsewhere struct{ after time.Duration }

var errSilent = errors.New("no answer")

func (e elsewhere) Ask(ctx context.Context, _ *toolcall.Call, _ jsontext.Value, _ []string) error {
	var answer <-chan time.Time
	if e.after > 0 {
		answer = time.After(e.after)
	}
	select {
	case <-answer:
		return nil
	case <-ctx.Done():
		return errSilent
	}
}

// witness is the desk, and tells how long calls are held there.
type witness struct {
	*approval.Desk
	held chan time.Duration
}

func (w *witness) Put(ctx context.Context, r *approval.Request) (approval.Ruling, *approval.Waiting, error) {
	w.held <- r.Hold
	return w.Desk.Put(ctx, r)
}

// A caller waits once for all who are asked: what further verifiers take is no
// longer there for people.
func TestWhatOthersTakeIsNotThereForPeople(t *testing.T) {
	store, _ := openSQLite(t)
	const takes, wait = 30 * time.Millisecond, 6000
	w := &witness{held: make(chan time.Duration, 1)}
	r := newRig(t, store, 1, func(o *verifier.Options) {
		w.Desk = o.Desk.(*approval.Desk) //nolint:errcheck // that is what the rig has
		o.Desk = w
		o.Upstream = func() verifier.Upstream { return elsewhere{takes} }
	})
	r.v.Verify(t.Context(), call(t, "gateway", `{"action":"restart"}`, `"sessionKey":"agent:main:main","senderId":"1","senderIsOwner":true,"waitMs":6000`))
	select {
	case held := <-w.held:
		if held > wait*time.Millisecond-5*time.Second-takes {
			t.Errorf("people were given %s", held)
		}
	default:
		t.Error("nobody was asked")
	}
}

func TestAFurtherVerifierDoesNotOutlastTheCaller(t *testing.T) {
	store, _ := openSQLite(t)
	r := newRig(t, store, 1, func(o *verifier.Options) { o.Upstream = func() verifier.Upstream { return elsewhere{} } })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	d := r.v.Verify(ctx, call(t, "read", `{"path":"a"}`, `"sessionKey":"agent:main:main","senderId":"1","senderIsOwner":true,"waitMs":1000`))
	if d.Allow || r.record.last().Error != "upstream" || ctx.Err() != nil {
		t.Errorf("%+v, %v", d, ctx.Err())
	}
}
