package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/push"
)

// Push is what the page needs for notifications on people's devices.
type Push struct {
	Devices *push.Devices              // nil: there are none
	Public  string                     // the public key that browsers subscribe with
	Permits func(endpoint string) bool // whether messages may go there
	Allow   func() bool                // whether a call may be allowed from a notification
}

// viaNotification is what the record calls an answer from a notification.
const viaNotification = "notification"

// notificationsView lists a person's devices.
type notificationsView struct {
	On      bool // there are notifications
	Allow   bool // and some have an Allow
	Devices []push.Device
	Public  string
}

func (p *Page) notifications(w http.ResponseWriter, r *http.Request, m *member) {
	p.devices(w, r, m, said{})
}

func (p *Page) devices(w http.ResponseWriter, r *http.Request, m *member, s said) {
	var v notificationsView
	if p.o.Push.Devices != nil {
		v = notificationsView{On: true, Allow: p.o.Push.Allow(), Devices: p.o.Push.Devices.Of(m.id()), Public: p.o.Push.Public}
	}
	p.show(w, r, m, "notifications", view{Title: "Notifications", At: "notifications", Said: s, Notifications: v})
}

// notify adds the device that a person subscribed with. It can only be told of
// questions: a session is enough.
func (p *Page) notify(w http.ResponseWriter, r *http.Request, m *member) {
	mark, known := p.o.People().Mark(m.Person)
	d := push.Device{Of: m.id(), Mark: p.o.Key.Seal("push-mark", mark), Session: m.ID, Name: p.givenName(r, "Device"), Added: p.o.Now().UTC()}
	if p.subscription(w, r, known, &d) {
		p.keepDevice(w, r, m, "turns notifications on for a device", func() error { return p.o.Push.Devices.Add(d) })
	}
}

// renew gives a device of this person the subscription that its browser has now. It adds none: who removed it wants no notifications there.
func (p *Page) renew(w http.ResponseWriter, r *http.Request, m *member) {
	var d push.Device
	known := false
	if p.o.Push.Devices != nil {
		d, known = p.o.Push.Devices.Find(m.id(), m.ID, r.PostFormValue("old"))
	}
	if !known || !p.Current(&d) {
		http.Error(w, "You have no such device. Nothing was changed.", http.StatusNotFound)
		return
	}
	d.Session = m.ID // the logout there ends it
	if p.subscription(w, r, true, &d) {
		p.keepDevice(w, r, m, "has a device with a new subscription", func() error { return p.o.Push.Devices.Renew(d) })
	}
}

// pushKey is what a browser subscribes with that has no subscription any more.
func (p *Page) pushKey(w http.ResponseWriter, r *http.Request, _ *member) {
	p.text(w, r, p.o.Push.Public)
}

// subscription reads what a browser subscribed with, if messages may go there; else it says why not.
func (p *Page) subscription(w http.ResponseWriter, r *http.Request, known bool, d *push.Device) bool {
	if p.o.Push.Devices == nil {
		http.Error(w, "Notifications are switched off in the config. Nothing was changed.", http.StatusNotFound)
		return false
	}
	d.Subscription = push.Subscription{Endpoint: r.PostFormValue("endpoint"), Public: bytesOf(r, "p256dh"), Auth: bytesOf(r, "auth")}
	if !known || d.Check() != nil || !p.o.Push.Permits(d.Endpoint) {
		http.Error(w, "Your browser's push service is none that messages can go to. Nothing was changed.", http.StatusUnprocessableEntity)
		return false
	}
	return true
}

// keepDevice changes the list once the record says so.
func (p *Page) keepDevice(w http.ResponseWriter, r *http.Request, m *member, what string, change func() error) {
	if err := p.note(r.Context(), &m.ticket, what); err != nil {
		http.Error(w, "The record can't be written, so nothing was changed. Try again.", http.StatusServiceUnavailable)
		return
	}
	switch err := change(); {
	case errors.Is(err, push.ErrFull):
		http.Error(w, fmt.Sprintf("You have %d devices already. Remove one first.", push.MostDevices), http.StatusUnprocessableEntity)
	case errors.Is(err, push.ErrUnknown):
		http.Error(w, "You have no such device. Nothing was changed.", http.StatusNotFound)
	case err != nil:
		p.o.Log.ErrorContext(r.Context(), "a device could not be kept", "err", err)
		http.Error(w, "The device could not be added. Try again.", http.StatusServiceUnavailable)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// unnotify takes a device off a person's list.
func (p *Page) unnotify(w http.ResponseWriter, r *http.Request, m *member) {
	err := push.ErrUnknown
	if p.o.Push.Devices != nil {
		err = p.o.Push.Devices.Remove(m.id(), r.PostFormValue("id"))
	}
	switch {
	case errors.Is(err, push.ErrUnknown):
		p.devices(w, r, m, said{Text: "You have no such device. Nothing was changed.", Tone: odd})
		return
	case err != nil:
		p.o.Log.ErrorContext(r.Context(), "a device could not be removed", "err", err)
		p.devices(w, r, m, said{Text: "The device could not be removed. Try again.", Tone: odd})
		return
	}
	p.note(r.Context(), &m.ticket, "turned notifications off for a device") //nolint:errcheck // it is logged, and the device is removed
	p.devices(w, r, m, said{Text: "The device is removed. It gets no notifications any more.", Tone: good})
}

// quiet ends the notifications that were turned on with a login that is over.
func (p *Page) quiet(ctx context.Context, session string) {
	if p.o.Push.Devices == nil {
		return
	}
	if _, err := p.o.Push.Devices.RemoveIf(func(d *push.Device) bool { return d.Session == session }); err != nil {
		p.o.Log.ErrorContext(ctx, "a device could not be removed", "err", err)
	}
}

// Current reports whether a device may be told of questions still: its person may
// answer, with the same token as when they added it.
func (p *Page) Current(d *push.Device) bool {
	if len(d.Of) <= len(keyOwner("")) || !p.o.Desk.Lists(d.Of) {
		return false
	}
	mark, known := p.o.People().Mark(d.Of[len(keyOwner("")):])
	return known && p.o.Key.Check(d.Mark, "push-mark", mark)
}

// fromNotification takes an answer from a notification, with the session of the page.
// Whatever the browser says, a call is allowed there only if [channels.Notification]
// and the owner's config say so, and if the notification showed what the card says now.
func (p *Page) fromNotification(w http.ResponseWriter, r *http.Request, m *member) {
	c, _, _, err := p.o.Desk.Look(r.Context(), r.PostFormValue("card"))
	switch {
	case errors.Is(err, approval.ErrGone):
		http.Error(w, "That question is not here any more. Nothing was approved.", http.StatusNotFound)
		return
	case err != nil:
		p.unreachable(w, r, err)
		return
	}
	action := approval.DenyCall
	switch r.PostFormValue("answer") {
	case "deny":
	case "allow":
		if action = approval.AllowOnce; !p.allowsThere(c, r.PostFormValue("shown")) {
			http.Error(w, "This call can't be allowed from a notification. Open it. Nothing was approved.", http.StatusForbidden)
			return
		}
	default:
		http.Error(w, "That is no answer. Nothing was changed.", http.StatusUnprocessableEntity)
		return
	}
	o, err := p.o.Desk.Answer(r.Context(), approval.Answer{ID: m.id(), Via: viaNotification, Handle: c.Handle(action)})
	if err != nil {
		p.o.Log.ErrorContext(r.Context(), "an answer could not be taken", "err", err)
	}
	if o.Kind != approval.Counted {
		http.Error(w, o.Text, http.StatusConflict)
		return
	}
	p.text(w, r, o.Text)
}

// allowsThere reports whether a notification that was sealed so may allow the card.
func (p *Page) allowsThere(c *approval.Card, seal string) bool {
	n := channels.Notify(c)
	return p.o.Push.Devices != nil && p.o.Push.Allow() && n.OneTap && push.CheckShown(p.o.Key, seal, c.ID, n.Title, n.Text)
}
