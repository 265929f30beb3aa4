package approval

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/toolcall"
)

// Terminal is the way to ask that needs no chat: people look at what waits by
// themselves.
const Terminal = "terminal"

// Route says where questions of a kind go, who may answer them, how many must
// agree, and where they go next without an answer. What it leaves out is anything.
type Route struct {
	// Tools, Agents and Rules are what it is for: all that are named must fit.
	Tools  []string `yaml:"tools"`
	Agents []string `yaml:"agents"`
	Rules  []string `yaml:"rules"`
	// Channels are where it is put first. Nil means all of them.
	Channels []string `yaml:"channels"`
	// Approvers may answer, by name. Nil means every approver.
	Approvers []string `yaml:"approvers"`
	// Approvals is how many of them must allow it. 0 means the general number.
	Approvals int `yaml:"approvals"`
	// Escalate is where it goes if it still waits.
	Escalate []Escalation `yaml:"escalate"`
}

// Escalation is the next step of a question without an answer.
type Escalation struct {
	// After is how long it has waited by then, counted from the start.
	After time.Duration `yaml:"after"`
	// Channels are where it is put in addition.
	Channels []string `yaml:"channels"`
	// Approvers may answer it too; from the start, for a step says whom to
	// disturb and not whom to trust.
	Approvers []string `yaml:"approvers"`
}

// Stage is where a question is put, and from when on. It is sealed with it.
type Stage struct {
	From     time.Time `json:"from"`
	Channels []string  `json:"channels,omitzero"` // empty: all
}

// fits reports whether a route is for a question, whatever agent asks.
func (r *Route) fits(a *Ask) bool {
	is := func(name string) bool { return toolcall.Canonical(name) == a.Tool }
	return (r.Tools == nil || slices.ContainsFunc(r.Tools, is)) && (r.Rules == nil || slices.Contains(r.Rules, a.Rule))
}

// isFor reports whether a route is for an agent. Ids are compared without case.
func (r *Route) isFor(agent string) bool {
	return r.Agents == nil || slices.ContainsFunc(r.Agents, func(id string) bool { return strings.EqualFold(id, agent) })
}

// route is the first that fits. A call that names no agent could be any agent's:
// of all that fit it gets the one that asks for most people, so that leaving the
// field out sheds nothing.
func (t *terms) route(a *Ask) *Route {
	var found *Route
	for i := range t.Routes {
		r := &t.Routes[i]
		switch {
		case !r.fits(a):
			continue
		case a.Agent != "" && r.isFor(a.Agent):
			return r
		case a.Agent == "" && (found == nil || t.quorum(r) > t.quorum(found)):
			found = r
		}
		if a.Agent == "" && r.Agents == nil {
			return found // whatever comes after is never reached
		}
	}
	if found != nil && t.quorum(found) >= t.Approvals {
		return found
	}
	return &Route{}
}

func (t *terms) quorum(r *Route) int {
	return cmp.Or(r.Approvals, t.Approvals)
}

// bind fixes in a question what its route says: the seal over it keeps anyone
// who writes to the store from asking fewer people, or others.
func (t *terms) bind(a *Ask) {
	r := t.route(a)
	a.Approvals, a.Approvers = t.quorum(r), slices.Clone(r.Approvers)
	a.Stages = []Stage{{From: a.Created, Channels: r.Channels}}
	for _, e := range r.Escalate {
		a.Stages = append(a.Stages, Stage{From: a.Created.Add(e.After), Channels: e.Channels})
		for _, name := range e.Approvers {
			if !slices.Contains(a.Approvers, name) {
				a.Approvers = append(a.Approvers, name)
			}
		}
	}
	t.bindRequester(a)
	if t.stepsUp(a) {
		a.StepUp, a.Lasting, a.Like, a.Targets = true, false, "", nil
	}
}

// bindRequester says on the card who started the run, and keeps them from
// allowing it where the owner wants two pairs of eyes. All that is known of them
// is what the client attests.
func (t *terms) bindRequester(a *Ask) {
	for _, id := range a.Senders {
		name := t.people[id]
		if name == "" {
			continue
		}
		a.Started += fmt.Sprintf(" (%s, %s)", name, id)
		if t.RequesterMayApprove != nil && !*t.RequesterMayApprove {
			a.Barred = name
		}
		return
	}
	if len(a.Senders) > 0 {
		a.Started += a.stranger(a.Senders[0])
	}
}

// stranger is somebody unknown as a card may name them. Both parts are the
// client's words: what is no name of a platform is not repeated.
func (a *Ask) stranger(id string) string {
	platform, who, _ := strings.Cut(id, ":")
	if platform == "" || len(platform) > 20 || strings.Trim(platform, "abcdefghijklmnopqrstuvwxyz-_") != "" {
		return ""
	}
	return " (" + platform + ":" + a.Name(who) + ")"
}

// sameRoute reports whether two questions go the same way, so that they can
// share a card.
func sameRoute(a, b *Ask) bool {
	if a.Approvals != b.Approvals || !slices.Equal(a.Approvers, b.Approvers) {
		return false
	}
	return slices.EqualFunc(a.Stages, b.Stages, func(x, y Stage) bool {
		return slices.Equal(x.Channels, y.Channels) && x.From.Sub(a.Created) == y.From.Sub(b.Created)
	})
}

// admits reports whether a person is among those who may answer.
func (a *Ask) admits(person string) bool {
	return len(a.Approvers) == 0 || slices.Contains(a.Approvers, person)
}

// bars reports whether a person's answer may not count, and tells them why. Who
// asked may still say no.
func (a *Ask) bars(person string, allow bool) (why string, barred bool) {
	switch {
	case !a.admits(person):
		return fmt.Sprintf("%s, you may not answer this question about %s. It goes to %s.", person, quote(a.Tool), strings.Join(a.Approvers, peopleBetween)), true
	case allow && person == a.Barred:
		return fmt.Sprintf("%s, you started this run, so someone else has to allow what it does. You may deny it.", person), true
	}
	return "", false
}

// enough reports whether as many people are listed as the question needs.
func (t *terms) enough(a *Ask) bool {
	able := make(map[string]bool)
	for _, name := range t.people {
		if _, barred := a.bars(name, true); !barred {
			able[name] = true
		}
	}
	return len(able) >= max(a.Approvals, 1)
}

// escalates reports whether any question may have more than one stage.
func (t *terms) escalates() bool {
	return slices.ContainsFunc(t.Routes, func(r Route) bool { return len(r.Escalate) > 0 })
}

// stages of a card are those of its questions, which all go one way.
func (c *Card) stages() []Stage {
	if len(c.Questions) == 0 {
		return nil
	}
	return c.Questions[0].Ask.Stages
}
