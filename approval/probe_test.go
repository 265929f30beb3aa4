package approval_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/approval"
)

// probed is a chat that can be asked how it is doing.
type probed struct {
	*chat
	probe func() (string, error)
}

func (p probed) Probe(context.Context) (string, error) { return p.probe() }

func TestEachChannelIsProbedByItself(t *testing.T) {
	t.Parallel()
	good := probed{newChat(), func() (string, error) { return "@bot", nil }}
	lost := errors.New("the bot is not in the chat")
	d := openDesk(t, openStore(t), func(o *approval.Options) {
		o.Channels = map[string]approval.Channel{
			"good": good, "lost": probed{newChat(), func() (string, error) { return "", lost }}, "mute": newChat(),
			"wild": probed{newChat(), func() (string, error) { panic("hunter2") }},
		}
	})
	for _, send := range []bool{false, true} {
		all, err := d.Probe(t.Context(), alice, send)
		if err != nil || len(all) != 4 {
			t.Fatal(all, err)
		}
		fine, not, mute, wild := all[0], all[1], all[2], all[3]
		if fine.Who != "@bot" || fine.Err != nil || fine.Sent != send || !errors.Is(not.Err, lost) || not.Sent ||
			mute.Asked ||
			wild.Err == nil ||
			strings.Contains(wild.Err.Error(), "hunter2") {
			t.Errorf("with a card %v: %+v", send, all)
		}
	}
	if len(good.sent) != 1 {
		t.Errorf("%d cards were sent", len(good.sent))
	}
	if _, err := d.Probe(t.Context(), "telegram:666", true); !errors.Is(err, approval.ErrNotApprover) {
		t.Errorf("a stranger is told %v", err)
	}
}
