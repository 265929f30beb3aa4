package slack_test

import (
	"context"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
	"github.com/openclaw-verifier/verifier/channels/slack/slacktest"
)

// hearAcks notes what the app acknowledges.
func (s *standIn) hearAcks(ctx context.Context) {
	for {
		select {
		case raw := <-s.socket.SeenFeed:
			var ack struct {
				ID string `json:"envelope_id"`
			}
			if json.Unmarshal([]byte(raw), &ack) == nil {
				s.mu.Lock()
				s.acked[ack.ID] = true
				s.change()
				s.mu.Unlock()
			}
		case <-ctx.Done():
			return
		}
	}
}

// pass sends something over Socket Mode until it is acknowledged. slacktest may
// give it to a connection that has ended.
func (s *standIn) pass(ctx context.Context, kind string, payload any) error {
	s.mu.Lock()
	s.next++
	id := fmt.Sprint("envelope-", s.next)
	s.mu.Unlock()
	frame, err := json.Marshal(map[string]any{"type": kind, "envelope_id": id, "payload": payload})
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		s.socket.SendToWebsocket(string(frame))
		soon, cancel := context.WithTimeout(ctx, 2*time.Second)
		acked := s.wait(soon, func() bool { return s.acked[id] })
		cancel()
		if acked == nil {
			return nil
		}
	}
	return ctx.Err()
}

// wait waits for something to become true, and asks with the lock.
func (s *standIn) wait(ctx context.Context, is func() bool) error {
	for {
		s.mu.Lock()
		ok, changed := is(), s.changed
		s.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *standIn) user(who channeltest.User) map[string]any {
	return map[string]any{"id": who.ID, "team_id": "T000000001", "is_bot": who.Bot}
}

// Tap implements channeltest.Platform.
func (s *standIn) Tap(t testing.TB, who channeltest.User, m channeltest.Message, b channeltest.Button) string {
	t.Helper()
	thread := ""
	for _, x := range s.all(t.Context()) {
		if x.TS == m.ID {
			thread = x.Thread
		}
	}
	s.mu.Lock()
	from := len(s.private)
	s.mu.Unlock()
	before := s.replies(t.Context())
	container := map[string]any{"channel_id": s.chat, "message_ts": m.ID}
	if thread != "" {
		container["thread_ts"] = thread
	}
	err := s.pass(patience(t), "interactive", map[string]any{
		"type": "block_actions", "user": s.user(who), "container": container,
		"actions": []any{map[string]any{"action_id": "answer_a", "value": b.Data}},
	})
	if err != nil {
		t.Fatalf("the tap was not acknowledged: %v", err)
	}
	if who.Bot {
		return ""
	}
	return s.came(t, who, from, before)
}

// replies counts the messages in threads, those with buttons twice: what is drawn anew may get some, and what comes late may lose them at once.
func (s *standIn) replies(ctx context.Context) (n int) {
	for _, m := range s.all(ctx) {
		if m.Thread == "" {
			continue
		}
		if n++; len(slacktest.Read(m.Blocks).Buttons) > 0 {
			n++
		}
	}
	return n
}

// came waits for what comes of a tap: words for the person alone, or details.
func (s *standIn) came(t testing.TB, who channeltest.User, from, before int) (told string) {
	t.Helper()
	ctx := patience(t)
	for {
		s.mu.Lock()
		changed := s.changed
		for _, m := range s.private[from:] {
			if m.Only == who.ID {
				told = slacktest.Read(m.Blocks).Text
			}
		}
		s.mu.Unlock()
		if told != "" || s.replies(ctx) > before {
			return told
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatal("nothing came of the tap")
		}
	}
}

// Say implements channeltest.Platform. The line is written in emulate too, and
// the app is told of it as it stands there.
func (s *standIn) Say(t testing.TB, who channeltest.User, where channeltest.Place, text string) string {
	t.Helper()
	name := ""
	for n, id := range s.ids {
		if id == who.ID {
			name = n
		}
	}
	event := map[string]any{"type": "message", "user": who.ID, "text": slacktest.Escape(text), "channel": s.chat, "channel_type": "channel", "team": "T000000001"}
	form := url.Values{"channel": {s.chat}, "text": {text}}
	if where.Direct {
		var opened struct{ Channel struct{ ID string } }
		s.method(t, tokenOf(name), "conversations.open", url.Values{"users": {slacktest.BotUser}}, &opened)
		form.Set("channel", opened.Channel.ID)
		event["channel"], event["channel_type"] = opened.Channel.ID, "im"
	} else {
		form.Set("thread_ts", where.ReplyTo)
		event["thread_ts"], event["parent_user_id"] = where.ReplyTo, slacktest.BotUser
	}
	var wrote struct{ TS string }
	s.method(t, tokenOf(name), "chat.postMessage", form, &wrote)
	event["ts"] = wrote.TS
	if who.Bot {
		event["bot_id"] = "B0ROBOT"
	}
	s.mu.Lock()
	s.lines = append(s.lines, said{wrote.TS, who.ID, form.Get("channel"), form.Get("thread_ts")})
	if where.Direct {
		s.direct[name] = form.Get("channel")
	}
	s.change()
	s.mu.Unlock()
	if err := s.pass(patience(t), "events_api", map[string]any{"type": "event_callback", "event_id": "Ev" + wrote.TS, "event": event}); err != nil {
		t.Fatal(err)
	}
	return wrote.TS
}
