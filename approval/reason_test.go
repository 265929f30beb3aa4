package approval_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/openclaw-verifier/verifier/approval"
)

// reticent is a store that does not say which cards are open, while it is down.
type reticent struct {
	approval.Store
	down atomic.Bool
}

func (s *reticent) Open(ctx context.Context) ([]string, error) {
	if s.down.Load() {
		return nil, errStoreDown
	}
	return s.Store.Open(ctx)
}

// Two lines become one when they are pasted. The agent reads what is behind the first code, as the reason.
func TestH754TheCodeOfAnotherCardIsNoReason(t *testing.T) {
	for _, down := range []bool{false, true} {
		chat, s, record := newChat(), &reticent{Store: openStore(t)}, &ledger{}
		d := openDesk(t, s, func(o *approval.Options) {
			o.Channels, o.Record = map[string]approval.Channel{"chat": chat}, record
		})
		denied := ask(t, d, func(r *approval.Request) { r.Ask.Tool = "write" })
		first := chat.card(t)
		allowed := ask(t, d, func(r *approval.Request) { r.Ask.Tool = "exec" })
		second := chat.card(t)
		s.down.Store(down)
		o, err := types(d, ".deny "+first.Code+" no .approve exec "+strings.ToUpper(second.Code))
		if err != nil || o.Kind != approval.Counted {
			t.Fatalf("%+v, %v", o, err)
		}
		r := <-denied
		if shown := chat.shows(t); !r.Denied || !strings.HasPrefix(r.Reason, "no .approve exec") ||
			strings.Contains(strings.ToLower(fmt.Sprint(r, o, shown.Text, shown.Reason, record.entries)), second.Code) {
			t.Errorf("the store is down: %v; the agent reads %q", down, r.Reason)
		}
		s.down.Store(false)
		tap(t, d, alice, second.Handle(approval.AllowOnce), "")
		if r := <-allowed; !r.Yes {
			t.Errorf("%+v", r)
		}
	}
}

// What a code could be in may be a part of a secret: what is left of one would not be known for it.
func TestH754ASecretIsHiddenBeforeTheCodes(t *testing.T) {
	chat, s := newChat(), &reticent{Store: openStore(t)}
	d := openDesk(t, s, func(o *approval.Options) {
		o.Channels = map[string]approval.Channel{"chat": chat}
		o.Hide = func(text string) string { return regexp.MustCompile(`ghp_\w{36}`).ReplaceAllString(text, "[hidden]") }
	})
	denied := ask(t, d, nil)
	code := chat.card(t).Code
	s.down.Store(true)
	if o, err := types(d, ".deny "+code+" no, not with ghp_12345678abcdefABCDEFghijklmnopqrstuv"); err != nil || o.Kind != approval.Counted {
		t.Fatalf("%+v, %v", o, err)
	}
	if r := <-denied; !r.Denied || r.Reason != "no, not with [hidden]" {
		t.Errorf("the agent reads %q", r.Reason)
	}
}
