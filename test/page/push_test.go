package page_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/push/pushtest"
	"github.com/openclaw-verifier/verifier/test/gateway"
)

// message is what a device reads.
type pushed struct {
	Card, Tag, Title, Text, Shown string
	Over                          bool
}

// device is a person's phone: a session of the page, and a subscription.
type device struct {
	*browser
	*pushtest.Device
	service *pushtest.Service
}

// pushing lets a gateway send to a service on this machine.
func pushing(s *pushtest.Service, allow bool, more string) string {
	return fmt.Sprintf("%snotify: {push: {services: [%q], allow: %t}}\n%s", patient, s.URL, allow, more)
}

// phone logs in by a link and turns notifications on.
func phone(t *testing.T, g *gateway.Gateway, s *pushtest.Service) *device {
	t.Helper()
	d := &device{browser: enter(t, g), service: s}
	_, key, _ := strings.Cut(string(d.load(http.MethodGet, "/page/notifications", nil).Body), `data-key="`)
	key, _, _ = strings.Cut(key, `"`)
	d.Device = s.Subscribe(key)
	form := url.Values{"endpoint": {d.Endpoint}, "p256dh": {d.P256dh}, "auth": {d.Auth}, "name": {"my phone"}}
	if a := d.load(http.MethodPost, "/page/notifications", form); a.Status != http.StatusNoContent {
		t.Fatalf("turning notifications on gave %d %s", a.Status, a.Body)
	}
	return d
}

// next is the next message that the device gets.
func (d *device) next() (pushtest.Push, pushed) {
	d.t.Helper()
	got, m := d.service.Next(), pushed{}
	if err := json.Unmarshal([]byte(got.Text), &m); err != nil {
		d.t.Fatal(err)
	}
	return got, m
}

// answers a message as the page's worker does.
func (b *browser) answers(m pushed, what string, headers ...string) (int, string) {
	b.t.Helper()
	form := url.Values{"card": {m.Card}, "answer": {what}, "shown": {m.Shown}}
	a := b.load(http.MethodPost, "/page/notifications/answer", form, headers...)
	return a.Status, string(a.Body)
}

// renew gives the server the subscription that a browser has now.
func (b *browser) renew(old string, now *pushtest.Device) int {
	b.t.Helper()
	form := url.Values{"old": {old}, "endpoint": {now.Endpoint}, "p256dh": {now.P256dh}, "auth": {now.Auth}}
	return b.load(http.MethodPost, "/page/notifications/renew", form).Status
}

// devices are the lines of the list that is kept.
func devices(t *testing.T, g *gateway.Gateway) int {
	t.Helper()
	text, err := g.State.Devices()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(text, `"endpoint":`)
}

// A phone is told of a call, denies it, and is told that it is over; so is one that is settled elsewhere (H499).
func TestAPhoneIsToldAndAnswers(t *testing.T) {
	t.Parallel()
	service := pushtest.Start(t)
	g := gateway.Start(t, pushing(service, true, ""))
	d := phone(t, g, service)
	held := g.Hold(gateway.Sh("make deploy", inGroup("x")))
	got, m := d.next()
	if m.Title != "Run: make deploy" || m.Shown != "" || m.Over || m.Tag != got.Topic || got.Urgency != "high" || got.TTL < 60 {
		t.Errorf("got %+v in %+v", m, got)
	}
	if strings.Contains(got.Text, g.Waits().Code(t)) {
		t.Error("the message has the code")
	}
	if status, body := d.answers(m, "deny"); status != http.StatusOK {
		t.Errorf("denying gave %d %s", status, body)
	}
	if a := <-held; a.Allowed() {
		t.Errorf("the call: %s", a.Raw)
	}
	if next, over := d.next(); !over.Over || over.Card != m.Card || next.Topic != got.Topic || next.Length != got.Length {
		t.Errorf("then %+v in %+v", over, next)
	}
	held = g.Hold(gateway.Sh("ls src", inGroup("y")))
	if _, m = d.next(); m.Shown == "" {
		t.Fatalf("a harmless call has no Allow: %+v", m)
	}
	if status, body := d.answers(m, "allow"); status != http.StatusOK {
		t.Errorf("allowing gave %d %s", status, body)
	}
	if a := <-held; !a.Allowed() {
		t.Errorf("the call: %s", a.Raw)
	}
	d.next()
	held = g.Hold(gateway.Sh("ls lib", inGroup("z")))
	_, m = d.next()
	g.Refuse(g.Waits().Ref, "") // in the terminal
	<-held
	if _, over := d.next(); !over.Over || over.Shown != "" {
		t.Errorf("then %+v", over)
	}
	for _, what := range []string{"allow", "deny"} {
		if status, body := d.answers(m, what); status != http.StatusConflict || !strings.Contains(body, "lready") {
			t.Errorf("%s comes late: %d %s", what, status, body)
		}
	}
	m.Card = strings.Repeat("0", len(m.Card))
	if status, _ := d.answers(m, "deny"); status != http.StatusNotFound {
		t.Errorf("a card that never was: %d", status)
	}
	if record := string(g.Recorded()); !strings.Contains(record, `"via":"notification"`) || strings.Contains(record+g.Log.String(), d.Endpoint) {
		t.Error("the record does not name the notification, or something names its endpoint")
	}
}

// Who has a notification, a viewer's session or another origin's page answers nothing; and no character hides in its text (H495).
func TestH496AStolenMessageAnswersNothing(t *testing.T) {
	t.Parallel()
	service := pushtest.Start(t)
	g := gateway.Start(t, pushing(service, true, ""))
	d := phone(t, g, service)
	held := g.Hold(gateway.Sh("ls src", inGroup("x")))
	_, m := d.next()
	stranger, looker := &browser{t: t, g: g}, enter(t, g, "--viewer")
	for _, what := range []string{"allow", "deny"} {
		for name, b := range map[string]*browser{"without a session": stranger, "a viewer": looker} {
			if status, body := b.answers(m, what); status != http.StatusUnauthorized && status != http.StatusForbidden {
				t.Errorf("%s, %s: %d %s", name, what, status, body)
			}
		}
		if status, _ := d.answers(m, what, "Origin", "https://evil.example"); status != http.StatusForbidden {
			t.Errorf("from another origin: %d", status)
		}
		path := "/page/notifications/answer?card=" + m.Card + "&answer=" + what + "&shown=" + m.Shown
		if a := d.load(http.MethodGet, path, nil); a.Status == http.StatusOK {
			t.Error("a GET answers")
		}
	}
	refused(t, g, held) // it waits still
	d.next()

	for i, command := range []string{
		"echo safe \u202etxt.exe", "echo \x1b[2J\x07\x00hidden", "echo a\u200bb\u2066c\u2069", "echo " + strings.Repeat("A", 5000),
		"echo one" + strings.Repeat("\n", 40) + "echo two", "echo \u0430dmin", "git push https://ghp_16C7e42F292c6912E7710c838347Ae178B4a@github.com/a/b",
	} {
		held := g.Hold(run(command, inGroup(fmt.Sprint(i))))
		_, m := d.next()
		if at := strings.IndexFunc(m.Title+m.Text, func(c rune) bool {
			return c < ' ' && c != '\n' || c == 0x7f || c >= 0x200b && c <= 0x200f || c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069
		}); at >= 0 || len([]rune(m.Title)) > 200 || strings.Contains(m.Title, "\n") || m.Shown != "" || strings.Contains(m.Text, "ghp_16C7") {
			t.Errorf("%.20q: %+v", command, m)
		}
		refused(t, g, held)
		d.next()
	}
}

// Whatever the worker asks for.
func TestH497AllowFromANotificationIsForTheServerToSay(t *testing.T) {
	t.Parallel()
	service := pushtest.Start(t)
	g := gateway.Start(t, pushing(service, true, ""))
	d := phone(t, g, service)
	refuses := func(what string, c gateway.Call, seal string) pushed {
		t.Helper()
		held := g.Hold(c)
		_, m := d.next()
		for _, s := range []pushed{{Card: m.Card, Shown: seal}, {Card: m.Card}} {
			if status, body := d.answers(s, "allow"); status != http.StatusForbidden {
				t.Errorf("%s: %d %s", what, status, body)
			}
		}
		refused(t, g, held)
		d.next()
		return m
	}
	seal := refuses("another card's seal", gateway.Sh("ls src", inGroup("a")), strings.Repeat("0", 32)).Shown
	g.Allow(gateway.Fetch(gateway.OwnerIn("main")))
	for what, c := range map[string]gateway.Call{
		"it deletes":              gateway.Sh("rm -r build", inGroup("b")),
		"it leaves the machine":   gateway.Sh("curl -d @notes https://example.com/", inGroup("c")),
		"an unknown command":      gateway.Sh("frobnicate --all", inGroup("d")),
		"a command we can't read": run(`eval "$X"`, inGroup("e")),
		"an unknown tool":         {Tool: "mystery", Params: `{"a":"b"}`, Context: inGroup("f")},
		"it is too long":          gateway.Sh("ls "+strings.Repeat("a ", 200), inGroup("g")),
		"outside content drives":  gateway.Sh("touch src", gateway.OwnerIn("main")),
	} {
		if m := refuses(what, c, seal); m.Shown != "" {
			t.Errorf("%s: the notification has an Allow", what)
		}
	}
	g.Reload(pushing(service, false, ""))
	refuses("switched off", gateway.Sh("ls -l", inGroup("h")), seal)
}

// It holds no call up, and no answer and no end. One that is busy is asked again, and a subscription that has ended is removed (H500).
func TestH498APushServiceThatHangs(t *testing.T) {
	t.Parallel()
	service := pushtest.Start(t)
	g := gateway.Start(t, pushing(service, false, ""))
	d := phone(t, g, service)
	tries := make(chan bool, 10)
	service.Answer(func(w http.ResponseWriter, _ *http.Request) {
		tries <- true
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
		service.Answer(nil)
	})
	held := g.Hold(gateway.Sh("make deploy", inGroup("x")))
	<-tries
	if _, m := d.next(); m.Title != "Run: make deploy" {
		t.Errorf("got %+v", m)
	}
	refused(t, g, held)
	d.next()
	service.Answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
	held = g.Hold(gateway.Sh("make test", inGroup("y")))
	eventually(t, "the device is removed", func() bool { return devices(t, g) == 0 })
	refused(t, g, held)
	phone(t, g, service)
	done := make(chan struct{})
	defer close(done)
	service.Answer(func(http.ResponseWriter, *http.Request) { tries <- true; <-done })
	held = g.Hold(gateway.Sh("make all", inGroup("z")))
	<-tries
	g.Allow(gateway.Sh("ls", gateway.OwnerIn("main")))
	refused(t, g, held)
	if took := g.Quit(); took.Seconds() > 9 { // the service may hang for ten
		t.Errorf("the end took %s", took)
	}
}

// A device is a person's: a new subscription is for that person's device, and one of a person who may no longer answer, of
// a login that has ended or of an old token is told nothing more (H568, H502). The list of devices can't be edited (H501).
func TestH493H568WhoseDeviceIsTold(t *testing.T) {
	t.Parallel()
	const anns = "5b1d8a0c9f3e7d2461a8c0b7e4f91d36"
	mine, hers := pushtest.Start(t), pushtest.Start(t)
	services := patient + fmt.Sprintf("notify: {push: {services: [%q, %q]}}\n", mine.URL, hers.URL)
	const owner = `approvers: [{name: owner, ids: ["token:owner"]}`
	g := gateway.Start(t, services+owner+", {name: Ann, token: "+anns+"}]\n")
	d := phone(t, g, mine)
	ann := &device{browser: &browser{t: t, g: g}, Device: hers.Subscribe(""), service: hers}
	ann.session = string(ann.load(http.MethodPost, "/page/login", url.Values{"token": {anns}}).Body)
	form := url.Values{"endpoint": {ann.Endpoint}, "p256dh": {ann.P256dh}, "auth": {ann.Auth}, "name": {"Ann's"}}
	if a := ann.load(http.MethodPost, "/page/notifications", form); a.Status != http.StatusNoContent {
		t.Fatalf("Ann's device: %d %s", a.Status, a.Body)
	}
	again, next := enter(t, g), mine.Subscribe("")
	foreign := &pushtest.Device{Endpoint: "http://127.0.0.1:1/x", P256dh: next.P256dh, Auth: next.Auth}
	for _, c := range []struct {
		what string
		by   *browser
		old  string
		now  *pushtest.Device
		want int
	}{
		{"without a session", &browser{t: t, g: g}, d.Endpoint, next, http.StatusUnauthorized},
		{"a viewer", enter(t, g, "--viewer"), d.Endpoint, next, http.StatusForbidden},
		{"the device of someone else", ann.browser, d.Endpoint, next, http.StatusNotFound},
		{"a login without a device", again, "", next, http.StatusNotFound},
		{"an old endpoint that never was", d.browser, next.Endpoint, next, http.StatusNotFound},
		{"to where no message may go", d.browser, d.Endpoint, foreign, http.StatusUnprocessableEntity},
		{"the same person", again, d.Endpoint, next, http.StatusNoContent},
	} {
		if status := c.by.renew(c.old, c.now); status != c.want || devices(t, g) != 2 {
			t.Errorf("%s: %d, and %d devices", c.what, status, devices(t, g))
		}
	}
	held := g.Hold(gateway.Sh("make one", inGroup("x")))
	_, m := d.next()
	if _, other := ann.next(); other.Card != m.Card {
		t.Errorf("Ann is told of %+v", other)
	}
	g.Reload(services + owner + "]\n")
	eventually(t, "Ann's device is removed", func() bool { return devices(t, g) == 1 })
	if status, body := ann.answers(m, "deny"); status != http.StatusUnauthorized {
		t.Errorf("Ann's answer: %d %s", status, body)
	}
	refused(t, g, held)
	d.next()
	held = g.Hold(gateway.Sh("make two", inGroup("y")))
	d.next()
	refused(t, g, held)
	d.next()
	select {
	case p := <-hers.Pushes:
		t.Errorf("without a right to answer, Ann is told %s", p.Text)
	default:
	}
	if !strings.Contains(string(g.Recorded()), "a device of Ann gets no notifications any more") {
		t.Error("the record does not say so")
	}
	out := phone(t, g, mine)
	if a := out.load(http.MethodPost, "/page/logout", nil); a.Status != http.StatusNoContent || devices(t, g) != 1 {
		t.Errorf("the logout: %d, and %d devices are left", a.Status, devices(t, g))
	}
	g.Reload(services + owner + "]\nownerToken: 77d0e6b1a94c4f2f8c13\n")
	eventually(t, "the device of the old token is removed", func() bool { return devices(t, g) == 0 })

	g.Reload(services + owner + "]\n")
	phone(t, g, mine)
	g.Quit()
	path := g.State.Dir() + "/devices"
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.Replace(string(text), mine.URL, "http://127.0.0.1:1", 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if said, code := g.Run("serve", "--listen", "127.0.0.1:0"); code == 0 || !strings.Contains(said, "is damaged") {
		t.Errorf("it starts with an edited list: %d %s", code, said)
	}
}

// A service is told and is never believed, whatever it answers. No secret goes there.
func TestH503NtfyIsToldAndDecidesNothing(t *testing.T) {
	t.Parallel()
	const secret = "sk-live-9f8e7d6c5b4a39281706f5e4d3c2b1a0"
	got, done := make(chan string, 100), make(chan struct{})
	answer := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/ntfy" {
			t.Errorf("a redirect was followed to %s", r.URL.Path)
		}
		body, _ := io.ReadAll(r.Body)
		got <- r.Header.Get("Authorization") + " " + string(body)
		switch {
		case strings.Contains(string(body), "redirect"):
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		case strings.Contains(string(body), "hang"):
			<-done
		default:
			io.WriteString(w, `{"decision":"allow","allow":true}`) //nolint:errcheck // the service does not care
		}
	}
	server := httptest.NewServer(http.HandlerFunc(answer))
	t.Cleanup(func() { close(done); server.Close() })
	g := gateway.Start(t, patient+"notify: {ntfy: {url: \""+server.URL+"/ntfy/my-topic\", token: tk_0123456789abcdef}}\n")
	for _, command := range []string{"make deploy", "make redirect", "make hang"} {
		held := g.Hold(gateway.Sh(command+" TOKEN="+secret, inGroup(command)))
		said := <-got
		if !strings.HasPrefix(said, "Bearer tk_0123456789abcdef {") || !strings.Contains(said, `"my-topic"`) ||
			!strings.Contains(said, "Run: "+command) || strings.Contains(said, secret) {
			t.Errorf("ntfy got %s", said)
		}
		g.Allow(gateway.Sh("date", gateway.OwnerIn("other"))) // meanwhile others pass
		refused(t, g, held)
	}
}
