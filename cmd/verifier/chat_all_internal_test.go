package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
	"github.com/openclaw-verifier/verifier/channels/discord/discordtest"
	"github.com/openclaw-verifier/verifier/channels/slack/slacktest"
	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
	"github.com/openclaw-verifier/verifier/config"
)

// chatView is a chat as its owner sees it, whatever the platform.
type chatView struct {
	messages func() []channeltest.Message
	tap      func(ctx context.Context, m channeltest.Message, data string) error
}

// allChats is a gateway whose owner is on all three platforms.
func allChats(t *testing.T) (*rig, map[string]chatView) {
	t.Helper()
	r, chats, _ := allChatsThatBreak(t)
	return r, chats
}

// allChatsThatBreak also gives what makes each platform fail.
func allChatsThatBreak(t *testing.T) (*rig, map[string]chatView, []func(channeltest.Fault)) {
	t.Helper()
	tg, dc, sl := telegramtest.New(t, botToken), discordtest.New(t, discordToken), slacktest.New(t, slackKeys)
	r := newRig(t, func(c *config.Config) {
		section(t, c, fmt.Sprintf(`
approvers: [{name: owner, telegram: 1001, discord: "1001", slack: U0OWNER, ids: ["token:owner"]}]
channels:
  telegram: {botToken: %q, chatId: 1001, apiUrl: %q}
  discord: {botToken: %q, userId: "1001", apiUrl: %q}
  slack: {botToken: %q, appToken: %q, channelId: U0OWNER, apiUrl: %q}
`, botToken, tg.URL(), discordToken, dc.URL(), slackKeys.BotToken, slackKeys.AppToken, sl.URL()))
	})
	untilReady(t, r)
	return r, map[string]chatView{"telegram": onTelegram(tg), "discord": onDiscord(dc), "slack": onSlack(sl)}, []func(channeltest.Fault){tg.Break, dc.Break, sl.Break}
}

func onTelegram(s *telegramtest.Server) chatView {
	return chatView{
		messages: func() (out []channeltest.Message) {
			for _, m := range s.Messages() {
				seen := channeltest.Message{ID: fmt.Sprint(m.ID), Text: m.Text}
				for _, row := range m.Buttons {
					for _, b := range row {
						seen.Buttons = append(seen.Buttons, channeltest.Button{Label: b.Text, Data: b.Data})
					}
				}
				out = append(out, seen)
			}
			return out
		},
		tap: func(ctx context.Context, m channeltest.Message, data string) error {
			var id int64
			if _, err := fmt.Sscan(m.ID, &id); err != nil {
				return err
			}
			_, err := s.Tap(ctx, telegramtest.Person{ID: 1001, Name: "Owner"}, 1001, id, data)
			return err
		},
	}
}

func onDiscord(s *discordtest.Server) chatView {
	return chatView{
		messages: func() (out []channeltest.Message) {
			for _, m := range s.Messages() {
				seen := channeltest.Message{ID: m.ID, Text: discordtest.Render(m.Content).Text, Only: m.Only}
				for _, row := range m.Rows {
					for _, b := range row {
						seen.Buttons = append(seen.Buttons, channeltest.Button{Label: b.Label, Data: b.CustomID})
					}
				}
				out = append(out, seen)
			}
			return out
		},
		tap: func(ctx context.Context, m channeltest.Message, data string) error {
			_, err := s.Tap(ctx, discordOwner, discordtest.DirectID(discordOwner.ID), m.ID, data)
			return err
		},
	}
}

func onSlack(s *slacktest.Server) chatView {
	return chatView{
		messages: func() (out []channeltest.Message) {
			for _, m := range s.Messages() {
				out = append(out, m.Seen())
			}
			return out
		},
		tap: func(ctx context.Context, m channeltest.Message, data string) error {
			_, err := s.Tap(ctx, slacktest.Person{ID: "U0OWNER", Name: "Owner"}, slacktest.DirectWith("U0OWNER"), m.ID, data)
			return err
		},
	}
}

// cardWith is the message in a chat that says something.
func (v chatView) cardWith(words ...string) (channeltest.Message, bool) {
	for _, m := range v.messages() {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(m.Text, w) }) {
			return m, true
		}
	}
	return channeltest.Message{}, false
}

// One call shows a card in each chat; a tap on one of them settles all and lets
// the call go.
func TestATapOnOneChatSettlesAllThreeAndReleasesTheCall(t *testing.T) {
	t.Parallel()
	r, chats := allChats(t)
	var took []time.Duration
	for i := range 9 {
		tapped := slices.Sorted(maps.Keys(chats))[i%len(chats)]
		word := fmt.Sprintf("round-%d", i)
		held := r.hold(call{tool: "exec", params: fmt.Sprintf(`{"command":"echo %s"}`, word), context: map[string]any{"sessionKey": "agent:main:" + word}})
		shown := make(map[string]channeltest.Message)
		for name, v := range chats {
			waitFor(t, "a card is on "+name, func() (ok bool) {
				shown[name], ok = v.cardWith("🔐 Run:", "echo "+word)
				return ok
			})
		}
		took = append(took, releases(t, chats[tapped], shown[tapped], held))
		for name, v := range chats {
			waitFor(t, "the copy on "+name+" tells the outcome", func() bool {
				m, ok := v.cardWith("Approved", "once by owner at ", "echo "+word)
				return ok && m.ID == shown[name].ID && len(m.Buttons) == 0
			})
		}
	}
	slices.Sort(took)
	t.Logf("from tap to release: median %v, longest %v, of %d", took[len(took)/2], took[len(took)-1], len(took))
	if took[len(took)/2] > soon {
		t.Errorf("the median is more than %v: %v", soon, took)
	}
}

// releases taps Allow once, and says how long the held call took from then on.
func releases(t *testing.T, v chatView, m channeltest.Message, held <-chan answer) time.Duration {
	t.Helper()
	b, ok := m.Button("Allow once")
	if !ok {
		t.Fatalf("no button on %+v", m)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	done := make(chan error, 1)
	began := time.Now()
	go func() { done <- v.tap(ctx, m, b.Data) }()
	a := <-held
	took := time.Since(began)
	if err := <-done; err != nil || !a.allowed() {
		t.Errorf("got %d %s, %v", a.status, a.raw, err)
	}
	return took
}

// said is all that a chat shows, files included.
func (v chatView) said() string {
	var b strings.Builder
	for _, m := range v.messages() {
		fmt.Fprintf(&b, "%+v\n", m)
	}
	return b.String()
}

func TestTheCommandTestSaysWhoTheBotIsInEachChat(t *testing.T) {
	t.Parallel()
	r, chats := allChats(t)
	who := map[string]string{
		"telegram": "@verifier_test_bot in chat 1001", "discord": `"verifier-test" in direct messages to 1001`, "slack": "@verifier of Example, writing to U0OWNER",
	}
	said := ""
	waitFor(t, "all are well", func() bool { c, s := r.tried(r.url); said = s; return c == exitOK })

	for name, v := range chats {
		if !strings.Contains(said, fmt.Sprintf("ok      %-10s %s\n", name, who[name])) {
			t.Errorf("%s is not tried:\n%s", name, said)
		}
		if n := len(v.messages()); n > 0 {
			t.Errorf("%d messages came of it on %s", n, name)
		}
	}
	code, said := r.tried(r.url, "--send-card")
	for name, v := range chats {
		m, ok := v.cardWith("Test: cards from verifier arrive here")
		if !ok || len(v.messages()) != 1 || len(m.Buttons) > 0 || !strings.Contains(said, who[name]+"; a test card was sent") {
			t.Errorf("%s has %q:\n%s", name, v.said(), said)
		}
	}
	if code != exitOK {
		t.Errorf("exit code %d", code)
	}
	r.chatsKeepSecrets(t, chats, said)
}

// chatSecrets are what no output may hold: the platforms' own secrets, and those
// that calls bring along.
var chatSecrets = []string{"planted_bot_token", "plantedslacktoken", "interaction-token-", "hunter2-planted", "ghp_pLaNtEd"}

// chatsKeepSecrets looks for secrets wherever chats or the gateway wrote something.
func (r *rig) chatsKeepSecrets(t *testing.T, chats map[string]chatView, more string) {
	t.Helper()
	places := map[string]string{"log": r.log.String(), "record": r.record(), "health": r.page("/readyz"), "metrics": r.page("/metrics"), "answers": more}
	for name, v := range chats {
		places[name] = v.said()
	}
	for where, text := range places {
		for _, secret := range chatSecrets {
			if strings.Contains(strings.ToLower(text), strings.ToLower(secret)) {
				t.Errorf("%q stands in the %s:\n%s", secret, where, text)
			}
		}
	}
}

func TestH29NoChatShowsASecretAndNoErrorATokenOfIt(t *testing.T) {
	t.Parallel()
	r, chats, breaks := allChatsThatBreak(t)
	params := `{"command":"mysql -phunter2-planted-9f31 && curl -H 'Authorization: Bearer ghp_pLaNtEdA1b2C3d4E5f6G7h8I9j0K1l2M3n4' x","env":{"PGPASSWORD":"hunter2-planted-9f31"}}`
	held := r.hold(call{tool: "exec", params: params, context: map[string]any{"sessionKey": "agent:main:secrets"}})
	for name, v := range chats {
		waitFor(t, "a card is on "+name, func() bool { _, ok := v.cardWith("🔐 Run:", "mysql", "NOT FULLY VISIBLE"); return ok })
	}
	r.tapDeny(t, chats["slack"])
	said := (<-held).raw
	for _, kind := range []channeltest.FaultKind{channeltest.Unauthorized, channeltest.Forbidden, channeltest.Malformed, channeltest.Broken, channeltest.Down} {
		for _, b := range breaks {
			b(channeltest.Fault{Kind: kind})
		}
		said += r.send(call{tool: "exec", params: params, context: map[string]any{"sessionKey": fmt.Sprint("agent:main:broken-", kind), "waitMs": 1}}).raw
		_, tried := r.tried(r.url, "--send-card")
		said += tried
	}
	for name := range chats {
		if n := strings.Count(said, "FAILED  "+name); n != 5 {
			t.Errorf("%s failed %d times:\n%s", name, n, said)
		}
	}
	r.chatsKeepSecrets(t, chats, said)
}

// tapDeny denies the first card that has a button for it.
func (r *rig) tapDeny(t *testing.T, v chatView) {
	t.Helper()
	for _, m := range v.messages() {
		if b, ok := m.Button("Deny"); ok {
			if err := v.tap(t.Context(), m, b.Data); err != nil {
				t.Error(err)
			}
			return
		}
	}
	t.Error("no card can be denied")
}
