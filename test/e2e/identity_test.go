package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/test/gateway"
)

// people takes what Ann types on Telegram into the chats of the client default.
const people = `
approvers: [{name: Ann, telegram: 111, ids: ["token:owner"]}, {name: Bob, slack: U0333BOB}]
webhook: {hold: 5s, relayApprovals: {default: [telegram]}}
`

// ann is the context of a line that Ann types into the session m.
func ann(more ...any) gateway.Context {
	ctx := gateway.Context{"messageProvider": "telegram", "senderId": "111", "channelId": "111",
		"sessionKey": "agent:main:m"}
	return gateway.With(ctx, more...)
}

// line is the body of a typed line, as a runtime passes it on.
func line(text, id string, ctx gateway.Context) []byte {
	typed, _ := json.Marshal(text)
	context, _ := json.Marshal(ctx, json.Deterministic(true))
	return fmt.Appendf(nil, `{"version":1,"timestamp":%q,"requestId":%q,"text":%s,"context":%s}`,
		time.Now().UTC().Format(time.RFC3339Nano), id, typed, context)
}

// relay passes a line on. Whatever becomes of it, the answer is signed, and holds no code of an open question and no
// syntax.
func relay(t *testing.T, g *gateway.Gateway, text string, ctx gateway.Context) (v gateway.Verdict) {
	t.Helper()
	open := g.Pending()
	told := g.SignedTo("/approve", line(text, fmt.Sprint("line-", time.Now().UnixNano()), ctx))
	if err := json.Unmarshal([]byte(told.Raw), &v); err != nil || told.Status != http.StatusOK || !told.Signed ||
		v.Text == "" {
		t.Errorf("a relayed line: got %d %s (signed %v)", told.Status, told.Raw, told.Signed)
	}
	for _, card := range open {
		if strings.Contains(strings.ToLower(told.Raw), card.Code(t)) || strings.Contains(told.Raw, ".approve") {
			t.Errorf("the answer says how one approves: %s", told.Raw)
		}
	}
	return v
}

// A group member who is no approver types, and so does what is no person. H34: a name is no identity; H63: nor is a
// number on another platform.
func TestH32H36LinesOfOthersCountForNothing(t *testing.T) {
	t.Parallel()
	gateway.OnBoth(t, people, func(t *testing.T, g *gateway.Gateway) {
		held := g.Hold(gateway.Sh("date", unvouched("m")))
		card := g.Waits()
		for name, ctx := range map[string]gateway.Context{
			"a stranger":                 ann("senderId", "222"),
			"a stranger with her name":   ann("senderId", "222", "senderName", "Ann", "senderIsOwner", true),
			"an approver elsewhere":      ann("senderId", "U0333BOB"),
			"her id on another platform": ann("messageProvider", "discord"),
			"the token's holder":         ann("messageProvider", "token", "senderId", "owner"),
			"a platform in the id":       ann("messageProvider", "", "senderId", "telegram:111"),
			"a zero before the id":       ann("senderId", "0111"),
			"a space behind the id":      ann("senderId", "111 "),
			"other digits":               ann("senderId", "1１1"),
			"nobody":                     ann("senderId", nil),
			"no platform":                ann("messageProvider", nil),
			"the runtime's own chat":     ann("messageProvider", "webchat"),
			"a group":                    ann("groupId", "-100333"),
			"a group by its key":         ann("sessionKey", "agent:main:telegram:group:-100333"),
			"another session":            ann("inputProvenance", map[string]any{"kind": "inter_session"}),
			"outside content":            ann("inputProvenance", "outside_content"),
			"a cron job":                 ann("trigger", "cron"),
			"a child":                    ann("spawnedBy", "agent:main:x"),
			"a webhook's run":            ann("sessionKey", "hook:5f0c"),
		} {
			if v := relay(t, g, ".approve exec "+card.Code(t), ctx); v.Kind != "unauthorised" {
				t.Errorf("%s is told %+v", name, v)
			}
		}
		if got := g.Pending(); len(got) != 1 || got[0].Ref != card.Ref {
			t.Errorf("what waits: %+v", got)
		}
		if v := relay(t, g, ".approve exec "+card.Code(t), ann()); v.Kind != "counted" {
			t.Errorf("Ann is told %+v", v)
		}
		if a := <-held; !a.Allowed() {
			t.Errorf("got %s", a.Raw)
		}
		// H01, H03: an unsigned line touches nothing, and one that is sent again changes nothing.
		pause := line(".pause", "pause", ann())
		if status, _ := g.Request(http.MethodPost, "/approve", pause, hmac.RequestHeader,
			""); status != http.StatusUnauthorized {
			t.Errorf("unsigned: %d", status)
		}
		g.Allow(gateway.Sh("date", gateway.OwnerIn("clean")))
		if told := g.SignedTo("/approve", pause); !strings.Contains(told.Raw, `"told"`) {
			t.Errorf("a pause: %s", told.Raw)
		}
		g.Reply(".resume")
		if told := g.SignedTo("/approve", pause); !strings.Contains(told.Raw, `"too late"`) {
			t.Errorf("the same line once more: %s", told.Raw)
		}
		g.Allow(gateway.Sh("date", gateway.OwnerIn("clean")))
	})
}

func TestH33AnEmptyApproverListApprovesNobody(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "approvers: []\n")
	ask := gateway.Sh("date", stranger("x"))
	ask.ID = "asks"
	a := g.Deny(ask)
	if a.Ref != "" || !strings.Contains(a.Reason, "the owner can't be asked") || a.Took > 2*time.Second { // H43, H54
		t.Errorf("after %v: %s", a.Took, a.Raw)
	}
	if e := g.About("asks")[0]; e.Error != "nobody" || g.Asked() != 0 {
		t.Errorf("recorded %+v", e)
	}
	g.Allow(read("a", stranger("x"))) // what needs nobody passes
	for name, status := range map[string]int{
		"pending": g.Owner(http.MethodGet, "/owner/pending", nil, nil),
		"answer":  g.AnswerTo(map[string]any{"ref": "7Q4K", "allow": true}).Status,
		"reply":   g.Reply(".approve exec 01234567 30").Status,
		"reset":   g.Reply(".reset-trust 01234567").Status,
	} {
		if status != http.StatusForbidden {
			t.Errorf("%s: the owner token gets %d, want 403", name, status)
		}
	}
	if status, text := g.Ready(); status != http.StatusServiceUnavailable ||
		!strings.Contains(text, "no person may approve") {
		t.Errorf("ready says %d %s", status, text)
	}
	if out, code := g.Run("check"); code != 0 || !strings.Contains(out, "no person can approve") {
		t.Errorf("check: exit code %d\n%s", code, out)
	}
}

const botToken = "7712345678:AAH-planted_bot_token_that_must_not_show"

// onTelegram is a gateway whose owner is in the Telegram chat 1001.
func onTelegram(t *testing.T, more string) (*gateway.Gateway, *telegramtest.Server) {
	t.Helper()
	s := telegramtest.New(t, botToken)
	config := fmt.Sprintf("channels: {telegram: {botToken: %q, chatId: 1001, allowedUserIds: [1001], apiUrl: %q}}\n",
		botToken, s.URL())
	g := gateway.Start(t, config+"webhook: {hold: 30s, maxHold: 60s}\n"+more)
	eventually(t, "the gateway is ready", func() bool { status, _ := g.Ready(); return status == http.StatusOK })
	return g, s
}

// message is the first in the chat that says something.
func message(t *testing.T, s *telegramtest.Server, says string) (found telegramtest.Message) {
	t.Helper()
	eventually(t, "the chat says "+says, func() bool {
		for _, m := range s.Messages() {
			if strings.Contains(m.Text, says) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

// tap taps a button of a message.
func tap(t *testing.T, s *telegramtest.Server, who telegramtest.Person, m telegramtest.Message,
	label string) telegramtest.Told {
	t.Helper()
	for _, row := range m.Buttons {
		for _, b := range row {
			if b.Text == label {
				told, err := s.Tap(t.Context(), who, m.Chat, m.ID, b.Data)
				if err != nil {
					t.Fatal(err)
				}
				return told
			}
		}
	}
	t.Fatalf("no button %q on %+v", label, m)
	return telegramtest.Told{}
}

// In a chat: a stranger with the owner's name taps and is told privately, a bot types, and then the owner taps. The
// card says so only once the store has it, and a second tap is told the truth (H53).
func TestH32H34H53WhoTapsInAChat(t *testing.T) {
	t.Parallel()
	g, s := onTelegram(t, "")
	held := g.Hold(gateway.Sh("date", unvouched("m")))
	card := message(t, s, "🔐")
	owner := telegramtest.Person{ID: 1001, Name: "Owner"}
	if told := tap(t, s, telegramtest.Person{ID: 5, Name: "Owner"}, card, "Allow once"); told.Text == "" {
		t.Errorf("someone whom we do not know gets no answer")
	}
	_, code, _ := strings.Cut(card.Text, ".deny ")
	if len(code) >= 8 { // H36: what a bot writes is no answer
		s.Say(telegramtest.Person{ID: s.BotID(), Name: "Owner"}, 1001, 0, ".approve exec "+code[:8],
			map[string]any{"via_bot": map[string]any{"id": 9}})
	}
	if got := g.Pending(); len(got) != 1 {
		t.Errorf("what waits: %+v", got)
	}
	tap(t, s, owner, card, "Allow once")
	if a := <-held; !a.Allowed() {
		t.Errorf("got %s", a.Raw)
	}
	message(t, s, "Approved once by Owner at ")
	if told := tap(t, s, owner, card, "Deny"); !strings.Contains(told.Text, "approved once by Owner") {
		t.Errorf("a second tap is told %+v", told)
	}
	_, health := g.Ready()
	_, metrics := g.Page("/metrics")
	for where, text := range map[string]string{"log": g.Log.String(), "record": string(g.Recorded()),
		"health": health, "metrics": metrics} {
		if strings.Contains(text, "planted_bot_token") {
			t.Errorf("the token is in the %s", where)
		}
	}
}
