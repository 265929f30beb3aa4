package verifier

import (
	"time"
)

// Traced is a decision as a trace shows it: when it began, what it waited for and
// how it ended. It holds nothing that the call says.
type Traced struct {
	Observation
	Parent string // the caller's place in a trace, as it was sent
	Ref    string // set when a person was asked
	Began  time.Time
	Ended  time.Time
	Steps  []Step
}

// Step is a part of a decision that waits for something else: the store, people,
// the auditor, further verifiers or the record.
type Step struct {
	Name   string
	Began  time.Time
	Ended  time.Time
	Failed bool
}

// took notes a step that ends now, where decisions are traced.
func (t *evaluation) took(name string, began time.Time, failed bool) {
	if !began.IsZero() {
		t.steps = append(t.steps, Step{name, began, time.Now(), failed})
	}
}
