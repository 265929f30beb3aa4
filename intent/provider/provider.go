// Package provider speaks to the language models that the auditor may ask: any
// server with OpenAI's chat completions (OpenAI itself, Ollama, vLLM, LM Studio)
// and Anthropic's messages.
//
// It sends a prompt and gives back what was said, once: no retries, no tools, no
// streaming. It refuses to follow a redirect to another host, where the key and
// the question would go too, and an answer larger than a verdict needs. Its
// errors name neither the key nor anything of the question or the answer. It
// reads nothing from the environment: what it needs is in its [Config].
package provider

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/openclaw-verifier/verifier/intent"
)

// The kinds of servers.
const (
	OpenAI    = "openai"
	Anthropic = "anthropic"
)

// Kinds lists them.
func Kinds() []string { return []string{OpenAI, Anthropic} }

// Config says which model is asked, and where.
type Config struct {
	Kind    string
	BaseURL string // empty: the maker's own
	Model   string
	Key     string // empty: none is sent, as a model at home may want it
}

// Where the makers' own servers are.
const (
	openAIBase    = "https://api.openai.com/v1/"
	anthropicBase = "https://api.anthropic.com/"
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
)

// New makes a model of a config. It calls nobody.
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

// newClient makes an HTTP client for one server. Each has its own connections:
// nothing else in the process shares them.
func newClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone() //nolint:errcheck // that is what it is
	t.MaxIdleConnsPerHost = 8
	t.IdleConnTimeout = time.Minute
	return &http.Client{Transport: bounded{t}, CheckRedirect: sameHost}
}

// sameHost follows a redirect only where it stays with the server that was asked,
// and as well encrypted.
func sameHost(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	if len(via) > maxRedirects || r.URL.Host != first.Host || r.URL.Scheme != first.Scheme {
		return errMoved
	}
	return nil
}

// bounded reads no more of an answer than a verdict can need.
type bounded struct{ *http.Transport }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.Transport.RoundTrip(r)
	if err == nil {
		resp.Body = &capped{body: resp.Body, left: maxAnswer}
	}
	return resp, err
}

type capped struct {
	body io.ReadCloser
	left int
}

// Read implements io.Reader: what is longer than the cap fails, and is not taken
// for something shorter.
func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTooLong
	}
	n, err := c.body.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

// Close implements io.Closer.
func (c *capped) Close() error { return c.body.Close() }

// plain takes from an error what must not be logged: libraries print requests,
// responses and addresses.
func plain(err error, status int) error {
	for _, ours := range []error{errMoved, errTooLong} {
		if errors.Is(err, ours) {
			return ours
		}
	}
	if status != 0 {
		return fmt.Errorf("provider: the server answers with status %d", status)
	}
	return errors.New("provider: the server can't be reached, or what it answers can't be read")
}
