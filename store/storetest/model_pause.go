package storetest

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
)

// pausesDiffer reports that the pauses are not what a call says, and gives them.
func (m *Model) pausesDiffer(b session.PauseView) (stand [2]string, differ bool) {
	stand = [2]string{m.pauses[session.AllAgents], m.pauses[b.Agent]}
	return stand, stand != [2]string{b.All, b.Own}
}

// Pause implements approval.Store.
func (m *Model) Pause(_ context.Context, scope, word string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pauses[scope] = word
	for _, woke := range m.wakes {
		woke(approval.PauseWake)
	}
	return nil
}

// RestorePause implements approval.Store.
func (m *Model) RestorePause(ctx context.Context, scope, found, word string) error {
	if now, err := m.Pauses(ctx); err != nil || now[scope] != found {
		return err
	}
	return m.Pause(ctx, scope, word)
}

// Pauses implements approval.Store.
func (m *Model) Pauses(context.Context) (map[string]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.pauses), nil
}

// spending is how many questions agents have asked lately.
type spending struct {
	*clocked
	asked map[string][]time.Time // by agent, oldest first
	told  map[string]time.Time   // by agent: when it was turned away
}

// Spend implements approval.Store.
func (s *spending) Spend(_ context.Context, agent string, most int, window time.Duration) (approval.Spending, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Now()
	asked := slices.DeleteFunc(s.asked[agent], func(at time.Time) bool { return !now.Before(at.Add(window)) })
	s.asked[agent] = asked
	if len(asked) < most {
		s.asked[agent] = append(asked, now)
		return approval.Spending{OK: true}, nil
	}
	out := approval.Spending{Room: now.Add(window)}
	if most > 0 {
		out.Room = asked[len(asked)-most].Add(window)
	}
	if told, ever := s.told[agent]; !ever || !now.Before(told.Add(window)) {
		s.told[agent], out.First = now, true
	}
	return out, nil
}

// Refund implements approval.Store.
func (s *spending) Refund(_ context.Context, agent string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.asked[agent]); n > 0 {
		s.asked[agent] = s.asked[agent][:n-1]
	}
	return nil
}

// Forgive implements approval.Store.
func (s *spending) Forgive(_ context.Context, agents ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(agents) == 0 {
		clear(s.asked)
		clear(s.told)
	}
	for _, agent := range agents {
		delete(s.asked, agent)
		delete(s.told, agent)
	}
	return nil
}
