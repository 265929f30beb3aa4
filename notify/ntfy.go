package notify

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"path"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/push"
)

// Ntfy tells by a topic of an ntfy server. Who runs the server can read what is sent:
// the card's first line and not the rest of the call.
type Ntfy struct {
	client               *http.Client
	server, topic, token string
}

// NewNtfy is the topic that the last part of an address names. Token may be empty.
func NewNtfy(topic *url.URL, token string) *Ntfy {
	server := *topic
	server.Path, server.RawPath = path.Dir(topic.Path), ""
	return &Ntfy{client: push.NewHTTP(), server: server.String(), topic: path.Base(topic.Path), token: token}
}

const highPriority = 4 // of 5

// tell sends news. ntfy takes no message back: the text says how long the question is
// open, and that it is over is not sent.
func (t *Ntfy) tell(ctx context.Context, n *News) error {
	if n.Over {
		return nil
	}
	body, err := json.Marshal(struct {
		Topic    string `json:"topic"`
		Title    string `json:"title"`
		Message  string `json:"message"`
		Click    string `json:"click,omitzero"`
		Priority int    `json:"priority"`
	}{t.topic, n.Title, "Open until " + n.Until.Local().Format("15:04") + ".", n.Link, highPriority})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.server, bytes.NewReader(body))
	if err != nil {
		return push.ErrForbidden // the error itself would tell the address
	}
	req.Header.Set("Content-Type", "application/json")
	if t.token != "" {
		req.Header.Set("Authorization", "Bearer "+t.token)
	}
	return push.Deliver(t.client, req, time.Now())
}
