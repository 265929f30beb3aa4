package approval_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
)

// brings is a line that a chat brings in a message.
func brings(t testing.TB, d *approval.Desk, message, line string) approval.Outcome {
	t.Helper()
	o, err := d.Answer(t.Context(), approval.Answer{ID: alice, Via: "chat", Text: line, Message: message})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// A line that asks for more is said twice, once the person has read what it covers. The platform is not the person.
func TestH751AMessageThatComesAgainConfirmsNothing(t *testing.T) {
	d, c := withChat(t, nil)
	ruling := ask(t, d, func(r *approval.Request) {
		r.Ask.Lasting, r.Ask.Like, r.Ask.Targets = true, `{"to":[["to","ann@example.com"]]}`, []string{"ann@example.com"}
	})
	line := ".approve exec " + c.card(t).Code + " like 30"
	if o := brings(t, d, "1/7", line); o.Kind != approval.Replied || !strings.Contains(o.Text, "say the same again") {
		t.Fatalf("the first time: %+v", o)
	}
	if o := brings(t, d, "1/7", line); o.Kind != approval.Ignored {
		t.Errorf("the same message again: %+v", o)
	}
	if open := grants(t, d); len(open) > 0 {
		t.Errorf("open are %+v", open)
	}
	if o := brings(t, d, "1/8", line); o.Kind != approval.Counted || len(grants(t, d)) != 1 {
		t.Errorf("said again: %+v", o)
	}
	if r := <-ruling; !r.Yes {
		t.Errorf("%+v", r)
	}
}

func TestH751AMessageThatComesAgainLiftsNoLaterPause(t *testing.T) {
	d, _ := withChat(t, nil)
	brings(t, d, "1/1", ".pause")
	brings(t, d, "1/2", ".resume")
	brings(t, d, "1/3", ".pause")
	if brings(t, d, "1/2", ".resume"); !d.Pauses.View("main").On {
		t.Error("a message from before the pause lifted it")
	}
	brings(t, d, "1/4", ".resume")
	if brings(t, d, "1/3", ".pause"); !d.Pauses.View("main").On {
		t.Error("a pause that comes again is lost")
	}
}

// uncounting is a store that can't count.
type uncounting struct{ approval.Store }

func (uncounting) Count(context.Context, string, time.Duration, bool) (int, error) {
	return 0, errStoreDown
}

func TestH751ALineThatCannotBeCountedIsAnswered(t *testing.T) {
	d := openDesk(t, uncounting{openStore(t)}, nil)
	for _, line := range []string{".approve exec bf619df9", ".resume", ".reset-trust 01234567"} {
		o, err := d.Answer(t.Context(), approval.Answer{ID: alice, Via: "chat", Text: line, Message: "1/7"})
		if !errors.Is(err, errStoreDown) || !strings.Contains(o.Text, "The store can't be reached") {
			t.Errorf("%s: %+v, %v", line, o, err)
		}
	}
}
