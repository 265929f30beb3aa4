package slacktest

import (
	"context"
	"strings"
)

// Person acts in the workspace.
type Person struct {
	ID, Name string
	Bot      bool
	Team     string // "" means ours
}

// NoTeam as a person's team makes Slack say nothing of their workspace.
const NoTeam = "-"

func (p Person) team() string {
	if p.Team != "" {
		return p.Team
	}
	return Team
}

// What Slack calls the kinds of things that happen.
const (
	interactive = "interactive"
	eventsAPI   = "events_api"
)

// Tap presses a button of a message and returns what the person alone reads,
// once the app has shown that it has worked on it. A bot's tap ends when it was
// acknowledged.
func (s *Server) Tap(ctx context.Context, who Person, channel, ts, value string) (told string, err error) {
	s.Lock()
	from := len(s.messages)
	thread := ""
	for _, m := range s.messages {
		if m.Channel == channel && m.TS == ts {
			thread = m.Thread
		}
	}
	s.Unlock()
	container := map[string]any{"type": "message", "channel_id": channel, "message_ts": ts, "is_ephemeral": false}
	if thread != "" {
		container["thread_ts"] = thread
	}
	payload := map[string]any{
		"type": "block_actions", "user": s.user(who), "api_app_id": AppID, "team": map[string]any{"id": Team},
		"container": container, "channel": map[string]any{"id": channel}, "message": map[string]any{"ts": ts},
		"actions": []any{map[string]any{"type": "button", "action_id": s.actionID(ts, value), "block_id": "b", "value": value}},
	}
	err = s.interact(ctx, payload)
	if err == nil && s.Repeats() {
		err = s.interact(ctx, payload)
	}
	if err != nil || who.Bot {
		return "", err
	}
	root := thread
	if root == "" {
		root = ts
	}
	err = s.Await(ctx, func() bool {
		var done bool
		told, done = s.came(who, channel, root, from)
		return done
	})
	return told, err
}

// actionID is the id of the button that carries a value; that of an answer if
// there is none.
func (s *Server) actionID(ts, value string) string {
	for _, m := range s.Messages() {
		blocks, err := blocksOf(m.Blocks)
		if m.TS != ts || err != nil {
			continue
		}
		for _, b := range blocks {
			for _, e := range b.Elements {
				if b.Type == "actions" && e.Value == value {
					return e.ActionID
				}
			}
		}
	}
	return "answer_a"
}

// came is what came of a tap: words for the person alone, or a message with
// buttons in the thread. The lock is held.
func (s *Server) came(who Person, channel, root string, from int) (told string, done bool) {
	for _, m := range s.messages[from:] {
		switch {
		case m.Only == who.ID && m.Channel == channel:
			return Read(m.Blocks).Text, true
		case m.Only == "" && m.Thread == root && len(Read(m.Blocks).Buttons) > 0:
			return "", true
		}
	}
	return "", false
}

func (s *Server) user(who Person) map[string]any {
	out := map[string]any{"id": who.ID, "username": who.Name, "name": who.Name, "team_id": who.team()}
	if who.Team == NoTeam {
		delete(out, "team_id")
	}
	if who.Bot {
		out["is_bot"] = true
	}
	return out
}

// Say writes a line and returns its id. More are members of the event that a
// test wants to set.
func (s *Server) Say(who Person, channel, thread, text string, more map[string]any) string {
	s.Lock()
	defer s.Unlock()
	ts := s.ts()
	s.lines = append(s.lines, line{id: ts, user: who.ID, channel: channel, thread: thread})
	event := map[string]any{
		"type": "message", "user": who.ID, "text": Escape(text), "ts": ts, "event_ts": ts, "channel": channel, "team": who.team(), "channel_type": "channel",
	}
	if strings.HasPrefix(channel, "D") {
		event["channel_type"] = "im"
	}
	if thread != "" {
		event["thread_ts"], event["parent_user_id"] = thread, BotUser
	}
	if who.Bot {
		event["bot_id"], event["app_id"], event["bot_profile"] = "B"+who.ID, "A"+who.ID, map[string]any{"id": "B" + who.ID}
	}
	for k, v := range more {
		event[k] = v
	}
	n := s.notification(event)
	s.wg.Go(func() { s.Notify(s.ctx, n) }) //nolint:errcheck // if it does not arrive the test sees nothing of it
	return ts
}

// notification wraps an event. The lock is held.
func (s *Server) notification(event map[string]any) map[string]any {
	return map[string]any{
		"type": "event_callback", "event_id": s.id("Ev"), "team_id": Team, "api_app_id": AppID, "event": event,
		"authorizations": []any{map[string]any{"team_id": Team, "user_id": BotUser, "is_bot": true}},
	}
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Escape writes a text as Slack passes it on.
func Escape(text string) string { return escaper.Replace(text) }

// Notify passes something on that happened, again until it is taken.
func (s *Server) Notify(ctx context.Context, notification any) error {
	return s.overSocket(ctx, eventsAPI, notification)
}

func (s *Server) interact(ctx context.Context, payload any) error {
	return s.overSocket(ctx, interactive, payload)
}
