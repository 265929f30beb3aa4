package slack_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/channels/slack"
	"github.com/openclaw-verifier/verifier/channels/slack/slacktest"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// desk notes what it is asked, and always says the same.
type desk struct {
	mu      sync.Mutex
	asked   []approval.Answer
	outcome approval.Outcome
}

func (d *desk) answer(_ context.Context, a approval.Answer) (approval.Outcome, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, a)
	return d.outcome, nil
}

func (d *desk) heard() []approval.Answer {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]approval.Answer(nil), d.asked...)
}

// station is a channel that listens, with a desk that only notes.
type station struct {
	testing.TB
	*platform
	*desk
	channel *slack.Channel
	log     *log
	stop    func()
}

type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newStation(t testing.TB, edit func(*slack.Config)) *station {
	t.Helper()
	return newStationAt(t, newPlatform(t, slacktest.Channel), edit)
}

func newStationAt(t testing.TB, p *platform, edit func(*slack.Config)) *station {
	t.Helper()
	s := &station{TB: t, platform: p, desk: &desk{outcome: approval.Outcome{Kind: approval.Replied, Text: "heard"}}, log: &log{}}
	c := s.config()
	if edit != nil {
		edit(&c)
	}
	s.channel = open(t, c, delivery.Deps{Log: slog.New(slog.NewTextHandler(s.log, nil))})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := s.channel.Listen(ctx, s.answer); err != nil {
			t.Error(err)
		}
	}()
	s.stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(s.stop)
	t.Cleanup(func() {
		for _, secret := range s.Secrets() {
			if strings.Contains(s.log.String(), secret) {
				t.Errorf("a secret stands in the log:\n%s", s.log)
			}
		}
	})
	return s
}

// until waits for something to become true.
func (s *station) until(what string, is func() bool) {
	s.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(20 * time.Second)
	for !is() {
		select {
		case <-tick.C:
		case <-deadline:
			s.Fatalf("it never happened that %s. The log:\n%s", what, s.log)
		}
	}
}

// sync waits until all that was said before has been worked on.
func (s *station) sync() {
	s.Helper()
	before := len(s.heard())
	s.Server.Say(slacktest.Person{ID: "U0SYNC"}, slacktest.DirectWith("U0SYNC"), "", ".help", nil)
	s.until("a line is heard", func() bool {
		now := s.heard()
		return len(now) > before && now[len(now)-1].ID == "slack:U0SYNC"
	})
}

var anAlice = slacktest.Person{ID: alice, Name: "Alice"}

// H36, and whatever else is no line of a person.
func TestH36OnlyPeopleAreHeard(t *testing.T) {
	const line = ".approve exec bf619df9"
	for name, more := range map[string]map[string]any{
		"a bot":                       {"bot_id": "B1"},
		"an app in a person's name":   {"app_id": "A1"},
		"a bot with a profile":        {"bot_profile": map[string]any{"id": "B1"}},
		"a workflow":                  {"workflow_id": "W1"},
		"the app itself":              {"user": slacktest.BotUser},
		"a bot message":               {"subtype": "bot_message"},
		"an edited message":           {"subtype": "message_changed"},
		"a message with an edit":      {"edited": map[string]any{"user": alice}},
		"a forwarded message":         {"attachments": []any{map[string]any{"text": line}}},
		"a message of nobody":         {"user": ""},
		"another kind of event":       {"type": "app_mention"},
		"a message in a channel":      {"channel": slacktest.Channel, "channel_type": "channel"},
		"a thread under someone else": {"channel": slacktest.Channel, "channel_type": "channel", "thread_ts": "1.2", "parent_user_id": bob},
		"a private channel's thread":  {"channel": "G0PRIVATE", "channel_type": "group", "thread_ts": "1.2", "parent_user_id": bob},
		"talk with a command in it":   {"text": "please " + line},
		"a quoted command":            {"text": "&gt; " + line},
		"nothing":                     {"text": ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStation(t, nil)
			s.Server.Say(anAlice, slacktest.DirectWith(alice), "", line, more)
			s.sync()
			for _, a := range s.heard() {
				if a.ID != "slack:U0SYNC" {
					t.Errorf("heard %+v", a)
				}
			}
		})
	}
}

func TestALineIsHeardAsItWasTyped(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		more map[string]any
		want approval.Answer
	}{
		"plain":             {".approve exec bf619df9 30", nil, approval.Answer{ID: "slack:" + alice, Text: ".approve exec bf619df9 30"}},
		"copied as code":    {"`.approve exec bf619df9 30`", nil, approval.Answer{ID: "slack:" + alice, Text: ".approve exec bf619df9 30"}},
		"copied as block":   {"```.approve exec bf619df9 30```", nil, approval.Answer{ID: "slack:" + alice, Text: ".approve exec bf619df9 30"}},
		"with signs":        {".deny bf619df9 a < b && c > d", nil, approval.Answer{ID: "slack:" + alice, Text: ".deny bf619df9 a < b && c > d"}},
		"with a link":       {"", map[string]any{"text": ".deny bf619df9 see <https://a.example>"}, approval.Answer{ID: "slack:" + alice, Text: ".deny bf619df9 see https://a.example"}},
		"another company's": {".approve exec bf619df9", map[string]any{"user_team": "T0OTHER", "team": "T0OTHER"}, approval.Answer{ID: "slack:T0OTHER/" + alice, Text: ".approve exec bf619df9"}},
		"in a thread under a card": {
			".approve exec bf619df9", map[string]any{"channel": slacktest.Channel, "channel_type": "channel", "thread_ts": "1.2", "parent_user_id": slacktest.BotUser},
			approval.Answer{ID: "slack:" + alice, Text: ".approve exec bf619df9"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStation(t, nil)
			s.Server.Say(anAlice, slacktest.DirectWith(alice), "", c.text, c.more)
			s.until("the line is heard and answered", func() bool { return len(s.heard()) == 1 && len(s.Messages()) == 1 })
			got := s.heard()[0]
			c.want.Via, c.want.Message, c.want.Sent = "slack", got.Message, got.Sent
			_, ts, _ := strings.Cut(got.Message, "/")
			if got != c.want || got.Message == "" || !strings.HasPrefix(ts, fmt.Sprint(got.Sent.Unix())+".") {
				t.Errorf("heard %+v, want %+v", got, c.want)
			}
			if m := s.Messages()[0]; m.Text != "heard" || len(m.Active) > 0 {
				t.Errorf("answered %+v", m)
			}
		})
	}
}

// In a company with several workspaces, nothing tells a workspace of its own from
// another company's: a colleague there is named with the workspace.
func TestAColleagueInAnotherWorkspaceIsNamedWithIt(t *testing.T) {
	p := newPlatform(t, slacktest.Channel)
	p.Enterprise = "E0COMPANY"
	s := newStationAt(t, p, nil)
	for i, c := range []struct{ team, want string }{{"T0SISTER", "slack:T0SISTER/" + alice}, {"E0COMPANY", "slack:" + alice}} {
		p.Server.Say(anAlice, slacktest.DirectWith(alice), "", ".help", map[string]any{"user_team": c.team})
		s.until("the line is heard", func() bool { return len(s.heard()) == i+1 })
		if got := s.heard()[i].ID; got != c.want {
			t.Errorf("heard %q, want %q", got, c.want)
		}
	}
}

func TestATapOfAnotherWorkspaceIsSomeoneElses(t *testing.T) {
	s := newStation(t, nil)
	stranger := anAlice
	stranger.Team = "T0OTHER"
	if _, err := s.Server.Tap(patience(t), stranger, slacktest.Channel, "1.1", "a handle"); err != nil {
		t.Fatal(err)
	}
	if got := s.heard(); len(got) != 1 || got[0].ID != "slack:T0OTHER/"+alice || got[0].Handle != "a handle" {
		t.Errorf("heard %+v", got)
	}
}

func TestConfig(t *testing.T) {
	good := slack.Config{BotToken: keys.BotToken, AppToken: keys.AppToken, ChannelID: slacktest.Channel}
	with := func(edit func(*slack.Config)) slack.Config {
		c := good
		edit(&c)
		return c
	}
	for want, c := range map[string]slack.Config{
		"":                               good,
		"  ":                             with(func(c *slack.Config) { c.ChannelID, c.AllowedUserIDs = "", []delivery.ID{alice} }),
		"botToken is missing":            with(func(c *slack.Config) { c.BotToken = "" }),
		"botToken is an app-level token": with(func(c *slack.Config) { c.BotToken = keys.AppToken }),
		"botToken is a person's token":   with(func(c *slack.Config) { c.BotToken = "xoxp-1111111111-2222222222" }),
		"token rotation is on":           with(func(c *slack.Config) { c.BotToken = "xoxe.xoxb-1-1111111111" }),
		"appToken is missing":            with(func(c *slack.Config) { c.AppToken = "" }),
		"appToken is a bot token":        with(func(c *slack.Config) { c.AppToken = keys.BotToken }),
		"channelId must be the id":       with(func(c *slack.Config) { c.ChannelID = "#approvals" }),
		"channelId must be":              with(func(c *slack.Config) { c.ChannelID, c.AllowedUserIDs = "", []delivery.ID{alice, bob} }),
		"apiUrl is no address":           with(func(c *slack.Config) { c.APIURL = "slack.com/api" }),
	} {
		ch, err := slack.Open(c, delivery.Deps{})
		if good := strings.TrimSpace(want) == ""; good != (err == nil) || !good && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v", want, err)
		}
		for _, secret := range []string{keys.BotToken, keys.AppToken} {
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("a secret stands in %v", err)
			}
		}
		if c, ok := ch.(*slack.Channel); ok {
			c.Close()
		}
	}
}

func TestACardThatWasDeletedIsSettled(t *testing.T) {
	s := slacktest.New(t, keys)
	ch := open(t, slack.Config{BotToken: keys.BotToken, AppToken: keys.AppToken, ChannelID: slacktest.Channel, APIURL: s.URL()}, delivery.Deps{})
	f := channeltest.Fixtures()[0]
	if err := ch.Settle(t.Context(), slacktest.Channel+"/1700000000.000100", f.Card, approval.Outcome{State: approval.Expired}); err != nil || ch.Health() != nil {
		t.Errorf("%v, health %v", err, ch.Health())
	}
}

// A token goes to the address in the config and nowhere else.
func TestARedirectIsNotFollowed(t *testing.T) {
	asked := make(chan string, 10)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Path }))
	defer elsewhere.Close()
	api := httptest.NewServer(http.RedirectHandler(elsewhere.URL+"/stolen", http.StatusTemporaryRedirect))
	defer api.Close()
	ch := open(t, slack.Config{BotToken: keys.BotToken, AppToken: keys.AppToken, ChannelID: slacktest.Channel, APIURL: api.URL}, delivery.Deps{})
	if _, err := ch.Send(t.Context(), &approval.Card{}); err == nil || strings.Contains(err.Error(), keys.BotToken) {
		t.Errorf("got %v", err)
	}
	if len(asked) > 0 {
		t.Errorf("%s was called", <-asked)
	}
}

func count(s *station, id string) (n int) {
	for _, a := range s.heard() {
		if a.ID == id {
			n++
		}
	}
	return n
}

// What is under way when the gateway stops is ended soon.
func TestStoppingDoesNotWaitForSlack(t *testing.T) {
	s := newStation(t, nil)
	s.sync()
	s.until("the line is answered", func() bool { return len(s.Messages()) == 1 })
	release := s.Hold()
	defer release()
	s.Server.Say(anAlice, slacktest.DirectWith(alice), "", ".help", nil)
	s.until("the line is heard", func() bool { return count(s, "slack:"+alice) == 1 })
	began := time.Now()
	s.stop()
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("it took %v", took)
	}
}

// Those who may not approve can't keep others waiting.
func TestAFloodOfStrangersIsDropped(t *testing.T) {
	s := newStation(t, nil)
	s.sync()
	s.mu.Lock()
	s.outcome = approval.Outcome{Kind: approval.Unauthorised, Text: approval.NotAuthorised}
	s.mu.Unlock()
	before := len(s.Messages())
	for i := range 40 {
		s.Push(map[string]any{"type": "interactive", "envelope_id": fmt.Sprint(i), "payload": map[string]any{
			"type": "block_actions", "user": map[string]any{"id": alice, "team_id": slacktest.Team},
			"container": map[string]any{"channel_id": slacktest.Channel, "message_ts": fmt.Sprint("1.", i)},
			"actions":   []any{map[string]any{"action_id": "answer_a", "value": "a handle"}},
		}})
	}
	s.until("all are heard", func() bool { return count(s, "slack:"+alice) == 40 })
	if n := len(s.Messages()) - before; n > 10 {
		t.Errorf("%d of them were answered", n)
	}
}
