package discordtest

import (
	"net/http"
	"time"
)

// callback is the first answer to an interaction.
func (s *Server) callback(r *http.Request) (any, *refusal) {
	var b struct {
		Type int   `json:"type"`
		Data *body `json:"data"`
	}
	files, err := read(r, &b)
	if err != nil {
		return nil, err
	}
	if b.Data == nil {
		b.Data = &body{}
	}
	b.Data.files = files
	s.Lock()
	defer s.Unlock()
	i := s.interactions[r.PathValue("interaction")]
	switch {
	case i == nil || i.token != r.PathValue("token") || time.Since(i.began) > Deadline:
		return nil, &refusal{http.StatusNotFound, 10062, "Unknown interaction"}
	case i.kind != 0:
		return nil, &refusal{http.StatusBadRequest, 40060, "Interaction has already been acknowledged."}
	}
	if err := s.answer(i, b.Type, b.Data); err != nil {
		return nil, err
	}
	i.kind, i.later = b.Type, b.Type == answerLater
	s.Change()
	return nil, nil
}

// answer does what the first answer says. The lock is held.
func (s *Server) answer(i *interaction, kind int, b *body) *refusal {
	switch kind {
	case answerMessage:
		_, err := s.original(i, b)
		return err
	case answerInPlace:
		m := s.find(i.channel, i.message)
		if m == nil {
			return &refusal{http.StatusNotFound, 10008, "Unknown Message"}
		}
		i.original = m.ID
		return m.fill(b)
	case answerLater, answerNothing:
		return nil
	}
	return invalid("type")
}

// original makes the message that answers an interaction. The lock is held.
func (s *Server) original(i *interaction, b *body) (*Message, *refusal) {
	m := &Message{Channel: i.channel}
	if err := m.fill(b); err != nil {
		return nil, err
	}
	if m.Flags&Ephemeral != 0 || i.later {
		m.Only, m.Flags = i.who.ID, m.Flags|Ephemeral
	}
	m.ID = s.id()
	i.original = m.ID
	s.messages = append(s.messages, m)
	return m, nil
}

// byToken is the interaction that a call is about. The lock is held.
func (s *Server) byToken(r *http.Request) *interaction {
	for _, i := range s.interactions {
		if i.token == r.PathValue("token") && r.PathValue("message") == "@original" && r.PathValue("app") == BotID && i.kind != 0 {
			return i
		}
	}
	return nil
}

func (s *Server) editOriginal(r *http.Request) (any, *refusal) {
	var b body
	var err *refusal
	if b.files, err = read(r, &b); err != nil {
		return nil, err
	}
	s.Lock()
	defer s.Unlock()
	i := s.byToken(r)
	if i == nil {
		return nil, &refusal{http.StatusNotFound, 10015, "Unknown Webhook"}
	}
	m := s.find(i.channel, i.original)
	if m == nil {
		m, err = s.original(i, &b)
	} else {
		err = m.fill(&b)
	}
	if err != nil {
		return nil, err
	}
	s.Change()
	return s.show(m), nil
}

func (s *Server) deleteOriginal(r *http.Request) (any, *refusal) {
	s.Lock()
	defer s.Unlock()
	i := s.byToken(r)
	if i == nil {
		return nil, &refusal{http.StatusNotFound, 10015, "Unknown Webhook"}
	}
	i.kind = answerNothing
	s.Change()
	return nil, nil
}
