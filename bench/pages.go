package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/turns"
	"github.com/openclaw-verifier/verifier/web"
)

// What goes on beside the calls of the role pages: questions that are open, and
// the owner's page, open and live, many times.
const (
	openQuestions = 500
	openPages     = 50
	pagesTarget   = 0.9 // of the same server without them
)

// openWatched is openEmbedded with all that.
func openWatched(p place) (running, error) {
	s, err := embeddedStore(p)
	if err != nil {
		return running{}, err
	}
	g := &gateway{store: s, watched: true}
	run, err := g.wire(p)
	if err == nil {
		err = g.ask()
	}
	if err != nil {
		return running{}, errors.Join(err, g.close())
	}
	serve := run.serve
	run.serve = func(l net.Listener) error {
		go g.look(l.Addr().String())
		return serve(l)
	}
	return run, nil
}

// ask leaves questions open whose callers have left.
func (g *gateway) ask() error {
	ctx := context.Background()
	for i := range openQuestions {
		c := session.Conversation{Client: "default", Key: fmt.Sprintf("agent:main:asking-%d", i)}
		if _, err := g.store.Admit(ctx, session.Admission{
			Conversation: c, RequestID: "first", Initial: taint.Owner, Modes: taint.Every(taint.Confirm), Source: "read", Keep: time.Minute,
		}); err != nil {
			return err
		}
		a := approval.Ask{
			Conversation: c, SessionKey: c.Key, Agent: "main", Tool: "exec", Level: taint.Untrusted, Rule: "taintPolicy", Digest: fmt.Sprintf("%064d", i),
			Why: []string{"The conversation is untrusted."}, Shown: jsontext.Value(`{"command":"make deploy"}`), Approvals: 1,
		}
		if _, err := g.desk.Ask(ctx, &approval.Request{Ask: a, ID: fmt.Sprintf("asking-%d", i), Now: time.Now()}); err != nil {
			return err
		}
	}
	return nil
}

// newPage is the owner's page over what the gateway has.
func (g *gateway) newPage(key hmac.Key, rules *policy.Policy) (*web.Page, error) {
	return web.New(web.Options{
		Key: key, Desk: g.desk, Rooms: g.desk.Rooms, Tries: g.store, People: func() web.People { return lone{} }, Record: g.record, Ledger: unread{},
		Memory: undrawn{g.store}, Rehearsal: unplayed{},
		Policy: func() *policy.Policy { return rules }, Reload: func() web.Reload { return web.Reload{} },
		Health: func(context.Context) []web.Check { return nil },
	})
}

// look opens the pages. What goes wrong is said: the number would be too good.
func (g *gateway) look(address string) {
	for range openPages {
		if err := g.lookOnce("http://" + address); err != nil {
			fmt.Fprintln(os.Stderr, "error: a page could not be opened:", err)
			os.Exit(1)
		}
	}
}

func (g *gateway) lookOnce(origin string) error {
	client := &http.Client{Transport: &http.Transport{}}
	login, err := g.enter(client, origin)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, origin+web.Root+"events", nil)
	if err != nil {
		return err
	}
	req.Header.Set("X-Verifier-Session", login)
	res, err := client.Do(req) //nolint:bodyclose // by its reader, below
	if err != nil {
		return err
	}
	go func() {
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body) // until the server ends
	}()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the stream answered %s", res.Status)
	}
	return nil
}

// enter logs in by a link and gives the session.
func (g *gateway) enter(client *http.Client, origin string) (string, error) {
	path, _, err := g.page.Link(context.Background(), "owner", false)
	if err != nil {
		return "", err
	}
	_, link, _ := strings.Cut(path, "link=")
	form := strings.NewReader(url.Values{"link": {link}}.Encode())
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, origin+web.Root+"login", form)
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", origin)
	res, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return string(body), err
}

// lone is one person with a token.
type lone struct{}

func (lone) Who(string) (string, bool)       { return "", false }
func (lone) Mark(name string) (string, bool) { return "mark", name == "owner" }

// undrawn has no turns to show.
type undrawn struct{ backend }

// FirstRequest implements web.Memory.
func (undrawn) FirstRequest(session.Conversation) string { return "" }

func (undrawn) Graph(context.Context, string) (*provenance.Graph, error) {
	return nil, turns.ErrUnknown
}

// unplayed has no policy that anyone changes here.
type unplayed struct{}

func (unplayed) Text() (string, error)                            { return "", nil }
func (unplayed) Play(context.Context, string) (web.Played, error) { return web.Played{}, nil }

// unread is a record that this program does not read.
type unread struct{}

func (unread) Backward(func([]byte) bool) iter.Seq2[audit.Line, error] {
	return func(func(audit.Line, error) bool) {}
}
func (unread) Verify() (audit.Report, error) { return audit.Report{}, nil }
func (unread) Files() ([]string, error)      { return nil, nil }
