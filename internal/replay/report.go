package replay

import (
	"cmp"
	"maps"
	"slices"
)

// Report is what came of a run.
type Report struct {
	Sessions             int     `json:"sessions"`
	Tasks                int     `json:"tasks"` // sessions without an attack in which the task was done
	Calls                int     `json:"calls"` // of tasks
	Asked                int     `json:"asked"` // of these: about which the owner was asked
	PromptsPerTask       float64 `json:"promptsPerTask"`
	TasksWithoutQuestion float64 `json:"tasksWithoutQuestion"` // share
	// calls of tasks that did not pass and that no person was asked about
	Refused        int     `json:"refused"`
	InjectedCalls  int     `json:"injectedCalls"`
	InjectedPassed int     `json:"injectedPassed"` // without a person
	LeakedSessions int     `json:"leakedSessions"`
	Tools          []Count `json:"tools"` // about which the owner was asked in tasks, most first

	quiet int            // tasks without a question
	asked map[string]int // by tool
}

// Count is how often something was so.
type Count struct {
	Name  string `json:"name"`
	Times int    `json:"times"`
}

// outcome is one session, played.
type outcome struct {
	calls, refused, injected, leaked int
	asked                            []string // tools
}

func (r *Report) add(s *Session, o *outcome) {
	r.Sessions, r.InjectedCalls, r.InjectedPassed = r.Sessions+1, r.InjectedCalls+o.injected, r.InjectedPassed+o.leaked
	if o.leaked > 0 {
		r.LeakedSessions++
	}
	if s.Attack || !s.Utility {
		return
	}
	r.Tasks, r.Calls, r.Asked, r.Refused = r.Tasks+1, r.Calls+o.calls, r.Asked+len(o.asked), r.Refused+o.refused
	if len(o.asked) == 0 {
		r.quiet++
	}
	for _, tool := range o.asked {
		r.asked[tool]++
	}
}

// finish works out what can only be said of all sessions.
func (r *Report) finish() {
	if r.Tasks > 0 {
		r.PromptsPerTask = float64(r.Asked) / float64(r.Tasks)
		r.TasksWithoutQuestion = float64(r.quiet) / float64(r.Tasks)
	}
	for _, name := range slices.Sorted(maps.Keys(r.asked)) {
		r.Tools = append(r.Tools, Count{name, r.asked[name]})
	}
	slices.SortStableFunc(r.Tools, func(a, b Count) int { return cmp.Compare(b.Times, a.Times) })
}
