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
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/record"
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

// maxLine bounds one line, and maxText all of a file as it is read.
const (
	maxLine = 16 << 20
	maxText = 4 << 30
)

// Read reads sessions, one JSON object a line, plain or compressed with gzip; or a record of our own, whose decisions
// it takes apart by conversation.
func Read(from io.Reader) ([]Session, error) {
	text := bufio.NewReaderSize(from, 1<<16)
	if magic, _ := text.Peek(2); string(magic) == "\x1f\x8b" { // what is too short for it is plain
		plain, err := gzip.NewReader(text)
		if err != nil {
			return nil, err
		}
		text = bufio.NewReader(plain)
	}
	r, lines := reader{at: map[string]int{}}, bufio.NewScanner(io.LimitReader(text, maxText))
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if line := bytes.TrimSpace(lines.Bytes()); len(line) > 0 {
			if err := r.add(line); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
		}
	}
	return r.sessions, lines.Err()
}

var errNoSession = errors.New("is neither a recorded session (it has no calls) nor a line of a record")

type reader struct {
	sessions []Session
	at       map[string]int // those of our own record, by conversation
}

// add takes a session, or one decision of a record. What the user said is not in a record.
func (r *reader) add(line []byte) error {
	var shape struct {
		Calls jsontext.Value `json:"calls"`
		Kind  record.Kind    `json:"kind"`
	}
	if err := json.Unmarshal(line, &shape, jsontext.AllowInvalidUTF8(true)); err != nil {
		return err
	}
	var s Session
	var e record.Entry
	switch {
	case shape.Calls != nil:
		err := json.Unmarshal(line, &s, jsontext.AllowInvalidUTF8(true))
		r.sessions = append(r.sessions, s)
		return err
	case shape.Kind == "":
		return errNoSession
	case shape.Kind != record.KindDecision:
		return nil
	}
	if err := json.Unmarshal(line, &e); err != nil || e.Tool == "" || e.Replay {
		return err
	}
	key := e.Client + "\n" + e.Session + "\n" + e.SessionID
	i, known := r.at[key]
	if !known {
		i = len(r.sessions)
		r.at[key] = i
		r.sessions = append(r.sessions, Session{ID: e.Session, Utility: true})
	}
	if e.Params.Kind() != jsontext.KindBeginObject {
		e.Params = jsontext.Value("{}")
	}
	calls := &r.sessions[i].Calls
	*calls = append(*calls, Call{Tool: e.Tool, Params: e.Params, Iteration: len(*calls)})
	return nil
}
