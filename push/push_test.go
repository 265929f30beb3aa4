package push_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/push"
	"github.com/openclaw-verifier/verifier/push/pushtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var key = hmac.Key("the server's own key, 32 bytes or more")

func identity(t testing.TB) *push.Identity {
	t.Helper()
	i, err := push.NewIdentity(key, "mailto:owner@example.org")
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func client(t testing.TB, services ...string) *push.Client {
	t.Helper()
	c := push.NewClient(identity(t), services, time.Now)
	t.Cleanup(c.Close)
	return c
}

func subscription(t testing.TB, d *pushtest.Device) *push.Subscription {
	t.Helper()
	public, err := base64.RawURLEncoding.DecodeString(d.P256dh)
	auth, errAuth := base64.RawURLEncoding.DecodeString(d.Auth)
	if err := errors.Join(err, errAuth); err != nil {
		t.Fatal(err)
	}
	return &push.Subscription{Endpoint: d.Endpoint, Public: public, Auth: auth}
}

func TestAMessageArrives(t *testing.T) {
	s := pushtest.Start(t)
	c := client(t, s.URL)
	to := subscription(t, s.Subscribe(identity(t).Public()))
	lengths := map[int]bool{}
	for _, text := range []string{"", "{}", strings.Repeat("é", push.MaxMessage/2)} {
		if err := c.Send(t.Context(), to, &push.Message{Text: []byte(text), Topic: "a-topic", TTL: 90 * time.Second, Urgent: true}); err != nil {
			t.Fatal(err)
		}
		got := s.Next()
		if got.Text != text || got.TTL != 90 || got.Urgency != "high" || got.Topic != "a-topic" || got.Claims.Contact != "mailto:owner@example.org" {
			t.Errorf("got %+v", got)
		}
		lengths[got.Length] = true
	}
	if len(lengths) != 1 {
		t.Errorf("the lengths differ: %v", lengths)
	}
	if err := c.Send(t.Context(), to, &push.Message{Text: make([]byte, push.MaxMessage+1)}); err == nil {
		t.Error("a message that is too long was sent")
	}
}

func TestTheIdentityIsTheSameAfterARestart(t *testing.T) {
	if a, b := identity(t).Public(), identity(t).Public(); a != b || len(a) != 87 {
		t.Errorf("%s, %s", a, b)
	}
	other, err := push.NewIdentity(hmac.Key("another server's own key, 32 bytes"), "")
	if err != nil || other.Public() == identity(t).Public() {
		t.Errorf("another server has the same key: %v", err)
	}
}

func TestWhatAServiceAnswers(t *testing.T) {
	s := pushtest.Start(t)
	c := client(t, s.URL)
	to := subscription(t, s.Subscribe(""))
	for _, status := range []int{404, 410} {
		s.Answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		if err := c.Send(t.Context(), to, &push.Message{}); !errors.Is(err, push.ErrGone) {
			t.Errorf("%d: %v", status, err)
		}
	}
	for status, later := range map[int]bool{400: false, 403: false, 413: false, 429: true, 500: true, 503: true} {
		s.Answer(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
		})
		err := c.Send(t.Context(), to, &push.Message{})
		if refused, ok := errors.AsType[*push.Refused](err); !ok || refused.Later != later || refused.After != 7*time.Second {
			t.Errorf("%d: %v", status, err)
		}
	}
	s.Answer(func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 1<<20)) }) //nolint:errcheck // it may not be read
	if err := c.Send(t.Context(), to, &push.Message{}); err != nil {
		t.Errorf("a long answer: %v", err)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 17, 9, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{"": 0, "12": 12 * time.Second, "-3": 0, "soon": 0, now.Add(time.Minute).Format(http.TimeFormat): time.Minute, now.Add(-time.Minute).Format(http.TimeFormat): 0} {
		if got := push.RetryAfter(http.Header{"Retry-After": {text}}, now); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// TestH494APushGoesToNoForeignEndpoint: an endpoint of a browser is a stranger's word. Nothing is dialled that is
// this machine or a private network, whatever name leads there, and no redirect is followed.
func TestH494APushGoesToNoForeignEndpoint(t *testing.T) {
	asked := make(chan string, 10)
	inside := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Path }))
	defer inside.Close()
	inside.Config.ErrorLog = nil
	s := pushtest.Start(t)
	to := subscription(t, s.Subscribe(""))
	_, port, err := net.SplitHostPort(strings.TrimPrefix(inside.URL, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	for _, endpoint := range []string{
		inside.URL + "/address", "https://localhost:" + port + "/name", "https://[::ffff:127.0.0.1]:" + port + "/mapped", "https://127.1:" + port + "/short",
		s.URL + "/http", "http://example.com/http", "ftp://example.com/", "file:///etc/passwd", "https://169.254.169.254/latest/meta-data/",
	} {
		to.Endpoint = endpoint
		err := client(t).Send(t.Context(), to, &push.Message{})
		if err == nil {
			t.Errorf("%s: sent", endpoint)
		}
		if strings.Contains(fmt.Sprint(err), "meta-data") {
			t.Errorf("the error tells the endpoint: %v", err)
		}
	}
	// A service that the owner runs may be anywhere; where it sends us does not count, and it vouches for no other port.
	s.Answer(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, inside.URL+"/redirect", http.StatusTemporaryRedirect)
	})
	to.Endpoint = s.URL + "/push/1"
	if refused, ok := errors.AsType[*push.Refused](client(t, s.URL).Send(t.Context(), to, &push.Message{})); !ok || refused.Status != http.StatusTemporaryRedirect || refused.Later {
		t.Errorf("a redirect: %v", refused)
	}
	to.Endpoint = inside.URL + "/other"
	if err := client(t, s.URL).Send(t.Context(), to, &push.Message{}); !errors.Is(err, push.ErrForbidden) {
		t.Errorf("another port: %v", err)
	}
	select {
	case path := <-asked:
		t.Errorf("the inside was asked for %s", path)
	default:
	}
}

func TestDevicesAreKept(t *testing.T) {
	s := pushtest.Start(t)
	text := ""
	keep := func(next string) error { text = next; return nil }
	list, err := push.Open(key, "", keep)
	if err != nil {
		t.Fatal(err)
	}
	phone := push.Device{Of: "token:owner", Name: "phone", Subscription: *subscription(t, s.Subscribe(""))}
	if err := list.Add(phone); err != nil {
		t.Fatal(err)
	}
	if err := list.Add(push.Device{Of: "token:ann", Name: "desk", Subscription: *subscription(t, s.Subscribe(""))}); err != nil {
		t.Fatal(err)
	}
	again, err := push.Open(key, text, keep)
	if err != nil || len(again.All()) != 2 || len(again.Of("token:owner")) != 1 {
		t.Fatalf("%v, %v", again, err)
	}
	for name, forged := range map[string]string{"a changed owner": strings.Replace(text, "token:ann", "token:eve", 1), "another key": text, "no list": "nonsense"} {
		with := key
		if name == "another key" {
			with = hmac.Key("another server's own key, 32 bytes")
		}
		if _, err := push.Open(with, forged, keep); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	id := again.Of("token:owner")[0].ID
	if err := again.Remove("token:ann", id); !errors.Is(err, push.ErrUnknown) {
		t.Errorf("another person removes it: %v", err)
	}
	phone.Of = "token:ann" // another person logs in in the same browser
	if err := again.Add(phone); err != nil || len(again.Of("token:owner")) != 0 || len(again.Of("token:ann")) != 2 {
		t.Errorf("%v, %v", again.All(), err)
	}
	if err := again.Remove("token:ann", id); err != nil || len(again.All()) != 1 {
		t.Errorf("%v, %v", again.All(), err)
	}
	for range push.MostDevices - 1 {
		if err := again.Add(push.Device{Of: "token:ann", Subscription: *subscription(t, s.Subscribe(""))}); err != nil {
			t.Fatal(err)
		}
	}
	if err := again.Add(push.Device{Of: "token:ann", Subscription: *subscription(t, s.Subscribe(""))}); !errors.Is(err, push.ErrFull) {
		t.Errorf("an eleventh: %v", err)
	}
	broken := *subscription(t, s.Subscribe(""))
	broken.Public = make([]byte, 65)
	if err := again.Add(push.Device{Of: "token:owner", Subscription: broken}); !errors.Is(err, push.ErrSubscription) {
		t.Errorf("a key that is no point: %v", err)
	}
}
