package notify

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"path"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/push"
)

// service is a program that shows people messages. It reads them: they hold the
// card's first line and not the rest of the call.
type service struct {
	name    string
	client  *http.Client
	url     string
	headers func(body []byte) map[string]string
	body    func(n *News) any // nil: there is nothing to send
}

// Name implements [Way].
func (s *service) Name() string { return s.name }

// Tell implements [Way].
func (s *service) Tell(ctx context.Context, n *News) error {
	what := s.body(n)
	if what == nil {
		return nil
	}
	body, err := json.Marshal(what)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return push.ErrForbidden // the error itself would tell the address
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range s.headers(body) {
		req.Header.Set(name, value)
	}
	return push.Deliver(s.client, req, time.Now())
}

// The services do not take a message back, so that the text says how long the question is open.
func (n *News) untilText() string { return "Open until " + n.Until.Local().Format("15:04") + "." }

const highPriority = 4 // of 5 at ntfy

// Ntfy tells by a topic of an ntfy server: the last part of the address. Token may be empty.
func Ntfy(topic *url.URL, token string) Way {
	server := *topic
	server.Path, server.RawPath = path.Dir(topic.Path), ""
	return &service{
		name: "ntfy", client: push.NewHTTP(), url: server.String(),
		headers: func([]byte) map[string]string {
			if token == "" {
				return nil
			}
			return map[string]string{"Authorization": "Bearer " + token}
		},
		body: func(n *News) any {
			if n.Over {
				return nil
			}
			return struct {
				Topic    string `json:"topic"`
				Title    string `json:"title"`
				Message  string `json:"message"`
				Click    string `json:"click,omitzero"`
				Priority int    `json:"priority"`
			}{path.Base(topic.Path), n.Title, n.untilText(), n.Link, highPriority}
		},
	}
}

// Gotify tells by an application of a Gotify server.
func Gotify(server *url.URL, token string) Way {
	type click struct {
		URL string `json:"url"`
	}
	type notification struct {
		Click click `json:"click"`
	}
	return &service{
		name: "gotify", client: push.NewHTTP(), url: server.JoinPath("message").String(),
		headers: func([]byte) map[string]string { return map[string]string{"X-Gotify-Key": token} },
		body: func(n *News) any {
			if n.Over {
				return nil
			}
			extras := map[string]notification{}
			if n.Link != "" {
				extras["client::notification"] = notification{click{n.Link}}
			}
			return struct {
				Title    string                  `json:"title"`
				Message  string                  `json:"message"`
				Priority int                     `json:"priority"`
				Extras   map[string]notification `json:"extras,omitempty"`
			}{n.Title, n.untilText(), 2 * highPriority, extras}
		},
	}
}

// Webhook posts what waits and what is over, each as JSON that is signed as calls to
// the gateway are, with the time in it.
func Webhook(to *url.URL, secret string) Way {
	return &service{
		name: "webhook", client: push.NewHTTP(), url: to.String(),
		headers: func(body []byte) map[string]string {
			return map[string]string{hmac.AnswerHeader: hmac.Sign([]byte(secret), body)}
		},
		body: func(n *News) any {
			kind := "waiting"
			if n.Over {
				kind = "over"
			}
			return struct {
				Version   int    `json:"version"`
				Timestamp string `json:"timestamp"`
				Kind      string `json:"kind"`
				Card      string `json:"card"`
				Title     string `json:"title"`
				Link      string `json:"link,omitzero"`
				Until     string `json:"until"`
			}{1, time.Now().UTC().Format(time.RFC3339), kind, n.Card, n.Title, n.Link, n.Until.UTC().Format(time.RFC3339)}
		},
	}
}
