// Package verifier decides: a tool call comes in, an explained decision goes out, with a person in between where the
// policy says so.
//
// A call is planned, judged on its conversation inside the commit that would allow it, consented to where the level
// alone doesn't decide, recorded, and only then answered; decide.go reads in that order. Every other way out denies: an
// error, a lost store, a panic, a full disk, a client that has gone. What the runtime tells of its loop comes in by
// [Verifier.Hear], and can only make things stricter.
//
// It refuses to guess. What the store doesn't say is untrusted, what no client attests counts for nothing, and what
// can't be recorded doesn't happen. It keeps no tool output.
package verifier

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/auditor"
	"github.com/openclaw-verifier/verifier/internal/lineage"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/internal/provenance"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/internal/text"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/redact"
)

// Desk asks people, and knows what they have granted.
type Desk interface {
	// Granted finds a grant that covers a call now; nil: there is none.
	Granted(t *store.Tx, a *approval.Ask) *store.Grant
	// Claim takes, in the update that allows the call, a yes that people have given to it. Heard is what Ask said of
	// this very request; nil: it was not asked about, and only a late yes can be there.
	Claim(t *store.Tx, a *approval.Ask, request string, heard *approval.Ruling) (approval.Ruling, bool, error)
	// Ask puts a call to people, or joins the card that asks about it already, and waits for what they say.
	Ask(ctx context.Context, r *approval.Request) (approval.Ruling, error)
	// Abandon takes back the open questions of a session that has ended, and the yeses that no call has used.
	Abandon(ctx context.Context, e approval.Ending) error
	// AnsweredElsewhere closes a question that was answered at the agent's own terminal, or is out of date.
	AnsweredElsewhere(ctx context.Context, client, ticket string, why approval.Elsewhere) error
	// Tell shows a notice to everyone who may approve.
	Tell(ctx context.Context, text string)
}

// Terms are what the owner may change while calls are being decided.
type Terms struct {
	Policy   *policy.Policy
	Redactor *redact.Redactor                  // of the record, the log and all that is kept: it hides file bodies
	Cards    *redact.Redactor                  // of what people read: it may show file bodies
	Bodies   *redact.Redactor                  // of what the auditor reads: it shows file bodies
	Auditor  *auditor.Auditor                  // the second model; nil: there is none
	Lineage  func(client string) []lineage.Key // by which it fingerprints; none: where arguments came from is unknown
	Hold     time.Duration                     // how long a call is held for a person unless the caller says
	MaxHold  time.Duration                     // the longest it is held
	Keep     time.Duration                     // how long a request is remembered
	Names    bool                              // record only the names of params
}

// Options are what a Verifier needs.
type Options struct {
	Terms   func() *Terms // those in force now; what they hold is not changed any more
	Store   *store.Store
	Record  approval.Recorder
	Desk    Desk
	Visible func(*approval.Ask) bool // a card shows all of the call; what it doesn't show gets no lasting grant
	// draws the graph of a turn, for policies that want it in the record; nil: none is drawn
	Graph func(ctx context.Context, turn string) (*provenance.Graph, error)
	Key   hmac.Key     // the server key
	Log   *slog.Logger // nil discards
	// counts a decision, by the entry that the record has of it, the class of the tool, and what it took; may be nil
	Observe func(e *record.Entry, class string, took time.Duration)
}

// Verifier decides calls. It is safe for concurrent use.
type Verifier struct {
	o        Options
	runs     runs
	turns    provenance.Turns
	runtimes runtimes
}

// New makes a Verifier.
func New(o Options) *Verifier {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Verifier{o: o, runtimes: runtimes{all: map[[2]string]Runtime{}}}
}

// Decision is the answer to a call. The zero Decision denies.
type Decision struct {
	Allow  bool
	Reason string // for the agent: no code, no policy detail
	Ref    string // set when a person was asked
	Ticket string // by which the client can learn of a late yes; set where the question is still open
	Params string // what runs, a JSON object, where a person changed the arguments; empty: what was asked about
}

// Verify decides one call, and may wait for people. It returns no error: every error is a deny.
func (v *Verifier) Verify(ctx context.Context, c *protocol.Call) Decision {
	return v.within(ctx, c, false, (*evaluation).decide)
}

// Notice takes in a call that the runtime will not ask about: no person is asked and nothing is denied, but what it
// brings in is raised and recorded before the answer. It goes the way of any call, under a plan that lets it pass.
func (v *Verifier) Notice(ctx context.Context, c *protocol.Call) protocol.Answer {
	if d := v.within(ctx, c, true, (*evaluation).decide); !d.Allow {
		return Refused(protocol.BeforeToolCall, d.Reason)
	}
	return protocol.Answer{Accepted: true}
}

// Reject denies a call that is authentic but can't be judged: malformed, or out of its time. c may hold whatever could
// be read of it.
func (v *Verifier) Reject(ctx context.Context, c *protocol.Call, kind, reason string) Decision {
	return v.within(ctx, c, false, func(e *evaluation, ctx context.Context) Decision {
		return e.refuse(ctx, deny(kind, reason))
	})
}

// within answers a call under the terms that are in force now, even if the config is reloaded meanwhile. A panic is a
// deny.
func (v *Verifier) within(
	ctx context.Context, c *protocol.Call, notice bool, answer func(*evaluation, context.Context) Decision,
) (d Decision) {
	e := &evaluation{v: v, call: c, notice: notice, began: time.Now()}
	defer func() {
		if p := recover(); p != nil {
			v.o.Log.ErrorContext(ctx, "a decision ended in a panic and was denied", "panic", text.Panic(p))
			d = e.crashed(ctx)
		}
	}()
	e.terms = v.o.Terms()
	c.Context.HideKeys(func(sent string) string { return v.key(e.terms, sent) })
	e.id = requestID(c)
	return answer(e, ctx)
}
