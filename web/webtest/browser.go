// Package webtest drives a real Chromium for tests of the owner's page: it opens
// tabs, clicks with a mouse, types with a keyboard, waits until the page says so
// and takes pictures. It speaks the DevTools protocol itself, of which it needs a
// dozen calls; it is for tests only and looks at nothing but loopback.
package webtest

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gorilla/websocket"

	"github.com/openclaw-verifier/verifier/test/long"
)

// names are what the browser is called on different systems.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// patience is how long anything may take before a test fails.
const patience = 20 * time.Second

// Browser is a running Chromium, as one test sees it: by a connection of its own.
type Browser struct {
	t    testing.TB
	at   string // where it is reached
	conn *websocket.Conn

	mu    sync.Mutex
	last  int
	calls map[int]chan message
	tabs  map[string]*Tab
	gone  chan struct{}
}

// message is what goes either way.
type message struct {
	ID        int            `json:"id,omitzero"`
	SessionID string         `json:"sessionId,omitzero"`
	Method    string         `json:"method,omitzero"`
	Params    jsontext.Value `json:"params,omitzero"`
	Result    jsontext.Value `json:"result,omitzero"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error,omitzero"`
}

// Start gives a test the browser of this process. Tests that run at the same time
// share it, each with people of its own; it ends with the last of them. Where
// there is none the test is skipped, but not in CI, which installs one.
func Start(t testing.TB) *Browser {
	t.Helper()
	long.Only(t, "a browser")
	path := ""
	for _, name := range names {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	switch {
	case path == "" && os.Getenv("CI") == "true":
		t.Fatal("there is no Chromium: scripts/setup-tests installs one")
	case path == "":
		t.Skip("there is no Chromium here: apt-get install chromium")
	}
	return (&Browser{at: shared.join(t, path)}).For(t)
}

// chromium is the process that tests share.
type chromium struct {
	mu    sync.Mutex
	users int
	at    string // where it is reached
	end   func()
}

var shared chromium

// join starts the browser if no other test uses it, and returns where it is
// reached.
func (c *chromium) join(t testing.TB, path string) string {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users == 0 {
		c.start(t, path)
	}
	c.users++
	t.Cleanup(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.users--; c.users == 0 {
			c.end()
		}
	})
	return c.at
}

func (c *chromium) start(t testing.TB, path string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "webtest") //nolint:usetesting // it outlives the test
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	// The last two options save processes that no test needs: there were four for each tab.
	//nolint:gosec // a browser, by its name
	cmd := exec.CommandContext(ctx, path, "--headless=new",
		"--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
		"--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--remote-debugging-port=0", "--user-data-dir="+dir,
		"--disable-features=SpareRendererForSitePerProcess", "--renderer-process-limit=1", "about:blank")
	cmd.WaitDelay = 5 * time.Second
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	endpoint := make(chan string, 1)
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if _, at, ok := strings.Cut(lines.Text(), "DevTools listening on "); ok {
				endpoint <- at
			}
		}
	}()
	c.end = func() {
		cancel()
		<-read
		cmd.Wait()        //nolint:errcheck // it was killed
		os.RemoveAll(dir) //nolint:errcheck // what it leaves is the system's to remove
	}
	select {
	case c.at = <-endpoint:
	case <-time.After(2 * patience):
		c.end()
		t.Fatal("the browser did not start")
	}
}

// For lets the browser serve a part of the test, beside others: that part fails, if anything does, and its tabs are closed at its end.
func (b *Browser) For(t testing.TB) *Browser {
	t.Helper()
	conn, res, err := websocket.DefaultDialer.Dial(b.at, nil)
	if err != nil {
		t.Fatalf("the browser does not answer: %v", err)
	}
	res.Body.Close()
	own := &Browser{t: t, at: b.at, conn: conn, calls: make(map[int]chan message), tabs: make(map[string]*Tab), gone: make(chan struct{})}
	go own.read()
	t.Cleanup(func() {
		conn.Close() //nolint:errcheck // it ends anyway
		<-own.gone
	})
	return own
}

// read hands out what the browser says.
func (b *Browser) read() {
	defer close(b.gone)
	for {
		_, text, err := b.conn.ReadMessage()
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(text, &m) != nil {
			continue
		}
		b.mu.Lock()
		waiting, tab := b.calls[m.ID], b.tabs[m.SessionID]
		delete(b.calls, m.ID)
		b.mu.Unlock()
		switch {
		case waiting != nil:
			waiting <- m
		case tab != nil:
			tab.heard(m)
		}
	}
}

// call asks the browser, or a tab of it, for something.
func (b *Browser) call(session, method string, params, into any) {
	b.t.Helper()
	if msg := b.try(session, method, params, into); msg != "" {
		b.t.Fatalf("%s: %s", method, msg)
	}
}

// try is call, and gives what went wrong.
func (b *Browser) try(session, method string, params, into any) (fault string) {
	if params == nil {
		params = struct{}{}
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return err.Error()
	}
	answer := make(chan message, 1)
	b.mu.Lock()
	b.last++
	m := message{ID: b.last, SessionID: session, Method: method, Params: raw}
	b.calls[m.ID] = answer
	text, err := json.Marshal(m)
	if err == nil {
		err = b.conn.WriteMessage(websocket.TextMessage, text)
	}
	b.mu.Unlock()
	if err != nil {
		return err.Error()
	}
	select {
	case got := <-answer:
		switch {
		case got.Error != nil:
			return got.Error.Message
		case into == nil:
			return ""
		}
		if err := json.Unmarshal(got.Result, into); err != nil {
			return err.Error()
		}
		return ""
	case <-b.gone:
		return "the browser has gone"
	case <-time.After(patience):
		return "no answer"
	}
}
