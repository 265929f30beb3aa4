package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/push/pushtest"
	"github.com/openclaw-verifier/verifier/store/redistest"
	"github.com/openclaw-verifier/verifier/web/webtest"
)

// subscribed lets the browser's push service be the test's: Chromium's own is on the internet.
const subscribed = `PushManager.prototype.subscribe = async () => ({ toJSON: () => ({ endpoint: %q, keys: { p256dh: %q, auth: %q } }) })`

// tapped is what the browser does when a person taps a notification, or a button on it.
const tapped = `(async () => { const [n] = await registration.getNotifications(); const e = new NotificationEvent("notificationclick", { notification: n, action: %q });
	let done; e.waitUntil = (p) => { done = p }; dispatchEvent(e); await done; return true })()`

// resubscribed is what the browser does when it has given up its subscription: it tells neither the old nor a new one.
const resubscribed = `(async () => { const e = new ExtendableEvent("pushsubscriptionchange"); let done; e.waitUntil = (p) => { done = p }; dispatchEvent(e); await done; return true })()`

// pushes hands a message to the service worker until the notifications of the page are these, by title. It is handed over
// anew every few seconds, as a push service does whose message was not taken: Chromium does not say whether it was.
func (s *surf) pushes(tab *webtest.Tab, text, titles string) {
	s.t.Helper()
	tries := 0
	redistest.Eventually(s.t, "the notification says "+titles, func() bool {
		if tries%100 == 0 {
			tab.Push(s.url, text)
		}
		tries++
		var now string
		tab.Eval(`(async () => (await (await navigator.serviceWorker.getRegistration("/page/")).getNotifications()).map(n => n.title).join())()`, &now)
		return now == titles
	})
	if tries > 100 {
		s.t.Logf("the message was handed over %d times", tries/100+1)
	}
}

// TestAPushInARealBrowser turns notifications on, on a phone. What the gateway sends is decrypted by the push service's
// stand-in and handed to Chromium's service worker, which shows it, answers from it and takes it away.
func TestAPushInARealBrowser(t *testing.T) {
	t.Parallel()
	service := pushtest.Start(t)
	s := &surf{rig: newRig(t, pushing(service, true)), browser: webtest.Start(t)}
	tab := s.login(webtest.Phone)
	tab.AllowNotifications(s.url)
	s.open(tab, "notifications")
	d := service.Subscribe("")
	tab.Eval(fmt.Sprintf(subscribed, d.Endpoint, d.P256dh, d.Auth), nil)
	tab.Type("#device-name", "My phone")
	tab.Click(".notify button")
	tab.Text("Notifications are on for this device")
	tab.Text("Added just now")
	s.check(tab, "the notifications at 360 px")
	tab.Eval(`document.addEventListener("verifier:sound", () => { window.sounds = (window.sounds ?? 0) + 1 })`, nil)
	tab.Click("[data-sound]")
	tab.Text("Turn off the sound")
	tab.Wait("it makes a sound", `window.sounds === 1`)

	// Deny from the notification.
	held := s.asks(sh("make deploy", inGroup("x")))
	s.pushes(tab, service.Next().Text, "Run: make deploy")
	tab.InWorker(fmt.Sprintf(tapped, "deny"), nil)
	if a := <-held; a.allowed() {
		t.Errorf("the call: %s", a.raw)
	}
	s.pushes(tab, service.Next().Text, "")

	// Allow from the notification, which shows all of the call.
	held = s.asks(sh("ls src", inGroup("y")))
	s.pushes(tab, service.Next().Text, "Run: ls src")
	tab.InWorker(fmt.Sprintf(tapped, "allow"), nil)
	if a := <-held; !a.allowed() {
		t.Errorf("the call: %s", a.raw)
	}
	s.pushes(tab, service.Next().Text, "")

	// Settled elsewhere: it goes.
	held = s.asks(sh("make test", inGroup("z")))
	s.pushes(tab, service.Next().Text, "Run: make test")
	s.refuse(s.waits().Ref, "")
	<-held
	s.pushes(tab, service.Next().Text, "")

	// A tap opens the card.
	held = s.asks(sh("make install", inGroup("w")))
	m := service.Next()
	s.pushes(tab, m.Text, "Run: make install")
	tab.InWorker(fmt.Sprintf(tapped, ""), nil)
	tab.Wait("the card is open", fmt.Sprintf(`location.pathname === "/page/cards/%s"`, readPush(t, m).Card))
	s.refuse(s.waits().Ref, "")
	<-held

	// An open page makes its sound and counts.
	service.Next()
	s.open(tab, "")
	tab.Text("Nothing waits")
	tab.Eval(`document.addEventListener("verifier:sound", () => { window.sounds = (window.sounds ?? 0) + 1 })`, nil)
	held = s.asks(sh("make clean", inGroup("v")))
	tab.Wait("it makes a sound", `window.sounds === 1`)
	tab.Wait("the title says how many", `document.title.startsWith("(1)")`)
	s.refuse(s.waits().Ref, "")
	<-held

	// The browser subscribes anew.
	next := service.Subscribe("")
	tab.InWorker(fmt.Sprintf(subscribed, next.Endpoint, next.P256dh, next.Auth)+", true", nil)
	tab.InWorker(resubscribed, nil)
	if text, err := s.state.Devices(); err != nil || s.devices() != 1 || !strings.Contains(text, `"`+next.Endpoint+`"`) || !strings.Contains(text, "My phone") {
		t.Errorf("after a new subscription: %v %s", err, text)
	}

	s.open(tab, "notifications")
	tab.Click(".devices button")
	tab.Text("The device is removed")
	redistest.Eventually(t, "no device is left", func() bool { return s.devices() == 0 })
	if troubles := tab.Troubles(); len(troubles) > 0 {
		t.Errorf("the browser complains: %q", troubles)
	}
}
