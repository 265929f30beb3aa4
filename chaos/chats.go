package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
	"github.com/openclaw-verifier/verifier/channels/slack/slacktest"
	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
)

const (
	telegramToken = "7712345678:AAH-chaos_bot_token_for_the_fake_of_it"
	telegramOwner = 1001
	slackOwner    = "U0OWNER"
)

var slackKeys = slacktest.Keys{BotToken: "xoxb-1111111111-2222222222-chaosSlackToken", AppToken: "xapp-1-A0VERIFIER-3333-chaosSlackToken", SigningSecret: "chaosslacktoken0123456789abcdef0"}

// chats are the fakes, and the owner who looks at them.
type chats struct {
	telegram *telegramtest.Server
	slack    *slacktest.Server

	mu    sync.Mutex
	taps  []tap
	cards int
	wg    sync.WaitGroup
}

func openChats() *chats {
	return &chats{telegram: telegramtest.Open(telegramToken), slack: slacktest.Open(slackKeys)}
}

func (c *chats) close() {
	c.wg.Wait()
	c.telegram.Close()
	c.slack.Close()
}

// way leads a gateway to a chat, through a proxy.
func (*chats) way(t *toxiproxy, name, upstream string) (*proxy, string, error) {
	u, err := url.Parse(upstream)
	if err != nil {
		return nil, "", err
	}
	port, err := freePort()
	if err != nil {
		return nil, "", err
	}
	p, err := t.between(name, port, u.Host)
	if err != nil {
		return nil, "", err
	}
	u.Host = p.addr
	return p, u.String(), nil
}

// tap is what someone did with a card.
type tap struct {
	calls    []string // what the card showed, by the marks in their commands
	label    string
	owner    bool
	at, done time.Time // done is zero if the chat never said what came of it
}

// mark is in every command, and names the call: conversation and number.
var mark = regexp.MustCompile(`c\d+n\d+z`)

// card is a message with buttons, in one of the chats.
type card struct {
	chat  string
	id    string
	calls []string
	data  map[string]string // of the buttons, by their labels
}

// look gives the cards that stand in the chats now.
func (c *chats) look(seen map[string]bool) (out []card) {
	for _, m := range c.telegram.Messages() {
		key := fmt.Sprint("telegram ", m.ID)
		if seen[key] || len(m.Buttons) == 0 {
			continue
		}
		one := card{chat: "telegram", id: fmt.Sprint(m.ID), calls: mark.FindAllString(m.Text, -1), data: map[string]string{}}
		for _, row := range m.Buttons {
			for _, b := range row {
				one.data[b.Text] = b.Data
			}
		}
		seen[key] = true
		out = append(out, one)
	}
	for _, m := range c.slack.Messages() {
		key := "slack " + m.TS
		if seen[key] || m.Only != "" {
			continue
		}
		shown := m.Seen()
		if len(shown.Buttons) == 0 {
			continue
		}
		out = append(out, card{chat: "slack", id: m.TS, calls: mark.FindAllString(shown.Text, -1), data: labels(shown)})
		seen[key] = true
	}
	return out
}

func labels(m channeltest.Message) map[string]string {
	out := map[string]string{}
	for _, b := range m.Buttons {
		out[b.Label] = b.Data
	}
	return out
}

// press taps a button and notes it, before it is sent and when it was answered.
func (c *chats) press(ctx context.Context, k card, label string, owner bool) {
	data, ok := k.data[label]
	if !ok {
		return
	}
	c.mu.Lock()
	i := len(c.taps)
	c.taps = append(c.taps, tap{calls: k.calls, label: label, owner: owner, at: time.Now()})
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var err error
	if k.chat == "telegram" {
		who := telegramtest.Person{ID: telegramOwner, Name: "Owner"}
		if !owner {
			who = telegramtest.Person{ID: 666, Name: "Owner"}
		}
		var id int64
		fmt.Sscan(k.id, &id) //nolint:errcheck // it was printed above
		_, err = c.telegram.Tap(ctx, who, telegramOwner, id, data)
	} else {
		who := slacktest.Person{ID: slackOwner, Name: "Owner"}
		if !owner {
			who = slacktest.Person{ID: "U0OTHER", Name: "Owner"}
		}
		_, err = c.slack.Tap(ctx, who, slacktest.DirectWith(slackOwner), k.id, data)
	}
	if err == nil {
		c.mu.Lock()
		c.taps[i].done = time.Now()
		c.mu.Unlock()
	}
}

// What the owner does with a card, and how often of a hundred.
var habits = []struct {
	share  int
	labels []string // pressed at about the same time, in any order
}{
	{40, []string{"Allow once"}},
	{8, []string{"Allow once", "Allow once", "Allow once"}},
	{8, []string{"Allow once", "Deny"}},
	{14, []string{"Allow 30 min"}},
	{18, []string{"Deny"}},
	{12, nil}, // does not look
}

// answer watches the chats until ctx ends. Some cards are tapped by a stranger
// first, some much later, some on the other chat as well.
func (c *chats) answer(ctx context.Context, r *rand.Rand) {
	seen := map[string]bool{}
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, k := range c.look(seen) {
			c.mu.Lock()
			c.cards++
			c.mu.Unlock()
			if k.chat == "slack" && r.IntN(100) < 60 {
				continue // most are answered on one chat
			}
			if r.IntN(100) < 10 {
				c.after(ctx, 0, k, "Allow once", false)
			}
			for _, label := range pick(r) {
				wait := time.Duration(r.IntN(900)) * time.Millisecond
				if r.IntN(100) < 10 {
					wait += time.Duration(r.IntN(20)) * time.Second // an old card, or one that has expired
				}
				c.after(ctx, wait, k, label, true)
			}
		}
	}
}

func pick(r *rand.Rand) []string {
	n := r.IntN(100)
	for _, h := range habits {
		if n -= h.share; n < 0 {
			return h.labels
		}
	}
	return nil
}

func (c *chats) after(ctx context.Context, wait time.Duration, k card, label string, owner bool) {
	c.wg.Go(func() {
		select {
		case <-ctx.Done():
		case <-time.After(wait):
			c.press(ctx, k, label, owner)
		}
	})
}
