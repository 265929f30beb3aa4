// Package auditortest is a stand-in for a model's server: it speaks the wire
// formats of OpenAI's chat completions and Anthropic's messages over HTTP, keeps
// what it was asked, and answers as configured. It refuses a request that the
// real ones would refuse: another path, no key, no model, no messages.
package auditortest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Key is what a client must show.
const Key = "sk-stand-in-6f1c0e5a9d7b"

// Asked is one request as it came in.
type Asked struct {
	Body    string // all of it
	System  string
	User    string
	Model   string
	Headers http.Header
}

// Server is a model's server.
type Server struct {
	URL string

	mu     sync.Mutex
	asked  []Asked
	answer func(Asked) (status int, text string)
}

// New starts a server that answers with what answer says, until the test ends.
func New(t testing.TB, answer func(Asked) string) *Server {
	t.Helper()
	s := &Server{}
	s.Answer(answer)
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// Answer changes what it answers.
func (s *Server) Answer(answer func(Asked) string) {
	s.AnswerStatus(func(a Asked) (int, string) { return http.StatusOK, answer(a) })
}

// AnswerStatus changes what it answers, and with which status.
func (s *Server) AnswerStatus(answer func(Asked) (int, string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// Asked is all it was asked, in order.
func (s *Server) Asked() []Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Asked(nil), s.asked...)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		return
	}
	asked := Asked{Body: string(body), Headers: r.Header.Clone()}
	reply := openAIReply
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/v1/chat/completions" && r.Header.Get("Authorization") == "Bearer "+Key:
		err = asked.readOpenAI(body)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages" && r.Header.Get("X-Api-Key") == Key && r.Header.Get("Anthropic-Version") != "":
		err = asked.readAnthropic(body)
		reply = anthropicReply
	default:
		http.Error(w, `{"error":{"type":"authentication_error","message":"no such path, or no such key"}}`, http.StatusUnauthorized)
		return
	}
	if err != nil || asked.Model == "" || asked.User == "" || asked.System == "" {
		http.Error(w, fmt.Sprintf(`{"error":{"type":"invalid_request_error","message":%q}}`, fmt.Sprint(err)), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, asked)
	answer := s.answer
	s.mu.Unlock()
	status, text := answer(asked)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if status != http.StatusOK {
		text = fmt.Sprintf(`{"error":{"type":"api_error","message":%q}}`, text)
	} else {
		text = reply(asked.Model, text)
	}
	_, _ = io.WriteString(w, text) // the client may have gone
}

type said struct {
	Role    string         `json:"role"`
	Content jsontext.Value `json:"content"`
}

// text is a content, which may be a string or a list of parts.
func (m said) text() string {
	var plain string
	if json.Unmarshal(m.Content, &plain) == nil {
		return plain
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(m.Content, &parts)
	for _, p := range parts {
		plain += p.Text
	}
	return plain
}

func (a *Asked) readOpenAI(body []byte) error {
	var in struct {
		Model    string `json:"model"`
		Messages []said `json:"messages"`
	}
	err := json.Unmarshal(body, &in)
	a.Model = in.Model
	for _, m := range in.Messages {
		switch m.Role {
		case "system":
			a.System += m.text()
		case "user":
			a.User += m.text()
		}
	}
	return err
}

func (a *Asked) readAnthropic(body []byte) error {
	var in struct {
		Model     string         `json:"model"`
		MaxTokens int            `json:"max_tokens"`
		System    jsontext.Value `json:"system"`
		Messages  []said         `json:"messages"`
	}
	err := json.Unmarshal(body, &in)
	a.Model, a.System = in.Model, said{Content: in.System}.text()
	for _, m := range in.Messages {
		a.User += m.text()
	}
	if err == nil && in.MaxTokens <= 0 {
		err = fmt.Errorf("max_tokens: field required")
	}
	return err
}

func openAIReply(model, text string) string {
	return fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":%q,"choices":[{"index":0,"finish_reason":"stop",`+
		`"message":{"role":"assistant","content":%s}}],"usage":{"prompt_tokens":131,"completion_tokens":4,"total_tokens":135}}`, model, quoted(text))
}

func anthropicReply(model, text string) string {
	return fmt.Sprintf(`{"id":"msg_1","type":"message","role":"assistant","model":%q,"content":[{"type":"text","text":%s}],`+
		`"stop_reason":"end_turn","usage":{"input_tokens":140,"output_tokens":5}}`, model, quoted(text))
}

func quoted(text string) []byte {
	out, err := json.Marshal(text)
	if err != nil {
		return []byte(`""`)
	}
	return out
}
