package verifier_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/openclaw-verifier/verifier/session"
)

const (
	reader = `"sessionKey":"agent:main:reader","senderId":"1","senderIsOwner":true,"waitMs":5001,` +
		`"workspace":"/home/me/app","platform":"linux"`
	other = `"sessionKey":"agent:main:other","senderId":"1","senderIsOwner":true,"waitMs":5001,` +
		`"workspace":"/home/me/app","platform":"linux"`
)

// TestH189AWriteOvertakesABuild that was judged before it and is allowed after it: the build asks.
func TestH189AWriteOvertakesABuild(t *testing.T) {
	opened, _ := openSQLite(t)
	store := &ordered{backend: opened}
	r := newRig(t, store, 1, nil)
	pull := func() {
		if d := r.v.Verify(t.Context(), call(t, "exec", `{"command":"git pull"}`, other)); !d.Allow {
			t.Errorf("the write: %+v", d)
		}
	}
	if d := r.v.Verify(t.Context(), call(t, "web_fetch", `{"url":"https://news.example/"}`, reader)); !d.Allow {
		t.Fatalf("%+v", d)
	}
	if d := r.v.Verify(t.Context(), call(t, "exec", `{"command":"make test"}`, reader)); !d.Allow ||
		r.record.last().By != "known-command" {
		t.Fatalf("%+v by %s", d, r.record.last().By)
	}
	store.looked = pull
	if d := r.v.Verify(t.Context(), call(t, "exec", `{"command":"make test"}`, reader)); d.Allow {
		t.Errorf("a build passed unasked that a write overtook: %+v", r.record.last())
	}
}

// ordered is a store that keeps in which order it was written to.
type ordered struct {
	backend
	looked func() // what happens once, after it was looked up what was written
	mu     sync.Mutex
	order  []string
}

func (o *ordered) Exposed(ctx context.Context, c session.Conversation) (string, error) {
	what, err := o.backend.Exposed(ctx, c)
	if now := o.looked; now != nil {
		o.looked = nil
		now()
	}
	return what, err
}

func (o *ordered) note(what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.order = append(o.order, what)
}

func (o *ordered) Expose(ctx context.Context, c session.Conversation, source string) error {
	o.note("expose " + c.Key)
	return o.backend.Expose(ctx, c, source)
}

func (o *ordered) Settle(ctx context.Context, s session.Settlement) (session.Settled, error) {
	o.note("settle")
	return o.backend.Settle(ctx, s)
}

// TestH189AWriteIsNotedBeforeItIsAllowed so that no build can be judged between the two.
func TestH189AWriteIsNotedBeforeItIsAllowed(t *testing.T) {
	opened, _ := openSQLite(t)
	store := &ordered{backend: opened}
	r := newRig(t, store, 1, nil)
	if d := r.v.Verify(t.Context(), call(t, "exec", `{"command":"cp ~/Downloads/x . && cat .env"}`, other)); !d.Allow {
		t.Fatalf("%+v", d)
	}
	mark, settled := slices.Index(store.order, "expose (workspace)"), slices.Index(store.order, "settle")
	if mark < 0 || settled < 0 || mark > settled {
		t.Errorf("the order is %q", store.order)
	}
}
