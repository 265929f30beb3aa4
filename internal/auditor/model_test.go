package auditor_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/internal/auditor"
	"github.com/openclaw-verifier/verifier/internal/auditor/auditortest"
)

var sent = auditor.Prompt{System: "You judge.", User: "Is it fine? QUESTION-CANARY"}

// kinds are both providers, and where each has its paths.
var kinds = map[string]string{auditor.OpenAI: "/v1", auditor.Anthropic: ""}

func open(t *testing.T, kind, url string) auditor.Model {
	t.Helper()
	return auditor.NewModel(auditor.ModelConfig{
		Kind: kind, BaseURL: url + kinds[kind], Model: "small-1", Key: auditortest.Key,
	})
}

func each(t *testing.T, test func(t *testing.T, kind string)) {
	for _, kind := range []string{auditor.OpenAI, auditor.Anthropic} {
		t.Run(kind, func(t *testing.T) { test(t, kind) })
	}
}

func TestAModelIsAskedInItsOwnWords(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		s := auditortest.New(t, func(auditortest.Asked) string { return "block: no" })
		reply, err := open(t, kind, s.URL).Answer(t.Context(), sent)
		if err != nil || reply.Text != "block: no" || reply.Input < 100 || reply.Output < 1 {
			t.Fatalf("%+v, %v", reply, err)
		}
		asked := s.Asked()
		if len(asked) != 1 || asked[0].System != sent.System || asked[0].User != sent.User ||
			asked[0].Model != "small-1" {
			t.Errorf("%+v", asked)
		}
	})
}

func TestAFailureIsAnErrorThatTellsNothing(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		s := auditortest.New(t, nil)
		s.AnswerStatus(func(a auditortest.Asked) (int, string) {
			return http.StatusInternalServerError, "echo " +
				a.User
		})
		_, err := open(t, kind, s.URL).Answer(t.Context(), sent)
		silent(t, err)
		if n := len(s.Asked()); n != 1 {
			t.Errorf("asked %d times: an auditor is asked once", n)
		}
		m := auditor.NewModel(auditor.ModelConfig{Kind: kind, BaseURL: s.URL + kinds[kind], Model: "small-1",
			Key: "sk-wrong-0f1e2d3c"})
		_, err = m.Answer(t.Context(), sent)
		silent(t, err)
		_, err = open(t, kind, "http://127.0.0.1:1").Answer(t.Context(), sent)
		silent(t, err)
	})
}

// silent wants an error with neither key, question nor answer in it.
func silent(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, secret := range []string{auditortest.Key, "sk-wrong", "QUESTION-CANARY", "echo"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error tells %q: %v", secret, err)
		}
	}
}

func TestAnAnswerThatIsTooLargeOrNoneIsAnError(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		s := auditortest.New(t, func(auditortest.Asked) string { return "allow" + strings.Repeat(" ", 1<<20) })
		m := open(t, kind, s.URL)
		if reply, err := m.Answer(t.Context(), sent); err == nil {
			t.Errorf("%d bytes were taken", len(reply.Text))
		}
		for _, body := range []string{``, `null`, `[]`, `{}`, `{"choices":[],"content":[]}`, `{"choices":`, `allow`} {
			raw := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(body))
			}))
			reply, err := open(t, kind, raw.URL).Answer(t.Context(), sent)
			if err == nil && reply.Text != "" {
				t.Errorf("%q gave %+v", body, reply)
			}
			raw.Close()
		}
	})
}

func TestNoRedirectLeadsAway(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		elsewhere := auditortest.New(t, func(auditortest.Asked) string { return "allow" })
		from := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
		}))
		defer from.Close()
		_, err := open(t, kind, from.URL).Answer(t.Context(), sent)
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
		s := auditortest.New(t, func(auditortest.Asked) string {
			cancel()
			<-release
			return "allow"
		})
		_, err := open(t, kind, s.URL).Answer(ctx, sent)
		close(release)
		if err == nil || !errors.Is(ctx.Err(), context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}

func TestTheEnvironmentIsNotRead(t *testing.T) {
	s := auditortest.New(t, func(auditortest.Asked) string { return "allow" })
	for _, name := range []string{"OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"} {
		t.Setenv(name, s.URL)
	}
	for _, name := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"} {
		t.Setenv(name, "sk-of-another-program-1a2b3c")
	}
	each(t, func(t *testing.T, kind string) {
		m := auditor.NewModel(auditor.ModelConfig{Kind: kind, BaseURL: s.URL + kinds[kind], Model: "small-1"})
		if _, err := m.Answer(t.Context(), sent); err == nil {
			t.Error("it was answered without a key")
		}
	})
	for _, a := range s.Asked() {
		t.Errorf("a key of another program was used: %v", a.Headers)
	}
}
