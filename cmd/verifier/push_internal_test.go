package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/push/pushtest"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

// told says that a device of the owner hears of a call, and that no other does.
func (d *device) told(t *testing.T, r *rig, command string) {
	t.Helper()
	held := r.hold(sh(command, inGroup(command)))
	if m := readPush(t, d.service.Next()); m.Title != "Run: "+command {
		t.Errorf("told of %+v instead of %s", m, command)
	}
	r.refuse(r.waits().Ref, "")
	<-held
	if m := readPush(t, d.service.Next()); !m.Over {
		t.Errorf("then told of %+v", m)
	}
	d.wantNone(t, "then")
}

// twoPhones is a gateway with a phone of the owner and one of Ann, each with a push service of its own.
func twoPhones(t *testing.T, edit func(*config.Config)) (r *rig, mine, anns *device) {
	t.Helper()
	one, two := pushtest.Start(t), pushtest.Start(t)
	r = newRig(t, func(c *config.Config) {
		pushing(one, false)(c)
		twoPeople(c)
		c.Approval.Approvals = 1
		c.Notify.Push.Services = append(c.Notify.Push.Services, two.URL)
		edit(c)
	})
	mine = r.device(one, r.loginLink())
	anns = &device{visit: r.visit(), service: two, Device: two.Subscribe("")}
	status, session := anns.load(http.MethodPost, "/page/login", url.Values{"token": {secondToken}})
	if anns.session = session; status != http.StatusOK {
		t.Fatalf("Ann's login gave %d", status)
	}
	if status, body := anns.subscribe(); status != http.StatusNoContent {
		t.Fatalf("Ann's device: %d %s", status, body)
	}
	return r, mine, anns
}

func TestH493ARemovedApproversPhone(t *testing.T) {
	t.Parallel()
	r, d, ann := twoPhones(t, func(*config.Config) {})
	mine, theirs := d.service, ann.service
	held := r.hold(sh("make one", inGroup("x")))
	m := readPush(t, mine.Next())
	if other := readPush(t, theirs.Next()); other.Card != m.Card {
		t.Errorf("Ann is told of %+v", other)
	}
	next := *r.cfg
	next.Approvers = next.Approvers[:1]
	if err := r.g.reload(&next, r.g.live.Load().guard); err != nil {
		t.Fatal(err)
	}
	redistest.Eventually(t, "Ann's device is removed", func() bool { return r.devices() == 1 })
	if status, body := ann.answer(m, "deny"); status != http.StatusUnauthorized {
		t.Errorf("Ann's answer: %d %s", status, body)
	}
	r.refuse(r.waits().Ref, "")
	<-held
	if over := readPush(t, mine.Next()); !over.Over {
		t.Errorf("then %+v", over)
	}
	d.told(t, r, "make two")
	ann.wantNone(t, "without a right to answer")
	record, err := os.ReadFile(r.state.Record())
	if err != nil || !strings.Contains(string(record), "a device of Ann gets no notifications any more") {
		t.Errorf("the record does not say so: %v", err)
	}
}

// wantNone checks that a device was sent nothing.
func (d *device) wantNone(t *testing.T, when string) {
	t.Helper()
	select {
	case p := <-d.service.Pushes:
		t.Errorf("%s: told %s", when, p.Text)
	default:
	}
}

// inTheBrowserOf turns notifications on in the browser of another device, for the person who has this one.
func (d *device) inTheBrowserOf(t *testing.T, other *device) {
	t.Helper()
	there := &device{visit: d.visit, service: other.service, Device: other.Device}
	if status, body := there.subscribe(); status != http.StatusNoContent {
		t.Fatalf("turning notifications on gave %d %s", status, body)
	}
}

// TestAnotherPersonInTheSameBrowserHearsOfWhatWaits: that the one before was told of it does not count for them.
func TestAnotherPersonInTheSameBrowserHearsOfWhatWaits(t *testing.T) {
	t.Parallel()
	r, mine, ann := twoPhones(t, func(*config.Config) {})
	held := r.hold(sh("make one", inGroup("x")))
	first := readPush(t, mine.service.Next())
	ann.inTheBrowserOf(t, mine)
	if got := readPush(t, mine.service.Next()); got.Card != first.Card || got.Over {
		t.Errorf("Ann is told of %+v there, and %s waits", got, first.Card)
	}
	r.refuse(r.waits().Ref, "")
	<-held
	if over := readPush(t, mine.service.Next()); !over.Over {
		t.Errorf("then %+v", over)
	}
}

// TestWhatIsQueuedForOnePersonIsNotSentToAnotherInTheSameBrowser: Ann may not answer what the agent main asks.
func TestWhatIsQueuedForOnePersonIsNotSentToAnotherInTheSameBrowser(t *testing.T) {
	t.Parallel()
	r, mine, ann := twoPhones(t, func(c *config.Config) {
		c.Agents = asks(approval.Agent{Approvers: []string{"owner"}})
	})
	other := r.device(ann.service, r.loginLink()) // of the owner; it is told after the first one
	asked, done := make(chan struct{}, 100), make(chan struct{})
	mine.service.Answer(func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		<-done
		w.WriteHeader(http.StatusCreated)
	})
	one := r.hold(sh("make one", with(inGroup("x"), "agentId", "main")))
	<-asked
	other.service.Next()
	two := r.hold(sh("make two", with(inGroup("y"), "agentId", "main")))
	if m := readPush(t, other.service.Next()); m.Title != "Run: make two" { // so the first one's outbox has it, too
		t.Fatalf("told of %+v", m)
	}
	ann.inTheBrowserOf(t, mine)
	mine.service.Answer(nil)
	close(done)
	three := r.hold(sh("echo three", with(inGroup("z"), "sessionKey", "agent:helper:z", "agentId", "helper")))
	if m := readPush(t, mine.service.Next()); strings.HasPrefix(m.Title, "Run: make") {
		t.Errorf("Ann is told of %+v", m)
	}
	for _, p := range r.waiting(3) {
		r.refuse(p.Ref, "")
	}
	<-one
	<-two
	<-three
}

// renew gives the server the subscription that a browser has now, as the page's worker does.
func (d *device) renew(old string, now *pushtest.Device) (int, string) {
	d.t.Helper()
	return d.load(http.MethodPost, "/page/notifications/renew", url.Values{"old": {old}, "endpoint": {now.Endpoint}, "p256dh": {now.P256dh}, "auth": {now.Auth}})
}

// TestH568ANewSubscriptionIsForTheDeviceOfThatPerson: it replaces what they have, and adds nothing.
func TestH568ANewSubscriptionIsForTheDeviceOfThatPerson(t *testing.T) {
	t.Parallel()
	r, mine, ann := twoPhones(t, func(*config.Config) {})
	looker := &device{visit: r.visit()}
	looker.enter(r.loginLink("--viewer"))
	again := &device{visit: r.visit()} // the owner, in another browser
	again.enter(r.loginLink())
	stranger := &device{visit: r.visit()}
	next := mine.service.Subscribe("")
	refused := func(what string, d *device, old string, now *pushtest.Device, want int) {
		t.Helper()
		if status, body := d.renew(old, now); status != want || r.devices() != 2 {
			t.Errorf("%s: %d %s, and %d devices", what, status, body, r.devices())
		}
	}
	refused("without a session", stranger, mine.Endpoint, next, http.StatusUnauthorized)
	refused("a viewer", looker, mine.Endpoint, next, http.StatusForbidden)
	refused("the device of someone else", ann, mine.Endpoint, next, http.StatusNotFound)
	refused("a login without a device", again, "", next, http.StatusNotFound)
	refused("an old endpoint that never was", mine, next.Endpoint, next, http.StatusNotFound)
	refused("to where no message may go", mine, mine.Endpoint, &pushtest.Device{Endpoint: "http://127.0.0.1:1/x", P256dh: next.P256dh, Auth: next.Auth}, http.StatusUnprocessableEntity)
	mine.told(t, r, "make one") // all is as it was
	if m := readPush(t, ann.service.Next()); m.Title != "Run: make one" {
		t.Errorf("Ann is told of %+v", m)
	}
	ann.service.Next() // it is over

	third := mine.service.Subscribe("")
	for _, change := range []struct {
		what string
		by   *device
		old  string
		now  *pushtest.Device
	}{
		{"by a login of the same person", again, mine.Endpoint, next}, {"by the same login, without the old endpoint", again, "", third},
	} {
		if status, body := change.by.renew(change.old, change.now); status != http.StatusNoContent || r.devices() != 2 {
			t.Errorf("%s: %d %s, and %d devices", change.what, status, body, r.devices())
		}
	}
	text, err := r.state.Devices()
	if err != nil || strings.Contains(text, `"`+mine.Endpoint+`"`) || strings.Contains(text, `"`+next.Endpoint+`"`) || !strings.Contains(text, `"`+third.Endpoint+`"`) || strings.Count(text, `"my phone"`) != 2 {
		t.Errorf("the list: %v %s", err, text)
	}
	mine.told(t, r, "make two")
	if status, _ := again.load(http.MethodPost, "/page/logout", nil); status != http.StatusNoContent || r.devices() != 1 {
		t.Errorf("the logout there: %d, and %d devices", status, r.devices())
	}
	if status, _ := mine.renew(third.Endpoint, next); status != http.StatusNotFound || r.devices() != 1 {
		t.Errorf("a device that was removed: %d, and %d devices", status, r.devices())
	}
}

// TestAQuestionThatWaitsIsToldToANewSubscription: what its browser lost with the old one.
func TestAQuestionThatWaitsIsToldToANewSubscription(t *testing.T) {
	t.Parallel()
	service := pushtest.Start(t)
	r := newRig(t, pushing(service, false))
	d := r.device(service, r.loginLink())
	held := r.hold(sh("make one", inGroup("x")))
	m := readPush(t, service.Next())
	if status, body := d.renew("", service.Subscribe("")); status != http.StatusNoContent {
		t.Fatalf("%d %s", status, body)
	}
	if again := readPush(t, service.Next()); again.Card != m.Card || again.Tag != m.Tag || again.Over {
		t.Errorf("the new subscription: %+v", again)
	}
	r.refuse(r.waits().Ref, "")
	<-held
	if over := readPush(t, service.Next()); !over.Over {
		t.Errorf("then %+v", over)
	}
}

// literally is a command with whatever characters.
func literally(t *testing.T, command string, ctx map[string]any) call {
	t.Helper()
	params, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	return call{tool: "exec", params: string(params), context: ctx}
}

func TestH495TheTextOfANotification(t *testing.T) {
	t.Parallel()
	service := pushtest.Start(t)
	r := newRig(t, pushing(service, true))
	r.device(service, r.loginLink())
	for i, command := range []string{
		"echo safe \u202etxt.exe", "echo \x1b[2J\x07\x00hidden", "echo a\u200bb\u2066c\u2069", "echo " + strings.Repeat("A", 5000), "echo one" + strings.Repeat("\n", 40) + "echo two", "echo \u0430dmin",
	} {
		held := r.hold(literally(t, command, inGroup(fmt.Sprint(i))))
		got := service.Next()
		m := readPush(t, got)
		if i := strings.IndexFunc(m.Title+m.Text, func(c rune) bool {
			return c < ' ' && c != '\n' || c == 0x7f || c >= 0x200b && c <= 0x200f || c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069
		}); i >= 0 {
			t.Errorf("%.20q: a character that can't be seen: %q", command, m.Title+m.Text)
		}
		if len([]rune(m.Title)) > 200 || strings.Contains(m.Title, "\n") || m.Shown != "" {
			t.Errorf("%.20q: %+v", command, m)
		}
		r.refuse(r.waits().Ref, "")
		<-held
		if over := readPush(t, service.Next()); !over.Over {
			t.Errorf("then %+v", over)
		}
	}
}

func TestH496AStolenMessageAnswersNothing(t *testing.T) {
	t.Parallel()
	service := pushtest.Start(t)
	r := newRig(t, pushing(service, true))
	r.device(service, r.loginLink())
	held := r.hold(sh("ls src", inGroup("x")))
	m := readPush(t, service.Next())
	looker := &device{visit: r.visit()}
	looker.enter(r.loginLink("--viewer"))
	for name, d := range map[string]*device{"without a session": {visit: r.visit()}, "a viewer": looker} {
		for _, what := range []string{"allow", "deny"} {
			if status, body := d.answer(m, what); status != http.StatusUnauthorized && status != http.StatusForbidden {
				t.Errorf("%s, %s: %d %s", name, what, status, body)
			}
		}
	}
	other := r.visit()
	other.enter(r.loginLink())
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/page/notifications/answer", strings.NewReader(url.Values{"card": {m.Card}, "answer": {"allow"}, "shown": {m.Shown}}.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("X-Verifier-Session", other.session)
	req.Header.Set("Origin", "https://evil.example")
	if a := exchange(t, other.client, req); a.status != http.StatusForbidden {
		t.Errorf("from another origin: %d", a.status)
	}
	if status, _ := other.load(http.MethodGet, "/page/notifications/answer?card="+m.Card+"&answer=allow&shown="+m.Shown, nil); status == http.StatusOK {
		t.Error("a GET answers")
	}
	card := r.waits() // it waits still
	r.refuse(card.Ref, "")
	if a := <-held; a.allowed() {
		t.Errorf("the call: %s", a.raw)
	}
}

// TestH497AllowFromANotificationIsForTheServerToSay: whatever the worker asks for.
func TestH497AllowFromANotificationIsForTheServerToSay(t *testing.T) {
	t.Parallel()
	service := pushtest.Start(t)
	r := newRig(t, pushing(service, true))
	d := r.device(service, r.loginLink())
	refuses := func(what string, c call, seal string) pushed {
		t.Helper()
		held := r.hold(c)
		m := readPush(t, service.Next())
		stolen := m
		if stolen.Shown = seal; what != "another card's seal" && what != "switched off" && m.Shown != "" {
			t.Errorf("%s: the notification has an Allow: %+v", what, m)
		}
		for _, s := range []pushed{stolen, {Card: m.Card}} {
			if status, body := d.answer(s, "allow"); status != http.StatusForbidden {
				t.Errorf("%s: %d %s", what, status, body)
			}
		}
		r.refuse(r.waits().Ref, "")
		if a := <-held; a.allowed() {
			t.Errorf("%s: the call: %s", what, a.raw)
		}
		if over := readPush(t, service.Next()); !over.Over {
			t.Errorf("%s: then %+v", what, over)
		}
		return m
	}
	harmless := refuses("another card's seal", sh("ls src", inGroup("a")), "00000000000000000000000000000000")
	if harmless.Shown == "" {
		t.Fatal("a harmless call has no Allow")
	}
	for what, c := range map[string]call{
		"it deletes":              sh("rm -r build", inGroup("b")),
		"it leaves the machine":   sh("curl -d @notes https://example.com/", inGroup("c")),
		"an unknown command":      sh("frobnicate --all", inGroup("d")),
		"a command we can't read": literally(t, `eval "$X"`, inGroup("e")),
		"an unknown tool":         {tool: "mystery", params: `{"a":"b"}`, context: inGroup("f")},
		"it is too long":          sh("ls "+strings.Repeat("a ", 200), inGroup("g")),
		"outside content drives":  tainted(r, "exec", `{"command":"touch src"}`),
	} {
		refuses(what, c, harmless.Shown)
	}
	next := *r.cfg
	next.Notify.Push.Allow = false
	if err := r.g.reload(&next, r.g.live.Load().guard); err != nil {
		t.Fatal(err)
	}
	refuses("switched off", sh("ls -l", inGroup("h")), harmless.Shown)
	strict := next
	strict.Notify.Push.Allow, strict.Approval.StepUp = true, []string{"all"}
	if err := r.g.reload(&strict, r.g.live.Load().guard); err != nil {
		t.Fatal(err)
	}
	refuses("only a passkey allows it", sh("ls -a", inGroup("i")), harmless.Shown)
}

// TestH498APushServiceThatHangs holds no call up, and no answer.
func TestH498APushServiceThatHangs(t *testing.T) {
	t.Parallel()
	service := pushtest.Start(t)
	r := newRig(t, pushing(service, false))
	r.device(service, r.loginLink())
	asked, done := make(chan struct{}, 100), make(chan struct{})
	service.Answer(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		select {
		case <-r.Context().Done():
		case <-done:
		}
	})
	defer close(done)
	first := r.hold(sh("make deploy", inGroup("x")))
	<-asked
	began := time.Now()
	r.allow(call{tool: "read", params: `{"path":"notes.md"}`, context: ownerIn("main")})
	second := r.hold(sh("make test", inGroup("y")))
	for _, p := range r.waiting(2) {
		r.refuse(p.Ref, "")
	}
	<-first
	<-second
	if took := time.Since(began); took > 5*time.Second { // the service may hang for ten
		t.Errorf("decisions took %s", took)
	}
	began = time.Now()
	r.quit()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the end took %s", took)
	}
}

func TestH499ACardThatIsSettledElsewhere(t *testing.T) {
	t.Parallel()
	service := pushtest.Start(t)
	r := newRig(t, pushing(service, true))
	d := r.device(service, r.loginLink())
	held := r.hold(sh("ls src", inGroup("x")))
	got := service.Next()
	m := readPush(t, got)
	r.refuse(r.waits().Ref, "") // in the terminal
	<-held
	next := service.Next()
	if over := readPush(t, next); !over.Over || next.Topic != got.Topic || over.Shown != "" {
		t.Errorf("then %+v in %+v", over, next)
	}
	for _, what := range []string{"allow", "deny"} {
		if status, body := d.answer(m, what); status != http.StatusConflict || !strings.Contains(body, "lready") {
			t.Errorf("%s comes late: %d %s", what, status, body)
		}
	}
	gone := m
	gone.Card = strings.Repeat("0", len(m.Card))
	if status, _ := d.answer(gone, "deny"); status != http.StatusNotFound {
		t.Errorf("a card that never was: %d", status)
	}
}

func TestH501AnEditedListOfDevices(t *testing.T) {
	t.Parallel()
	service := pushtest.Start(t)
	r := newRig(t, pushing(service, false))
	r.device(service, r.loginLink())
	r.quit()
	path := r.state.Dir() + "/devices"
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.Replace(string(text), service.URL, "http://127.0.0.1:1", 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = openGateway(setup{config: r.cfg, state: r.state, chats: builtin, log: newLog(r.log, config.Log{}, &slog.LevelVar{})})
	if err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("it starts: %v", err)
	}
}

// TestH502ANewTokenOrALogout ends the notifications of what came before.
func TestH502ANewTokenOrALogout(t *testing.T) {
	t.Parallel()
	service := pushtest.Start(t)
	r := newRig(t, pushing(service, false))
	out := r.device(service, r.loginLink())
	d := r.device(service, r.loginLink())
	if r.devices() != 2 {
		t.Fatalf("there are %d devices", r.devices())
	}
	if status, _ := out.load(http.MethodPost, "/page/logout", nil); status != http.StatusNoContent || r.devices() != 1 {
		t.Errorf("the logout: %d, %d devices are left", status, r.devices())
	}
	d.told(t, r, "make one")
	next := *r.cfg
	next.OwnerToken = config.NewSecret("77d0e6b1a94c4f2f8c13")
	if err := r.g.reload(&next, r.g.live.Load().guard); err != nil {
		t.Fatal(err)
	}
	redistest.Eventually(t, "the other device is removed", func() bool { return r.devices() == 0 })
}

func TestH504ASecretInTheCall(t *testing.T) {
	t.Parallel()
	service := pushtest.Start(t)
	r := newRig(t, pushing(service, true))
	r.device(service, r.loginLink())
	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	held := r.hold(sh("git push https://"+secret+"@github.com/a/b", inGroup("x")))
	if got := service.Next(); strings.Contains(got.Text, secret) || readPush(t, got).Shown != "" {
		t.Errorf("the message has the secret: %s", got.Text)
	}
	r.refuse(r.waits().Ref, "")
	<-held
}
