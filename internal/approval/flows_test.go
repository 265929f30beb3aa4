package approval_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/taint"
)

// H25, H27: identical calls share a card, and one of them gets its yes.
func TestIdenticalCallsShareACard(t *testing.T) {
	r := newRig(t, nil)
	q := request(nil)
	first := r.ask(r.Desk, q)
	card := get(t, r.chat.sent)
	twin := *q
	twin.ID = "another"
	second := r.ask(r.Desk, &twin)
	r.until("both wait", func() bool { return approval.Held(r.Desk, card.ID) == 2 })
	r.tap(alice, card, approval.AllowOnce)
	one, two := get(t, first), get(t, second)
	if !one.Yes || !two.Yes || one.Card != card.ID || two.Card != card.ID || !one.Whole {
		t.Fatalf("told %+v and %+v", one, two)
	}
	_, by := r.claim(q, &one.Ruling)
	said, late := r.claim(&twin, &two.Ruling)
	if by != "yes" || late != "" || !said.Late {
		t.Errorf("they pass by %q and %q, %+v", by, late, said)
	}
	if _, again := r.claim(q, &one.Ruling); again != "yes" {
		t.Error("the same request does not get the same answer again") // H03
	}
	r.chat.nothing(t)
	if o := get(t, r.chat.settled); o.State != approval.Allowed {
		t.Errorf("the card shows %+v", o)
	}
	if o := r.tap(bob, card, approval.DenyCall); o.Kind != approval.TooLate || !strings.Contains(o.Text,
		"Already answered") {
		t.Errorf("bob is told %+v", o)
	}
}

// H28: what the client hid can't be told apart by the digest, so only the request that was asked about passes.
func TestH28WhatTheClientHidIsForTheHeldRequest(t *testing.T) {
	r := newRig(t, nil)
	q := request(func(q *approval.Request) { q.Ask.HeldOnly = true })
	first := r.ask(r.Desk, q)
	card := get(t, r.chat.sent)
	twin := *q
	twin.ID = "another"
	second := r.ask(r.Desk, &twin)
	other := get(t, r.chat.sent)
	r.tap(alice, card, approval.AllowOnce)
	one := get(t, first)
	if _, by := r.claim(&twin, &one.Ruling); by != "" {
		t.Error("another request takes the yes")
	}
	if _, by := r.claim(q, &one.Ruling); by != "yes" {
		t.Error("the request itself does not pass")
	}
	r.tap(alice, other, approval.DenyCall)
	if two := get(t, second); !two.Denied || !two.ByPerson {
		t.Errorf("told %+v", two)
	}
}

// H54: nobody is said to be asked who was not reached.
func TestH54ACardThatReachesNobodyIsNoCard(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*approval.Options)
		do   func(*rig)
		want error
	}{
		"the chat is down":   {do: func(r *rig) { r.chat.down.Store(true) }, want: approval.ErrNobody},
		"H43 the chat hangs": {do: func(r *rig) { r.chat.hangs.Store(true) }, want: approval.ErrNobody},
		"H46 the record can't be written": {do: func(r *rig) { r.ledger.refuses = record.KindAsked },
			want: approval.ErrRecord},
		"the agent's chat is not there": {edit: func(o *approval.Options) {
			o.Terms.Agents = map[string]approval.Agent{"main": {Channels: []string{"third"}}}
		}, want: approval.ErrNobody},
		"people look by themselves": {edit: func(o *approval.Options) { o.Channels = nil }},
		"the agent has the terminal, too": {edit: func(o *approval.Options) {
			o.Terms.Agents = map[string]approval.Agent{"main": {Channels: []string{"chat", approval.Terminal}}}
		}, do: func(r *rig) { r.chat.down.Store(true) }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(o *approval.Options) {
				o.Terms.MaxPromptsPerHour = 1
				if c.edit != nil {
					c.edit(o)
				}
			})
			if c.do != nil {
				c.do(r)
			}
			began, q := time.Now(), request(func(q *approval.Request) { q.Hold = 0 })
			h := get(t, r.ask(r.Desk, q))
			if !errors.Is(h.err, c.want) || (c.want == nil) != (h.Card != "") || time.Since(began) > 10*time.Second {
				t.Fatalf("told %+v, %v", h.Ruling, h.err)
			}
			cards, err := r.Pending(t.Context(), alice)
			if err != nil || len(cards) == 0 == (c.want == nil) {
				t.Errorf("%d cards wait, %v", len(cards), err)
			}
			if errors.Is(c.want, approval.ErrNobody) && c.edit == nil { // it does not count among the hour's questions
				r.chat.down.Store(false)
				r.chat.hangs.Store(false)
				r.waits(q)
			}
		})
	}
}

// A process is killed between putting up a card and showing it.
func TestH54ACardThatWasNeverShownIsAskedAnew(t *testing.T) {
	r := newRig(t, func(o *approval.Options) { o.Record = dying{} })
	q := request(func(q *approval.Request) { q.Hold = 0 })
	func() {
		defer func() {
			if recover() == nil {
				t.Error("it did not die")
			}
		}()
		_, _ = r.Ask(t.Context(), q)
	}()
	r.chat.nothing(t)
	r.clock.Add(int64(time.Minute))
	r.Desk = r.open(nil)
	r.waits(q)
}

type dying struct{}

func (dying) Append(e record.Entry) error {
	if e.Kind == record.KindAsked {
		panic("killed")
	}
	return nil
}

// H31: a flood is a few cards and one notice.
func TestH31ACallWaitsForAPlace(t *testing.T) {
	r := newRig(t, func(o *approval.Options) { o.Terms.MaxOpen, o.Terms.MaxPromptsPerHour = 2, 4 })
	var all []<-chan heard
	for range 50 {
		all = append(all, r.ask(r.Desk, request(nil)))
	}
	told, cards := 0, 0
	for range 4 { // one place after the other
		card := get(t, r.chat.sent)
		for card.Notice() != "" {
			told++
			card = get(t, r.chat.sent)
		}
		if open, err := r.Pending(t.Context(), alice); err != nil || len(open) > 2 {
			t.Errorf("%d cards are open, %v", len(open), err)
		}
		cards++
		r.tap(alice, card, approval.DenyCall)
	}
	denied, exhausted := 0, 0
	for _, one := range all {
		switch h := get(t, one); {
		case h.Denied:
			denied++
		case h.Exhausted:
			exhausted++
		default:
			t.Errorf("told %+v, %v", h.Ruling, h.err)
		}
	}
	if told == 0 {
		told++
		if notice := get(t, r.chat.sent); !strings.Contains(notice.Notice(), "asked 4 questions within an hour") {
			t.Errorf("the notice: %q", notice.Notice())
		}
	}
	if denied != 4 || exhausted != 46 || told != 1 {
		t.Errorf("%d denied, %d turned away, told %d times", denied, exhausted, told)
	}
	r.types(alice, ".resume")
	get(t, r.chat.sent) // the notice
	r.waits(request(nil))
	r.waits(request(nil))
	if h := get(t, r.ask(r.Desk, request(func(q *approval.Request) { q.Hold = 10 * time.Millisecond }))); !h.Full {
		t.Errorf("without a place it is told %+v", h.Ruling)
	}
}

// H24: five wrong codes.
func TestH24GuessingIsLocked(t *testing.T) {
	r := newRig(t, nil)
	card := r.waits(request(nil))
	for i, want := range []approval.Kind{approval.NotFound, approval.NotFound, approval.NotFound, approval.NotFound,
		approval.Locked} {
		if o := r.types(alice, fmt.Sprintf(".approve read_mail 0000000%d", i)); o.Kind != want {
			t.Errorf("try %d: %+v", i, o)
		}
	}
	if notice := get(t, r.chat.sent); !strings.Contains(notice.Notice(), "alice typed 5 wrong codes") {
		t.Errorf("the notice: %q", notice.Notice())
	}
	if o := r.types(alice, ".approve read_mail "+card.Code); o.Kind != approval.Locked {
		t.Errorf("the right code: %+v", o)
	}
	if o := r.types(bob, ".approve write "+card.Code); o.Kind != approval.Misunderstood {
		t.Errorf("another tool: %+v", o)
	}
	if o := r.tap(alice, card, approval.AllowOnce); o.State != approval.Allowed {
		t.Errorf("the button: %+v", o)
	}
	if n := r.ledger.count(record.KindLock, "alice"); n != 1 {
		t.Errorf("recorded %d times", n)
	}
}

func TestApproveAllIsForWhatWasThereBefore(t *testing.T) {
	r := newRig(t, func(o *approval.Options) {
		o.Terms.MaxOpen = 10
		o.Head = func(a *approval.Ask) string { return a.Digest }
	})
	put := func(name string, edit func(*approval.Request)) *approval.Card {
		return r.waits(request(func(q *approval.Request) {
			q.Ask.Digest = name
			if edit != nil {
				edit(q)
			}
		}))
	}
	one, two := put("one", nil), put("two", nil)
	marked := put("marked", func(q *approval.Request) { q.Ask.Marked = true })
	hidden := put("hidden", func(q *approval.Request) { q.Ask.Hidden = 1 })
	elsewhere := put("elsewhere", func(q *approval.Request) { q.Ask.Conversation.Key = "agent:main:other" })
	r.until("they are known to be shown", func() bool {
		open, err := r.Pending(t.Context(), alice)
		return err == nil && !slices.ContainsFunc(open, func(c *approval.Card) bool { return len(c.Copies) == 0 })
	})
	r.clock.Add(int64(3 * time.Second))
	written := time.Now().Add(2 * time.Second)
	after := put("after", nil)
	o := r.answer(approval.Answer{ID: alice, Text: ".approve all " + one.Code + " 30", Sent: written})
	said, skipped, _ := strings.Cut(o.Text, "Not answered by this")
	if o.Kind != approval.Counted || !strings.Contains(said, "one") || !strings.Contains(said, "two") ||
		strings.Contains(o.Text, "after") ||
		strings.Contains(o.Text, "elsewhere") || !strings.Contains(skipped, "marked") || !strings.Contains(skipped,
		"hidden") {
		t.Errorf("told %q", o.Text)
	}
	for _, c := range []struct {
		card *approval.Card
		want approval.State
	}{{one, approval.Allowed}, {two, approval.Allowed}, {marked, approval.Open}, {hidden, approval.Open}, {elsewhere,
		approval.Open}, {after, approval.Open}} {
		if _, o, _, err := r.Look(t.Context(), c.card.ID); err != nil || o.State != c.want {
			t.Errorf("%s is %s, %v", c.card.Ask.Digest, o.State, err)
		}
	}
	if open, _, err := r.Grants.List(t.Context()); err != nil || len(open) != 2 {
		t.Errorf("granted %+v, %v", open, err)
	}
	if o := r.types(alice, ".approve all "+elsewhere.Code); o.State != approval.Allowed { // alone it is that card
		t.Errorf("alone: %+v", o)
	}
}

// What an agent's runtime passes on is taken once, says no code and reaches no other client.
func TestWhatIsTakenThroughTheAgentsOwnChat(t *testing.T) {
	r := newRig(t, nil)
	card := r.waits(request(nil))
	n := 0
	relay := func(client, line string) approval.Outcome {
		n++
		return r.answer(approval.Answer{ID: alice, Text: line, Carrier: &approval.Carrier{
			Conversation: store.Name{Client: client, Key: talk.Key}, Request: fmt.Sprint("message ", n),
			Keep: time.Minute,
		}})
	}
	for _, c := range []struct {
		client, line string
		kind         approval.Kind
	}{
		{"default", ".grants", approval.Misunderstood},
		{"default", ".resume", approval.Misunderstood},
		{"default", ".revoke all", approval.Misunderstood},
		{"default", "hello", approval.Misunderstood},
		{"default", ".reset-trust 00000000", approval.NotFound},
		{"default", ".reset-trust " + talk.Ref()[:4], approval.NotFound},
		{"other", ".approve read_mail " + card.Code, approval.NotFound},
		{"default", ".pending", approval.Replied},
		{"default", ".approve read_mail " + card.Code, approval.Counted},
		{"default", ".reset-trust " + talk.Ref(), approval.Replied},
	} {
		o := relay(c.client, c.line)
		if o.Kind != c.kind || strings.Contains(o.Text, card.Code) {
			t.Errorf("%s: %+v", c.line, o)
		}
	}
	n--
	if o := relay("default", ".pause"); o.Kind != approval.TooLate {
		t.Errorf("the same message again: %+v", o)
	}
}

// H47: no wake-up comes.
func TestH47ALostWakeUpIsMadeUpFor(t *testing.T) {
	r := newRig(t, nil)
	waits := r.open(func(o *approval.Options) { o.Store = r.openStore(quiet{r.backend}) })
	h := r.ask(waits, request(nil))
	card := get(t, r.chat.sent)
	r.tap(alice, card, approval.AllowOnce)
	if got := get(t, h); !got.Yes {
		t.Errorf("told %+v", got)
	}
}

// quiet is a backend whose wake-ups are lost.
type quiet struct{ store.Backend }

func (quiet) Watch(ctx context.Context, _ func(string)) error {
	<-ctx.Done()
	return nil
}

func (quiet) Close() error { return nil } // its owner closes it

// H45, H53: a gateway stops, another one tells that the card has expired, once.
func TestH53ACardSaysWhatBecomesOfItsGateway(t *testing.T) {
	r := newRig(t, nil)
	h := r.ask(r.Desk, request(nil))
	card := get(t, r.chat.sent)
	r.until("it is known where the card is", func() bool {
		c, _, _, err := r.Look(t.Context(), card.ID)
		return err == nil && len(c.Copies) == 1
	})
	r.Close()
	if got := get(t, h); !got.Stopped || got.Yes || got.Ticket == "" {
		t.Errorf("the call was told %+v, %v", got.Ruling, got.err)
	}
	if o := get(t, r.chat.settled); o.State != approval.Open || !strings.Contains(o.Text, "The gateway has stopped") {
		t.Errorf("the card shows %+v", o)
	}
	if _, err := r.Ask(t.Context(), request(nil)); !errors.Is(err, approval.ErrStopped) {
		t.Errorf("another question: %v", err)
	}
	first, second := r.open(nil), r.open(nil)
	if o, err := first.Answer(t.Context(), approval.Answer{ID: alice, Text: ".pending"}); err != nil ||
		!strings.Contains(o.Text, card.Code) {
		t.Errorf("its successor lists %q, %v", o.Text, err) // H44: what waits is not lost
	}
	r.until("both know of the card", func() bool { return approval.Looked(first) && approval.Looked(second) })
	r.clock.Add(int64(approval.DefaultTTL))
	o := get(t, r.chat.settled)
	for o.State == approval.Open { // it was still being noted where the card is when the gateway stopped
		o = get(t, r.chat.settled)
	}
	if o.State != approval.Expired {
		t.Errorf("the card shows %+v", o)
	}
	first.Close()
	second.Close()
	if n := r.ledger.count(record.KindAnswer, "expired without an answer"); n != 1 || len(r.chat.settled) > 0 {
		t.Errorf("recorded %d times", n)
	}
	r.Desk = r.open(nil)
	if o := r.tap(alice, card, approval.AllowOnce); o.Kind != approval.TooLate || o.State != approval.Expired {
		t.Errorf("a tap then: %+v", o)
	}
	r.clock.Add(int64(24 * time.Hour))
	if o := r.tap(alice, card, approval.AllowOnce); o.Kind != approval.TooLate || !strings.Contains(o.Text,
		"The record says what became of it") {
		t.Errorf("a day later: %+v", o)
	}
}

// A no, and silence, answer the same call for ten minutes, unless the user writes meanwhile.
func TestHowLongANoHolds(t *testing.T) {
	for name, c := range map[string]struct {
		silent bool
		after  time.Duration
		said   []string
		asks   bool
	}{
		"a no":                       {},
		"a no, a message later":      {said: []string{"do it"}, asks: true},
		"a no, eleven minutes later": {after: 11 * time.Minute, asks: true},
		"silence":                    {silent: true, after: time.Minute},
		"silence, a message later":   {silent: true, said: []string{"do it"}, asks: true},
		"silence, eleven minutes on": {silent: true, after: 11 * time.Minute, asks: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			q := request(nil)
			card := r.waits(q)
			if c.silent {
				r.clock.Add(int64(approval.DefaultTTL))
				get(t, r.chat.settled)
			} else if o := r.answer(approval.Answer{ID: alice, Handle: card.Handle(approval.DenyCall),
				Reason: "use make"}); o.State != approval.Denied {
				t.Fatalf("%+v", o)
			}
			r.clock.Add(int64(c.after))
			q.ID, q.Ask.Said = "again", c.said
			h := get(t, r.ask(r.Desk, q))
			if asks := h.Ticket != ""; asks != c.asks || !asks && (h.Silent != c.silent || h.Denied == c.silent ||
				!c.silent && h.Reason != "use make") {
				t.Errorf("told %+v, %v", h.Ruling, h.err)
			}
			if said, by := r.claim(q, nil); by != "" || !c.asks && said.Silent != c.silent {
				t.Errorf("it passes by %q: %+v", by, said)
			}
		})
	}
}

// H29, H754: the agent reads a reason.
func TestAReasonHoldsNoCodeAndNoSecret(t *testing.T) {
	r := newRig(t, func(o *approval.Options) {
		o.Hide = func(s string) string { return strings.ReplaceAll(s, "hunter2", "[REDACTED]") }
	})
	one, two := r.waits(request(nil)), r.waits(request(nil))
	o := r.types(alice,
		".deny "+one.Code+" no, .approve read_mail "+strings.ToUpper(two.Code)+" hunter2 x"+one.Code+"x")
	for _, secret := range []string{one.Code, two.Code, strings.ToUpper(two.Code), "hunter2"} {
		if o.Reason == "" || strings.Contains(o.Reason, secret) {
			t.Errorf("the reason: %q", o.Reason)
		}
	}
	for _, e := range r.ledger.entries {
		if text := fmt.Sprintf("%+v", e); strings.Contains(text, one.Code) || strings.Contains(text, two.Code) ||
			strings.Contains(text, "hunter2") {
			t.Errorf("recorded %s", text)
		}
	}
}

// H751: a platform may bring a line twice.
func TestH751ALineThatComesAgainLetsNothingMorePass(t *testing.T) {
	r := newRig(t, nil)
	line := func(text string) approval.Outcome {
		return r.answer(approval.Answer{ID: alice, Text: text, Message: "m1"})
	}
	if o := line(".resume"); o.Kind != approval.Replied {
		t.Errorf("%+v", o)
	}
	r.types(alice, ".pause")
	if o := line(".resume"); o.Kind != approval.Ignored || len(r.paused()) != 1 {
		t.Errorf("again: %+v, paused: %+v", o, r.paused())
	}
}

func TestH198ThePendingListShowsNoCodeOfAnotherAgent(t *testing.T) {
	other := newChat()
	r := newRig(t, func(o *approval.Options) {
		o.Channels["other"] = other
		o.Terms.Agents = map[string]approval.Agent{"main": {Channels: []string{"other"}, Approvers: []string{"bob"}},
			"helper": {Channels: []string{"chat"}}}
	})
	for _, agent := range []string{"main", "helper"} {
		get(t, r.ask(r.Desk, request(func(q *approval.Request) { q.Ask.Agent, q.Hold = agent, 0 })))
	}
	main, helper := get(t, other.sent), get(t, r.chat.sent)
	for _, c := range []struct {
		id, via      string
		main, helper bool
	}{
		{alice, "other", false, false}, {alice, "chat", false, true}, {alice, approval.Terminal, false, true},
		{bob, "other", true, false}, {bob, "chat", false, true}, {bob, approval.Terminal, true, true},
	} {
		o, err := r.Answer(t.Context(), approval.Answer{ID: c.id, Via: c.via, Text: ".pending"})
		if err != nil || strings.Contains(o.Text, main.Code) != c.main || strings.Contains(o.Text,
			helper.Code) != c.helper ||
			strings.Contains(o.Text, "Nothing is waiting") != (!c.main && !c.helper) {
			t.Errorf("%s in %s reads %q, %v", c.id, c.via, o.Text, err)
		}
	}
}

func TestAPauseEndsWaitsAndIsLiftedOnlyOnTheRecord(t *testing.T) {
	r := newRig(t, nil)
	h := r.ask(r.Desk, request(nil))
	card := get(t, r.chat.sent)
	r.types(alice, ".pause MAIN")
	if got := get(t, h); !got.Paused || got.Yes {
		t.Errorf("the call was told %+v", got.Ruling)
	}
	if o := r.tap(alice, card, approval.AllowOnce); !strings.Contains(o.Text, "The agent is paused") {
		t.Errorf("the tap: %+v", o)
	}
	r.ledger.refuses = record.KindResume
	if o, err := r.Answer(t.Context(), approval.Answer{ID: alice, Via: "chat", Text: ".resume"}); err == nil ||
		len(r.paused()) != 1 {
		t.Errorf("without a record it was lifted: %+v", o)
	}
	if !strings.Contains(r.Pauses.Text(t.Context()), "by alice") {
		t.Errorf("the pauses: %q", r.Pauses.Text(t.Context()))
	}
}

func TestGrantsAreListedAndEndWithTheirGiversAndAtAWord(t *testing.T) {
	r := newRig(t, nil)
	var cards []*approval.Card
	for _, tool := range []string{"read_mail", "write", "exec"} {
		q := request(func(q *approval.Request) { q.Ask.Tool, q.Ask.Level = tool, taint.External })
		card := r.waits(q)
		r.tap(alice, card, approval.AllowMinutes)
		cards = append(cards, card)
	}
	list := func() int {
		open, _, err := r.Grants.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(open)
	}
	if o := r.types(bob, ".grants"); !strings.Contains(o.Text, cards[0].Ref()+`  "read_mail"  in `+talk.Ref()) ||
		!strings.Contains(o.Text, "by alice") {
		t.Errorf("listed %q", o.Text)
	}
	// H752: alice's account is taken over, and its id given to bob.
	for _, now := range [][]approval.Person{
		{{Name: "alice", IDs: []string{"chat:9"}}}, {{Name: "alice", IDs: []string{"chat:9"}}, {Name: "bob",
			IDs: []string{alice}}},
	} {
		if err := r.Configure(approval.Terms{People: now}); err != nil || list() != 0 {
			t.Errorf("%+v: %d grants hold, %v", now, list(), err)
		}
	}
	if err := r.Configure(approval.Terms{People: people}); err != nil || list() != 3 {
		t.Fatalf("%d grants, %v", list(), err)
	}
	for _, line := range []string{".revoke 0000", ".revoke x"} {
		if o := r.types(alice, line); o.Kind != approval.NotFound {
			t.Errorf("%s: %+v", line, o)
		}
	}
	if o := r.types(bob, ".revoke "+strings.ToLower(cards[0].Ref())); o.Kind != approval.Replied || list() != 2 {
		t.Errorf("%+v, %d grants", o, list())
	}
	if _, o, _, err := r.Look(t.Context(), cards[0].ID); err != nil || o.State != approval.Denied ||
		!strings.Contains(o.Text, "the yes was taken back") {
		t.Errorf("its card: %+v, %v", o, err)
	}
	if o, err := r.Grants.Revoke(t.Context(), approval.Answer{ID: mallory}, approval.AllGrants); err != nil ||
		o.Kind != approval.Unauthorised || list() != 2 {
		t.Errorf("mallory: %+v, %v", o, err)
	}
	if o := r.types(bob, ".revoke all"); !strings.Contains(o.Text, "2 grants were ended by bob") || list() != 0 {
		t.Errorf("all: %+v", o)
	}
	if n := r.ledger.count(record.KindRevoke, "by alice"); n != 3 {
		t.Errorf("recorded %d", n)
	}
}

// A reset ends grants, takes back open questions, and is not there under strict.
func TestAReset(t *testing.T) {
	strict := true
	r := newRig(t, func(o *approval.Options) { o.NoReset = func() bool { return strict } })
	q := request(nil)
	card := r.waits(q)
	r.tap(alice, card, approval.AllowMinutes)
	waiting := r.ask(r.Desk, request(nil))
	get(t, r.chat.sent)
	if o := r.types(alice, ".reset-trust "+talk.Ref()); o.Kind != approval.Misunderstood {
		t.Errorf("under strict: %+v", o)
	}
	strict = false
	if o := r.types(alice, ".reset-trust 00000000"); o.Kind != approval.NotFound {
		t.Errorf("unknown: %+v", o)
	}
	if o := r.types(alice, ".reset-trust "+talk.Ref()); o.Kind != approval.Replied {
		t.Errorf("%+v", o)
	}
	if h := get(t, waiting); !h.Denied || h.ByPerson {
		t.Errorf("the open question: %+v", h.Ruling)
	}
	if _, by := r.claim(q, nil); by != "" {
		t.Errorf("the call passes by %q", by)
	}
	if o := r.types(alice, ".sources "+talk.Ref()); !strings.Contains(o.Text, "Its owner reset it") {
		t.Errorf("the sources: %q", o.Text)
	}
}

func TestALateAnswerReachesItsCallerAndNoOther(t *testing.T) {
	r := newRig(t, nil)
	q := request(func(q *approval.Request) { q.Hold = 0 })
	h := get(t, r.ask(r.Desk, q))
	card := get(t, r.chat.sent)
	polled := make(chan []string, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { polled <- r.Answered(ctx, "default", []string{"x", h.Ticket}, patient) }()
	if got := r.Answered(t.Context(), "other", []string{h.Ticket}, 0); got != nil {
		t.Errorf("another client hears %q", got)
	}
	r.tap(alice, card, approval.AllowOnce)
	if got := get(t, polled); len(got) != 1 || got[0] != h.Ticket {
		t.Errorf("polled %q", got)
	}
	r.claim(q, nil)
	if got := r.Answered(t.Context(), "default", []string{h.Ticket}, 0); got != nil {
		t.Errorf("after it was used: %q", got)
	}
	waiting := r.ask(r.Desk, request(nil))
	card = get(t, r.chat.sent)
	ticket := approval.TicketOf(r.Desk, "default", card)
	for _, client := range []string{"other", "default"} {
		if err := r.AnsweredElsewhere(t.Context(), client, ticket, approval.AllowedThere); err != nil {
			t.Error(err)
		}
	}
	if h := get(t, waiting); !h.Denied || h.ByPerson || r.ledger.count(record.KindAnswer,
		string(approval.AllowedThere)) != 1 {
		t.Errorf("told %+v", h.Ruling)
	}
}

// A person changes a call, sees what that makes of it, and allows it.
func TestAnEditedCallIsShownAndThenPasses(t *testing.T) {
	r := newRig(t, func(o *approval.Options) { o.Detailed = func(a *approval.Ask) bool { return len(a.Shown) < 200 } })
	const shown, whole = `{"to":"bob","token":"[REDACTED: 5 chars]","n":1}`, `{"to":"bob","token":"12345","n":1}`
	q := request(func(q *approval.Request) {
		q.Ask.Shown, q.Ask.Hidden, q.Whole = []byte(shown), 1, jsontext.Value(whole)
	})
	q.Edit = func(_ context.Context, params jsontext.Value) (*approval.Ask, error) {
		a := q.Ask
		if string(params) == whole {
			return &a, nil
		}
		a.Shown, a.Digest = jsontext.Value(strings.ReplaceAll(string(params), "12345", "[REDACTED: 5 chars]")),
			"edited "+string(params)
		if strings.Contains(string(params), "mallory") {
			return nil, &approval.Unfit{Text: "Your policy refuses the changed call."}
		}
		return &a, nil
	}
	h := r.ask(r.Desk, q)
	card := get(t, r.chat.sent)
	edit := func(params, confirm string) approval.Outcome {
		return r.answer(approval.Answer{ID: alice, Handle: card.Handle(approval.EditCall), Params: params,
			Confirm: confirm})
	}
	for params, why := range map[string]string{
		shown:                                 "Nothing is changed",
		`{"to":"mallory"}`:                    "Your policy refuses",
		`{"to":"[REDACTED: 5 chars]"}`:        "A hidden value",
		`{"to":["[REDACTED\u003a 5 chars]"]}`: "A hidden value",
		`{"[REDACTED: 5 chars]":1}`:           "A hidden value",
		`[1]`:                                 "must be a JSON object",
		`{"to":1,"to":2}`:                     "each name once",
		`{"to":"` + strings.Repeat("x", 300) + `"}`: "can't be shown in full",
	} {
		if o := edit(params, ""); o.Kind != approval.Misunderstood || !strings.Contains(o.Text, why) {
			t.Errorf("%s: %+v", params, o)
		}
	}
	const wrote = `{"n":1,"to":"carol","token":"[REDACTED: 5 chars]"}`
	o := edit(wrote, "")
	if o.Kind != approval.WantsConfirm || len(o.Edit.Changes) != 1 ||
		o.Edit.Changes[0] != (approval.EditedMember{Name: "to", Was: `"bob"`, Is: `"carol"`}) {
		t.Fatalf("%+v %+v", o, o.Edit)
	}
	if o := edit(strings.Replace(wrote, "carol", "dave", 1), o.Edit.Ask.Digest); o.Kind != approval.WantsConfirm {
		t.Errorf("another change is confirmed: %+v", o)
	}
	if o := edit(wrote, o.Edit.Ask.Digest); o.State != approval.Allowed {
		t.Fatalf("%+v", o)
	}
	got := get(t, h)
	if !got.Yes || string(got.Edited) != `{"n":1,"to":"carol","token":"12345"}` ||
		got.EditedDigest != "edited "+string(got.Edited) {
		t.Fatalf("the call was told %+v", got.Ruling)
	}
	if _, by := r.claim(q, &got.Ruling); by != "" {
		t.Error("the call as it was passes")
	}
	again := *q
	again.ID = "later"
	if _, by := r.claim(&again, nil); by != "" {
		t.Error("an identical call passes")
	}
	q.Ask.Digest = got.EditedDigest
	if _, by := r.claim(q, &got.Ruling); by != "yes" {
		t.Error("the changed call does not pass")
	}
}

// What the config hides of a file is allowed only by someone who was shown it.
func TestHiddenFileTextIsReadBeforeItIsAllowed(t *testing.T) {
	r := newRig(t, func(o *approval.Options) {
		o.Bodies = func(_ *approval.Ask, params jsontext.Value) (jsontext.Value, int) { return params, 0 }
	})
	q := request(func(q *approval.Request) {
		q.Ask.Hidden, q.Ask.Bodies, q.Whole = 1, 1, jsontext.Value(`{"content":"text"}`)
	})
	h := r.ask(r.Desk, q)
	card := get(t, r.chat.sent)
	for _, o := range []approval.Outcome{r.types(alice, ".approve read_mail "+card.Code), r.tap(alice, card,
		approval.AllowSeen)} {
		if o.Kind != approval.Misunderstood || !strings.Contains(o.Text, "you have not read it") {
			t.Errorf("before: %+v", o)
		}
	}
	o := r.tap(alice, card, approval.Details)
	if o.Kind != approval.Shown || string(o.Card.Ask.Shown) != `{"content":"text"}` {
		t.Fatalf("%+v", o)
	}
	o.Delivered(t.Context(), errors.New("it was not"))
	if o := r.tap(alice, card, approval.AllowSeen); o.Kind != approval.Misunderstood {
		t.Errorf("what was not delivered counts: %+v", o)
	}
	o.Delivered(t.Context(), nil)
	if o := r.tap(bob, card, approval.AllowSeen); o.Kind != approval.Misunderstood {
		t.Errorf("bob has not read it: %+v", o)
	}
	if o := r.tap(alice, card, approval.AllowSeen); o.State != approval.Allowed {
		t.Fatalf("after: %+v", o)
	}
	if got := get(t, h); !got.Yes || !got.Whole || r.ledger.count(record.KindNote,
		"what is hidden in the call was shown") != 1 {
		t.Errorf("told %+v", got.Ruling)
	}
	if err := r.Open(t.Context(), approval.Answer{ID: alice}, card, true); !errors.Is(err, approval.ErrNotHeld) {
		t.Errorf("once it is not held: %v", err)
	}
}

// What a call that waits for a place holds is not shown for the card that has it.
func TestACallThatWaitsForAPlaceIsNotTheCards(t *testing.T) {
	r := newRig(t, func(o *approval.Options) { o.Terms.MaxOpen = 1 })
	card := r.waits(request(func(q *approval.Request) { q.Whole = jsontext.Value(`{"n":1}`) }))
	second := r.ask(r.Desk, request(func(q *approval.Request) {
		q.Whole, q.Hold = jsontext.Value(`{"other":"secret"}`), 300*time.Millisecond
	}))
	for waits := true; waits; {
		if err := r.Open(t.Context(), approval.Answer{ID: alice}, card, true); !errors.Is(err, approval.ErrNotHeld) {
			t.Fatalf("shown %s, %v", card.Ask.Shown, err)
		}
		select {
		case h := <-second:
			waits = false
			if !h.Full {
				t.Errorf("told %+v, %v", h.Ruling, h.err)
			}
		default:
		}
	}
}

func TestH43AHungChannelHoldsNoOtherUp(t *testing.T) {
	hung := newChat()
	hung.hangs.Store(true)
	r := newRig(t, func(o *approval.Options) { o.Channels["hung"] = hung })
	began := time.Now()
	r.tap(alice, r.waits(request(nil)), approval.AllowOnce)
	if o := get(t, r.chat.settled); o.State != approval.Allowed || time.Since(began) > 5*time.Second {
		t.Errorf("after %s the card shows %+v", time.Since(began), o)
	}
}

// A question takes seven trips to the store, with one approver and one chat: the first is the verifier's, which finds
// that someone has to be asked.
func TestAQuestionTakesSixTripsMore(t *testing.T) {
	r := newRig(t, nil)
	counted := &counting{Backend: r.backend}
	r.store = r.openStore(counted)
	d := r.open(func(o *approval.Options) { o.Poll = time.Hour })
	r.Desk = d
	for range 2 { // the second finds what the first has left in memory
		q := request(nil)
		counted.trips.Store(0)
		h := r.ask(d, q)
		card := get(t, r.chat.sent)
		r.until("it is kept where the card is", func() bool { return counted.trips.Load() >= 2 })
		r.tap(alice, card, approval.AllowOnce)
		told := get(t, h)
		if _, by := r.claim(q, &told.Ruling); by != "yes" {
			t.Errorf("told %+v", told)
		}
		get(t, r.chat.settled)
	}
	if n := counted.trips.Load(); n > 6 {
		t.Errorf("%d trips", n)
	}
}

// counting counts the trips to a backend.
type counting struct {
	store.Backend
	trips atomic.Int64
}

func (c *counting) Commit(ctx context.Context, w *store.Commit) (store.Result, error) {
	if !strings.HasSuffix(w.Docs[0].Key, ":time") { // which is kept each second, question or not
		c.trips.Add(1)
	}
	return c.Backend.Commit(ctx, w)
}

func (*counting) Close() error { return nil } // its owner closes it
