package server_test

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/server"
)

// hearing is a desk that remembers what it was told.
type hearing struct {
	noApprovers
	heard []approval.Answer
}

func (h *hearing) Answer(_ context.Context, a approval.Answer) (approval.Outcome, error) {
	if a.Text == ".pause" {
		panic("boom")
	}
	h.heard = append(h.heard, a)
	return approval.Outcome{Kind: approval.Replied, Text: "heard"}, nil
}

func relaying(t testing.TB) (*server.Server, *hearing) {
	t.Helper()
	desk := &hearing{}
	s, _ := newServer(t, func(o *server.Options) {
		o.Desk, o.Now = desk, noon
		o.Relays = func(client, platform string) bool { return client == "laptop" && platform == "telegram" }
	})
	return s, desk
}

// saying is a desk that answers as the vectors tell.
type saying struct {
	noApprovers
	text string
}

func (s saying) Answer(context.Context, approval.Answer) (approval.Outcome, error) {
	return approval.Outcome{Kind: approval.Counted, Text: s.text}, nil
}

func TestTheDocumentedVectorsForApproveHold(t *testing.T) {
	text, err := os.ReadFile("../docs/spec/event-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	type vector struct {
		Name, Path, Body, Signature, Answer, AnswerSignature string
	}
	var v struct {
		Secret            string
		Events, Malformed []vector
	}
	if err := json.Unmarshal(text, &v, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	auth, err := server.NewAuth(map[string][]string{"default": {v.Secret}}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := newServer(t, func(o *server.Options) {
		o.Auth, o.Desk = func() *server.Auth { return auth }, saying{text: `"exec" approved for 30 minutes by Ann (telegram through default).`}
		o.Relays = func(client, platform string) bool { return client == "default" && platform == "telegram" }
		o.Now = func() time.Time { return time.Date(2026, 2, 12, 15, 30, 0, 0, time.UTC) }
	})
	tried := 0
	for _, e := range append(v.Events, v.Malformed...) {
		if e.Path != "/approve" {
			continue
		}
		tried++
		if e.Signature == "" {
			e.Signature = hmac.Sign([]byte(v.Secret), []byte(e.Body))
		}
		w := tell(s, e.Path, e.Body, hmac.RequestHeader, e.Signature)
		switch got := w.Body.String(); {
		case e.Answer == "" && !strings.HasPrefix(got, `{"kind":"misunderstood",`), e.Answer != "" && got != e.Answer:
			t.Errorf("%s: got %s, want %s", e.Name, got, e.Answer)
		case e.AnswerSignature != "" && w.Header().Get(hmac.AnswerHeader) != e.AnswerSignature:
			t.Errorf("%s: another signature", e.Name)
		}
	}
	if tried < 3 {
		t.Error("the file has lost its vectors")
	}
}

func typed(text, context string) string {
	quoted, _ := json.Marshal(text)
	return `{"version":1,"timestamp":"2026-02-12T12:00:00Z","requestId":"r","text":` + string(quoted) + `,"context":` + context + `}`
}

const annsChat = `{"messageProvider":"telegram","senderId":"111","sessionKey":"agent:main:main"}`

func TestARelayedLineReachesTheDeskWithItsSender(t *testing.T) {
	s, desk := relaying(t)
	body := typed(".pending", annsChat)
	w := tell(s, "/approve", body, signed(body)...)
	if w.Code != http.StatusOK || w.Body.String() != `{"kind":"told","text":"heard"}` || !hmac.MatchAnswer([]byte(secret), "r", w.Body.Bytes(), w.Header().Get(hmac.AnswerHeader)) {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
	if len(desk.heard) != 1 || desk.heard[0].ID != "telegram:111" || desk.heard[0].Carrier == nil || desk.heard[0].Carrier.Conversation.Client != "laptop" {
		t.Errorf("the desk heard %+v", desk.heard)
	}
}

func TestWhatIsNoRelayedLineReachesNobody(t *testing.T) {
	s, desk := relaying(t)
	const head = `{"version":1,"timestamp":"2026-02-12T12:00:00Z","requestId":"r",`
	for name, body := range map[string]string{
		"no text":              head + `"context":` + annsChat + `}`,
		"an empty text":        typed("", annsChat),
		"a text that is none":  head + `"text":[".pending"],"context":` + annsChat + `}`,
		"a text twice":         head + `"text":".pending","text":".pause","context":` + annsChat + `}`,
		"a sender twice":       typed(".pending", `{"messageProvider":"telegram","senderId":"222","senderId":"111"}`),
		"a sender in capitals": typed(".pending", `{"messageProvider":"telegram","senderId":"111","SenderId":"222"}`),
		"a tool":               head + `"text":".pending","tool":{"name":"exec","params":{}},"context":` + annsChat + `}`,
		"a code beside it":     head + `"text":".pending","code":"bf619df9","context":` + annsChat + `}`,
		"another version":      strings.Replace(typed(".pending", annsChat), `"version":1`, `"version":2`, 1),
		"no request id":        strings.Replace(typed(".pending", annsChat), `"requestId":"r",`, "", 1),
		"yesterday":            strings.Replace(typed(".pending", annsChat), "12T12", "11T12", 1),
		"nested":               typed(".pending", strings.Repeat(`{"a":`, 200)+"1"+strings.Repeat("}", 200)),
		"nothing":              "",
	} {
		w := tell(s, "/approve", body, signed(body)...)
		if w.Code != http.StatusOK || !strings.HasPrefix(w.Body.String(), `{"kind":"misunderstood","text":"`) || w.Header().Get(hmac.AnswerHeader) == "" {
			t.Errorf("%s: got %d %s", name, w.Code, w.Body)
		}
	}
	if len(desk.heard) != 0 {
		t.Errorf("the desk heard %+v", desk.heard)
	}
}

func TestARelayedLineThatIsTooLargeOrPanicsIsToldSo(t *testing.T) {
	s, desk := relaying(t)
	body := typed(strings.Repeat("x", 20<<10), annsChat)
	if w := tell(s, "/approve", body, signed(body)...); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "larger than 16 KiB") || w.Header().Get(hmac.AnswerHeader) != "" {
		t.Errorf("too large: %d %s", w.Code, w.Body)
	}
	body = typed(".pause", annsChat)
	if w := tell(s, "/approve", body, signed(body)...); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "could not finish this") || strings.Contains(w.Body.String(), "boom") {
		t.Errorf("a panic: %d %s", w.Code, w.Body)
	}
	if len(desk.heard) != 0 || s.Rejected() != 1 {
		t.Errorf("heard %+v, rejected %d", desk.heard, s.Rejected())
	}
}

func TestWithoutASwitchNobodyIsBelieved(t *testing.T) {
	desk := &hearing{}
	s, _ := newServer(t, func(o *server.Options) { o.Desk, o.Now = desk, noon })
	body := typed(".pending", annsChat)
	if w := tell(s, "/approve", body, signed(body)...); !strings.Contains(w.Body.String(), `"kind":"unauthorised"`) || len(desk.heard) != 0 {
		t.Errorf("got %s", w.Body)
	}
	if w := tell(s, "/approve", body); w.Code != http.StatusUnauthorized {
		t.Errorf("unsigned: %d", w.Code)
	}
}

// Whatever is sent, the desk hears only of the one sender that is believed, and
// never of a line without a carrier.
func FuzzRelay(f *testing.F) {
	for _, ctx := range []string{annsChat, `{}`, `{"messageProvider":"telegram","senderId":"111","groupId":"-1"}`, `{"messageProvider":"telegram","senderId":"111","inputProvenance":{"kind":"inter_session"}}`} {
		f.Add(typed(".approve exec bf619df9", ctx))
	}
	f.Add(`{"version":1}`)
	f.Fuzz(func(t *testing.T, body string) {
		s, desk := relaying(t)
		w := tell(s, "/approve", body, signed(body)...)
		var answer struct{ Kind, Text string }
		if w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), &answer, json.MatchCaseInsensitiveNames(true)) != nil || answer.Kind == "" || answer.Text == "" {
			t.Fatalf("got %d %s", w.Code, w.Body)
		}
		for _, a := range desk.heard {
			if a.Carrier == nil || a.Text == "" || !strings.HasPrefix(a.ID, "telegram:") || a.ID == "telegram:" {
				t.Fatalf("the desk heard %+v", a)
			}
		}
	})
}

// Each reason for not believing a sender stands alone: nobody at the desk hears of
// the line, whoever is an approver.
func TestAnUnbelievedSenderReachesNobody(t *testing.T) {
	const ann = `"messageProvider":"telegram","senderId":"111"`
	for why, context := range map[string]string{
		"another platform":         `{"messageProvider":"discord","senderId":"111"}`,
		"no platform":              `{"senderId":"111"}`,
		"no sender":                `{"messageProvider":"telegram"}`,
		"a group":                  `{` + ann + `,"groupId":"-1"}`,
		"a group's session":        `{` + ann + `,"sessionKey":"agent:main:telegram:group:-1"}`,
		"a spawned session":        `{` + ann + `,"spawnedBy":"agent:main:main"}`,
		"a run that nobody began":  `{` + ann + `,"trigger":"cron"}`,
		"a webhook's session":      `{` + ann + `,"sessionKey":"hook:1"}`,
		"another session's words":  `{` + ann + `,"inputProvenance":{"kind":"inter_session"}}`,
		"outside content":          `{` + ann + `,"inputProvenance":"outside_content"}`,
		"what the runtime made up": `{` + ann + `,"inputProvenance":{"kind":"internal_system"}}`,
	} {
		s, desk := relaying(t)
		body := typed(".pending", context)
		if w := tell(s, "/approve", body, signed(body)...); !strings.HasPrefix(w.Body.String(), `{"kind":"unauthorised","text":"`) || len(desk.heard) != 0 {
			t.Errorf("%s: got %s, heard %+v", why, w.Body, desk.heard)
		}
	}
	s, desk := relaying(t)
	body := typed(".pending", `{`+ann+`,"inputProvenance":{"kind":"external_user"}}`)
	if tell(s, "/approve", body, signed(body)...); len(desk.heard) != 1 {
		t.Error("a person was not believed")
	}
}
