package approval_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/sqlite"
	"github.com/openclaw-verifier/verifier/taint"
)

// ledger keeps what is recorded.
type ledger struct {
	mu      sync.Mutex
	entries []record.Entry
}

func (l *ledger) Append(e record.Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, e)
	return nil
}

func (l *ledger) of(kind record.Kind) (out []record.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.entries {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// granting is a desk where alice has granted these tools for a quarter of an
// hour, and the cards on which she did.
func granting(t testing.TB, tools ...string) (*approval.Desk, *sqlite.Store, *chat, *ledger, []*approval.Card) {
	t.Helper()
	c, s, book := newChat(), openStore(t), &ledger{}
	d := openDesk(t, s, func(o *approval.Options) {
		o.Channels, o.Record = map[string]approval.Channel{"chat": c}, book
	})
	var cards []*approval.Card
	for _, tool := range tools {
		ruling := ask(t, d, func(r *approval.Request) { r.Ask.Tool, r.Ask.Level = tool, taint.External })
		card := c.card(t)
		if _, err := d.Answer(t.Context(), approval.Answer{ID: alice, Via: "chat", Handle: card.Handle(approval.AllowMinutes), Scope: approval.Scope{Minutes: 15}}); err != nil {
			t.Fatal(err)
		}
		if r := <-ruling; !r.Yes {
			t.Fatalf("the ruling: %+v", r)
		}
		c.shows(t)
		cards = append(cards, card)
	}
	return d, s, c, book, cards
}

func grants(t testing.TB, d *approval.Desk) []session.Grant {
	t.Helper()
	open, err := d.Grants.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return open.Grants
}

func TestGrantsSayWhatIsOpenUntilWhenAndByWhom(t *testing.T) {
	d, _, _, _, cards := granting(t, "exec")
	open := grants(t, d)
	if len(open) != 1 || open[0].Tool != "exec" || open[0].By != "alice" || open[0].Conversation != conversation || open[0].Level != taint.External ||
		open[0].ID != cards[0].ID || time.Until(open[0].Until) > 15*time.Minute || time.Until(open[0].Until) < 14*time.Minute {
		t.Errorf("open are %+v", open)
	}
	o, err := types(d, ".grants")
	if want := cards[0].Ref() + `  "exec"  in ` + conversation.Ref(); err != nil || o.Kind != approval.Replied || !strings.Contains(o.Text, want) || !strings.Contains(o.Text, "by alice") {
		t.Errorf("told %+v, %v", o, err)
	}
	if o, err := types(d, ".pending"); err != nil || !strings.Contains(o.Text, "1 grant is open") {
		t.Errorf("pending: %+v, %v", o, err)
	}
}

// The owner's account is taken over: its id is replaced in the config, and the name stays.
func TestH752AGrantEndsWithTheIDThatItWasGivenWith(t *testing.T) {
	d, s, _, _, _ := granting(t, "exec")
	given := grants(t, d)[0]
	for what, now := range map[string][]approval.Person{
		"no approver's":   {{Name: "alice", IDs: []string{"chat:9"}}},
		"somebody else's": {{Name: "alice", IDs: []string{"chat:9"}}, {Name: "bob", IDs: []string{alice}}},
	} {
		if err := d.Configure(approval.Terms{People: now}); err != nil {
			t.Fatal(err)
		}
		a := approval.Ask{Conversation: conversation, Tool: "exec"}
		if open := grants(t, d); len(open) > 0 || d.Grants.Covers(given.Givers(), a) {
			t.Errorf("the id is %s now, and open are %+v", what, open)
		}
	}
	if err := d.Configure(approval.Terms{People: []approval.Person{{Name: "alice", IDs: []string{"chat:9", alice}}}}); err != nil {
		t.Fatal(err)
	}
	if open := grants(t, d); len(open) != 1 || open[0].By != "alice" {
		t.Errorf("alice has another id besides, and open are %+v", open)
	}
	if left, _, err := s.Grants(t.Context(), "", 10); err != nil || len(left) != 1 {
		t.Errorf("left are %+v, %v", left, err)
	}
}

// A narrower consent takes the place of a wider one. Taking away the id that it was given with must not bring the wider one back.
func TestH752ANarrowerConsentThatEndedOpensNoWiderOne(t *testing.T) {
	const token = "token:alice"
	d := openDesk(t, openStore(t), func(o *approval.Options) {
		o.Terms.People = []approval.Person{{Name: "alice", IDs: []string{alice, token}}}
	})
	give := func(id string, level taint.Level, days int) {
		t.Helper()
		g := session.Grant{Conversation: session.Conversation{Client: "default"}, Tool: "exec", Agent: "main", Like: session.StandingLike("x"), Level: level}
		if o, err := d.Consents.Give(t.Context(), approval.Answer{ID: id, Via: "page"}, "alice", g, days); err != nil || o.Kind != approval.Replied {
			t.Fatalf("%+v, %v", o, err)
		}
	}
	give(token, taint.Untrusted, 30)
	give(alice, taint.System, 1)
	if given, err := d.Consents.Active(t.Context()); err != nil || len(given) != 1 || given[0].Level != taint.System {
		t.Fatalf("%+v, %v", given, err)
	}
	if err := d.Configure(approval.Terms{People: []approval.Person{{Name: "alice", IDs: []string{"chat:9", token}}}}); err != nil {
		t.Fatal(err)
	}
	if given, err := d.Consents.Active(t.Context()); err != nil || len(given) > 0 {
		t.Errorf("open are %+v, %v", given, err)
	}
}

func TestH30WhatOthersWriteIntoTheStoreIsNotListed(t *testing.T) {
	d, s, _, _, _ := granting(t, "exec", "write")
	ours := grants(t, d)
	stored, _, err := s.Grants(t.Context(), "", 10)
	if err != nil {
		t.Fatal(err)
	}
	other := session.Conversation{Client: "default", Key: "agent:main:other"}
	plant(t, s, other, ours[0].Field(), stored[0].Value)                                    // one of ours, elsewhere
	plant(t, s, conversation, "elsewhere", stored[0].Value)                                 // under another field
	plant(t, s, conversation, "forged", "9999999999|5|card|616c696365|seal|....65786563..") // anything
	if open := grants(t, d); len(open) != 2 {
		t.Errorf("open are %+v", open)
	}
	if o, err := types(d, ".revoke all"); err != nil || !strings.Contains(o.Text, "2 grants were ended") {
		t.Errorf("told %+v, %v", o, err)
	}
	if left, _, err := s.Grants(t.Context(), "", 10); err != nil || len(left) > 0 {
		t.Errorf("left are %+v, %v", left, err)
	}
}

// plant puts a grant into the store as whoever may write there can.
func plant(t testing.TB, s *sqlite.Store, in session.Conversation, field, value string) {
	t.Helper()
	_, err := s.Admit(t.Context(), session.Admission{Conversation: in, RequestID: field, Initial: taint.Owner, Modes: taint.Every(taint.Confirm), Keep: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	id := in.Hash()[:2] + fmt.Sprintf("%032x", field)[:32]
	if _, err := s.Place(t.Context(), approval.Draft{ID: id, Conversation: in, Digests: []string{field}, CodeSeal: field, Live: time.Minute, MaxOpen: 99}); err != nil {
		t.Fatal(err)
	}
	if err := s.Swap(t.Context(), approval.Change{ID: id, Version: 1, Conversation: in, Grants: map[string]string{field: value}, Closed: true}); err != nil {
		t.Fatal(err)
	}
}

func TestRevokingOneLeavesTheOthersAndIsRecordedAndShown(t *testing.T) {
	d, s, c, book, cards := granting(t, "exec", "write")
	o, err := types(d, ".revoke "+strings.ToLower(cards[0].Ref()))
	if err != nil || o.Kind != approval.Replied || !strings.Contains(o.Text, `The grant for "exec" was ended by alice (chat)`) {
		t.Errorf("told %+v, %v", o, err)
	}
	if open := grants(t, d); len(open) != 1 || open[0].Tool != "write" {
		t.Errorf("open are %+v", open)
	}
	v, err := s.Admit(t.Context(), session.Admission{
		Conversation: conversation, RequestID: "later", Initial: taint.Owner, Modes: taint.Every(taint.Confirm), Keep: time.Minute,
		Grants: []string{(&session.Grant{Tool: "exec", Agent: "main"}).Field()},
	})
	if err != nil || len(v.Grants) > 0 {
		t.Errorf("a call finds %q, %v", v.Grants, err)
	}
	if e := book.of(record.KindRevoke); len(e) != 1 || e[0].Tool != "exec" || e[0].People[0].Name != "alice" || e[0].People[0].Via != "chat" || e[0].Ref != cards[0].Ref() {
		t.Errorf("recorded %+v", e)
	}
	if shown := c.shows(t); shown.State != approval.Denied || !strings.Contains(shown.Text, "withdrawn: the yes was taken back") {
		t.Errorf("the card shows %+v", shown)
	}
	if o, err := types(d, ".revoke "+cards[0].Ref()); err != nil || o.Kind != approval.NotFound {
		t.Errorf("again: %+v, %v", o, err)
	}
}

func TestRevokeTakesANameAConversationOrAllAndNothingElse(t *testing.T) {
	d, _, _, _, _ := granting(t, "exec", "write", "message")
	open := grants(t, d)
	who := approval.Answer{ID: alice, Via: "page"}
	for _, of := range []string{"", "ALL", ":", open[0].Field(), open[0].Name() + "0", conversation.Ref(), conversation.Hash() + ":", strings.Repeat("0", 32)} {
		if o, err := d.Grants.Revoke(t.Context(), who, of); err != nil || o.Kind != approval.NotFound {
			t.Errorf("%q: %+v, %v", of, o, err)
		}
	}
	if o, err := d.Grants.Revoke(t.Context(), approval.Answer{ID: mallory}, approval.AllGrants); err != nil || o.Kind != approval.Unauthorised || len(grants(t, d)) != 3 {
		t.Errorf("H32: mallory: %+v, %v", o, err)
	}
	if o, err := d.Grants.Revoke(t.Context(), who, open[1].Name()); err != nil || o.Kind != approval.Replied || len(grants(t, d)) != 2 {
		t.Errorf("one: %+v, %v", o, err)
	}
	if o, err := d.Grants.Revoke(t.Context(), who, conversation.Hash()); err != nil || !strings.Contains(o.Text, "2 grants were ended by alice (page)") || len(grants(t, d)) != 0 {
		t.Errorf("the conversation's: %+v, %v", o, err)
	}
}

// A yes that no call has used yet goes with its grant: whoever revokes means both.
func TestRevokingTakesBackAYesThatNobodyHasUsed(t *testing.T) {
	c, s := newChat(), openStore(t)
	d := openDesk(t, s, func(o *approval.Options) { o.Channels = map[string]approval.Channel{"chat": c} })
	gone, leave := context.WithCancel(t.Context())
	r := request(nil)
	left := make(chan struct{})
	go func() {
		defer close(left)
		_, _ = d.Ask(gone, &r) // the caller leaves
	}()
	card := c.card(t)
	leave()
	<-left
	if o := tap(t, d, alice, card.Handle(approval.AllowMinutes), ""); o.State != approval.Allowed {
		t.Fatalf("the tap: %+v", o)
	}
	if o, err := types(d, ".revoke all"); err != nil || o.Kind != approval.Replied {
		t.Fatalf("told %+v, %v", o, err)
	}
	v, err := s.Admit(t.Context(), session.Admission{
		Conversation: conversation, RequestID: "retry", Initial: taint.Owner, Modes: taint.Every(taint.Confirm), Keep: time.Minute, Digest: r.Ask.Digest,
	})
	if err != nil {
		t.Fatal(err)
	}
	again := r
	again.ID, again.Waiting = "retry", v.Waiting
	ruled := make(chan approval.Ruling, 1)
	go func() {
		ruling, err := d.Ask(t.Context(), &again)
		if err != nil {
			t.Error(err)
		}
		ruled <- ruling
	}()
	anew := c.card(t)
	tap(t, d, alice, anew.Handle(approval.DenyCall), "")
	if ruling := <-ruled; ruling.Yes {
		t.Errorf("the retry: %+v", ruling)
	}
}

// unlisted is a store that can't list or end grants.
type unlisted struct {
	approval.Store
	lists bool
}

func (u unlisted) Grants(ctx context.Context, in string, most int) ([]approval.StoredGrant, time.Time, error) {
	if u.lists {
		return u.Store.Grants(ctx, in, most)
	}
	return nil, time.Time{}, errStoreDown
}

func (u unlisted) Revoke(context.Context, string, ...string) (int, error) { return 0, errStoreDown }

func TestAStoreThatIsDownIsSaid(t *testing.T) {
	_, s, _, _, _ := granting(t, "exec")
	for _, lists := range []bool{false, true} {
		d := openDesk(t, unlisted{s, lists}, nil)
		if o, err := types(d, ".revoke all"); err == nil || o.Kind != approval.Ignored || !strings.Contains(o.Text, "may still hold") {
			t.Errorf("told %+v, %v", o, err)
		}
	}
}
