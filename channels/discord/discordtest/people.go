package discordtest

import (
	"context"
	"strings"
	"time"
)

// Deadline is how long Discord waits for the answer to an interaction.
const Deadline = 3 * time.Second

// Kinds of interactions and of answers to them.
const (
	tapped = 3

	answerMessage = 4
	answerLater   = 5
	answerNothing = 6
	answerInPlace = 7
)

// Person acts on Discord.
type Person struct {
	ID   string
	Name string
	Bot  bool
}

func (p Person) user() map[string]any {
	return map[string]any{"id": p.ID, "username": p.Name, "global_name": p.Name, "discriminator": "0", "bot": p.Bot}
}

// Told is what came of a tap.
type Told struct {
	ID     string // of the interaction
	Failed bool   // "This interaction failed"
	Later  bool   // the person was told to wait first
	Text   string // what the person alone was told, as markup
}

// interaction is something a person did that waits to be answered.
type interaction struct {
	id, token string
	who       Person
	channel   string
	message   string // that was tapped
	began     time.Time

	kind     int // of the answer; 0: none yet
	later    bool
	original string // the message that answers it
}

// Tap presses a button and waits for what comes of it.
func (s *Server) Tap(ctx context.Context, who Person, channel, message, customID string) (Told, error) {
	return s.act(ctx, who, channel, message, tapped, map[string]any{"custom_id": customID, "component_type": 2})
}

func (s *Server) act(ctx context.Context, who Person, channel, message string, kind int, data map[string]any) (Told, error) {
	i, err := s.begin(ctx, who, channel, message, kind, data)
	if err != nil {
		return Told{}, err
	}
	wait, cancel := context.WithTimeout(ctx, time.Until(i.began.Add(Deadline)))
	defer cancel()
	if s.Await(wait, func() bool { return i.kind != 0 }) != nil {
		return Told{ID: i.id, Failed: true}, ctx.Err()
	}
	err = s.Await(ctx, func() bool { return i.kind != answerLater || i.original != "" })
	s.Lock()
	defer s.Unlock()
	told := Told{ID: i.id, Later: i.later}
	if m := s.find(i.channel, i.original); m != nil {
		told.Text = m.Content
	}
	return told, err
}

// begin makes an interaction and delivers it.
func (s *Server) begin(ctx context.Context, who Person, channel, message string, kind int, data map[string]any) (*interaction, error) {
	if err := s.Await(ctx, s.listening); err != nil {
		return nil, err
	}
	s.Lock()
	defer s.Unlock()
	i, event := s.interaction(who, channel, message, kind, data)
	s.broadcast("INTERACTION_CREATE", 0, event)
	if s.Repeats() {
		s.broadcast("INTERACTION_CREATE", 0, event)
	}
	return i, nil
}

// interaction makes an interaction, and what Discord tells of it. The lock is
// held.
func (s *Server) interaction(who Person, channel, message string, kind int, data map[string]any) (*interaction, map[string]any) {
	i := &interaction{id: s.id(), token: "interaction-token-" + s.id(), who: who, channel: channel, message: message, began: time.Now()}
	s.interactions[i.id] = i
	event := map[string]any{
		"id": i.id, "application_id": BotID, "type": kind, "token": i.token, "version": 1, "channel_id": channel, "data": data,
		"app_permissions": "0", "locale": "en-US", "entitlements": []any{}, "authorizing_integration_owners": map[string]any{"0": GuildID},
	}
	if isDirect(channel) {
		event["user"], event["context"] = who.user(), 1
	} else {
		event["guild_id"], event["context"] = GuildID, 0
		event["member"] = map[string]any{"user": who.user(), "roles": []any{}, "permissions": "0", "joined_at": "2026-03-14T22:12:05.000000+00:00"}
	}
	if m := s.find(channel, message); m != nil {
		event["message"] = s.show(m)
	}
	return i, event
}

// Waits reports whether someone was told to wait and has not got an answer yet.
func (s *Server) Waits() bool {
	s.Lock()
	defer s.Unlock()
	for _, i := range s.interactions {
		if i.kind == answerLater && i.original == "" {
			return true
		}
	}
	return false
}

// Ready waits until the bot is connected to the gateway.
func (s *Server) Ready(ctx context.Context) error { return s.Await(ctx, s.listening) }

// Say writes a line and returns its id. In a channel the bot reads it only where
// it is mentioned, which a reply does. More are members of the message that a
// test wants to set.
func (s *Server) Say(who Person, channel, replyTo, text string, more map[string]any) string {
	s.Lock()
	defer s.Unlock()
	id, intent := s.id(), directMessages
	m := map[string]any{
		"id": id, "channel_id": channel, "content": text, "author": who.user(), "type": 0,
		"timestamp":   time.Now().UTC().Format(time.RFC3339),
		"attachments": []any{}, "embeds": []any{}, "mentions": []any{}, "components": []any{}, "flags": 0,
	}
	to := s.find(channel, replyTo)
	if to != nil {
		m["type"], m["referenced_message"], m["mentions"] = 19, s.show(to), []any{botUser()}
		m["message_reference"] = map[string]any{"type": 0, "message_id": to.ID, "channel_id": channel}
	}
	if !isDirect(channel) {
		intent, m["guild_id"] = guildMessages, GuildID
		if to == nil && !strings.Contains(text, "<@"+BotID+">") {
			m["content"] = ""
		}
	}
	for k, v := range more {
		m[k] = v
	}
	s.broadcast("MESSAGE_CREATE", intent, m)
	return id
}
