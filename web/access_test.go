package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/web"
)

func (r *rig) link(viewer bool) string {
	r.t.Helper()
	path, until, err := r.page.Link("owner", viewer)
	if err != nil || !until.After(r.now()) {
		r.t.Fatal(err, until)
	}
	return path
}

// follow opens a link and presses its button.
func (b *browser) follow(link string) reply {
	b.t.Helper()
	page := b.get(link)
	if !strings.Contains(page.body, "as <strong>owner</strong>") {
		return page
	}
	return b.do(http.MethodPost, "login", b.form(page.body, "Log in"), nil)
}

func loggedIn(got reply) bool {
	return got.status == http.StatusOK && strings.Contains(got.body, "Log out")
}

func TestH82ALinkLogsInOnce(t *testing.T) {
	r := newRig(t, nil)
	link := r.link(false)
	for range 3 { // a chat that draws a preview uses nothing up
		r.browser().get(link)
	}
	if got := r.browser().follow(link); !loggedIn(got) {
		t.Errorf("the first: %d %s", got.status, got.body)
	}
	if got := r.browser().follow(link); got.status != http.StatusUnauthorized || loggedIn(got) {
		t.Errorf("the second: %d %s", got.status, got.body)
	}
	if !strings.Contains(r.record.String(), "logged in on the page from 192.0.2.7") {
		t.Errorf("the record: %s", r.record)
	}
}

func TestALinkIsGoodForTenMinutes(t *testing.T) {
	r := newRig(t, nil)
	link := r.link(false)
	r.wait(10*time.Minute + time.Second)
	if got := r.browser().follow(link); loggedIn(got) || !strings.Contains(got.body, "not good any more") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestH82ALinkIsNoSessionAndASessionNoLink(t *testing.T) {
	r := newRig(t, nil)
	_, text, _ := strings.Cut(r.link(false), "link=")
	b := r.browser()
	got := b.do(http.MethodGet, "", nil, func(req *http.Request) { req.AddCookie(&http.Cookie{Name: "verifier", Value: text}) })
	if loggedIn(got) {
		t.Error("a link's text was taken for a session")
	}
	b = r.owner()
	at, err := url.Parse(r.url)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.browser().post("login", "link", b.client.Jar.Cookies(at)[0].Value); loggedIn(got) {
		t.Error("a session's text was taken for a link")
	}
}

func TestWrongTokensAreLimited(t *testing.T) {
	r := newRig(t, nil)
	for range 10 {
		if got := r.browser().post("login", "token", "wrong"); got.status != http.StatusUnauthorized || loggedIn(got) {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	if got := r.browser().post("login", "token", token); got.status != http.StatusTooManyRequests || loggedIn(got) {
		t.Errorf("the right one after ten wrong: %d", got.status)
	}
	if got := r.browser().follow(r.link(false)); got.status != http.StatusTooManyRequests {
		t.Errorf("a link after ten wrong tokens: %d", got.status)
	}
}

func TestASessionEnds(t *testing.T) {
	for what, end := range map[string]func(*browser){
		"at logout": func(b *browser) { b.do(http.MethodPost, "logout", b.form(b.get("").body, "Log out"), nil) },
		"in time":   func(b *browser) { b.wait(web.DefaultSession + time.Second) },
		"with its token": func(b *browser) {
			b.people.set("owner", "another-t0ken-0f-the-0wner")
		},
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t, nil)
			b := r.owner()
			at, err := url.Parse(r.url)
			if err != nil {
				t.Fatal(err)
			}
			kept := b.client.Jar.Cookies(at)
			end(b)
			// Someone has kept the cookie.
			thief := r.browser()
			thief.client.Jar.SetCookies(at, kept)
			if got := thief.get(""); loggedIn(got) {
				t.Errorf("the session goes on:\n%s", got.body)
			}
			if got := thief.do(http.MethodGet, "events", nil, nil); strings.Contains(got.body, "hello") {
				t.Error("the stream goes on")
			}
		})
	}
}

func TestTheCookieIsKeptFromScriptsAndOtherSites(t *testing.T) {
	for name, want := range map[string][]string{
		"":                     {"verifier=", "; HttpOnly", "; SameSite=Strict", "; Path=/"},
		"https://verifier.lan": {"__Host-verifier=", "; HttpOnly", "; SameSite=Strict", "; Path=/", "; Secure"},
	} {
		r := newRig(t, func(o *web.Options) {
			if name != "" {
				o.URL, _ = url.Parse(name)
			}
		})
		b := r.browser()
		b.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		got := b.post("login", "token", token).header.Get("Set-Cookie")
		for _, part := range want {
			if !strings.Contains(got+";", part) {
				t.Errorf("%q has no %q", got, part)
			}
		}
		if strings.Contains(got, "Secure") != (name != "") {
			t.Errorf("at %q: %s", name, got)
		}
	}
}

func TestWhoeverIsNotLoggedInSeesNothing(t *testing.T) {
	r := newRig(t, nil)
	r.ask(nil)
	b := r.browser()
	for _, path := range []string{"", "cards/x", "events"} {
		if got := b.get(path); strings.Contains(got.body, "make deploy") || strings.Contains(got.body, "hello") {
			t.Errorf("%q: %s", path, got.body)
		}
	}
	for _, path := range []string{"answer", "say", "logout"} {
		if got := b.post(path, "what", "pause"); got.status != http.StatusUnauthorized {
			t.Errorf("POST %s: %d", path, got.status)
		}
	}
	if r.desk.Paused() != "" {
		t.Error("a stranger paused the agent")
	}
}

func TestABrowserThatComesFromAnotherSiteIsAskedToComeAgain(t *testing.T) {
	r := newRig(t, nil)
	got := r.browser().do(http.MethodGet, "", nil, func(req *http.Request) { req.Header.Set("Sec-Fetch-Site", "cross-site") })
	if !strings.Contains(got.body, `http-equiv="refresh"`) {
		t.Error(got.body)
	}
}

func TestH86AViewerMayLookAndNotAnswer(t *testing.T) {
	r := newRig(t, nil)
	r.ask(nil)
	owner := r.owner()
	forms := owner.form(owner.get("").body, "Allow once")
	for who, b := range map[string]*browser{"by link": r.browser(), "not on the list": r.browser()} {
		if who == "by link" {
			b.follow(r.link(true))
		} else {
			b.post("login", "token", "t0ken-0f-a-guest")
		}
		page := b.get("")
		if !strings.Contains(page.body, "make deploy") || !strings.Contains(page.body, "may look") || strings.Contains(page.body, forms.Get("handle")) {
			t.Errorf("%s sees\n%s", who, page.body)
		}
		forms.Set("csrf", b.form(page.body, "Log out").Get("csrf"))
		if got := b.do(http.MethodPost, "answer", forms, nil); got.status != http.StatusForbidden {
			t.Errorf("%s answers: %d", who, got.status)
		}
		if got := b.do(http.MethodPost, "say", values("what", "pause", "csrf", forms.Get("csrf")), nil); got.status != http.StatusForbidden || r.desk.Paused() != "" {
			t.Errorf("%s pauses: %d", who, got.status)
		}
	}
	if cards, _, err := r.desk.Waiting(t.Context()); err != nil || len(cards) != 1 {
		t.Errorf("%d cards wait, %v", len(cards), err)
	}
}
