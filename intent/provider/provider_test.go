package provider_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/openclaw-verifier/verifier/intent"
	"github.com/openclaw-verifier/verifier/intent/provider"
	"github.com/openclaw-verifier/verifier/intent/provider/providertest"
)

// Idle connections are let go after a minute.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"))
}

var prompt = intent.Prompt{System: "You judge.", User: "Is it fine? QUESTION-CANARY"}

// kinds are both providers, and where each has its paths.
var kinds = map[string]string{provider.OpenAI: "/v1", provider.Anthropic: ""}

func open(t *testing.T, kind, url string) intent.Model {
	t.Helper()
	m, err := provider.New(provider.Config{Kind: kind, BaseURL: url + kinds[kind], Model: "small-1", Key: providertest.Key})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func each(t *testing.T, test func(t *testing.T, kind string)) {
	for _, kind := range []string{provider.OpenAI, provider.Anthropic} {
		t.Run(kind, func(t *testing.T) { test(t, kind) })
	}
}

func TestAModelIsAskedInItsOwnWords(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		s := providertest.New(t, func(providertest.Asked) string { return "block: no" })
		reply, err := open(t, kind, s.URL).Answer(t.Context(), prompt)
		if err != nil || reply.Text != "block: no" || reply.Input < 100 || reply.Output < 1 {
			t.Fatalf("%+v, %v", reply, err)
		}
		asked := s.Asked()
		if len(asked) != 1 || asked[0].System != prompt.System || asked[0].User != prompt.User || asked[0].Model != "small-1" {
			t.Errorf("%+v", asked)
		}
	})
}

func TestAFailureIsAnErrorThatTellsNothing(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		s := providertest.New(t, nil)
		s.AnswerStatus(func(a providertest.Asked) (int, string) { return http.StatusInternalServerError, "echo " + a.User })
		_, err := open(t, kind, s.URL).Answer(t.Context(), prompt)
		silent(t, err)
		if n := len(s.Asked()); n != 1 {
			t.Errorf("asked %d times: an auditor is asked once", n)
		}
		m, err := provider.New(provider.Config{Kind: kind, BaseURL: s.URL + kinds[kind], Model: "small-1", Key: "sk-wrong-0f1e2d3c"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Answer(t.Context(), prompt)
		silent(t, err)
		_, err = open(t, kind, "http://127.0.0.1:1").Answer(t.Context(), prompt)
		silent(t, err)
	})
}

// silent wants an error with neither key, question nor answer in it.
func silent(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, secret := range []string{providertest.Key, "sk-wrong", "QUESTION-CANARY", "echo"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error tells %q: %v", secret, err)
		}
	}
}

func TestAnAnswerThatIsTooLargeOrNoneIsAnError(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		s := providertest.New(t, func(providertest.Asked) string { return "allow" + strings.Repeat(" ", 1<<20) })
		m := open(t, kind, s.URL)
		if reply, err := m.Answer(t.Context(), prompt); err == nil {
			t.Errorf("%d bytes were taken", len(reply.Text))
		}
		for _, body := range []string{``, `null`, `[]`, `{}`, `{"choices":[],"content":[]}`, `{"choices":`, `allow`} {
			raw := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(body))
			}))
			reply, err := open(t, kind, raw.URL).Answer(t.Context(), prompt)
			if err == nil && reply.Text != "" {
				t.Errorf("%q gave %+v", body, reply)
			}
			raw.Close()
		}
	})
}

func TestNoRedirectLeadsAway(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		elsewhere := providertest.New(t, func(providertest.Asked) string { return "allow" })
		from := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
		}))
		defer from.Close()
		_, err := open(t, kind, from.URL).Answer(t.Context(), prompt)
		silent(t, err)
		if len(elsewhere.Asked()) > 0 {
			t.Error("key and question went to another host")
		}
	})
}

func TestTheCallersTimeHolds(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		ctx, cancel := context.WithCancel(t.Context())
		release := make(chan struct{})
		s := providertest.New(t, func(providertest.Asked) string {
			cancel()
			<-release
			return "allow"
		})
		_, err := open(t, kind, s.URL).Answer(ctx, prompt)
		close(release)
		if err == nil || !errors.Is(ctx.Err(), context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}

func TestTheEnvironmentIsNotRead(t *testing.T) {
	s := providertest.New(t, func(providertest.Asked) string { return "allow" })
	for _, name := range []string{"OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"} {
		t.Setenv(name, s.URL)
	}
	for _, name := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"} {
		t.Setenv(name, "sk-of-another-program-1a2b3c")
	}
	each(t, func(t *testing.T, kind string) {
		m, err := provider.New(provider.Config{Kind: kind, BaseURL: s.URL + kinds[kind], Model: "small-1"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Answer(t.Context(), prompt); err == nil {
			t.Error("it was answered without a key")
		}
	})
	for _, a := range s.Asked() {
		t.Errorf("a key of another program was used: %v", a.Headers)
	}
}

func TestAConfigThatCanNotWorkIsRefused(t *testing.T) {
	for what, c := range map[string]provider.Config{
		"no model":     {Kind: provider.OpenAI},
		"no kind":      {Model: "m"},
		"another kind": {Kind: "palm", Model: "m"},
		"a file":       {Kind: provider.OpenAI, Model: "m", BaseURL: "file:///etc/passwd"},
		"no host":      {Kind: provider.Anthropic, Model: "m", BaseURL: "https://"},
	} {
		if _, err := provider.New(c); err == nil {
			t.Errorf("%s is accepted", what)
		}
	}
}
