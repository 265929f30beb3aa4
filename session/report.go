package session

import (
	"time"

	"github.com/openclaw-verifier/verifier/taint"
)

// Report is what an event of the agent loop tells of a conversation. It can make
// a level worse and end what was granted, and nothing else: it is no call, so it
// admits nothing and counts as no step.
type Report struct {
	Conversation Conversation
	Session      string   // the session id; empty when none was given
	RequestID    string   // one report is taken in once, and no call has the same id
	Body         [32]byte // of the signed bytes
	Keep         time.Duration

	// Start says that the report tells who started a run, and Raise what that is
	// worth. Otherwise Raise is what came into the conversation; System is nothing.
	Start  bool
	Raise  taint.Level
	Source string      // what Raise is called in an explanation
	Birth  taint.Level // what it is worth at least where nothing was known of it, see Heard.Known
	Secret string      // what came in that holds secrets; empty: nothing

	Next   string // a session id that goes on with what this one holds
	Ended  string // a run that is over: the grants for it end
	Closed bool   // the session is over: what was granted in Window ends
	Window string
	Halted string // a run that may make no more counted calls
}

// Brings reports whether there is something to keep: the conversation comes into
// being then, if it was not there.
func (r *Report) Brings() bool { return r.Start || r.Raise > taint.System || r.Secret != "" }

// HaltedCalls is what a halted run has used up. No run makes that many calls.
const HaltedCalls = 1 << 30

// Heard is a conversation as a report met it.
type Heard struct {
	Conflict bool         // the request id was used for another body: nothing was done
	Moved    bool         // the conversation shares another's state: report there
	Root     Conversation // where Moved
	Replayed bool         // the report was taken in before: nothing was done again
	Known    bool         // the conversation, and this session id in it, had been met before
	Lost     bool         // the store has lost what it knew

	Before     taint.Level // the level before the report
	Level      taint.Level // with what it brings in
	Step       int64
	Version    int64
	Generation int64
	Worst      Source
	Now        time.Time
}
