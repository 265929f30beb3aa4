package telegramtest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
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

// webhook is where updates go instead of to a poller.
type webhook struct {
	url, secret string
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
	body := map[string]any{"message_id": id, "date": 1_700_000_000, "chat": chatOf(chat), "from": who.user(), "text": text}
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
	if s.webhook.url != "" {
		go s.post(s.webhook, u)
	}
	return u.id
}

// post delivers an update to the webhook, again until it is taken, as Telegram
// does; after a while it gives up.
func (s *Server) post(to webhook, u update) {
	body, err := json.Marshal(u.body)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if Post(ctx, to.url, to.secret, body) == http.StatusOK {
			s.ack(u.id)
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (s *Server) ack(id int64) {
	s.Lock()
	defer s.Unlock()
	s.acked = max(s.acked, id)
	s.Change()
}

// Post sends bytes to a webhook with a secret token, and gives the status; 0 if
// there was none.
func Post(ctx context.Context, url, secret string, body []byte) int {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0
	}
	req.Close = true
	req.Header.Set("Content-Type", "application/json")
	if secret != "" {
		req.Header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	return res.StatusCode
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
	case s.webhook.url != "":
		return &refusal{status: http.StatusConflict, text: "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"}
	case s.rival || s.pollers > ours:
		return &refusal{status: http.StatusConflict, text: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"}
	}
	return nil
}

func (s *Server) setWebhook(f *form) (any, *refusal) {
	s.Lock()
	defer s.Unlock()
	s.webhook = webhook{url: f.text("url"), secret: f.text("secret_token")}
	if f.text("drop_pending_updates") == "true" {
		s.updates = nil
	}
	for _, u := range s.updates {
		if u.id > s.acked {
			go s.post(s.webhook, u)
		}
	}
	s.Change()
	return true, nil
}

func (s *Server) deleteWebhook(f *form) (any, *refusal) {
	s.Lock()
	defer s.Unlock()
	s.webhook = webhook{}
	if f.text("drop_pending_updates") == "true" {
		s.updates = nil
	}
	s.Change()
	return true, nil
}

func (s *Server) getWebhookInfo(*form) (any, *refusal) {
	s.Lock()
	defer s.Unlock()
	return map[string]any{"url": s.webhook.url, "has_custom_certificate": false, "pending_update_count": 0}, nil
}
