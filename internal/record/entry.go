package record

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind says what an entry records.
type Kind string

// The kinds of entries.
const (
	KindBegin      Kind = "begin"      // the first line of a file; written by the log
	KindStart      Kind = "start"      // the process started
	KindStop       Kind = "stop"       // the process stopped in good order
	KindRepair     Kind = "repair"     // the end of the file was not as it should be
	KindDecision   Kind = "decision"   // an answer to a call
	KindAsked      Kind = "asked"      // a card was put before people
	KindAnswer     Kind = "answer"     // a person answered
	KindDelivery   Kind = "delivery"   // a card was sent, or could not be
	KindLock       Kind = "lock"       // a person's typed path was locked
	KindReset      Kind = "reset"      // the owner lowered a level
	KindPause      Kind = "pause"      // an agent was paused, by someone or because it asked too often
	KindResume     Kind = "resume"     // someone lifted that
	KindRevoke     Kind = "revoke"     // someone ended a grant before its time
	KindConsent    Kind = "consent"    // someone gave a standing consent
	KindCheckpoint Kind = "checkpoint" // a signed head; written by the log
	KindEvent      Kind = "event"      // the agent's runtime reported something that changed a level or was refused
	KindGraph      Kind = "graph"      // a turn is over, and this is what it was made of
	KindNote       Kind = "note"       // anything else worth keeping
)

// What a decision can be.
const (
	Allow = "allow"
	Deny  = "deny"
)

// format is the version of the line format, written in the begin line. Files in
// any other are refused.
const format = 3

// Entry is the one record type. Members that do not apply stay zero and are
// not written.
type Entry struct {
	Kind      Kind           `json:"kind"`
	At        time.Time      `json:"at,omitzero"` // zero: the log's clock
	RequestID string         `json:"requestId,omitzero"`
	Ref       string         `json:"ref,omitzero"` // what the agent was told, to find the entry by
	Client    string         `json:"client,omitzero"`
	Session   string         `json:"session,omitzero"` // the session key
	SessionID string         `json:"sessionId,omitzero"`
	Agent     string         `json:"agent,omitzero"`
	Run       string         `json:"run,omitzero"`
	Directory string         `json:"directory,omitzero"` // of a question: where the agent works, as the card shows it
	Tool      string         `json:"tool,omitzero"`
	Sent      string         `json:"sent,omitzero"`              // the name as sent, where it is not Tool
	Params    jsontext.Value `json:"params,omitzero"`            // redacted by the caller
	Hidden    int            `json:"hidden,omitzero"`            // how many values were redacted
	Digest    string         `json:"digest,omitzero"`            // of the call as it was judged
	Asked     string         `json:"asked,omitzero"`             // of a decision: the digest of the call as it was asked about, where a person changed its arguments
	Edited    string         `json:"edited,omitzero"`            // of an answer: the digest of the call that the person made of it
	Started   string         `json:"started,omitzero"`           // who started the run, as far as anyone attests it
	Level     string         `json:"level,omitzero"`             // trust when the call came
	RaisedTo  string         `json:"raisedTo,omitzero"`          // trust after it
	Step      int64          `json:"step,omitzero"`              // the conversation's count of calls
	Source    string         `json:"source,omitzero"`            // what the trust level came from
	Mode      string         `json:"mode,omitzero"`              // allow, confirm or restrict
	Decision  string         `json:"decision,omitzero"`          // Allow or Deny
	By        string         `json:"by,omitzero"`                // what consented: policy, grant, person, scope…; of a question, the rule that asks
	Why       []string       `json:"why,omitzero,omitempty"`     // the explained path, a sentence each
	Origins   []string       `json:"origins,omitzero,omitempty"` // where arguments came from, a sentence each
	Auditor   string         `json:"auditor,omitzero"`           // what the second model said: allow, block or none
	Card      string         `json:"card,omitzero"`              // the card's id, never its code
	Scope     string         `json:"scope,omitzero"`             // once, turn, minutes, all
	People    []Person       `json:"people,omitzero,omitempty"`  // who answered
	WaitedMs  int64          `json:"waitedMs,omitzero"`
	Minutes   int            `json:"minutes,omitzero"` // of a lasting grant
	Reason    string         `json:"reason,omitzero"`  // what the caller was told
	Error     string         `json:"error,omitzero"`   // the category only
	Note      string         `json:"note,omitzero"`
	Replay    bool           `json:"replay,omitzero"` // a decision given again
	Graph     jsontext.Value `json:"graph,omitzero"`  // of a turn

	Begin      *Begin `json:"begin,omitzero"`      // in begin lines
	Checkpoint *Head  `json:"checkpoint,omitzero"` // in checkpoint lines: the head before this line
	Lost       *Head  `json:"lost,omitzero"`       // in repair lines: what was seen elsewhere and is not in the record
	Removed    *Past  `json:"removed,omitzero"`    // in notes: a closed file that was removed, as configured
}

// Person is one person's part in an entry.
type Person struct {
	Name   string    `json:"name"`
	Via    string    `json:"via,omitzero"` // the channel
	At     time.Time `json:"at,omitzero"`
	TookMs int64     `json:"tookMs,omitzero"` // from sending to the answer
	Says   string    `json:"says,omitzero"`

	Passkey string `json:"passkey,omitzero"` // the id of the passkey that signed the answer
}

// Begin opens a file: the first of a chain, or one that goes on where another
// was closed.
type Begin struct {
	Format int    `json:"format"`
	Chain  string `json:"chain"`          // random, 128 bits in hex
	Key    string `json:"key"`            // the ed25519 public key in hex
	File   int    `json:"file,omitzero"`  // the number of the file; 0 is the first
	After  *Past  `json:"after,omitzero"` // the file before; nil: a chain begins
}

// check refuses what only the log may write, and what no reader would know how
// to read.
func (e *Entry) check() error {
	switch e.Kind {
	case KindBegin, KindCheckpoint:
		return fmt.Errorf("audit: only the log itself writes %q entries", e.Kind)
	case KindStart, KindStop, KindRepair, KindDecision, KindAsked, KindAnswer,
		KindDelivery, KindLock, KindReset, KindPause, KindResume, KindRevoke, KindConsent, KindEvent, KindGraph, KindNote:
	default:
		return fmt.Errorf("audit: unknown kind %q", e.Kind)
	}
	if e.Begin != nil || e.Checkpoint != nil || e.Lost != nil || e.Removed != nil {
		return fmt.Errorf("audit: %q entry with the log's own members", e.Kind)
	}
	switch e.Decision {
	case "", Allow, Deny:
		return nil
	}
	return fmt.Errorf("audit: unknown decision %q", e.Decision)
}

// normalise puts every time in UTC, in a copy: the caller's people stay as
// they are.
func (e *Entry) normalise(now time.Time) {
	if e.At.IsZero() {
		e.At = now
	}
	e.At = e.At.UTC()
	if len(e.Params) == 0 {
		e.Params = nil
	}
	if len(e.People) == 0 {
		return
	}
	e.People = slices.Clone(e.People)
	for i := range e.People {
		e.People[i].At = e.People[i].At.UTC()
	}
}
