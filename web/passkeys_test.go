package web_test

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/passkey/passkeytest"
	"github.com/openclaw-verifier/verifier/web"
)

// named is a gateway whose owner has a passkey. The page is open by a name.
func named(t *testing.T) (*rig, *browser, *passkeytest.Device) {
	t.Helper()
	r := newRig(t, nil)
	r.url = strings.Replace(r.url, "127.0.0.1", "localhost", 1)
	b := r.owner()
	d := passkeytest.New(t, r.url, "localhost")
	if got := b.enrol(d, "token", token); got.status != http.StatusNoContent {
		t.Fatalf("adding a passkey: %d %s", got.status, got.body)
	}
	return r, b, d
}

// ceremony is what the page's script gets for one.
type ceremony struct {
	Nonce, Challenge, Site, User, Name string
	Keys                               []string
}

func (b *browser) ceremony(path string, pairs ...string) (c ceremony, got reply) {
	b.t.Helper()
	got = b.post(path, pairs...)
	if got.status == http.StatusOK {
		if err := json.Unmarshal([]byte(got.body), &c, json.MatchCaseInsensitiveNames(true)); err != nil {
			b.t.Fatal(err)
		}
	}
	return c, got
}

// enrol adds a passkey, with a proof of who does so.
func (b *browser) enrol(d *passkeytest.Device, proof ...string) reply {
	b.t.Helper()
	c, got := b.ceremony("passkeys/new", proof...)
	if got.status != http.StatusOK {
		return got
	}
	return b.post("passkeys", fields(d.Create(c.Challenge), "nonce", c.Nonce, "name", "my phone")...)
}

func fields(m passkeytest.Made, more ...string) (out []string) {
	for name, value := range maps.All(m) {
		out = append(out, name, value)
	}
	return append(out, more...)
}

func TestAPasskeyLogsIn(t *testing.T) {
	r, b, d := named(t)
	c, _ := r.browser().ceremony("login/passkey")
	made := d.Sign(c.Challenge)
	other := r.browser()
	if got := other.login(fields(made, "nonce", c.Nonce)...); !loggedIn(got) {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	if got := r.browser().login(fields(made, "nonce", c.Nonce)...); got.status != http.StatusUnauthorized {
		t.Errorf("the same signature again: %d", got.status)
	}
	c, _ = b.ceremony("passkeys/proof")
	if got := r.browser().login(fields(d.Sign(c.Challenge), "nonce", c.Nonce)...); got.status != http.StatusUnauthorized {
		t.Errorf("a signature for another purpose: %d", got.status)
	}
}

func TestALinkAddsAPasskey(t *testing.T) {
	r, _, _ := named(t)
	path, _, err := r.page.Enrol(t.Context(), "owner")
	if err != nil {
		t.Fatal(err)
	}
	_, link, _ := strings.Cut(path, "#enrol=")
	link, err = url.QueryUnescape(link)
	if err != nil {
		t.Fatal(err)
	}
	b := r.browser()
	d := passkeytest.New(t, r.url, "localhost")
	got := b.enrol(d, "link", link)
	if got.status != http.StatusOK {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	if b.session = got.body; !loggedIn(b.get("")) {
		t.Error("the new passkey did not log in")
	}
	if got := r.browser().enrol(passkeytest.New(t, r.url, "localhost"), "link", link); got.status != http.StatusUnauthorized {
		t.Errorf("the link again: %d", got.status)
	}
	if got := r.browser().login("link", link); got.status != http.StatusUnauthorized {
		t.Errorf("the link logs in: %d", got.status)
	}
	if _, _, err := r.page.Enrol(t.Context(), "guest"); err == nil {
		t.Error("someone who may not answer got a link")
	}
}

func TestH417ARemovedPasskey(t *testing.T) {
	r, b, d := named(t)
	if got := b.post("passkeys/remove", "id", d.Create("")["id"]); !strings.Contains(got.body, "is removed") {
		t.Fatalf("got\n%s", got.body)
	}
	c, _ := r.browser().ceremony("login/passkey")
	if got := r.browser().login(fields(d.Sign(c.Challenge), "nonce", c.Nonce)...); got.status != http.StatusUnauthorized {
		t.Errorf("it logs in: %d", got.status)
	}
}

// noticed is a chat that keeps what people are told.
type noticed struct{ texts chan string }

func (n noticed) Send(_ context.Context, c *approval.Card) (string, error) {
	n.texts <- c.Notice()
	return "1", nil
}

func (noticed) Settle(context.Context, string, *approval.Card, approval.Outcome) error { return nil }

func (noticed) Listen(ctx context.Context, _ func(context.Context, approval.Answer) (approval.Outcome, error)) error {
	<-ctx.Done()
	return nil
}

// A token is enough to add a passkey, or one that is lost could not be replaced. The thief of a token is seen.
func TestH753EveryoneLearnsOfANewPasskey(t *testing.T) {
	chat := noticed{make(chan string, 10)}
	r := newRig(t, func(o *web.Options) {
		state, ok := o.Tries.(*store.Store)
		if !ok {
			t.Fatal("the rig has another store")
		}
		d, err := approval.NewDesk(approval.Options{
			Key: key, Store: state, Record: o.Record, Channels: map[string]approval.Channel{"chat": chat},
			Terms: approval.Terms{People: []approval.Person{{Name: "owner", IDs: []string{"token:owner"}}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		o.Desk, o.Grants, o.Pauses = d, d.Grants, d.Pauses
	})
	r.url = strings.Replace(r.url, "127.0.0.1", "localhost", 1)
	if got := r.owner().enrol(passkeytest.New(t, r.url, "localhost"), "token", token); got.status != http.StatusNoContent {
		t.Fatalf("adding a passkey: %d %s", got.status, got.body)
	}
	select {
	case text := <-chat.texts:
		if !strings.Contains(text, "A passkey of owner was added") || !strings.Contains(text, "192.0.2.7") {
			t.Errorf("people read %q", text)
		}
	case <-time.After(20 * time.Second):
		t.Error("no one learned of it")
	}
}

func TestH419APasskeyIsAddedWithoutProof(t *testing.T) {
	r, owner, d := named(t)
	link, _, err := r.page.Link(t.Context(), "owner", true)
	if err != nil {
		t.Fatal(err)
	}
	viewer, guest := r.browser(), r.browser()
	_, text, _ := strings.Cut(link, "#link=")
	if text, err = url.QueryUnescape(text); err != nil || !loggedIn(viewer.login("link", text)) || !loggedIn(guest.login("token", "t0ken-0f-a-guest")) {
		t.Fatal("no login", err)
	}
	spare, _, err := r.page.Link(t.Context(), "owner", false)
	if err != nil {
		t.Fatal(err)
	}
	_, spare, _ = strings.Cut(spare, "#link=")
	if spare, err = url.QueryUnescape(spare); err != nil {
		t.Fatal(err)
	}
	for name, try := range map[string]struct {
		by    *browser
		proof []string
	}{
		"without a login":             {r.browser(), nil},
		"without a login, by a token": {r.browser(), []string{"token", token}},
		"by a session alone":          {owner, nil},
		"by another person's token":   {owner, []string{"token", "t0ken-0f-a-guest"}},
		"by a wrong token":            {owner, []string{"token", "wrong"}},
		"to look only":                {viewer, []string{"token", token}},
		"by one who may not answer":   {guest, []string{"token", "t0ken-0f-a-guest"}},
		"by a link to log in":         {r.browser(), []string{"link", spare}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := try.by.enrol(passkeytest.New(t, r.url, "localhost"), try.proof...); got.status < 400 {
				t.Errorf("got %d %s", got.status, got.body)
			}
		})
	}
	c, _ := r.browser().ceremony("login/passkey")
	evil := passkeytest.New(t, r.url, "localhost")
	if got := owner.post("passkeys", fields(evil.Create(c.Challenge), "nonce", c.Nonce)...); got.status < 400 {
		t.Errorf("with a nonce for a login: %d", got.status)
	}
	c, _ = owner.ceremony("passkeys/proof")
	if got := owner.enrol(evil, fields(evil.Sign(c.Challenge), "nonce", c.Nonce)...); got.status < 400 {
		t.Errorf("by a signature of the new key itself: %d", got.status)
	}
	c, _ = owner.ceremony("passkeys/proof")
	if got := owner.enrol(evil, fields(d.Sign(c.Challenge), "nonce", c.Nonce)...); got.status != http.StatusNoContent {
		t.Errorf("by a passkey that is there: %d %s", got.status, got.body)
	}
	if n := len(r.keys.Of("token:owner", "")); n != 2 {
		t.Errorf("there are %d passkeys", n)
	}
}

func TestPasskeysNeedAName(t *testing.T) {
	r := newRig(t, func(o *web.Options) {})
	b := r.owner()
	if got := b.enrol(passkeytest.New(t, r.url, "127.0.0.1"), "token", token); got.status != http.StatusUnprocessableEntity {
		t.Errorf("got %d %s", got.status, got.body)
	}
	if got := b.get("passkeys"); !strings.Contains(got.body, "open by its address") {
		t.Errorf("got\n%s", got.body)
	}
}
