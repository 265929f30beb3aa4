// Package provider speaks to the language models that the auditor may ask: any
// server with OpenAI's chat completions (OpenAI itself, Ollama, vLLM, LM Studio)
// and Anthropic's messages.
//
// It sends a prompt and gives back what was said, once: no retries, no tools, no
// streaming. It refuses to follow a redirect to another host, where the key and
// the question would go too, and an answer larger than a verdict needs. Its
// errors name neither the key nor anything of the question or the answer. It
// reads nothing from the environment: what it needs is in its [Config].
//
// The makers' own libraries are not used: together they added 23 MB to a program
// that may have 45, for two requests of a few fields each.
package provider

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/openclaw-verifier/verifier/intent"
)

// The kinds of servers.
const (
	OpenAI    = "openai"
	Anthropic = "anthropic"
)

// Config says which model is asked, and where.
type Config struct {
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
	errMoved   = errors.New("provider: the server sends us to another host")
	errTooLong = errors.New("provider: the answer is too large")
	errEmpty   = errors.New("provider: the server's answer has no message")
	errUnsent  = errors.New("provider: the server can't be reached")
	errUnread  = errors.New("provider: what the server answers can't be read")
)

// New makes a model of a config. It makes no request.
func New(c Config) (intent.Model, error) {
	if c.Model == "" {
		return nil, errors.New("provider: no model is named")
	}
	if c.BaseURL != "" {
		if u, err := url.Parse(c.BaseURL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return nil, errors.New("provider: the base URL must begin with https:// or http:// and name a host")
		}
	}
	switch c.Kind {
	case OpenAI:
		return newOpenAI(c), nil
	case Anthropic:
		return newAnthropic(c), nil
	}
	return nil, fmt.Errorf("provider: there is no provider %q", c.Kind)
}
