package policy

import (
	"time"

	"github.com/openclaw-verifier/verifier/internal/lineage"
	"github.com/openclaw-verifier/verifier/taint"
)

// View is what a call is judged on: its conversation as it is at that moment.
type View struct {
	Now    time.Time
	Level  taint.Level // before the call
	Cause  Cause       // what made the level what it is
	Lost   bool        // the store has lost what it knew: the level is a guess, the worst
	Secret string      // what was read here that holds secrets; empty: nothing was
	Seen   bool        // a person has seen all that was written into the workspace
	Mark   string      // where not: by which name the owner says that they have looked; empty: not known
	Capped bool        // the run has used up its calls
	Halted bool        // and a person, or its runtime, has ended it

	Bears   bool            // the call itself holds something that looks like a secret
	Origins lineage.Origins // where its arguments came from; nil: not known
	// not all of the call could be compared with what the conversation read where secrets are kept
	Unread bool
}

// Cause is what last made a conversation worse.
type Cause struct {
	What  string
	Level taint.Level
	At    time.Time
}
