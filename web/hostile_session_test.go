package web_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/internal/store/redistest"
)

// views are the addresses that a browser may open.
var views = []string{"", "cards/x", "grants", "record", "record/export", "login"}

func TestH114TheShellIsTheSameForAllAndEmpty(t *testing.T) {
	r := newRig(t, nil)
	r.fill(4)
	r.ask(nil)
	owner, stranger := r.owner(), r.browser()
	owner.session = "" // a navigation sends none; the cookies, if there were any, it would
	shell := stranger.get("login")
	if shell.status != http.StatusOK || !strings.Contains(shell.body, "<noscript>") {
		t.Fatalf("%d %s", shell.status, shell.body)
	}
	for _, path := range views {
		for who, b := range map[string]*browser{"the owner": owner, "a stranger": stranger} {
			if got := b.get(path); got.status != http.StatusOK || got.body != shell.body {
				t.Errorf("%s opens %q: %d\n%s", who, path, got.status, got.body)
			}
		}
	}
}

func TestH114OnlyTheHeaderCarriesASession(t *testing.T) {
	r := newRig(t, nil)
	ruling := r.ask(nil)
	b := r.owner()
	handle := b.form(b.get("").body, "Allow once").Get("handle")
	session := b.session
	last := map[byte]string{'0': "1"}[session[len(session)-1]]
	if last == "" {
		last = "0"
	}
	for what, edit := range map[string]func(*http.Request){
		"nothing":         func(*http.Request) {},
		"a cookie":        func(q *http.Request) { q.AddCookie(&http.Cookie{Name: "verifier", Value: session}) },
		"a host cookie":   func(q *http.Request) { q.AddCookie(&http.Cookie{Name: "__Host-verifier", Value: session}) },
		"a bearer":        func(q *http.Request) { q.Header.Set("Authorization", "Bearer "+session) },
		"the query":       func(q *http.Request) { q.URL.RawQuery = "session=" + session + "&X-Verifier-Session=" + session },
		"the owner token": func(q *http.Request) { q.Header.Set("X-Verifier-Session", token) },
		"an empty header": func(q *http.Request) { q.Header.Set("X-Verifier-Session", "") },
		"two headers":     func(q *http.Request) { q.Header["X-Verifier-Session"] = []string{session, session} },
		"another seal":    func(q *http.Request) { q.Header.Set("X-Verifier-Session", session[:len(session)-1]+last) },
		"another role":    func(q *http.Request) { q.Header.Set("X-Verifier-Session", strings.Replace(session, ".a.", ".b.", 1)) },
	} {
		stranger := r.browser()
		for _, path := range append(views, "events") {
			got := stranger.do(http.MethodGet, path, nil, edit)
			if strings.Contains(got.body, "make deploy") || strings.Contains(got.body, "Log out") || strings.Contains(got.body, "hello") || got.header.Get("Content-Disposition") != "" {
				t.Errorf("%s shows %q:\n%s", what, path, got.body)
			}
		}
		for _, path := range []string{"answer", "reveal", "say", "grants", "record/proof", "logout"} {
			if got := stranger.do(http.MethodPost, path, values("handle", handle, "what", "pause", "grant", "all", "session", session), edit); got.status != http.StatusUnauthorized {
				t.Errorf("%s posts %q: %d %s", what, path, got.status, got.body)
			}
		}
	}
	select {
	case got := <-ruling:
		t.Fatalf("one of them was taken: %+v", got)
	default:
	}
	if r.desk.Pauses.Text(t.Context()) != "" || !loggedIn(b.get("")) {
		t.Error("one of them paused the agent, or ended the session")
	}
}

func TestH113NoAnswerSetsACookieOrLetsAnotherOriginRead(t *testing.T) {
	r := newRig(t, nil)
	b := r.browser()
	replies := []reply{b.get(""), b.post("login", "token", token), b.login("token", token), b.post("login", "token", "wrong"), b.post("logout")}
	for _, method := range []string{http.MethodOptions, http.MethodGet, http.MethodPost} {
		replies = append(replies, b.do(method, "answer", nil, func(q *http.Request) {
			q.Header.Set("Origin", "http://127.0.0.1:1")
			q.Header.Set("Sec-Fetch-Site", "same-site")
			q.Header.Set("Access-Control-Request-Headers", "x-verifier-session")
			q.Header.Set("Access-Control-Request-Method", "POST")
		}))
	}
	for i, got := range replies {
		if got.header.Get("Set-Cookie") != "" {
			t.Errorf("answer %d sets a cookie: %s", i, got.header.Get("Set-Cookie"))
		}
		for name := range got.header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("answer %d has %s", i, name)
			}
		}
		if got.header.Get("X-Frame-Options") != "DENY" || got.header.Get("Cross-Origin-Opener-Policy") != "same-origin" {
			t.Errorf("answer %d may be framed or opened by another origin", i)
		}
	}
}

func TestH115WrongTokensLockNobodyOut(t *testing.T) {
	r := newRig(t, nil)
	guess := func() reply { return r.browser().login("token", "wrong") }
	for range 10 {
		if got := guess(); got.status != http.StatusUnauthorized {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	for range 50 { // a bad link is no guess at a token
		r.browser().login("link", "bm9ib2R5.a.99999999999.00.00")
	}
	began := time.Now()
	if got := guess(); got.status != http.StatusUnauthorized || time.Since(began) < time.Second {
		t.Errorf("the eleventh guess: %d after %s", got.status, time.Since(began))
	}
	if got := r.browser().login("token", token); !loggedIn(got) {
		t.Errorf("the right token after eleven wrong: %d %s", got.status, got.body)
	}
	began = time.Now()
	if got := r.browser().follow(r.link(false)); !loggedIn(got) {
		t.Errorf("a link after eleven wrong tokens: %d %s", got.status, got.body)
	}
	t.Logf("the link took %s", time.Since(began))
}

// TestH115ManyConnectionsGuessNoFaster has more guesses come at once than may
// wait. The rest is refused unread, and a link opens the page meanwhile.
func TestH115ManyConnectionsGuessNoFaster(t *testing.T) {
	r := newRig(t, nil)
	for range 10 {
		r.browser().login("token", "wrong")
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	began := time.Now()
	for range 300 {
		all.Go(func() {
			got := r.browser().login("token", "wrong")
			mu.Lock()
			defer mu.Unlock()
			statuses[got.status]++
		})
	}
	if got := r.browser().follow(r.link(false)); !loggedIn(got) {
		t.Errorf("a link meanwhile: %d %s", got.status, got.body)
	}
	all.Wait()
	if most := 128 * (int(time.Since(began)/time.Second) + 1); statuses[http.StatusUnauthorized] > most || statuses[http.StatusUnauthorized]+statuses[http.StatusTooManyRequests] != 300 {
		t.Errorf("within %s: %v", time.Since(began), statuses)
	}
	if got := r.browser().login("token", token); !loggedIn(got) {
		t.Errorf("the right token afterwards: %d %s", got.status, got.body)
	}
}

func TestH116OfManyWhoUseALinkOneGetsInAndNoneIsBlamed(t *testing.T) {
	r := newRig(t, nil)
	page, secret, _ := strings.Cut(r.link(false), "#link=")
	for range 3 { // a preview, with all that the address holds
		b := r.browser()
		b.get(page + "?link=" + secret)
		b.get(page + "?token=" + token)
		b.post("login/link", "link", secret)
	}
	var all sync.WaitGroup
	entered := make(chan bool, 30)
	for range 30 {
		all.Go(func() { entered <- loggedIn(r.browser().login("link", secret)) })
	}
	all.Wait()
	close(entered)
	n := 0
	for in := range entered {
		if in {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d got in by one link", n)
	}
	if wrong, err := r.store.Count(t.Context(), "page-login:192.0.2.7", time.Minute, false); wrong != 0 || err != nil {
		t.Errorf("%d wrong logins are counted, %v", wrong, err)
	}
}

func TestH117AStreamEndsWithTheTokenOfItsLogin(t *testing.T) {
	r := newRig(t, nil)
	b := r.owner()
	s := b.stream(t, "?seen=-.-")
	defer s.close()
	r.ask(nil)
	s.next(t, "now")
	r.people.set("owner", "another-t0ken-0f-the-0wner")
	began := time.Now()
	s.ended(t)
	if took := time.Since(began); took > 2*time.Second { // one, and what a busy machine takes
		t.Errorf("the stream went on for %s", took)
	}
}

func TestH117AStreamSendsNothingAfterTheTokenHasChanged(t *testing.T) {
	r := newRig(t, nil)
	b := r.owner()
	s := b.stream(t, "?seen=-.-")
	defer s.close()
	r.people.set("owner", "another-t0ken-0f-the-0wner")
	r.ask(nil) // at once, before the stream is looked at
	redistest.Eventually(t, "the stream ends", func() bool {
		for s.lines.Scan() {
			if strings.Contains(s.lines.Text(), "make deploy") {
				t.Error("it shows the question")
			}
		}
		return true
	})
}
