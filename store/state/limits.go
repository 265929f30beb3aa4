package state

import (
	"slices"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
)

// Lease is who alone may do something.
type Lease struct {
	Owner string `json:"owner"`
	Until int64  `json:"until"` // Unix milliseconds
}

// Questions are when agents asked and were turned away.
type Questions map[string]Asking

// Asking is when one agent did. Times are Unix milliseconds.
type Asking struct {
	Asked  []int64 `json:"asked"` // oldest first
	Turned int64   `json:"turned,omitzero"`
}

// Spend notes one more question of an agent, if it has asked fewer than most within the last window. Agents that have not asked for
// a window are forgotten with that.
func (q Questions) Spend(agent string, most int, window time.Duration, now time.Time) (Questions, approval.Spending) {
	ms, since := now.UnixMilli(), now.Add(-window).UnixMilli()
	out := Questions{}
	for name, a := range q {
		a.Asked = slices.DeleteFunc(slices.Clone(a.Asked), func(at int64) bool { return at <= since })
		if a.Turned <= since {
			a.Turned = 0
		}
		if len(a.Asked) > 0 || a.Turned > 0 {
			out[name] = a
		}
	}
	a, s := out[agent], approval.Spending{Room: now.Add(window)}
	switch {
	case len(a.Asked) < most:
		a.Asked, s = append(a.Asked, ms), approval.Spending{OK: true}
	default:
		if most > 0 {
			s.Room = time.UnixMilli(a.Asked[len(a.Asked)-most]).Add(window)
		}
		if s.First = a.Turned == 0; s.First {
			a.Turned = ms
		}
	}
	out[agent] = a
	return out, s
}

// Refund takes back an agent's last question.
func (q Questions) Refund(agent string) Questions {
	a := q[agent]
	if n := len(a.Asked); n > 0 {
		a.Asked = a.Asked[:n-1]
		return set(q, agent, a)
	}
	return q
}

// Forgive forgets the questions of agents; without any, of all.
func (q Questions) Forgive(agents ...string) Questions {
	out := Questions{}
	for name, a := range q {
		if len(agents) > 0 && !slices.Contains(agents, name) {
			out[name] = a
		}
	}
	return out
}
