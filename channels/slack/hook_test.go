package slack_test

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/channels/slack"
	"github.com/openclaw-verifier/verifier/channels/slack/slacktest"
)

const (
	jsonType = "application/json"
	formType = "application/x-www-form-urlencoded"
)

// tapped is what Slack posts when Alice taps.
func tapped() []byte {
	const payload = `{"type":"block_actions","user":{"id":"U0ALICE","team_id":"T0VERIFIER"},"container":{"channel_id":"C0APPROVALS","message_ts":"1.1"},"actions":[{"action_id":"answer_a","value":"a handle"}]}`
	return []byte(url.Values{"payload": {payload}}.Encode())
}

// wrote is what Slack posts when Alice writes a line.
func wrote(event, text string) []byte {
	return fmt.Appendf(nil, `{"type":"event_callback","event_id":%q,"event":{"type":"message","user":"U0ALICE","text":%q,"ts":"1.1","channel":"D0ALICE","channel_type":"im","team":"T0VERIFIER"}}`, event, text)
}

func TestH35AForgedRequestIsRefused(t *testing.T) {
	s := newStation(t, byHTTP, nil)
	s.sync() // it listens
	before := len(s.heard())
	now, body := time.Now(), tapped()
	signed := slacktest.Sign(keys.SigningSecret, now, formType, body)
	for name, edit := range map[string]func(*slacktest.Request){
		"another secret": func(q *slacktest.Request) { *q = slacktest.Sign("anothersigningsecret", now, formType, body) },
		"no secret":      func(q *slacktest.Request) { *q = slacktest.Sign("", now, formType, body) },
		"too old": func(q *slacktest.Request) {
			*q = slacktest.Sign(keys.SigningSecret, now.Add(-5*time.Minute-2*time.Second), formType, body)
		},
		"from the future": func(q *slacktest.Request) {
			*q = slacktest.Sign(keys.SigningSecret, now.Add(5*time.Minute+5*time.Second), formType, body)
		},
		"another body":      func(q *slacktest.Request) { q.Body = append(q.Body, ' ') },
		"another time":      func(q *slacktest.Request) { q.Header.Set("X-Slack-Request-Timestamp", fmt.Sprint(now.Unix()+1)) },
		"no signature":      func(q *slacktest.Request) { q.Header.Del("X-Slack-Signature") },
		"no time":           func(q *slacktest.Request) { q.Header.Del("X-Slack-Request-Timestamp") },
		"two signatures":    func(q *slacktest.Request) { q.Header.Add("X-Slack-Signature", q.Header.Get("X-Slack-Signature")) },
		"two times":         func(q *slacktest.Request) { q.Header.Add("X-Slack-Request-Timestamp", fmt.Sprint(now.Unix())) },
		"a short signature": func(q *slacktest.Request) { q.Header.Set("X-Slack-Signature", "v0=00") },
		"no hex":            func(q *slacktest.Request) { q.Header.Set("X-Slack-Signature", "v0="+strings.Repeat("z", 64)) },
		"another version": func(q *slacktest.Request) {
			q.Header.Set("X-Slack-Signature", "v1="+q.Header.Get("X-Slack-Signature")[3:])
		},
		"a time that is text": func(q *slacktest.Request) { q.Header.Set("X-Slack-Request-Timestamp", "now") },
		"a time beyond all":   func(q *slacktest.Request) { *q = signedAt("9223372036854775807", body) },
		"a time before all":   func(q *slacktest.Request) { *q = signedAt("-9223372036854775808", body) },
	} {
		q := slacktest.Request{Header: signed.Header.Clone(), Body: append([]byte(nil), signed.Body...)}
		edit(&q)
		if got := slacktest.Post(t.Context(), s.hook, q); got != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, got)
		}
	}
	s.sync()
	for _, a := range s.heard()[before:] {
		if a.ID != "slack:U0SYNC" {
			t.Errorf("heard %+v", a)
		}
	}
	if got := slacktest.Post(t.Context(), s.hook, signed); got != http.StatusOK {
		t.Errorf("a real one: %d", got)
	}
	s.until("the real one is heard", func() bool { return count(s, "slack:"+alice) == 1 })
}

// signedAt signs with a time that a clock can't show.
func signedAt(stamp string, body []byte) slacktest.Request {
	q := slacktest.Sign(keys.SigningSecret, time.Now(), formType, body)
	q.Header.Set("X-Slack-Request-Timestamp", stamp)
	q.Header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(slacktest.MAC(keys.SigningSecret, stamp, body)))
	return q
}

func count(s *station, id string) (n int) {
	for _, a := range s.heard() {
		if a.ID == id {
			n++
		}
	}
	return n
}

func TestH35ARequestIsTakenOnce(t *testing.T) {
	s := newStation(t, byHTTP, nil)
	s.sync()
	for _, q := range []slacktest.Request{
		slacktest.Sign(keys.SigningSecret, time.Now(), formType, tapped()),
		slacktest.Sign(keys.SigningSecret, time.Now(), jsonType, wrote("Ev1", ".pending")),
	} {
		for range 3 {
			if got := slacktest.Post(t.Context(), s.hook, q); got != http.StatusOK {
				t.Errorf("status %d", got)
			}
		}
	}
	// Slack sends an event again with another time and signature.
	again := slacktest.Sign(keys.SigningSecret, time.Now().Add(-time.Second), jsonType, wrote("Ev1", ".pending"))
	again.Header.Set("X-Slack-Retry-Num", "1")
	if got := slacktest.Post(t.Context(), s.hook, again); got != http.StatusOK {
		t.Errorf("status %d", got)
	}
	s.sync()
	s.until("both are heard", func() bool { return count(s, "slack:"+alice) >= 2 })
	s.stop() // what is under way has ended
	if n := count(s, "slack:"+alice); n != 2 {
		t.Errorf("%d were heard: %+v", n, s.heard())
	}
}

func TestTheAddressIsProvedToSlack(t *testing.T) {
	s := newStation(t, byHTTP, nil)
	post := func(q slacktest.Request) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.hook, strings.NewReader(string(q.Body)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header, req.Close = q.Header, true
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if kind := res.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/plain") {
			t.Errorf("as %s", kind)
		}
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(text)
	}
	ask := []byte(`{"type":"url_verification","challenge":"<b>3eZbrw1a</b>"}`)
	if status, text := post(slacktest.Sign(keys.SigningSecret, time.Now(), jsonType, ask)); status != http.StatusOK || text != "<b>3eZbrw1a</b>" {
		t.Errorf("%d %q", status, text)
	}
	if status, text := post(slacktest.Sign("anothersigningsecret", time.Now(), jsonType, ask)); status != http.StatusUnauthorized || strings.Contains(text, "3eZbrw1a") {
		t.Errorf("unsigned: %d %q", status, text)
	}
}

func TestAHookThatCannotTakeSomethingSaysSo(t *testing.T) {
	p := newPlatform(t, slacktest.Channel, byHTTP)
	ch := open(t, p.config(), delivery.Deps{})
	path, h := ch.Hook()
	if path != "/hooks/slack" {
		t.Errorf("the path is %q", path)
	}
	try := func(method string, q slacktest.Request) int {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(string(q.Body)))
		r.Header = q.Header
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	sign := func(contentType string, body []byte) slacktest.Request {
		return slacktest.Sign(keys.SigningSecret, time.Now(), contentType, body)
	}
	for name, c := range map[string]struct {
		method string
		q      slacktest.Request
		want   int
	}{
		"nobody listens":   {http.MethodPost, sign(formType, tapped()), http.StatusServiceUnavailable},
		"another method":   {http.MethodGet, sign(formType, tapped()), http.StatusMethodNotAllowed},
		"too large":        {http.MethodPost, sign(jsonType, make([]byte, 1<<20+1)), http.StatusRequestEntityTooLarge},
		"no JSON":          {http.MethodPost, sign(jsonType, []byte("{")), http.StatusBadRequest},
		"no payload":       {http.MethodPost, sign(formType, []byte("a=b")), http.StatusBadRequest},
		"two payloads":     {http.MethodPost, sign(formType, []byte("payload={}&payload={}")), http.StatusBadRequest},
		"another type":     {http.MethodPost, sign("text/plain", []byte("{}")), http.StatusBadRequest},
		"no type":          {http.MethodPost, sign("", []byte("{}")), http.StatusBadRequest},
		"two users":        {http.MethodPost, sign(formType, []byte(url.Values{"payload": {`{"user":{"id":"A"},"user":{"id":"B"}}`}}.Encode())), http.StatusBadRequest},
		"a long challenge": {http.MethodPost, sign(jsonType, []byte(`{"type":"url_verification","challenge":"`+strings.Repeat("x", 2000)+`"}`)), http.StatusBadRequest},
	} {
		if got := try(c.method, c.q); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	socket := open(t, newPlatform(t, slacktest.Channel, overSocket).config(), delivery.Deps{})
	if path, h := socket.Hook(); path != "" || h != nil {
		t.Errorf("Socket Mode has a hook: %q", path)
	}
}

// Whatever comes unsigned is refused, and what comes signed breaks nothing.
func FuzzHook(f *testing.F) {
	c := slack.Config{BotToken: keys.BotToken, Webhook: &slack.Webhook{SigningSecret: keys.SigningSecret}, ChannelID: slacktest.Channel}
	opened, err := slack.Open(c, delivery.Deps{})
	if err != nil {
		f.Fatal(err)
	}
	ch, ok := opened.(*slack.Channel)
	if !ok {
		f.Fatalf("opened %T", opened)
	}
	_, h := ch.Hook()
	f.Add(tapped(), formType, "v0="+strings.Repeat("0", 64))
	f.Add(wrote("Ev1", ".help"), jsonType, "v0=")
	f.Add([]byte(`{"type":"event_callback","event":{"bot_profile":1,"edited":[],"attachments":[null]}}`), jsonType, "")
	f.Add([]byte(`payload=%7B%22view%22%3A%7B%22state%22%3A%7B%22values%22%3Anull%7D%7D%7D`), formType, "x")
	f.Fuzz(func(t *testing.T, body []byte, contentType, signature string) {
		signed := slacktest.Sign(keys.SigningSecret, time.Now(), contentType, body)
		forged := signed.Header.Clone()
		forged.Set("X-Slack-Signature", signature)
		for _, header := range []http.Header{signed.Header, forged} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(string(body)))
			r.Header = header
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if header.Get("X-Slack-Signature") != signed.Header.Get("X-Slack-Signature") && w.Code != http.StatusUnauthorized {
				t.Errorf("unsigned: %d", w.Code)
			}
		}
	})
}

// What is under way when the gateway stops is ended soon.
func TestStoppingDoesNotWaitForSlack(t *testing.T) {
	s := newStation(t, byHTTP, nil)
	s.sync()
	s.until("the line is answered", func() bool { return len(s.Messages()) == 1 })
	release := s.Hold()
	defer release()
	s.Server.Say(anAlice, slacktest.DirectWith(alice), "", ".help", nil)
	s.until("the line is heard", func() bool { return count(s, "slack:"+alice) == 1 })
	began := time.Now()
	s.stop()
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("it took %v", took)
	}
}

// Those who may not approve can't keep others waiting.
func TestAFloodOfStrangersIsDropped(t *testing.T) {
	s := newStation(t, byHTTP, nil)
	s.sync()
	s.mu.Lock()
	s.outcome = approval.Outcome{Kind: approval.Unauthorised, Text: approval.NotAuthorised}
	s.mu.Unlock()
	before := len(s.Messages())
	for i := range 40 {
		body := strings.ReplaceAll(string(tapped()), "1.1", fmt.Sprint("1.", i))
		if got := slacktest.Post(t.Context(), s.hook, slacktest.Sign(keys.SigningSecret, time.Now(), formType, []byte(body))); got != http.StatusOK {
			t.Fatalf("tap %d: %d", i, got)
		}
	}
	s.until("all are heard", func() bool { return count(s, "slack:"+alice) == 40 })
	if n := len(s.Messages()) - before; n > 10 {
		t.Errorf("%d of them were answered", n)
	}
}
