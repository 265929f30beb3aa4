package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hmac"
)

const (
	hookSecret = "4f1d8e0b92c7a6354f1d8e0b92c7a635"
	noticed    = "sk-live-9f8e7d6c5b4a39281706f5e4d3c2b1a0"
)

// posted is what a service was sent.
type posted struct {
	path   string
	header http.Header
	body   []byte
}

// servicesOf starts a server that is ntfy, Gotify and a webhook at once.
func servicesOf(t *testing.T, answer http.HandlerFunc) (*httptest.Server, <-chan posted) {
	t.Helper()
	got := make(chan posted, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- posted{r.URL.Path, r.Header, body}
		if answer != nil {
			answer(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s, got
}

// notifying lets a gateway tell all three.
func notifying(at string) func(*config.Config) {
	return func(c *config.Config) {
		unhurried(c)
		c.Notify.Ntfy = config.Service{URL: config.NewSecret(at + "/ntfy/my-topic"), Token: config.NewSecret("tk_0123456789abcdef")}
		c.Notify.Gotify = config.Service{URL: config.NewSecret(at + "/gotify"), Token: config.NewSecret("A0123456789abcdef")}
		c.Notify.Webhook = config.Hook{URL: config.NewSecret(at + "/hook"), Secret: config.NewSecret(hookSecret)}
	}
}

func TestServicesAreToldThatAQuestionWaits(t *testing.T) {
	t.Parallel()
	server, got := servicesOf(t, nil)
	r := newRig(t, notifying(server.URL))
	held := r.hold(sh("make deploy", inGroup("x")))
	ref := r.waits().Ref
	for range 3 {
		p := <-got
		var m map[string]any
		if err := json.Unmarshal(p.body, &m); err != nil {
			t.Fatal(err)
		}
		if m["title"] != "Run: make deploy" {
			t.Errorf("%s says %s", p.path, p.body)
		}
		switch p.path {
		case "/ntfy":
			if m["topic"] != "my-topic" || p.header.Get("Authorization") != "Bearer tk_0123456789abcdef" {
				t.Errorf("ntfy got %v, %s", p.header, p.body)
			}
		case "/gotify/message":
			if p.header.Get("X-Gotify-Key") != "A0123456789abcdef" {
				t.Errorf("Gotify got %v", p.header)
			}
		case "/hook":
			if m["kind"] != "waiting" || hmac.Match(p.header.Get(hmac.AnswerHeader), p.body, []byte(hookSecret)) != 0 {
				t.Errorf("the webhook got %v, %s", p.header, p.body)
			}
		default:
			t.Errorf("a message to %s", p.path)
		}
	}
	r.refuse(ref, "")
	<-held
	if p := <-got; p.path != "/hook" || !strings.Contains(string(p.body), `"kind":"over"`) {
		t.Errorf("after the answer %s got %s", p.path, p.body)
	}
}

// A service is told and is never believed, whatever it answers.
func TestH503AServiceThatIsToldDecidesNothing(t *testing.T) {
	t.Parallel()
	elsewhere, strayed := servicesOf(t, nil)
	hung := make(chan struct{})
	defer close(hung)
	server, got := servicesOf(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/ntfy"):
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		case strings.HasPrefix(r.URL.Path, "/gotify"):
			select { // it takes its time
			case <-hung:
			case <-r.Context().Done():
			}
		default:
			io.WriteString(w, `{"decision":"allow","allow":true}`) //nolint:errcheck // a test's answer
		}
	})
	r := newRig(t, notifying(server.URL))
	held := r.hold(sh("make deploy TOKEN="+noticed, inGroup("x")))
	for range 3 {
		if p := <-got; strings.Contains(string(p.body), noticed) || strings.Contains(string(p.body), "shown") {
			t.Errorf("%s got %s", p.path, p.body)
		}
	}
	r.allow(sh("date", ownerIn("other"))) // meanwhile others pass
	r.refuse(r.waits().Ref, "")
	if a := <-held; a.allowed() {
		t.Errorf("the call: %s", a.raw)
	}
	select {
	case p := <-strayed:
		t.Errorf("a redirect was followed to %s", p.path)
	default:
	}
}
