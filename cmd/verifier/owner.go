package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// owner are the flags of all commands that speak for the owner. The token is no
// flag: others on the machine can see command lines.
type owner struct {
	URL string `help:"Where the server is." env:"VERIFIER_URL" placeholder:"URL"`
	where
}

const ownerHelp = `

The server is found by --url or VERIFIER_URL, else by --config, else by the state directory; the owner token is VERIFIER_OWNER_TOKEN, else the config's, else the state directory's. Over TLS, a server that was found by --config or the state directory is known by its own certificate; for one given by --url, --ca or VERIFIER_CA names the authority if this machine does not know it.`

const answerCodes = `

Exit codes: 0 the answer counted, 3 it did not (too late, not found, not allowed), 1 error, 2 wrong command line.`

// outcome is what the server says to an answer.
type outcome struct {
	Kind    string `json:"kind"`
	State   string `json:"state"`
	Text    string `json:"text"`
	Confirm string `json:"confirm"`
}

// ask sends one request of the owner's and decodes the reply.
func (o *owner) ask(a *app, method, path string, in, out any) error {
	r, err := o.fetch(a, method, path, in)
	if err != nil {
		return err
	}
	return r.decode(out)
}

// print asks for something and prints the answer as it came, once it is known to be
// one.
func (o *owner) print(a *app, path string) error {
	r, err := o.fetch(a, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	var answer jsontext.Value
	if err := r.decode(&answer); err != nil {
		return err
	}
	a.printf("%s\n", answer)
	if r.status != http.StatusOK {
		return exit(exitNo)
	}
	return nil
}

// response is what the server says to a request of the owner's.
type response struct {
	from   string
	status int
	body   []byte
}

// fetch sends one request of the owner's.
func (o *owner) fetch(a *app, method, path string, in any) (response, error) {
	t, err := o.target(a, o.URL)
	if err != nil {
		return response{}, err
	}
	t.warn(a)
	return o.fetchFrom(a, t, method, path, in)
}

// warn says where others could read the token on its way.
func (t *target) warn(a *app) {
	if t.exposed() {
		a.warnf("warning: the owner token goes to %s unencrypted: use https, or a tunnel\n", t.base)
	}
}

// fetchFrom sends one request of the owner's to a server that was found before.
func (o *owner) fetchFrom(a *app, t *target, method, path string, in any) (response, error) {
	req, err := o.request(a, t, method, path, in)
	if err != nil {
		return response{}, err
	}
	status, _, body, err := t.do(req)
	if err == nil && status == http.StatusUnauthorized {
		err = &failure{"the server does not know this owner token (401)", "it is ownerToken in the server's config, or the file owner.token in its state directory; give it with VERIFIER_OWNER_TOKEN"}
	}
	return response{t.base, status, body}, err
}

func (r response) decode(out any) error {
	if err := json.Unmarshal(r.body, out); err != nil {
		return &failure{fmt.Sprintf("the server answered with HTTP status %d and no outcome", r.status), "is " + r.from + " the address of a verifier?"}
	}
	if r.status == http.StatusServiceUnavailable {
		return &failure{"the server could not take it: " + unavailable(r.body), "try again; `verifier serve` says in its log what is wrong"}
	}
	return nil
}

func (o *owner) request(a *app, t *target, method, path string, in any) (*http.Request, error) {
	token, err := t.token(os.Getenv("VERIFIER_OWNER_TOKEN"))
	if err != nil {
		return nil, err
	}
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("write the answer: %w", err)
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(a.ctx, method, t.base+path, body)
	if err != nil {
		return nil, badURL(t.base)
	}
	req.Header.Set("Authorization", "Bearer "+token.Reveal())
	req.Header.Set("Content-Type", "application/json")
	return req, nil
}

func unavailable(body []byte) string {
	var o outcome
	if err := json.Unmarshal(body, &o); err != nil || o.Text == "" {
		return "it gives no reason"
	}
	return block(o.Text)
}

// answer posts and prints what became of it.
func (o *owner) answer(a *app, path string, in any) error {
	var out outcome
	if err := o.ask(a, http.MethodPost, path, in, &out); err != nil {
		return err
	}
	if out.Kind == "" {
		return errors.New("the server's reply holds no outcome")
	}
	a.printf("%s\n", block(out.Text))
	if out.Confirm != "" {
		a.printf("To allow it, say the same with --confirm %s\n", printable(out.Confirm))
	}
	if out.Kind != "counted" && out.Kind != "told" {
		return exit(exitNo)
	}
	return nil
}

// block is text of several lines in which nothing but the line breaks can move
// the cursor.
func block(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i := range lines {
		lines[i] = printable(lines[i])
	}
	return strings.Join(lines, "\n")
}
