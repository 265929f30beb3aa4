package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/store"
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

// notifications are the views of a person's devices, and the answers that come from one.
type notifications struct{ *site }

// list shows a person's devices.
func (n *notifications) list(w http.ResponseWriter, r *http.Request, m *member, s said) {
	var v notificationsView
	if n.o.Push.Devices != nil {
		v = notificationsView{On: true, Allow: n.o.Push.Allow(), Devices: n.o.Push.Devices.Of(m.id()), Public: n.o.Push.Public}
	}
	n.show(w, r, m, "notifications", view{Title: "Notifications", At: "notifications", Said: s, Notifications: v})
}

// add adds the device that a person subscribed with. It can only be told of
// questions: a session is enough.
func (n *notifications) add(w http.ResponseWriter, r *http.Request, m *member) {
	mark, known := n.o.People().Mark(m.Person)
	d := push.Device{Of: m.id(), Mark: n.o.Key.Seal("push-mark", mark), Session: m.ID, Name: n.givenName(r, "Device"), Added: n.o.Now().UTC()}
	if n.subscription(w, r, known, &d) {
		n.keepDevice(w, r, m, "turns notifications on for a device", func() error { return n.o.Push.Devices.Add(d) })
	}
}

// renew gives a device of this person the subscription that its browser has now. It adds none: who removed it wants no notifications there.
func (n *notifications) renew(w http.ResponseWriter, r *http.Request, m *member) {
	var d push.Device
	known := false
	if n.o.Push.Devices != nil {
		d, known = n.o.Push.Devices.Find(m.id(), m.ID, r.PostFormValue("old"))
	}
	if !known || !n.current(&d) {
		http.Error(w, "You have no such device. Nothing was changed.", http.StatusNotFound)
		return
	}
	d.Session = m.ID // the logout there ends it
	if n.subscription(w, r, true, &d) {
		n.keepDevice(w, r, m, "has a device with a new subscription", func() error { return n.o.Push.Devices.Renew(d) })
	}
}

// subscription reads what a browser subscribed with, if messages may go there; else it says why not.
func (n *notifications) subscription(w http.ResponseWriter, r *http.Request, known bool, d *push.Device) bool {
	if n.o.Push.Devices == nil {
		http.Error(w, "Notifications are switched off in the config. Nothing was changed.", http.StatusNotFound)
		return false
	}
	d.Subscription = push.Subscription{Endpoint: r.PostFormValue("endpoint"), Public: bytesOf(r, "p256dh"), Auth: bytesOf(r, "auth")}
	if !known || d.Check() != nil || !n.o.Push.Permits(d.Endpoint) {
		http.Error(w, "Your browser's push service is none that messages can go to. Nothing was changed.", http.StatusUnprocessableEntity)
		return false
	}
	return true
}

// keepDevice changes the list once the record says so.
func (n *notifications) keepDevice(w http.ResponseWriter, r *http.Request, m *member, what string, change func() error) {
	if err := n.note(r.Context(), &m.ticket, what); err != nil {
		http.Error(w, "The record can't be written, so nothing was changed. Try again.", http.StatusServiceUnavailable)
		return
	}
	switch err := change(); {
	case errors.Is(err, push.ErrFull):
		http.Error(w, fmt.Sprintf("You have %d devices already. Remove one first.", push.MostDevices), http.StatusUnprocessableEntity)
	case errors.Is(err, push.ErrUnknown):
		http.Error(w, "You have no such device. Nothing was changed.", http.StatusNotFound)
	case err != nil:
		n.o.Log.ErrorContext(r.Context(), "a device could not be kept", "err", err)
		http.Error(w, "The device could not be added. Try again.", http.StatusServiceUnavailable)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// remove takes a device off a person's list.
func (n *notifications) remove(w http.ResponseWriter, r *http.Request, m *member) {
	err := push.ErrUnknown
	if n.o.Push.Devices != nil {
		err = n.o.Push.Devices.Remove(m.id(), r.PostFormValue("id"))
	}
	switch {
	case errors.Is(err, push.ErrUnknown):
		n.list(w, r, m, said{Text: "You have no such device. Nothing was changed.", Tone: odd})
		return
	case err != nil:
		n.o.Log.ErrorContext(r.Context(), "a device could not be removed", "err", err)
		n.list(w, r, m, said{Text: "The device could not be removed. Try again.", Tone: odd})
		return
	}
	n.note(r.Context(), &m.ticket, "turned notifications off for a device") //nolint:errcheck // it is logged, and the device is removed
	n.list(w, r, m, said{Text: "The device is removed. It gets no notifications any more.", Tone: good})
}

// quiet ends the notifications that were turned on with a login that is over.
func (n *notifications) quiet(ctx context.Context, session string) {
	if n.o.Push.Devices == nil {
		return
	}
	if _, err := n.o.Push.Devices.RemoveIf(func(d *push.Device) bool { return d.Session == session }); err != nil {
		n.o.Log.ErrorContext(ctx, "a device could not be removed", "err", err)
	}
}

// current reports whether a device may be told of questions still: its person may
// answer, with the same token as when they added it.
func (n *notifications) current(d *push.Device) bool {
	if len(d.Of) <= len(keyOwner("")) || !n.o.Desk.Lists(d.Of) {
		return false
	}
	mark, known := n.o.People().Mark(d.Of[len(keyOwner("")):])
	return known && n.o.Key.Check(d.Mark, "push-mark", mark)
}

// fromNotification takes an answer from a notification, with the session of the page.
// Whatever the browser says, a call is allowed there only if [channels.Notification]
// and the owner's config say so, and if the notification showed what the card says now.
func (n *notifications) fromNotification(w http.ResponseWriter, r *http.Request, m *member) {
	c, _, _, err := n.o.Desk.Look(r.Context(), r.PostFormValue("card"))
	switch {
	case errors.Is(err, store.ErrGone):
		http.Error(w, "That question is not here any more. Nothing was approved.", http.StatusNotFound)
		return
	case err != nil:
		n.unreachable(w, r, err)
		return
	}
	action := approval.DenyCall
	switch r.PostFormValue("answer") {
	case "deny":
	case "allow":
		if action = approval.AllowOnce; !n.allowsThere(c, r.PostFormValue("shown")) {
			http.Error(w, "This call can't be allowed from a notification. Open it. Nothing was approved.", http.StatusForbidden)
			return
		}
	default:
		http.Error(w, "That is no answer. Nothing was changed.", http.StatusUnprocessableEntity)
		return
	}
	o, err := n.o.Desk.Answer(r.Context(), approval.Answer{ID: m.id(), Via: viaNotification, Handle: c.Handle(action)})
	n.fault(r.Context(), "an answer could not be taken", err)
	if o.Kind != approval.Counted {
		http.Error(w, o.Text, http.StatusConflict)
		return
	}
	n.text(w, r, o.Text)
}

// allowsThere reports whether a notification that was sealed so may allow the card.
func (n *notifications) allowsThere(c *approval.Card, seal string) bool {
	shown := channels.Notify(c)
	return n.o.Push.Devices != nil && n.o.Push.Allow() && shown.OneTap && push.CheckShown(n.o.Key, seal, c.ID, shown.Title, shown.Text)
}
