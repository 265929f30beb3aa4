package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/web"
)

func (r *rig) link(viewer bool) string {
	r.t.Helper()
	path, until, err := r.page.Link(r.t.Context(), "owner", viewer)
	if err != nil || !until.After(r.now()) {
		r.t.Fatal(err, until)
	}
	return path
}

// follow opens a link, looks at what it says, and presses its button.
func (b *browser) follow(link string) reply {
	b.t.Helper()
	page, secret, ok := strings.Cut(link, "#link=")
	if got := b.get(page); !ok || got.status != http.StatusOK {
		b.t.Fatalf("%s: %d %s", page, got.status, got.body)
	}
	if about := b.post("login/link", "link", secret); about.status != http.StatusOK || !strings.Contains(about.body, "as owner") {
		return about
	}
	return b.login("link", secret)
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
	if got := r.browser().follow(link); loggedIn(got) || !strings.Contains(got.body, "was used or is too old") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestH82ALinkIsNoSessionAndASessionNoLink(t *testing.T) {
	r := newRig(t, nil)
	_, text, _ := strings.Cut(r.link(false), "link=")
	b := r.browser()
	b.session = text
	if got := b.get(""); got.status != http.StatusUnauthorized {
		t.Errorf("a link's text was taken for a session: %d", got.status)
	}
	if got := r.browser().login("link", r.owner().session); loggedIn(got) {
		t.Error("a session's text was taken for a link")
	}
}

func TestASessionEnds(t *testing.T) {
	for what, end := range map[string]func(*browser){
		"at logout": func(b *browser) { b.post("logout") },
		"in time":   func(b *browser) { b.wait(web.DefaultSession + time.Second) },
		"with its token": func(b *browser) {
			b.people.set("owner", "another-t0ken-0f-the-0wner")
		},
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t, nil)
			b := r.owner()
			kept := b.session
			end(b)
			// Someone has kept the session.
			thief := r.browser()
			thief.session = kept
			for _, path := range []string{"", "events", "record/export"} {
				if got := thief.get(path); got.status != http.StatusUnauthorized {
					t.Errorf("%q goes on: %d\n%s", path, got.status, got.body)
				}
			}
		})
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
	if r.desk.Pauses.Text(t.Context()) != "" {
		t.Error("a stranger paused the agent")
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
			b.login("token", "t0ken-0f-a-guest")
		}
		page := b.get("")
		if !strings.Contains(page.body, "make deploy") || !strings.Contains(page.body, "may look") || strings.Contains(page.body, forms.Get("handle")) {
			t.Errorf("%s sees\n%s", who, page.body)
		}
		if got := b.do(http.MethodPost, "answer", forms, nil); got.status != http.StatusForbidden {
			t.Errorf("%s answers: %d", who, got.status)
		}
		if got := b.do(http.MethodPost, "say", values("what", "pause"), nil); got.status != http.StatusForbidden ||
			r.desk.Pauses.Text(t.Context()) != "" {
			t.Errorf("%s pauses: %d", who, got.status)
		}
	}
	if cards, _, err := r.desk.Waiting(t.Context()); err != nil || len(cards) != 1 {
		t.Errorf("%d cards wait, %v", len(cards), err)
	}
}
