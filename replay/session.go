// Package replay drives the decision with recorded sessions: what would the owner
// have been asked, and what would have passed without them?
//
// A recorded session is what a user said and the calls that an agent then made,
// with those marked that served someone else. Each is played through the same
// [verifier.Verifier] that serves, on a store of its own, with a simulated owner
// at the desk who allows what is not marked and denies what is. Only that owner
// reads the marks: no rule can see them.
//
// It judges nothing itself, keeps nothing, and refuses to report on a run in
// which a decision failed for another reason than the policy.
package replay

import (
	"github.com/go-json-experiment/json/jsontext"
)

// Session is one recorded session.
type Session struct {
	ID      string   `json:"id"`
	User    []string `json:"user"`
	Attack  bool     `json:"attack"`  // something was planted in what tools returned
	Utility bool     `json:"utility"` // the user's task was done
	Calls   []Call   `json:"calls"`
}

// Call is one recorded call.
type Call struct {
	Tool      string         `json:"tool"`
	Params    jsontext.Value `json:"params"`
	Iteration int            `json:"iteration"`
	Injected  bool           `json:"injected"` // it serves the planted goal
}

// Benign reports whether it is one that should go on undisturbed.
func (s *Session) Benign() bool { return !s.Attack && s.Utility }
