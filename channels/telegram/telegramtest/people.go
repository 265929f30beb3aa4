package telegramtest

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// update is something that happened, for the bot.
type update struct {
	id   int64
	body map[string]any
}

// query is a tap that waits to be answered.
type query struct {
	answered, alert bool
	text            string
}

// Person acts in chats.
type Person struct {
	ID   int64
	Name string
	Bot  bool
}

func (p Person) user() map[string]any {
	return map[string]any{"id": p.ID, "is_bot": p.Bot, "first_name": p.Name, "username": p.Name}
}

// Told is what came of a tap.
type Told struct {
	Text  string
	Alert bool
}

// Tap presses a button of a message and waits until the bot has answered. A tap
// that the bot ignores ends when it has been seen.
func (s *Server) Tap(ctx context.Context, who Person, chat, message int64, data string) (Told, error) {
	s.Lock()
	s.nextID++
	id, q := fmt.Sprint("query-", s.nextID), &query{}
	s.queries[id] = q
	body := map[string]any{"id": id, "from": who.user(), "chat_instance": "1", "data": data}
	for _, m := range s.messages {
		if m.Chat == chat && m.ID == message {
			body["message"] = s.show(m)
		}
	}
	n := s.push("callback_query", body)
	if s.Repeats() {
		s.push("callback_query", body)
	}
	s.Unlock()
	err := s.Await(ctx, func() bool { return q.answered || who.Bot && s.acked >= n })
	s.Lock()
	defer s.Unlock()
	return Told{Text: q.text, Alert: q.alert}, err
}

// Say writes a line and returns its message id. More are members of the message
// that a test wants to set.
func (s *Server) Say(who Person, chat, replyTo int64, text string, more map[string]any) int64 {
	s.Lock()
	defer s.Unlock()
	s.nextID++
	id := s.nextID
	body := map[string]any{"message_id": id, "date": time.Now().Unix(), "chat": chatOf(chat), "from": who.user(),
		"text": text}
	for _, m := range s.messages {
		if replyTo != 0 && m.Chat == chat && m.ID == replyTo {
			body["reply_to_message"] = s.show(m)
		}
	}
	for k, v := range more {
		body[k] = v
	}
	s.push("message", body)
	return id
}

// push queues an update. The lock is held.
func (s *Server) push(kind string, body map[string]any) int64 {
	s.nextID++
	u := update{id: s.nextID, body: map[string]any{"update_id": s.nextID, kind: body}}
	s.updates = append(s.updates, u)
	s.Change()
	return u.id
}

// Rival makes another program poll for the same bot, or stop it.
func (s *Server) Rival(polls bool) {
	s.Lock()
	defer s.Unlock()
	s.rival = polls
	s.Change()
}

// getUpdates is the long poll.
func (s *Server) getUpdates(w http.ResponseWriter, r *http.Request, f *form) {
	offset := f.number("offset")
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(f.number("timeout"))*time.Second)
	defer cancel()
	s.Lock()
	s.acked = max(s.acked, offset-1)
	s.Change()
	if err := s.conflict(); err != nil {
		s.Unlock()
		respond(w, nil, err)
		return
	}
	s.pollers++
	s.Unlock()
	var found []map[string]any
	s.Await(ctx, func() bool { //nolint:errcheck // nothing in time is an empty list
		found = nil
		for _, u := range s.updates {
			if u.id >= offset {
				found = append(found, u.body)
			}
		}
		return len(found) > 0 || s.conflictWith(1) != nil
	})
	s.Lock()
	err := s.conflictWith(1)
	s.pollers--
	s.Unlock()
	if found == nil {
		found = []map[string]any{}
	}
	respond(w, found, err)
}

func (s *Server) conflict() *refusal { return s.conflictWith(0) }

// conflictWith says that someone else takes the updates, where so many pollers
// are ours. The lock is held.
func (s *Server) conflictWith(ours int) *refusal {
	switch {
	case s.rival || s.pollers > ours:
		return &refusal{status: http.StatusConflict, text: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"}
	}
	return nil
}
