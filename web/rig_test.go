package web_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/internal/store/redistest"
	"github.com/openclaw-verifier/verifier/internal/store/sqlite"
	"github.com/openclaw-verifier/verifier/passkey"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token = "t0ken-0f-the-0wner"

var key = hmac.Key("the server's own key, 32 bytes or more")

// people have tokens, which may change.
type people struct {
	mu     sync.Mutex
	tokens map[string]string
}

func (p *people) Who(token string) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, t := range p.tokens {
		if t == token {
			return name, true
		}
	}
	return "", false
}

func (p *people) Mark(name string) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, ok := p.tokens[name]
	return "mark of " + t, ok
}

func (p *people) set(name, token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tokens[name] = token
}

// ledger is a real record.
type ledger struct {
	*record.Log
	path string
}

func newRecord(t testing.TB) *ledger {
	t.Helper()
	base := filepath.Join(t.TempDir(), "record.jsonl")
	log, err := record.Open(base, record.Options{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	files, err := record.Files(base)
	if err != nil {
		t.Fatal(err)
	}
	r := &ledger{log, files[0]}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *ledger) Files() ([]string, error) { return []string{r.path}, nil }

func (r *ledger) Verify() (record.Report, error) {
	return record.VerifyFiles([]string{r.path}, record.VerifyOptions{Key: key, Whole: true})
}

func (r *ledger) String() string {
	text, err := os.ReadFile(r.path)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// rig is a page over a real desk and a real store, on a loopback port.
type rig struct {
	t      testing.TB
	page   *web.Page
	desk   *approval.Desk
	store  *store.Store
	people *people
	record *ledger
	keys   *passkey.Ring
	url    string
	whole  jsontext.Value // the params of what is asked, as they came
	mu     sync.Mutex
	ahead  time.Duration // of the clock that sessions go by
}

func (r *rig) now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Now().Add(r.ahead)
}

func (r *rig) wait(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ahead += d
}

func newRig(t testing.TB, edit func(*web.Options)) *rig {
	t.Helper()
	backend, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), store.Options{
		Backend: backend, Key: key, Clients: func() []string { return []string{"default"} }, Wait: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	r := &rig{t: t, store: s, people: &people{tokens: map[string]string{"owner": token, "guest": "t0ken-0f-a-guest"}}, record: newRecord(t)}
	if r.keys, err = passkey.Open(key, "", func(string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	r.desk, err = approval.NewDesk(approval.Options{
		Key: key, Store: s, Record: r.record,
		Visible: func(a *approval.Ask) bool {
			all, _ := channels.FullyVisible(a)
			return all
		},
		Observe: func(approval.Event) { r.page.Nudge() },
		Terms: approval.Terms{
			Config: approval.Config{MaxOpen: 100, MaxPromptsPerHour: 1000},
			People: []approval.Person{{Name: "owner", IDs: []string{"token:owner"}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.desk.Close() })
	o := web.Options{
		Passkeys: r.keys, Key: key, Desk: r.desk, Grants: r.desk.Grants, Pauses: r.desk.Pauses, Tries: s,
		People: func() web.People { return r.people }, Record: r.record, Ledger: r.record, Now: r.now,
		Peer: func(*http.Request) string { return "192.0.2.7" },
	}
	if edit != nil {
		edit(&o)
	}
	if r.page, err = web.New(o); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(r.page)
	t.Cleanup(func() {
		r.page.Stop()
		server.Close()
	})
	r.url = server.URL
	return r
}

var conversation = store.Name{Client: "default", Key: "agent:main:main"}

// ask holds a question; its ruling comes when somebody answers.
func (r *rig) ask(edit func(*approval.Ask)) <-chan approval.Ruling {
	r.t.Helper()
	a := approval.Ask{
		Conversation: conversation, SessionKey: conversation.Key, Agent: "main", Tool: "exec", Level: taint.Untrusted, Rule: "taintPolicy",
		Why: []string{"The conversation is untrusted."}, Started: "the owner wrote directly", Said: []string{"please deploy"},
		Shown: jsontext.Value(`{"command":"make deploy"}`), Lasting: true, Direct: true, Shell: true, Network: true,
		Approvals: 1,
	}
	if edit != nil {
		edit(&a)
	}
	a.Digest = fmt.Sprintf("%x", hmac.Sign([]byte("digest"), []byte(a.Tool+string(a.Shown)+a.Agent)))
	out := make(chan approval.Ruling, 1)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		ruling, err := r.desk.Ask(ctx, &approval.Request{Ask: a, ID: "request-" + a.Digest[:12], Hold: time.Minute,
			Whole: r.whole})
		if err != nil && ctx.Err() == nil {
			r.t.Error(err)
		}
		out <- ruling
	}()
	r.t.Cleanup(func() { cancel(); <-done })
	redistest.Eventually(r.t, "the question waits", func() bool {
		cards, _, err := r.desk.Waiting(context.Background())
		for _, c := range cards {
			if err == nil && c.Ask.Digest == a.Digest {
				return strings.Contains(r.record.String(), a.Digest) // only then the call waits for the answer
			}
		}
		return false
	})
	return out
}

// browser is a client that keeps cookies, says where it comes from, and sends the
// session that it was given, as the page's script does.
type browser struct {
	*rig
	client  *http.Client
	session string
}

func (r *rig) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	transport := &http.Transport{}
	r.t.Cleanup(transport.CloseIdleConnections)
	return &browser{rig: r, client: &http.Client{Jar: jar, Transport: transport, Timeout: 20 * time.Second}}
}

// owner is a browser that is logged in.
func (r *rig) owner() *browser {
	r.t.Helper()
	b := r.browser()
	if got := b.login("token", token); !loggedIn(got) {
		r.t.Fatalf("logging in: %d %s", got.status, got.body)
	}
	return b
}

// login sends a token or a link and keeps the session. It gives what the page
// shows then, or why there is none.
func (b *browser) login(pairs ...string) reply {
	b.t.Helper()
	got := b.post("login", pairs...)
	if got.status != http.StatusOK {
		return got
	}
	b.session = got.body
	return b.get("")
}

type reply struct {
	status int
	body   string
	header http.Header
}

func (b *browser) do(method, path string, form url.Values, edit func(*http.Request)) reply {
	b.t.Helper()
	target := b.url + path
	if !strings.HasPrefix(path, "/") {
		target = b.url + "/page/" + path
	}
	req, err := http.NewRequestWithContext(context.Background(), method, target, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", b.url)
	}
	if b.session != "" {
		req.Header.Set("X-Verifier-Session", b.session)
	}
	if edit != nil {
		edit(req)
	}
	res, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return reply{res.StatusCode, string(body), res.Header}
}

func (b *browser) get(path string) reply {
	b.t.Helper()
	return b.do(http.MethodGet, path, nil, nil)
}

func (b *browser) post(path string, pairs ...string) reply {
	b.t.Helper()
	return b.do(http.MethodPost, path, values(pairs...), nil)
}

func values(pairs ...string) url.Values {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Add(pairs[i], pairs[i+1])
	}
	return v
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)">`)

// form is the hidden fields of the form whose button reads so.
func (b *browser) form(page, button string) url.Values {
	b.t.Helper()
	for part := range strings.SplitSeq(page, "<form") {
		body, _, _ := strings.Cut(part, "</form>")
		if !strings.Contains(body, ">"+button+"</button>") {
			continue
		}
		v := url.Values{}
		for _, m := range hidden.FindAllStringSubmatch(body, -1) {
			v.Set(m[1], m[2])
		}
		return v
	}
	b.t.Fatalf("there is no button %q on\n%s", button, page)
	return nil
}
