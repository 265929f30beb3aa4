package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/push/pushtest"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

// pushed is what a device reads in a message.
type pushed struct {
	Card, Tag, Title, Text, Shown string
	Until                         int64
	Over                          bool
}

func readPush(t testing.TB, p pushtest.Push) (m pushed) {
	t.Helper()
	if err := json.Unmarshal([]byte(p.Text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// device is a person's phone: a session of the page, and a subscription.
type device struct {
	*visit
	service *pushtest.Service
	*pushtest.Device
}

// pushing lets a gateway send to a service on this machine.
func pushing(s *pushtest.Service, allow bool) func(*config.Config) {
	return func(c *config.Config) {
		unhurried(c)
		c.Notify.Push.Services, c.Notify.Push.Allow = []string{s.URL}, allow
	}
}

// device logs in by a link and turns notifications on.
func (r *rig) device(s *pushtest.Service, link string) *device {
	r.t.Helper()
	d := &device{visit: r.visit(), service: s}
	d.enter(link)
	_, page := d.load(http.MethodGet, "/page/notifications", nil)
	_, key, _ := strings.Cut(page, `data-key="`)
	key, _, _ = strings.Cut(key, `"`)
	d.Device = s.Subscribe(key)
	if status, body := d.subscribe(); status != http.StatusNoContent {
		r.t.Fatalf("turning notifications on gave %d %s", status, body)
	}
	return d
}

func (d *device) subscribe() (int, string) {
	d.t.Helper()
	return d.load(http.MethodPost, "/page/notifications", url.Values{"endpoint": {d.Endpoint}, "p256dh": {d.P256dh}, "auth": {d.Auth}, "name": {"my phone"}})
}

// answer answers a message as the page's worker does.
func (d *device) answer(m pushed, what string) (int, string) {
	d.t.Helper()
	return d.load(http.MethodPost, "/page/notifications/answer", url.Values{"card": {m.Card}, "answer": {what}, "shown": {m.Shown}})
}

// devices are the lines of the list that is kept.
func (r *rig) devices() int {
	r.t.Helper()
	text, err := r.state.Devices()
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.Count(text, `"endpoint":`)
}

func TestAPhoneIsToldAndDenies(t *testing.T) {
	t.Parallel()
	service := pushtest.Start(t)
	onBoth(t, pushing(service, false), func(t *testing.T, r *rig) {
		d := r.device(service, r.loginLink())
		held := r.hold(sh("make deploy", inGroup("x")))
		got := service.Next()
		m := readPush(t, got)
		if m.Title != "Run: make deploy" || m.Shown != "" || m.Over || m.Tag != got.Topic || got.Urgency != "high" || got.TTL < 60 {
			t.Errorf("got %+v in %+v", m, got)
		}
		if strings.Contains(got.Text, r.waits().code(t)) {
			t.Error("the message has the code")
		}
		if status, body := d.answer(m, "deny"); status != http.StatusOK || !strings.Contains(body, "Denied") && !strings.Contains(body, "denied") {
			t.Errorf("denying gave %d %s", status, body)
		}
		if a := <-held; a.allowed() {
			t.Errorf("the call: %s", a.raw)
		}
		next := service.Next()
		if over := readPush(t, next); !over.Over || over.Card != m.Card || next.Topic != got.Topic || next.Length != got.Length {
			t.Errorf("then %+v in %+v", over, next)
		}
		record, err := os.ReadFile(r.state.Record())
		if err != nil || !strings.Contains(string(record), `"via":"notification"`) || strings.Contains(string(record), d.Endpoint) || strings.Contains(r.log.String(), d.Endpoint) {
			t.Errorf("the record and the log: %v\n%s", err, record)
		}
	})
}

func TestAHarmlessCallIsAllowedFromTheNotification(t *testing.T) {
	t.Parallel()
	service := pushtest.Start(t)
	r := newRig(t, pushing(service, true))
	d := r.device(service, r.loginLink())
	held := r.hold(sh("ls src", inGroup("x")))
	m := readPush(t, service.Next())
	if m.Shown == "" || !strings.Contains(m.Text, "ls src") {
		t.Fatalf("got %+v", m)
	}
	if status, body := d.answer(m, "allow"); status != http.StatusOK {
		t.Errorf("allowing gave %d %s", status, body)
	}
	if a := <-held; !a.allowed() {
		t.Errorf("the call: %s", a.raw)
	}
}

func TestADeviceIsListedAndRemoved(t *testing.T) {
	t.Parallel()
	service := pushtest.Start(t)
	r := newRig(t, pushing(service, false))
	d := r.device(service, r.loginLink())
	_, page := d.load(http.MethodGet, "/page/notifications", nil)
	if !strings.Contains(page, "my phone") {
		t.Errorf("the list has no device:\n%s", page)
	}
	if info, err := os.Stat(r.state.Dir() + "/devices"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the list can be read by others: %v, %v", info, err)
	}
	r.quit()
	r.start() // the list survives
	d.enter(r.loginLink())
	_, page = d.load(http.MethodGet, "/page/notifications", nil)
	_, page = d.load(http.MethodPost, "/page/notifications/remove", url.Values{"id": {field(page, "id", "Remove")}})
	if !strings.Contains(page, "The device is removed") || r.devices() != 0 {
		t.Errorf("%d devices are left, and the page says\n%s", r.devices(), page)
	}
	if status, body := d.load(http.MethodGet, "/page/worker.js", nil); status != http.StatusOK || !strings.Contains(body, "showNotification") {
		t.Errorf("the worker: %d %s", status, body)
	}
}

func TestNotificationsCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	service := pushtest.Start(t)
	r := newRig(t, func(c *config.Config) {
		pushing(service, true)(c)
		c.Notify.Push.Enabled = false
	})
	d := &device{visit: r.visit(), service: service, Device: service.Subscribe("")}
	d.enter(r.loginLink())
	if _, page := d.load(http.MethodGet, "/page/notifications", nil); !strings.Contains(page, "switched off") {
		t.Errorf("the page says\n%s", page)
	}
	if status, _ := d.subscribe(); status != http.StatusNotFound {
		t.Errorf("subscribing gave %d", status)
	}
}

// TestH500AServiceThatIsBusyOrHasEnded is tried again when it asks for that, and a subscription that has ended is removed.
func TestH500AServiceThatIsBusyOrHasEnded(t *testing.T) {
	t.Parallel()
	service := pushtest.Start(t)
	r := newRig(t, pushing(service, false))
	r.device(service, r.loginLink())
	tries := make(chan string, 10)
	service.Answer(func(w http.ResponseWriter, r *http.Request) {
		tries <- r.URL.Path
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
		service.Answer(nil)
	})
	held := r.hold(sh("make deploy", inGroup("x")))
	<-tries
	if m := readPush(t, service.Next()); m.Title != "Run: make deploy" {
		t.Errorf("got %+v", m)
	}
	service.Answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
	second := r.hold(sh("make test", inGroup("y")))
	redistest.Eventually(t, "the device is removed", func() bool { return r.devices() == 0 })
	for _, p := range r.waiting(2) {
		r.refuse(p.Ref, "")
	}
	<-held
	<-second
}
