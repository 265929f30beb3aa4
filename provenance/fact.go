package provenance

import (
	"github.com/openclaw-verifier/verifier/taint"
)

// What is a sort of fact.
type What string

// The sorts of facts.
const (
	Began    What = "began"    // whose turn it is
	Held     What = "held"     // something stood in the context
	Asked    What = "asked"    // the model was called
	Answered What = "answered" // and has answered: what that took
	Wanted   What = "wanted"   // the model wanted a call that was taken out
	Called   What = "called"   // a call was decided
	Returned What = "returned" // a tool gave its answer
	Blocked  What = "blocked"  // the turn was blocked
	Said     What = "said"     // the response is out
	Ended    What = "ended"    // the turn is over
	Dropped  What = "dropped"  // there was more before than is kept
)

// Happened reports whether it is of something in the turn, not of the turn.
func (f Fact) Happened() bool { return f.What != Began && f.What != Ended && f.What != Dropped }

// MaxFacts is how many facts of a turn are kept.
const MaxFacts = 500

// Fact is one thing that was seen of a turn. Members that do not apply are zero.
type Fact struct {
	What      What        `json:"w"`
	At        int64       `json:"t"`          // Unix milliseconds
	Number    int         `json:"q,omitzero"` // tells it from others of the same moment
	Level     taint.Level `json:"l"`          // what it is worth; of a call, the level it met
	Start     taint.Level `json:"z,omitzero"` // of a call: what its run started at
	Brings    taint.Level `json:"b,omitzero"` // of a call that was allowed: what it brought in
	Kind      Kind        `json:"k,omitzero"` // of what stood in the context
	Tool      string      `json:"o,omitzero"`
	Sent      string      `json:"-"`          // the tool's name as it was sent, where it is another
	ID        string      `json:"i,omitzero"` // of a call, as the runtime names it
	Iteration *int        `json:"n,omitzero"`
	Hash      string      `json:"h,omitzero"`
	Allowed   bool        `json:"a,omitzero"`
	Tainted   bool        `json:"x,omitzero"` // of a call that was blocked: at a better level it would not have been
	Reason    string      `json:"r,omitzero"`
	Session   string      `json:"s,omitzero"`
	Agent     string      `json:"g,omitzero"`
	Run       string      `json:"u,omitzero"`
	Metadata
}
