package storetest

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
)

// braked reports that the pauses are not what a brake says, and gives them.
func (m *Model) braked(b session.Brake) (stand [2]string, differ bool) {
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

// Pauses implements approval.Store.
func (m *Model) Pauses(context.Context) (map[string]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.pauses), nil
}

// Spend implements approval.Store.
func (m *Model) Spend(_ context.Context, agent string, most int, window time.Duration) (approval.Spending, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.Now()
	asked := slices.DeleteFunc(m.asked[agent], func(at time.Time) bool { return !now.Before(at.Add(window)) })
	m.asked[agent] = asked
	if len(asked) < most {
		m.asked[agent] = append(asked, now)
		return approval.Spending{OK: true}, nil
	}
	out := approval.Spending{Room: now.Add(window)}
	if most > 0 {
		out.Room = asked[len(asked)-most].Add(window)
	}
	if told, ever := m.told[agent]; !ever || !now.Before(told.Add(window)) {
		m.told[agent], out.First = now, true
	}
	return out, nil
}

// Refund implements approval.Store.
func (m *Model) Refund(_ context.Context, agent string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := len(m.asked[agent]); n > 0 {
		m.asked[agent] = m.asked[agent][:n-1]
	}
	return nil
}

// Forgive implements approval.Store.
func (m *Model) Forgive(_ context.Context, agents ...string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(agents) == 0 {
		clear(m.asked)
		clear(m.told)
	}
	for _, agent := range agents {
		delete(m.asked, agent)
		delete(m.told, agent)
	}
	return nil
}
