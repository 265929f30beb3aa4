package auditor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
)

// line is the way to one server: one address, one client, what is in every
// request.
type line struct {
	url     string
	client  *http.Client
	headers http.Header
}

func newLine(url string) line {
	t := http.DefaultTransport.(*http.Transport).Clone() //nolint:errcheck // that is what it is
	t.MaxIdleConnsPerHost = 8
	t.IdleConnTimeout = time.Minute
	return line{
		url: url, client: &http.Client{Transport: t, CheckRedirect: sameHost},
		headers: http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}},
	}
}

func (l *line) header(name, value string) { l.headers.Set(name, value) }

// post sends a question and reads the answer, once. Its errors hold nothing of
// either, nor of the address.
func (l *line) post(ctx context.Context, ask, answer any) error {
	body, err := json.Marshal(ask)
	if err != nil {
		return errUnsent
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url, bytes.NewReader(body))
	if err != nil {
		return errUnsent
	}
	req.Header = l.headers.Clone()
	res, err := l.client.Do(req)
	if err != nil {
		if errors.Is(err, errMoved) {
			return errMoved
		}
		return errUnsent
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("auditor: the server answers with status %d", res.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return errUnread
	case len(text) > maxAnswer:
		return errTooLong
	case json.Unmarshal(text, answer) != nil:
		return errUnread
	}
	return nil
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
