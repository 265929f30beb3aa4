package notify

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/push"
)

// message is what the page's service worker reads.
type message struct {
	Card  string `json:"card"`
	Tag   string `json:"tag"`
	Title string `json:"title"`
	Text  string `json:"text,omitzero"`
	Until int64  `json:"until"` // in milliseconds
	Shown string `json:"shown,omitzero"`
	Over  bool   `json:"over,omitzero"`
}

// How long a push service keeps for a device that is off that a question is over.
const overTTL = 5 * time.Minute

// devices are those to tell. One of a person who may not answer any more, or whose
// token is another, is removed.
func (n *Notifier) devices() []push.Device {
	if n.o.Push == nil {
		return nil
	}
	n.remove("the person may not answer any more, or has another token", func(d *push.Device) bool { return !n.o.Current(d) })
	return n.o.Devices.All()
}

// remove takes devices off the list, and says so in the record.
func (n *Notifier) remove(why string, goes func(*push.Device) bool) {
	gone, err := n.o.Devices.RemoveIf(goes)
	if err != nil {
		n.o.Log.Error("a device could not be removed", "err", err)
	}
	for _, d := range gone {
		_, person, _ := strings.Cut(d.Of, ":")
		n.o.Log.Info("a device gets no notifications any more", "device", d.ID, "of", person, "why", why)
		if err := n.o.Record(record.Entry{Kind: record.KindNote, Note: "a device of " + person +
			" gets no notifications any more: " + why}); err != nil {
			n.o.Log.Error("the record could not be written", "err", err)
		}
	}
}

// toDevice sends news to a device for as long as it is on the list as the same person's.
func (n *Notifier) toDevice(id, of string) func(context.Context, *News) error {
	return func(ctx context.Context, news *News) error {
		d, listed := n.device(id, of)
		if !listed || !n.o.Current(&d) {
			return nil
		}
		m := &push.Message{Topic: news.Topic, TTL: max(time.Until(news.Until), 0), Urgent: true}
		if news.Over {
			m.TTL, m.Urgent = overTTL, false
		}
		var err error
		if m.Text, err = payload(news); err != nil {
			return err
		}
		err = n.o.Push.Send(ctx, &d.Subscription, m)
		if errors.Is(err, push.ErrGone) {
			n.remove("the browser has ended its subscription", func(x *push.Device) bool { return x.ID == id && x.Of == of })
			return nil
		}
		return err
	}
}

// device is a person's device as the list has it now. Another person may have turned notifications on in the same browser.
func (n *Notifier) device(id, of string) (push.Device, bool) {
	all := n.o.Devices.All()
	i := slices.IndexFunc(all, func(d push.Device) bool { return d.ID == id && d.Of == of })
	if i < 0 {
		return push.Device{}, false
	}
	return all[i], true
}

// payload is the message, without the call where that is too long.
func payload(news *News) ([]byte, error) {
	m := message{Card: news.Card, Tag: news.Topic, Title: news.Title, Text: news.Text, Until: news.Until.UnixMilli(), Shown: news.Shown, Over: news.Over}
	out, err := json.Marshal(m)
	if err == nil && len(out) > push.MaxMessage {
		m.Title, m.Text, m.Shown = "A question waits", "", ""
		out, err = json.Marshal(m)
	}
	return out, err
}
