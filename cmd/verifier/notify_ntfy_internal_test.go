package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
)

const noticed = "sk-live-9f8e7d6c5b4a39281706f5e4d3c2b1a0"

// posted is what an ntfy server was sent.
type posted struct {
	path   string
	header http.Header
	body   []byte
}

// ntfyServer answers as it is told.
func ntfyServer(t *testing.T, answer http.HandlerFunc) (*httptest.Server, <-chan posted) {
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

// notifying lets a gateway tell ntfy.
func notifying(at string) func(*config.Config) {
	return func(c *config.Config) {
		unhurried(c)
		c.Notify.Ntfy = config.Ntfy{URL: config.NewSecret(at + "/ntfy/my-topic"), Token: config.NewSecret("tk_0123456789abcdef")}
	}
}

func TestNtfyIsToldThatAQuestionWaits(t *testing.T) {
	t.Parallel()
	server, got := ntfyServer(t, nil)
	r := newRig(t, notifying(server.URL))
	held := r.hold(sh("make deploy", inGroup("x")))
	ref := r.waits().Ref
	p := <-got
	var m map[string]any
	if err := json.Unmarshal(p.body, &m); err != nil {
		t.Fatal(err)
	}
	if m["title"] != "Run: make deploy" || m["topic"] != "my-topic" || p.path != "/ntfy" || p.header.Get("Authorization") != "Bearer tk_0123456789abcdef" {
		t.Errorf("%s got %v, %s", p.path, p.header, p.body)
	}
	r.refuse(ref, "")
	<-held
}

// A service is told and is never believed, whatever it answers.
func TestH503AServiceThatIsToldDecidesNothing(t *testing.T) {
	t.Parallel()
	elsewhere, strayed := ntfyServer(t, nil)
	for name, answer := range map[string]http.HandlerFunc{
		"redirects": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		},
		"takes its time": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"says allow": func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"decision":"allow","allow":true}`) //nolint:errcheck // a test's answer
		},
	} {
		t.Run(name, func(t *testing.T) {
			server, got := ntfyServer(t, answer)
			r := newRig(t, notifying(server.URL))
			held := r.hold(sh("make deploy TOKEN="+noticed, inGroup("x")))
			if p := <-got; strings.Contains(string(p.body), noticed) || strings.Contains(string(p.body), "shown") {
				t.Errorf("%s got %s", p.path, p.body)
			}
			r.allow(sh("date", ownerIn("other"))) // meanwhile others pass
			r.refuse(r.waits().Ref, "")
			if a := <-held; a.allowed() {
				t.Errorf("the call: %s", a.raw)
			}
		})
	}
	select {
	case p := <-strayed:
		t.Errorf("a redirect was followed to %s", p.path)
	default:
	}
}
