package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// gateway is one of the two, as a process.
type gateway struct {
	*process
	number int
	url    string
	state  string
	config string
	chats  []*proxy // its ways to the chats

	// Only one fault at a time is done to gateways.
	down spans // when it was not there: from a kill or a stop until it answered again
	held spans // when it was stopped by a signal
}

// spans are times, the last of which may be open.
type spans []span

type span struct{ from, to time.Time }

func (s *spans) open(at time.Time) { *s = append(*s, span{from: at}) }

func (s spans) shut(at time.Time) {
	if n := len(s); n > 0 && s[n-1].to.IsZero() {
		s[n-1].to = at
	}
}

// overlap is how much of a time lies in the spans.
func (s spans) overlap(from, to time.Time) (sum time.Duration) {
	for _, one := range s {
		end := one.to
		if end.IsZero() || end.After(to) {
			end = to
		}
		begin := one.from
		if begin.Before(from) {
			begin = from
		}
		sum += max(0, end.Sub(begin))
	}
	return sum
}

// end is when the span is over that the beginning of a time is in, or that beginning if the span lasts longer than the
// time.
func (s spans) end(from, to time.Time) time.Time {
	for _, one := range s {
		if !one.from.After(from) && one.to.After(from) && one.to.Before(to) {
			return one.to
		}
	}
	return from
}

// touches reports whether any of them was, at least for a moment, in a time.
func (s spans) touches(from, to time.Time) bool {
	return slices.ContainsFunc(s, func(one span) bool {
		return !one.from.After(to) && (one.to.IsZero() || !one.to.Before(from))
	})
}

// What both gateways share, made anew for each run: placeholders are refused.
var (
	webhookSecret = rand.Text() + rand.Text()
	storeKey      = rand.Text() + rand.Text()
	ownerToken    = rand.Text() + rand.Text()
)

const (
	hold     = 2 * time.Second
	ttl      = 15 * time.Second
	patience = 500 * time.Millisecond // what an answer may take beyond its hold
)

const configFormat = `listen: %s
ownerToken: %s
webhook: {secret: %s, hold: %s, maxHold: %s}
store: {url: %q, key: %s}
approvalTtlSeconds: %d
approval: {maxOpen: 50, maxPromptsPerHour: 1000}
approvers: [{name: owner, telegram: %d, slack: %s, discord: %q}]
channels:
  telegram: {botToken: %q, chatId: %d, apiUrl: %q}
  slack: {botToken: %q, appToken: %q, channelId: %s, apiUrl: %q}
  discord: {botToken: %q, userId: %q, apiUrl: %q}
`

func openGateway(dir string, number int, redisURL string, c *chats, toxi *toxiproxy, t tools) (*gateway, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	home := filepath.Join(dir, fmt.Sprint("gateway-", number))
	g := &gateway{number: number, url: "http://" + local(port), state: home + "/state", config: home + "/verifier.yaml"}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	at := map[string]string{}
	for _, r := range c.rooms {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		host, _, _ := strings.Cut(strings.TrimPrefix(r.URL(), "http://"), "/")
		way, err := toxi.between(fmt.Sprintf("%s-%d", r.name, number), port, host)
		if err != nil {
			return nil, err
		}
		g.chats, at[r.name] = append(g.chats, way), strings.Replace(r.URL(), host, way.addr, 1)
	}
	text := fmt.Sprintf(configFormat, local(port), ownerToken, webhookSecret, hold, 2*hold, redisURL, storeKey,
		int(ttl.Seconds()), telegramOwner, slackOwner, discordOwner, telegramToken, telegramOwner, at["telegram"],
		slackKeys.BotToken, slackKeys.AppToken, slackOwner, at["slack"], discordToken, discordOwner, at["discord"])
	if err := os.WriteFile(g.config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	g.process = &process{name: fmt.Sprint("gateway ", number), log: home + "/log", make: func() *exec.Cmd {
		//nolint:noctx // ended by its owner
		return exec.Command(t.verifier, "serve", "--config", g.config, "--state", g.state)
	}}
	g.down.open(time.Now())
	return g, g.begin()
}

// begin starts it, again, and notes when it is there.
func (g *gateway) begin() error {
	if err := g.start(); err != nil {
		return err
	}
	healthy := func() error { return g.get("/healthz") }
	err := eventually(context.Background(), 20*time.Second, g.name+" answers", healthy)
	g.down.shut(time.Now())
	return err
}

// die is a kill or a SIGTERM; it is down from then on.
func (g *gateway) die(s syscall.Signal) error {
	g.down.open(time.Now())
	return g.end(s, 10*time.Second)
}

// freeze stops it; thaw lets it go on.
func (g *gateway) freeze() {
	g.held.open(time.Now())
	g.signal(syscall.SIGSTOP)
}

func (g *gateway) thaw() {
	g.signal(syscall.SIGCONT)
	g.held.shut(time.Now())
}

var patientFor2s = http.Client{Timeout: 2 * time.Second}

func (g *gateway) get(path string) error {
	res, err := patientFor2s.Get(g.url + path) //nolint:noctx // it has a timeout
	if err != nil {
		return err
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, res.Status)
	}
	return nil
}
