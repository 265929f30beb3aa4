package main

import (
	"context"
	"math/rand/v2"
	"regexp"
	"sync"
	"time"
)

// chats are the rooms, and the owner who looks at them.
type chats struct {
	rooms []*room

	mu    sync.Mutex
	taps  []tap
	cards int
	known map[string]bool // messages that the owner has looked at
	asked map[string]bool // questions that the owner has seen a message about, by room and reference
	wg    sync.WaitGroup
}

func openChats() *chats {
	return &chats{rooms: openRooms(), known: map[string]bool{}, asked: map[string]bool{}}
}

func (c *chats) close() {
	c.wg.Wait()
	for _, r := range c.rooms {
		r.Close()
	}
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

// card is a message with buttons, in one of the rooms.
type card struct {
	room  *room
	id    string
	head  string // the line with the card's reference
	seen  time.Time
	calls []string          // what it shows, by the marks in their commands
	data  map[string]string // of the buttons, by their labels
	again bool              // shown because of a tap on another
}

func newCard(id, text string) card {
	calls := mark.FindAllString(text, -1)
	return card{id: id, head: refLine.FindString(text), seen: time.Now(), calls: calls, data: map[string]string{}}
}

// look gives the cards that have come since.
func (c *chats) look() (out []card) {
	for _, r := range c.rooms {
		for _, k := range r.cards(func(id string) bool { return c.known[r.name+id] }) {
			if len(k.data) == 0 {
				continue
			}
			c.known[r.name+k.id] = true
			k.room, k.again = r, c.asked[r.name+k.head]
			c.asked[r.name+k.head] = true
			out = append(out, k)
		}
	}
	return out
}

// transit is how a platform passes a tap on.
type transit struct {
	late  time.Duration // what was tapped after it may come before it
	twice bool          // the very same tap comes again
}

// press taps a button and notes it: when it was done, when the platform passes it on, and when it was answered.
func (c *chats) press(ctx context.Context, k card, label string, owner bool, how transit) {
	data := k.data[label]
	if data == "" {
		return
	}
	i := 0
	c.note(func() {
		i = len(c.taps)
		c.taps = append(c.taps, tap{card: k, label: label, owner: owner, twice: how.twice, at: time.Now()})
	})
	if sleep(ctx, how.late); ctx.Err() != nil {
		return
	}
	c.note(func() { c.taps[i].sent = time.Now() })
	if how.twice {
		k.room.Repeat(1)
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if k.room.tap(ctx, owner, k.id, data) == nil {
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

// answer watches the chats until ctx ends. Some cards are tapped by a stranger first, some much later, some in more
// than one room.
func (c *chats) answer(ctx context.Context, r *rand.Rand) {
	c.each(ctx, func(k card) {
		if !k.again && r.IntN(100) < 40 {
			return // most are answered in one room
		}
		if r.IntN(100) < 10 {
			c.after(ctx, 0, k, "Allow once", false, carried(r))
		}
		for _, label := range pick(r, &k) {
			wait := time.Duration(r.IntN(900)) * time.Millisecond
			if r.IntN(100) < 10 {
				wait += time.Duration(r.IntN(20)) * time.Second // an old card, or one that has expired
			}
			c.after(ctx, wait, k, label, true, carried(r))
		}
	})
}

// allow taps Allow once on every card in a room until ctx ends.
func (c *chats) allow(ctx context.Context, where *room) {
	c.each(ctx, func(k card) {
		if k.room == where {
			c.after(ctx, 0, k, "Allow once", true, transit{})
		}
	})
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

func (c *chats) after(ctx context.Context, wait time.Duration, k card, label string, owner bool, how transit) {
	c.wg.Go(func() {
		if sleep(ctx, wait); ctx.Err() == nil {
			c.press(ctx, k, label, owner, how)
		}
	})
}
