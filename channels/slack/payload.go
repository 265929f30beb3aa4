package slack

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
)

// What Slack tells us of, as far as it matters here:
// https://docs.slack.dev/reference/interaction-payloads and
// https://docs.slack.dev/reference/events/message

// interaction is a tap on a button.
type interaction struct {
	Type string `json:"type"`
	User struct {
		ID     string `json:"id"`
		TeamID string `json:"team_id"`
		IsBot  bool   `json:"is_bot"`
		Name   string `json:"name"`
	} `json:"user"`
	Container struct {
		ChannelID string `json:"channel_id"`
		MessageTS string `json:"message_ts"`
		ThreadTS  string `json:"thread_ts"`
	} `json:"container"`
	Actions []struct {
		ActionID string `json:"action_id"`
		Value    string `json:"value"`
	} `json:"actions"`
}

// blockActions is the type of interaction that we know.
const blockActions = "block_actions"

// handle is what the tapped button carries; "" if it is none of ours.
func (i *interaction) handle() string {
	if i.Type != blockActions || len(i.Actions) != 1 || !strings.HasPrefix(i.Actions[0].ActionID, answerID) {
		return ""
	}
	return i.Actions[0].Value
}

// place is the tapped message.
func (i *interaction) place() ref {
	at := ref{channel: i.Container.ChannelID, message: i.Container.MessageTS, thread: i.Container.ThreadTS}
	if at.thread == at.message { // a message with a thread under it
		at.thread = ""
	}
	return at
}

// notification is what the Events API sends.
type notification struct {
	Type    string  `json:"type"`
	EventID string  `json:"event_id"`
	Event   message `json:"event"`
}

// eventCallback is the type of notification that we know.
const eventCallback = "event_callback"

// message is something that was written.
type message struct {
	Type         string      `json:"type"`
	Subtype      string      `json:"subtype"`
	User         string      `json:"user"`
	Text         string      `json:"text"`
	TS           string      `json:"ts"`
	ThreadTS     string      `json:"thread_ts"`
	ParentUserID string      `json:"parent_user_id"` // who wrote what the thread is under
	Channel      string      `json:"channel"`
	ChannelType  string      `json:"channel_type"`
	Team         string      `json:"team"`
	UserTeam     string      `json:"user_team"`
	SourceTeam   string      `json:"source_team"`
	BotID        string      `json:"bot_id"`
	AppID        string      `json:"app_id"`
	BotProfile   *presence   `json:"bot_profile"`
	WorkflowID   string      `json:"workflow_id"`
	Edited       *presence   `json:"edited"`
	Attachments  []*presence `json:"attachments"` // they hold what was forwarded
}

// presence is that something is there, whatever it says.
type presence struct{}

// UnmarshalJSON takes anything.
func (*presence) UnmarshalJSON([]byte) error { return nil }

// byPerson reports whether a person wrote it just now: no bot, no app in a
// person's name, no edit and no other kind of news.
func (m *message) byPerson() bool {
	isNew := m.Type == "message" && m.Subtype == "" && m.Edited == nil && len(m.Attachments) == 0
	return isNew && m.User != "" && m.BotID == "" && m.AppID == "" && m.BotProfile == nil && m.WorkflowID == ""
}

// team is the workspace of who wrote it, if it is said: another one than ours
// before all.
func (m *message) team(workspace, company string) string {
	said := ""
	for _, t := range []string{m.UserTeam, m.SourceTeam, m.Team} {
		if t != "" && t != workspace && t != company {
			return t
		}
		said = cmp.Or(said, t)
	}
	return said
}

// Kinds of payloads.
type kind uint8

const (
	anInteraction kind = iota
	aNotification
)

// payload is one of the two.
type payload struct {
	interaction  *interaction
	notification *notification
}

var errPayload = errors.New("slack: a payload can't be read")

func readPayload(k kind, raw []byte) (payload, error) {
	var p payload
	var err error
	switch k {
	case anInteraction:
		p.interaction = new(interaction)
		err = json.Unmarshal(raw, p.interaction)
	default:
		p.notification = new(notification)
		err = json.Unmarshal(raw, p.notification)
	}
	if err != nil {
		return payload{}, fmt.Errorf("%w: %w", errPayload, err)
	}
	return p, nil
}

// typedText is what a person typed, from what Slack makes of it:
// https://docs.slack.dev/messaging/formatting-message-text. Links and mentions
// come in angle brackets, and a line that was copied from a card may come as
// code.
func typedText(s string) string {
	var b strings.Builder
	for s != "" {
		before, rest, found := strings.Cut(s, "<")
		b.WriteString(unescape(before))
		if !found {
			break
		}
		inside, after, closed := strings.Cut(rest, ">")
		if !closed {
			b.WriteString("<" + unescape(rest))
			break
		}
		b.WriteString(unescape(linkText(inside)))
		s = after
	}
	return strings.TrimSpace(strings.Trim(strings.TrimSpace(b.String()), "`"))
}

// linkText is the text between angle brackets as it was typed.
func linkText(s string) string {
	target, label, labelled := strings.Cut(s, "|")
	sign := ""
	if target != "" && strings.ContainsRune("@#!", rune(target[0])) {
		sign, target = target[:1], target[1:]
	}
	if labelled && label != "" {
		return sign + label
	}
	return sign + target
}

var entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

func unescape(s string) string { return entities.Replace(s) }
