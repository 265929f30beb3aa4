package auditor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
)

// Model is a language model that answers one prompt.
type Model interface {
	// Answer returns the model's whole answer. It keeps to the context's deadline, and never tries a second time.
	Answer(ctx context.Context, p Prompt) (Reply, error)
}

// Prompt is what a model is sent.
type Prompt struct{ System, User string }

// Reply is what a model said, and what it cost.
type Reply struct {
	Text   string
	Input  int64 // tokens
	Output int64
}

// The kinds of servers.
const (
	OpenAI    = "openai"
	Anthropic = "anthropic"
)

// ModelConfig says which model is asked, and where: any server with OpenAI's chat completions (OpenAI itself, Ollama,
// vLLM, LM Studio) or Anthropic's messages. Nothing is read from the environment. The makers' own libraries are not
// used: together they add 23 MB, for two requests of a few fields each.
type ModelConfig struct {
	Kind    string
	BaseURL string // empty: the maker's own
	Model   string
	Key     string // empty: none is sent, as a model at home may want it
}

// limits of one exchange.
const (
	maxAnswer     = 256 << 10 // bytes of a response
	answerTokens  = 100       // a verdict and a line
	thoughtTokens = 1500      // leaves room for models that think before they answer
)

// errors that say what went wrong without a word of what was said.
var (
	errEmpty  = errors.New("auditor: the server's answer has no message")
	errUnsent = errors.New("auditor: the server can't be reached")
	errUnread = errors.New("auditor: what the server answers can't be read, or is too large")
)

// server is a model's server.
type server struct {
	ModelConfig
	url    string
	client *http.Client
}

// NewModel makes a model of a config that was checked. It makes no request.
func NewModel(c ModelConfig) Model {
	// A redirect is not followed: the key and the question would go there too.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	own, path := "https://api.openai.com/v1", "/chat/completions"
	if c.Kind == Anthropic {
		own, path = "https://api.anthropic.com", "/v1/messages"
	}
	url := strings.TrimRight(cmp.Or(c.BaseURL, own), "/") + path
	return &server{c, url, &http.Client{CheckRedirect: stay}}
}

// request is what either kind of server is asked.
type request struct {
	Model       string    `json:"model"`
	System      string    `json:"system,omitzero"` // Anthropic's
	Messages    []message `json:"messages"`
	MaxTokens   int       `json:"max_tokens,omitzero"`
	Temperature *float64  `json:"temperature,omitzero"`
	// OpenAI's newer models count thoughts too, under this name, and refuse a temperature.
	MaxCompletionTokens int `json:"max_completion_tokens,omitzero"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// response is what either kind of server answers.
type response struct {
	Choices []struct { // OpenAI's
		Message struct {
			Content string `json:"content"`
		} `json:"message"`
	} `json:"choices"`
	Content []struct { // Anthropic's
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	Usage struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		Input      int64 `json:"input_tokens"`
		Output     int64 `json:"output_tokens"`
	} `json:"usage"`
}

// Answer implements [Model].
func (s *server) Answer(ctx context.Context, p Prompt) (Reply, error) {
	ask := request{Model: s.Model, Messages: []message{{"system", p.System}, {"user", p.User}}}
	switch {
	case s.Kind == Anthropic:
		ask.System, ask.Messages, ask.MaxTokens = p.System, ask.Messages[1:], answerTokens
	case s.BaseURL == "":
		ask.MaxCompletionTokens = thoughtTokens
	default:
		ask.MaxTokens, ask.Temperature = answerTokens, new(float64)
	}
	var said response
	if err := s.post(ctx, &ask, &said); err != nil {
		return Reply{}, err
	}
	var text strings.Builder
	if len(said.Choices) > 0 {
		text.WriteString(said.Choices[0].Message.Content)
	}
	for _, part := range said.Content {
		if part.Type == "text" {
			text.WriteString(part.Text)
		}
	}
	if text.Len() == 0 {
		return Reply{}, errEmpty
	}
	u := &said.Usage
	return Reply{Text: text.String(), Input: u.Prompt + u.Input, Output: u.Completion + u.Output}, nil
}

// post sends a question and reads the answer, once. Its errors hold nothing of either, nor of the address or the key.
func (s *server) post(ctx context.Context, ask *request, answer *response) error {
	body, err := json.Marshal(ask)
	req, errURL := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil || errURL != nil {
		return errUnsent
	}
	req.Header.Set("Content-Type", "application/json")
	switch {
	case s.Kind == Anthropic:
		req.Header.Set("Anthropic-Version", "2023-06-01")
		if s.Key != "" {
			req.Header.Set("X-Api-Key", s.Key)
		}
	case s.Key != "":
		req.Header.Set("Authorization", "Bearer "+s.Key)
	}
	res, err := s.client.Do(req)
	if err != nil {
		return errUnsent
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("auditor: the server answers with status %d", res.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil || len(text) > maxAnswer || json.Unmarshal(text, answer) != nil {
		return errUnread
	}
	return nil
}
