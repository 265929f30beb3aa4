package record

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Kind says what an entry records.
type Kind string

// The kinds of entries.
const (
	kindBegin    Kind = "begin"    // the first line of a file; written by the log
	KindStart    Kind = "start"    // the process started
	KindStop     Kind = "stop"     // the process stopped in good order
	kindRepair   Kind = "repair"   // the end of the record was not as it should be; written by the log
	KindDecision Kind = "decision" // an answer to a call
	KindAsked    Kind = "asked"    // a card was put before people
	KindAnswer   Kind = "answer"   // a person answered
	KindDelivery Kind = "delivery" // a card was sent, or could not be
	KindLock     Kind = "lock"     // a person's typed path was locked
	KindReset    Kind = "reset"    // the owner lowered a level
	KindPause    Kind = "pause"    // an agent was paused, by someone or because it asked too often
	KindResume   Kind = "resume"   // someone lifted that
	KindRevoke   Kind = "revoke"   // someone ended a grant before its time
	KindEvent    Kind = "event"    // the agent's runtime reported something
	KindGraph    Kind = "graph"    // a turn is over, and this is what it was made of
	KindNote     Kind = "note"     // anything else worth keeping
)

// What a decision can be.
const (
	Allow = "allow"
	Deny  = "deny"
)

// format is the version of the line format, written in the begin line. Files in any other are refused.
const format = 5

// Entry is the one record type. Members that do not apply stay zero and are not written.
type Entry struct {
	Kind Kind      `json:"kind"`
	At   time.Time `json:"at,omitzero"`  // zero: the log's clock
	Ref  string    `json:"ref,omitzero"` // what the agent was told, to find the entry by

	RequestID string `json:"requestId,omitzero"`
	Client    string `json:"client,omitzero"`
	Session   string `json:"session,omitzero"` // the session key
	SessionID string `json:"sessionId,omitzero"`
	Agent     string `json:"agent,omitzero"`
	Run       string `json:"run,omitzero"`
	Directory string `json:"directory,omitzero"` // of a question: where the agent works
	Tool      string `json:"tool,omitzero"`
	Sent      string `json:"sent,omitzero"` // the name as sent, where it is not Tool

	Params   jsontext.Value `json:"params,omitzero"`  // redacted by the caller
	Hidden   int            `json:"hidden,omitzero"`  // how many values were redacted
	Digest   string         `json:"digest,omitzero"`  // of the call as it was judged
	Asked    string         `json:"asked,omitzero"`   // of a decision: the digest asked about, if edited
	Edited   string         `json:"edited,omitzero"`  // of an answer: the digest of the call that it made
	Started  string         `json:"started,omitzero"` // who started the run, as far as anyone attests it
	Level    string         `json:"level,omitzero"`   // trust when the call came
	RaisedTo string         `json:"raisedTo,omitzero"`
	Source   string         `json:"source,omitzero"`   // what the trust level came from
	Mode     string         `json:"mode,omitzero"`     // allow, confirm or restrict
	Decision string         `json:"decision,omitzero"` // Allow or Deny
	By       string         `json:"by,omitzero"`       // what consented, or what asks: policy, grant…
	Auditor  string         `json:"auditor,omitzero"`  // what the second model said: allow, block or none
	Card     string         `json:"card,omitzero"`     // the card's id, never its code
	Scope    string         `json:"scope,omitzero"`    // once, turn, minutes, all
	WaitedMs int64          `json:"waitedMs,omitzero"`
	Reason   string         `json:"reason,omitzero"` // what the caller was told
	Error    string         `json:"error,omitzero"`  // the category only
	Note     string         `json:"note,omitzero"`
	Replay   bool           `json:"replay,omitzero"` // a decision given again
	Turn     string         `json:"turn,omitzero"`   // the id of its turn, see package provenance

	Why     []string       `json:"why,omitzero,omitempty"`     // the explained path, a sentence each
	Origins []string       `json:"origins,omitzero,omitempty"` // where arguments came from, a sentence each
	People  []Person       `json:"people,omitzero,omitempty"`  // who answered
	Parts   []Part         `json:"parts,omitzero,omitempty"`   // its parts in the graph of the turn, in their order
	Graph   jsontext.Value `json:"graph,omitzero"`             // of a turn that is over
}

// Line is an entry as it is in a file, with what only the log writes.
type Line struct {
	Seq uint64 `json:"seq,omitzero"`
	Entry
	Begin   *Begin `json:"begin,omitzero"`   // in begin lines
	Lost    *Head  `json:"lost,omitzero"`    // in repair lines: what was seen elsewhere and is not in the record
	Removed int    `json:"removed,omitzero"` // in notes: the number of a file that was removed, as configured
	MAC     string `json:"mac,omitzero"`
}

// Person is one person's part in an entry.
type Person struct {
	Name    string    `json:"name"`
	Via     string    `json:"via,omitzero"` // the channel
	At      time.Time `json:"at,omitzero"`
	TookMs  int64     `json:"tookMs,omitzero"` // from sending to the answer
	Says    string    `json:"says,omitzero"`
	Passkey string    `json:"passkey,omitzero"` // the id of the passkey that signed the answer
}

// Begin opens a file: the first of a chain, or one in which it goes on.
type Begin struct {
	Format int    `json:"format"`
	Chain  string `json:"chain"`         // random, 128 bits in hex
	File   int    `json:"file"`          // its number, from one
	Prev   string `json:"prev,omitzero"` // the MAC of the line before; empty: a chain begins
}

// Part is something that an entry tells of its turn, for the graph. It has no field for content: of a text there is its
// hash.
type Part struct {
	What       string   `json:"what,omitzero"`  // of an event: one of the words below; a decision needs none
	Tool       string   `json:"tool,omitzero"`  // where it is not the entry's
	Call       string   `json:"call,omitzero"`  // the call's id, as the runtime names it
	Label      string   `json:"label,omitzero"` // in a sentence: "web_fetch example.com"
	Iteration  *int     `json:"iteration,omitzero"`
	Trust      string   `json:"trust,omitzero"`   // its worth; of a call that was allowed: what it brings in
	Birth      string   `json:"birth,omitzero"`   // of a decision: the level at which its run started
	Tainted    bool     `json:"tainted,omitzero"` // of what was blocked: because of the level
	Reason     string   `json:"reason,omitzero"`  // of what was blocked
	Model      string   `json:"model,omitzero"`
	Hash       string   `json:"hash,omitzero"`
	Size       int64    `json:"size,omitzero"`
	DurationMs int64    `json:"durationMs,omitzero"`
	Failed     bool     `json:"failed,omitzero"` // of a result: the runtime says that it was an error
	Sources    []Source `json:"sources,omitzero,omitempty"`
}

// What an event can tell of its turn.
const (
	PartContext  = "context"  // the context was made, of Sources
	PartAsked    = "asked"    // the model was called
	PartWanted   = "wanted"   // the model wanted a call that was taken out
	PartReturned = "returned" // a tool gave its result
	PartBlocked  = "blocked"  // the turn was blocked
	PartSaid     = "said"     // the response is out
	PartEnded    = "ended"    // the turn is over
)

// Source is one thing that the context was made of.
type Source struct {
	Kind  string `json:"kind"`
	Trust string `json:"trust"`
	Tool  string `json:"tool,omitzero"`
	Hash  string `json:"hash,omitzero"`
	Size  int64  `json:"size,omitzero"`
}

// hide takes the secrets out of the texts whose words others chose. What the entry was made of stays as it was.
func (e *Entry) hide(hide func(text string) string) {
	each := func(texts ...*string) {
		for _, t := range texts {
			if *t != "" {
				*t = hide(*t)
			}
		}
	}
	sent := e.Sent
	each(&e.RequestID, &e.Session, &e.SessionID, &e.Agent, &e.Run, &e.Directory, &e.Tool, &e.Sent, &e.Source, &e.Reason,
		&e.Note)
	if sent != e.Sent { // the tool is the same in small letters
		e.Tool = e.Sent
	}
	for _, list := range []*[]string{&e.Why, &e.Origins} {
		*list = slices.Clone(*list)
		for i := range *list {
			each(&(*list)[i])
		}
	}
	e.Parts = slices.Clone(e.Parts)
	for i := range e.Parts {
		p := &e.Parts[i]
		each(&p.Tool, &p.Call, &p.Label, &p.Reason, &p.Model)
		p.Sources = slices.Clone(p.Sources)
		for j := range p.Sources {
			each(&p.Sources[j].Tool)
		}
	}
}

// encode makes a line's text, without its number and its MAC. Params stay as they came, without their white space.
// Where something is not UTF-8 it becomes U+FFFD: a record with a mangled name is worth more than no record of the
// call.
func (l *Line) encode(now time.Time) ([]byte, error) {
	if l.At.IsZero() {
		l.At = now
	}
	l.At = l.At.UTC()
	for _, raw := range []*jsontext.Value{&l.Params, &l.Graph} {
		if len(*raw) == 0 { // which is no JSON
			*raw = nil
		}
	}
	text, err := json.Marshal(l, jsontext.PreserveRawStrings(true))
	if err != nil {
		text, err = json.Marshal(l, jsontext.AllowInvalidUTF8(true))
	}
	if err == nil && headLen+len(text)+tailLen >= MaxLine {
		err = ErrTooLong
	}
	if err != nil {
		return nil, fmt.Errorf("record: encode: %w", err)
	}
	return text, nil
}
