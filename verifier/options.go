package verifier

import (
	"context"
	"log/slog"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/intent"
	"github.com/openclaw-verifier/verifier/internal/lineage"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/session"
)

// Recorder keeps the record: Append returns once the entry is written.
type Recorder interface {
	Append(e record.Entry) error
}

// Desk asks people.
type Desk interface {
	// Ask puts a call to people and waits for what they say.
	Ask(ctx context.Context, r *approval.Request) (approval.Ruling, error)
	// MarkUsed says that a request has taken the yes of a card.
	MarkUsed(card, digest, request string)
	// UsedUp reports whether people have allowed a call on a card, and a request has used that yes.
	UsedUp(ctx context.Context, card, digest string) bool
	// Abandon takes back the open questions of a session that has ended, and the yeses
	// from before that no call has used.
	Abandon(ctx context.Context, e approval.Ending) error
	// AnsweredElsewhere closes a question that was answered at the agent's own terminal, or is out of date.
	AnsweredElsewhere(ctx context.Context, client, ticket string, why approval.Elsewhere) error
	// Tell shows a notice to everyone who may approve.
	Tell(ctx context.Context, text string)
}

// Pauses are the owner's.
type Pauses interface {
	// View is what is known of the pauses that bind a call of an agent, and
	// Changed takes note of what the store holds instead.
	View(agent string) session.PauseView
	Changed(ctx context.Context, seen session.PauseView, stored [2]string) error
}

// Grants let calls pass without a question for a while.
type Grants interface {
	// Covers reports whether a grant of these people still covers a call.
	Covers(by string, a approval.Ask) bool
}

// Consents are the standing ones.
type Consents interface {
	// Active are those that people have given and not ended.
	Active(ctx context.Context) ([]session.Grant, error)
}

// Settings are what the owner may change while calls are being decided.
type Settings struct {
	Hold    time.Duration // how long a call is held for a person unless the caller says; 0 means 25 s
	MaxHold time.Duration // the longest it is held; 0 means 590 s
	Keep    time.Duration // how long a request is remembered; 0 means what a 5 min tolerance needs
	Names   bool          // record only the names of params

}

// Options are what a Verifier needs.
type Options struct {
	Policy    func() *policy.Policy   // the policy now; one call sees one policy
	Redactor  func() *redact.Redactor // of the record, the log and all that is kept: it hides file bodies
	Cards     func() *redact.Redactor // the same, but it may show file bodies: what people read; nil means Redactor
	Bodies    func() *redact.Redactor // the same, but it shows file bodies: what the auditor reads; nil means Redactor
	Store     Store
	StoreWait time.Duration // how long a step of a decision waits for the store; 0 means 400 ms
	Record    Recorder
	Desk      Desk
	Pauses    Pauses
	Grants    Grants
	Consents  Consents
	Visible   func(*approval.Ask) bool          // a person sees all of it; what they don't see gets no lasting grant
	Lineage   func(client string) []lineage.Key // under which a client fingerprints; nil: where arguments came from is unknown
	Key       hmac.Key                          // the server key
	Alone     bool                              // no other process shares the store: what was read of new beginnings need not be read again
	Settings  func() Settings                   // those in force now; nil means the defaults
	Auditor   func() *intent.Auditor            // the second model in force now; nil: there is none
	Log       *slog.Logger                      // nil discards
	Observe   func(Observation)                 // called for every decision; may be nil
	Used      func(loop.Tokens, time.Duration)  // called with what each call of the model took; may be nil
}

// Observation is a decision in words that can be counted: each member has few
// values.
type Observation struct {
	Allow  bool
	By     string // the rule, a grant, a person; or why not
	Mode   string
	Class  string // of the tool
	Level  string
	Took   time.Duration
	Waited time.Duration // for a person
	Fault  string        // the part that failed, if one did: store or record
}
