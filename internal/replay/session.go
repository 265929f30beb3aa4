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

// Read reads sessions, one JSON object a line, plain or compressed with gzip; or a
// record of our own, whose decisions it takes apart by conversation.
func Read(from io.Reader) ([]Session, error) {
	var out []Session
	var own ownRecord
	err := eachLine(from, func(line []byte) error {
		s, isSession, err := readLine(line, &own)
		if isSession {
			out = append(out, s)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return append(out, own.sessions...), nil
}

// eachLine calls take with every line that is not empty, and says in which one it
// failed.
func eachLine(from io.Reader, take func(line []byte) error) error {
	text, err := plain(from)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(io.LimitReader(text, maxText))
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := take(line); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return lines.Err()
}

func plain(from io.Reader) (io.Reader, error) {
	buffered := bufio.NewReaderSize(from, 1<<16)
	if magic, _ := buffered.Peek(2); string(magic) == "\x1f\x8b" { // what is too short for it is plain
		return gzip.NewReader(buffered)
	}
	return buffered, nil
}

var errNoSession = errors.New("is neither a recorded session (it has no calls) nor a line of a record")

// lineShape tells the two kinds of lines apart.
type lineShape struct {
	Calls jsontext.Value `json:"calls"`
	Kind  string         `json:"kind"`
}

func readLine(line []byte, own *ownRecord) (s Session, isSession bool, err error) {
	var shape lineShape
	if err := json.Unmarshal(line, &shape, jsontext.AllowInvalidUTF8(true)); err != nil {
		return s, false, err
	}
	switch {
	case shape.Calls != nil:
		err := json.Unmarshal(line, &s, jsontext.AllowInvalidUTF8(true))
		return s, err == nil, err
	case shape.Kind == "":
		return s, false, errNoSession
	case record.Kind(shape.Kind) != record.KindDecision:
		return s, false, nil
	}
	return s, false, own.add(line)
}

// ownRecord is what is being read of our own record.
type ownRecord struct {
	sessions []Session
	at       map[string]int // by conversation
}

// add takes one decision. What the user said is not in a record.
func (r *ownRecord) add(line []byte) error {
	var e record.Entry
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	if e.Tool == "" || e.Replay {
		return nil
	}
	key := e.Client + "\n" + e.Session + "\n" + e.SessionID
	if r.at == nil {
		r.at = map[string]int{}
	}
	i, known := r.at[key]
	if !known {
		i = len(r.sessions)
		r.at[key] = i
		r.sessions = append(r.sessions, Session{ID: e.Session, Utility: true})
	}
	params := e.Params
	if params.Kind() != jsontext.KindBeginObject {
		params = jsontext.Value("{}")
	}
	s := &r.sessions[i]
	s.Calls = append(s.Calls, Call{Tool: e.Tool, Params: params, Iteration: len(s.Calls)})
	return nil
}
