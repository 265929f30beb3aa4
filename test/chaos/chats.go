package main

import (
	"context"
	"math/rand/v2"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
)

// chats is the fake of Telegram, and the owner who looks at it.
type chats struct {
	*telegramtest.Server

	mu    sync.Mutex
	taps  []tap
	cards int
	known map[int64]bool  // messages that the owner has looked at
	asked map[string]bool // questions that the owner has seen a message about, by reference
	wg    sync.WaitGroup
}

// Who is there. The stranger has the owner's name.
const owner, stranger = 1001, 666

const telegramToken = "7712345678:AAH-chaos_bot_token_for_the_fake_of_it"

func openChats() *chats {
	return &chats{Server: telegramtest.Open(telegramToken), known: map[int64]bool{}, asked: map[string]bool{}}
}

func (c *chats) close() {
	c.wg.Wait()
	c.Close()
}

// tap is what someone did with a card.
type tap struct {
	card
	label string
	owner bool
	twice bool      // the platform delivered it as two
	at    time.Time // when it was made
	sent  time.Time // when the platform passed it on; zero if it never did
	done  time.Time // zero if its outcome was never reported
}

// mark is in every command, and names the call: conversation and number.
var mark = regexp.MustCompile(`c\d+n\d+z`)

// refLine names the card.
var refLine = regexp.MustCompile(`ref\W+[0-9A-Z]{4},`)

// card is a message with buttons.
type card struct {
	id    int64
	head  string // the line with the card's reference
	seen  time.Time
	calls []string          // what it shows, by the marks in their commands
	data  map[string]string // of the buttons, by their labels
	again bool              // shown because of a tap on another
}

func newCard(id int64, text string) card {
	calls := mark.FindAllString(text, -1)
	return card{id: id, head: refLine.FindString(text), seen: time.Now(), calls: calls, data: map[string]string{}}
}

// look gives the cards that have come since.
func (c *chats) look() (out []card) {
	for _, m := range c.Messages() {
		if len(m.Buttons) == 0 || c.known[m.ID] {
			continue
		}
		c.known[m.ID] = true
		k := newCard(m.ID, m.Text)
		for _, b := range slices.Concat(m.Buttons...) {
			k.data[b.Text] = b.Data
		}
		k.again, c.asked[k.head] = c.asked[k.head], true
		out = append(out, k)
	}
	return out
}

// transit is how a platform passes a tap on.
type transit struct {
	late  time.Duration // what was tapped after it may come before it
	twice bool          // the very same tap comes again
}

// press taps a button and notes it: when it was done, when the platform passes it on, and when it was answered.
func (c *chats) press(ctx context.Context, k card, label string, who int64, how transit) {
	data := k.data[label]
	if data == "" {
		return
	}
	i := 0
	c.note(func() {
		i = len(c.taps)
		c.taps = append(c.taps, tap{card: k, label: label, owner: who == owner, twice: how.twice, at: time.Now()})
	})
	if sleep(ctx, how.late); ctx.Err() != nil {
		return
	}
	c.note(func() { c.taps[i].sent = time.Now() })
	if how.twice {
		c.Repeat(1)
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if _, err := c.Tap(ctx, telegramtest.Person{ID: who, Name: "Owner"}, owner, k.id, data); err == nil {
		c.note(func() { c.taps[i].done = time.Now() })
	}
}

func (c *chats) note(what func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	what()
}

// What the owner does with a card, and how often of a hundred.
var habits = []struct {
	share  int
	labels []string // pressed at about the same time, in any order
}{
	{32, []string{"Allow once"}},
	{8, []string{"Allow once", "Allow once", "Allow once"}},
	{8, []string{"Allow once", "Deny"}},
	{22, []string{"More…"}}, // what it shows is another message, see [pick]
	{18, []string{"Deny"}},
	{12, nil}, // does not look
}

// each calls for every card that comes, until ctx ends.
func (c *chats) each(ctx context.Context, do func(card)) {
	for ; ctx.Err() == nil; sleep(ctx, 25*ms) {
		for _, k := range c.look() {
			c.cards++
			do(k)
		}
	}
}

// answer watches the chat until ctx ends. Some cards are tapped by a stranger first, some much later, some not at all.
func (c *chats) answer(ctx context.Context, r *rand.Rand) {
	c.each(ctx, func(k card) {
		if r.IntN(100) < 10 {
			c.after(ctx, 0, k, "Allow once", stranger, carried(r))
		}
		for _, label := range pick(r, &k) {
			wait := time.Duration(r.IntN(900)) * time.Millisecond
			if r.IntN(100) < 10 {
				wait += time.Duration(r.IntN(20)) * time.Second // an old card, or one that has expired
			}
			c.after(ctx, wait, k, label, owner, carried(r))
		}
	})
}

// allow taps Allow once on every card until ctx ends.
func (c *chats) allow(ctx context.Context) {
	c.each(ctx, func(k card) { c.after(ctx, 0, k, "Allow once", owner, transit{}) })
}

// carried is how the platform passes a tap on: mostly as it was made.
func carried(r *rand.Rand) (t transit) {
	if r.IntN(100) < 25 {
		t.late = time.Duration(r.IntN(1500)) * time.Millisecond
	}
	t.twice = r.IntN(100) < 20
	return t
}

// pick is what the owner does. Details that were asked for are mostly answered with a yes.
func pick(r *rand.Rand, k *card) []string {
	n := r.IntN(100)
	for _, label := range []string{longer, exactly, "Allow once"} {
		if k.again && k.data[label] != "" && n < 80 {
			return []string{label}
		}
	}
	for _, h := range habits {
		if n -= h.share; n < 0 {
			return h.labels
		}
	}
	return nil
}

func (c *chats) after(ctx context.Context, wait time.Duration, k card, label string, who int64, how transit) {
	c.wg.Go(func() {
		if sleep(ctx, wait); ctx.Err() == nil {
			c.press(ctx, k, label, who, how)
		}
	})
}
