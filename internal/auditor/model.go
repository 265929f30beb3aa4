package auditor

import (
	"errors"
	"fmt"
	"net/url"
)

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

// Where the makers' own servers are.
const (
	openAIBase    = "https://api.openai.com/v1"
	anthropicBase = "https://api.anthropic.com"
)

// limits of one exchange.
const (
	maxAnswer    = 256 << 10 // bytes of a response
	answerTokens = 100       // a verdict and a line
	// thoughtTokens leaves room for models that think before they answer.
	thoughtTokens = 1500
	maxRedirects  = 3
)

// errors that say what went wrong without a word of what was said.
var (
	errMoved   = errors.New("auditor: the server sends us to another host")
	errTooLong = errors.New("auditor: the answer is too large")
	errEmpty   = errors.New("auditor: the server's answer has no message")
	errUnsent  = errors.New("auditor: the server can't be reached")
	errUnread  = errors.New("auditor: what the server answers can't be read")
)

// NewModel makes a model of a config. It makes no request.
func NewModel(c ModelConfig) (Model, error) {
	if c.Model == "" {
		return nil, errors.New("auditor: no model is named")
	}
	if c.BaseURL != "" {
		if u, err := url.Parse(c.BaseURL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return nil, errors.New("auditor: the base URL must begin with https:// or http:// and name a host")
		}
	}
	switch c.Kind {
	case OpenAI:
		return newOpenAI(c), nil
	case Anthropic:
		return newAnthropic(c), nil
	}
	return nil, fmt.Errorf("auditor: there is no provider %q", c.Kind)
}
