package storetest

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/openclaw-verifier/verifier/session"
)

func drawScope(t *rapid.T) string {
	return rapid.SampledFrom([]string{session.AllAgents, "main", "other", session.NoAgent}).Draw(t, "scope")
}

// pause is rare, or hardly any call would pass.
func (m *machine) pause(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "now") > 0 {
		t.Skip("not now")
	}
	scope, word := drawScope(t), fmt.Sprint("word", rapid.IntRange(0, 3).Draw(t, "word"))
	if rapid.Bool().Draw(t, "restore") {
		found := fmt.Sprint("word", rapid.IntRange(0, 3).Draw(t, "found"))
		m.same(t, "restore a pause", nil, nil, m.Store.RestorePause(m.ctx, scope, found, word), m.model.RestorePause(m.ctx, scope, found, word))
	} else {
		m.same(t, "pause", nil, nil, m.Store.Pause(m.ctx, scope, word), m.model.Pause(m.ctx, scope, word))
	}
	m.lookAtPauses(t)
}

func (m *machine) lookAtPauses(t *rapid.T) {
	got, errGot := m.Store.Pauses(m.ctx)
	want, errWant := m.model.Pauses(m.ctx)
	m.same(t, "pauses", got, want, errGot, errWant)
	m.pauses = want
}

// drawPauses is what a process thinks, which is mostly true.
func (m *machine) drawPauses(t *rapid.T) session.PauseView {
	b := session.PauseView{Agent: drawScope(t), On: rapid.IntRange(0, 4).Draw(t, "paused") == 0}
	if rapid.IntRange(0, 9).Draw(t, "knows better") > 0 {
		m.lookAtPauses(t)
	}
	b.All, b.Own = m.pauses[session.AllAgents], m.pauses[b.Agent]
	return b
}

func (m *machine) spend(t *rapid.T) {
	agent := rapid.SampledFrom([]string{"main", "other", session.NoAgent}).Draw(t, "agent")
	if rapid.IntRange(0, 9).Draw(t, "forgive") == 0 {
		agents := [][]string{nil, {agent}, {agent, "none"}}[rapid.IntRange(0, 2).Draw(t, "whom")]
		m.same(t, "forgive", nil, nil, m.Store.Forgive(m.ctx, agents...), m.model.Forgive(m.ctx, agents...))
	}
	if rapid.IntRange(0, 4).Draw(t, "refund") == 0 {
		m.same(t, "refund", nil, nil, m.Store.Refund(m.ctx, agent), m.model.Refund(m.ctx, agent))
	}
	const window = 5 * time.Minute // the same for all: that is how it is used
	most := rapid.IntRange(0, 4).Draw(t, "most")
	got, errGot := m.Store.Spend(m.ctx, agent, most, window)
	want, errWant := m.model.Spend(m.ctx, agent, most, window)
	m.same(t, "spend", got, want, errGot, errWant)
}
