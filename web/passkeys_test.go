package web_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/passkey/passkeytest"
	"github.com/openclaw-verifier/verifier/store/sqlite"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/web"
)

// stepUpRig is a gateway whose owner has a passkey and wants it for what destroys. The page is open by a name.
func stepUpRig(t *testing.T) (*rig, *browser, *passkeytest.Device) {
	t.Helper()
	r := newRig(t, nil)
	r.url = strings.Replace(r.url, "127.0.0.1", "localhost", 1)
	err := r.desk.Configure(approval.Terms{
		Config: approval.Config{MaxOpen: 100, MaxPromptsPerHour: 1000, StepUp: []string{"destructive"}},
		People: []approval.Person{{Name: "owner", IDs: []string{"token:owner", "telegram:7"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
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

// destroy asks about a call that can't be undone.
func (r *rig) destroy(name string) <-chan approval.Ruling {
	r.t.Helper()
	return r.ask(func(a *approval.Ask) {
		a.Shown, a.Stakes = jsontext.Value(`{"command":"rm -r `+name+`"}`), []string{"all", "destructive"}
	})
}

var data = regexp.MustCompile(` data-challenge="([^"]+)"`)

// wanted begins the signature of an answer: the fields of its form, and the challenge.
func (b *browser) wanted(id string) (url.Values, string) {
	b.t.Helper()
	page := b.get("cards/" + id)
	asked := b.do(http.MethodPost, "answer", b.form(page.body, "Allow once"), nil)
	found := data.FindStringSubmatch(asked.body)
	if found == nil {
		b.t.Fatalf("no signature is asked for: %d\n%s", asked.status, asked.body)
	}
	return b.form(asked.body, "Allow with your passkey"), found[1]
}

func (b *browser) send(form url.Values, m passkeytest.Made) reply {
	b.t.Helper()
	full := maps.Clone(form)
	for name, value := range m {
		full.Set(name, value)
	}
	return b.do(http.MethodPost, "answer", full, nil)
}

func (r *rig) cards(t *testing.T) (ids []string) {
	t.Helper()
	cards, _, err := r.desk.Waiting(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cards {
		ids = append(ids, c.ID)
	}
	return ids
}

func (r *rig) stillOpen(t *testing.T, id string) {
	t.Helper()
	if _, o, _, err := r.desk.Look(context.Background(), id); err != nil || o.State != approval.Open {
		t.Fatalf("the question is %s, %v", o.State, err)
	}
}

func TestAPasskeySignsAnAnswer(t *testing.T) {
	r, b, d := stepUpRig(t)
	ruled := r.destroy("build")
	id := r.cards(t)[0]
	form, challenge := b.wanted(id)
	if got := b.send(form, d.Sign(challenge)); !strings.Contains(got.body, "Approved once by owner") {
		t.Fatalf("got %d\n%s", got.status, got.body)
	}
	if ruling := <-ruled; !ruling.Yes {
		t.Errorf("the call: %+v", ruling)
	}
	if text := r.record.String(); !strings.Contains(text, `"passkey":"`+d.Create("")["id"]+`"`) {
		t.Errorf("the record does not name the passkey:\n%s", text)
	}
}

func TestAPasskeyLogsIn(t *testing.T) {
	r, b, d := stepUpRig(t)
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
	r, _, _ := stepUpRig(t)
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

func TestH411AReplayedSignature(t *testing.T) {
	r, b, d := stepUpRig(t)
	r.destroy("one")
	id := r.cards(t)[0]
	form, challenge := b.wanted(id)
	made := d.Sign(challenge)
	d.Unverified = true
	if got := b.send(form, d.Sign(challenge)); !strings.Contains(got.body, "does not fit") { // it uses the nonce up
		t.Fatalf("got %d\n%s", got.status, got.body)
	}
	if got := b.send(form, made); !strings.Contains(got.body, "was used before") {
		t.Errorf("got %d\n%s", got.status, got.body)
	}
	r.stillOpen(t, id)
	d.Unverified = false
	form, challenge = b.wanted(id)
	made = d.Sign(challenge)
	if got := b.send(form, made); !strings.Contains(got.body, "Approved once") {
		t.Fatalf("got %d\n%s", got.status, got.body)
	}
	r.destroy("two")
	next := r.cards(t)[0]
	fresh, _ := b.wanted(next)
	for name, f := range map[string]url.Values{"the old nonce": {"handle": fresh["handle"], "nonce": form["nonce"]}, "a new nonce": fresh} {
		if got := b.send(f, made); strings.Contains(got.body, "Approved") {
			t.Errorf("%s: %s", name, got.body)
		}
		r.stillOpen(t, next)
	}
}

func TestH412TheDigestIsSwapped(t *testing.T) {
	r, b, d := stepUpRig(t)
	asked := approval.Ask{
		Conversation: conversation, SessionKey: conversation.Key, Agent: "main", Tool: "exec", Level: taint.Untrusted, Rule: "taintPolicy", Why: []string{"Because."},
		Shown: jsontext.Value(`{"command":"rm -r shown"}`), Digest: strings.Repeat("ab", 32), Approvals: 1, Stakes: []string{"destructive"},
	}
	if _, err := r.desk.Ask(t.Context(), &approval.Request{Ask: asked, ID: "gone", Hold: time.Millisecond, Now: time.Now()}); err != nil {
		t.Fatal(err)
	}
	id := r.cards(t)[0]
	form, challenge := b.wanted(id)
	made := d.Sign(challenge)
	stored, _, err := r.store.Load(t.Context(), id)
	if err != nil || len(stored) != 1 {
		t.Fatal(err)
	}
	card, _, _, err := r.desk.Look(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	digest := card.Questions[0].Ask.Digest
	other := strings.Repeat("0", len(digest))
	err = r.store.Swap(t.Context(), approval.Change{
		ID: id, Version: stored[0].Version, Conversation: conversation, Blob: []byte(strings.ReplaceAll(string(stored[0].Blob), digest, other)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.send(form, made); strings.Contains(got.body, "Approved") {
		t.Errorf("got %d\n%s", got.status, got.body)
	}
	if text := r.record.String(); strings.Contains(text, `"decision":"allow"`) {
		t.Errorf("something was allowed:\n%s", text)
	}
}

func TestH413TheAnswerIsSwapped(t *testing.T) {
	r, b, d := stepUpRig(t)
	r.destroy("once")
	id := r.cards(t)[0]
	card, _, _, err := r.desk.Look(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, action := range []approval.Action{approval.AllowMinutes, approval.AllowExactly, approval.AllowTurn} {
		form, challenge := b.wanted(id)
		form.Set("handle", card.Handle(action))
		form.Set("minutes", "60")
		if got := b.send(form, d.Sign(challenge)); strings.Contains(got.body, "Approved") {
			t.Errorf("%c: %d\n%s", action, got.status, got.body)
		}
		r.stillOpen(t, id)
	}
}

func TestH414AnotherCardsSignature(t *testing.T) {
	r, b, d := stepUpRig(t)
	r.destroy("harmless")
	first := r.cards(t)[0]
	r.destroy("harmful")
	second := r.cards(t)[1]
	own, challenge := b.wanted(first)
	form, _ := b.wanted(second)
	made := d.Sign(challenge)
	if got := b.send(form, made); strings.Contains(got.body, "Approved") {
		t.Errorf("with its own nonce: %s", got.body)
	}
	form.Set("nonce", own.Get("nonce"))
	if got := b.send(form, made); strings.Contains(got.body, "Approved") {
		t.Errorf("with the other's nonce: %s", got.body)
	}
	r.stillOpen(t, first)
	r.stillOpen(t, second)
}

func TestH415H416H418ASignatureThatIsNotOurs(t *testing.T) {
	for name, edit := range map[string]func(*passkeytest.Device){
		"H415 on another page":               func(d *passkeytest.Device) { d.Origin = "https://evil.example" },
		"H415 on another port of the host":   func(d *passkeytest.Device) { d.Origin = "http://localhost:1" },
		"H415 for another site":              func(d *passkeytest.Device) { d.Site = "evil.example" },
		"H415 in a frame of another site":    func(d *passkeytest.Device) { d.Framed = true },
		"H416 the person was not verified":   func(d *passkeytest.Device) { d.Unverified = true },
		"H418 the counter has gone back":     func(d *passkeytest.Device) { d.Counter = 2 },
		"H418 a copy that counts the same":   func(d *passkeytest.Device) { d.Counter = 6 },
		"H417 a passkey that was never here": func(d *passkeytest.Device) { d.ID = []byte("never was here!!") },
	} {
		t.Run(name, func(t *testing.T) {
			r, b, d := stepUpRig(t)
			d.Counter = 6
			r.destroy("before")
			form, challenge := b.wanted(r.cards(t)[0])
			if got := b.send(form, d.Sign(challenge)); !strings.Contains(got.body, "Approved once") {
				t.Fatalf("got %d\n%s", got.status, got.body)
			}
			r.destroy("this")
			id := r.cards(t)[0]
			form, challenge = b.wanted(id)
			edit(d)
			if got := b.send(form, d.Sign(challenge)); !strings.Contains(got.body, "does not fit this answer") {
				t.Errorf("got %d\n%s", got.status, got.body)
			}
			r.stillOpen(t, id)
			if !strings.Contains(r.record.String(), "signature was refused") {
				t.Error("the record does not say so")
			}
		})
	}
}

func TestH417ARemovedPasskey(t *testing.T) {
	r, b, d := stepUpRig(t)
	r.destroy("this")
	id := r.cards(t)[0]
	form, challenge := b.wanted(id)
	if got := b.post("passkeys/remove", "id", d.Create("")["id"]); !strings.Contains(got.body, "is removed") {
		t.Fatalf("got %d\n%s", got.status, got.body)
	}
	if got := b.send(form, d.Sign(challenge)); strings.Contains(got.body, "Approved") {
		t.Errorf("got %d\n%s", got.status, got.body)
	}
	c, _ := r.browser().ceremony("login/passkey")
	if got := r.browser().login(fields(d.Sign(c.Challenge), "nonce", c.Nonce)...); got.status != http.StatusUnauthorized {
		t.Errorf("it logs in: %d", got.status)
	}
	r.stillOpen(t, id)
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
		store, ok := o.Tries.(*sqlite.Store)
		if !ok {
			t.Fatal("the rig has another store")
		}
		d, err := approval.NewDesk(approval.Options{
			Key: key, Store: store, Record: o.Record, Passkeys: o.Passkeys, Channels: map[string]approval.Channel{"chat": chat},
			Terms: approval.Terms{People: []approval.Person{{Name: "owner", IDs: []string{"token:owner"}}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		o.Desk, o.Rooms = d, d.Rooms
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
	r, owner, d := stepUpRig(t)
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

func TestH420OnlyThePageAllows(t *testing.T) {
	r, b, _ := stepUpRig(t)
	ruled := r.destroy("this")
	id := r.cards(t)[0]
	card, _, _, err := r.desk.Look(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	pending, err := r.desk.Pending(t.Context(), "telegram:7")
	if err != nil || len(pending) != 1 {
		t.Fatal(err)
	}
	code := pending[0].Code
	for name, a := range map[string]approval.Answer{
		"a code in a chat":         {ID: "telegram:7", Via: "telegram", Text: ".approve exec " + code},
		"all of it":                {ID: "telegram:7", Via: "telegram", Text: ".approve all " + code + " 10"},
		"a tap in a chat":          {ID: "telegram:7", Via: "telegram", Handle: card.Handle(approval.AllowOnce)},
		"a tap beside the details": {ID: "telegram:7", Via: "telegram", Handle: card.Handle(approval.AllowSeen)},
		"a reference":              {ID: "token:owner", Via: "terminal", Ref: card.Ref(), Allow: true},
		"a key in watch":           {ID: "token:owner", Via: "terminal", Handle: card.Handle(approval.AllowOnce)},
		"a code in the terminal":   {ID: "token:owner", Via: "terminal", Text: ".approve exec " + code},
	} {
		o, err := r.desk.Answer(t.Context(), a)
		if err != nil || o.Kind != approval.Misunderstood || !strings.Contains(o.Text, "Only your passkey allows this call") {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
		r.stillOpen(t, id)
	}
	stolen := r.owner() // a session of another device, without the passkey
	form, _ := stolen.wanted(id)
	if got := stolen.send(form, nil); strings.Contains(got.body, "Approved") {
		t.Errorf("a stolen session: %s", got.body)
	}
	if got := b.get("cards/" + id); !strings.Contains(got.body, "Only your passkey allows this") {
		t.Errorf("the card does not say so:\n%s", got.body)
	}
	o, err := r.desk.Answer(t.Context(), approval.Answer{ID: "telegram:7", Via: "telegram", Text: ".deny " + code})
	if err != nil || o.State != approval.Denied {
		t.Errorf("a no in a chat: %+v, %v", o, err)
	}
	if ruling := <-ruled; !ruling.Denied {
		t.Errorf("the call: %+v", ruling)
	}
}

func TestH421NoTicketForADialog(t *testing.T) {
	r, _, _ := stepUpRig(t)
	a := approval.Ask{Conversation: conversation, SessionKey: conversation.Key, Tool: "exec", Digest: strings.Repeat("ab", 32), Shown: jsontext.Value(`{}`), Approvals: 1, Rule: "x"}
	for _, stakes := range [][]string{nil, {"destructive"}} {
		a.Stakes, a.Digest = stakes, fmt.Sprintf("%064d", len(stakes))
		ruling, err := r.desk.Ask(t.Context(), &approval.Request{Ask: a, ID: "r-" + a.Digest, Hold: time.Millisecond, Now: time.Now()})
		if err != nil || ruling.Yes {
			t.Fatalf("%+v, %v", ruling, err)
		}
		if (ruling.Ticket == "") != (len(stakes) > 0) {
			t.Errorf("%v: the ticket is %q", stakes, ruling.Ticket)
		}
	}
}

func TestH422AnEarlierGrantCoversNothingThatNeedsAPasskey(t *testing.T) {
	r, _, _ := stepUpRig(t)
	a := approval.Ask{Conversation: conversation, Tool: "exec", Approvals: 1, Stakes: []string{"leaves"}}
	if !r.desk.Grants.Covers("owner", a) {
		t.Error("a grant does not stand where no passkey is needed")
	}
	a.Stakes = []string{"destructive"}
	if r.desk.Grants.Covers("owner", a) {
		t.Error("a grant stands where a passkey is needed")
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
