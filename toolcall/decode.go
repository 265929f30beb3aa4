package toolcall

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Malformed is the error of a body that is not a call. Reason is a sentence
// that can be shown to the caller: it names members of the protocol and never
// repeats anything from the body.
type Malformed struct {
	Reason string
}

func (m *Malformed) Error() string { return m.Reason }

func malformed(reason string) error { return &Malformed{Reason: reason} }

// Decode reads one call. Every error it returns is a [*Malformed]. Client is
// left empty: the body has no say in who signed it.
func Decode(body []byte) (Call, error) {
	if err := checkValid(body, MaxBody); err != nil {
		return Call{}, err
	}
	var c Call
	if err := c.read(newCursor(body), noMember); err != nil {
		return Call{}, err
	}
	err := c.complete(body)
	return c, err
}

// checkValid says whether a body is one JSON value within limits. What is not
// plain is left to the decoder.
func checkValid(body []byte, most int) error {
	if isPlain(body) {
		return nil
	}
	if err := checkLimits(body, most); err != nil {
		return err
	}
	if !jsontext.Value(body).IsValid() {
		return explain(body)
	}
	return nil
}

// explain says why a body is no valid JSON.
func explain(body []byte) error {
	var v jsontext.Value
	if err := json.Unmarshal(body, &v); errors.Is(err, jsontext.ErrDuplicateName) {
		return malformed("The body has the same member twice in one object.")
	}
	return malformed("The body is not one valid JSON value.")
}

// complete checks what only the whole body can tell. What it refuses is no call.
func (c *Call) complete(body []byte) error {
	inKey := agentInKey(c.Context.SessionKey)
	var err error
	switch {
	case c.Timestamp.IsZero():
		err = malformed("timestamp is missing.")
	case c.RequestID == "":
		err = malformed("requestId is missing.")
	case c.Context.AgentID != "" && inKey != "" && c.Context.AgentID != inKey:
		err = malformed("context.agentId contradicts context.sessionKey.")
	}
	if err != nil {
		*c = Call{}
		return err
	}
	c.Body = sha256.Sum256(body)
	return nil
}

var bodyNames = []string{"version", "timestamp", "requestId", "tool", "context", "name", "params"}

// read meets each member once, by its exact name, at its own place: nothing
// inside params can stand for a member of the call. What else there may be is
// met by more.
func (c *Call) read(cur *cursor, more func(name string) error) error {
	err := c.readBody(cur, func(name string) error {
		if name == "tool" {
			return c.readTool(cur)
		}
		return more(name)
	})
	if err == nil && c.Tool == "" {
		return malformed("tool is missing.")
	}
	return err
}

// noMember meets a member that nobody knows.
func noMember(string) error {
	return malformed("The body has a member that is not part of the protocol.")
}

// readBody meets what every body has; own meets the rest.
func (c *Call) readBody(cur *cursor, own func(name string) error) error {
	versioned := false
	err := readObject(cur, "The body", func(name string) error {
		switch name {
		case "version":
			versioned = true
			return readVersion(cur)
		case "timestamp":
			return c.readTimestamp(cur)
		case "requestId":
			return c.readRequestID(cur)
		case "context":
			return c.Context.read(cur)
		}
		return own(name)
	})
	if err == nil && !versioned {
		return malformed("version is missing.")
	}
	return err
}

func readVersion(cur *cursor) error {
	if string(cur.next()) != "1" {
		return malformed("version must be the number 1.")
	}
	return nil
}

func (c *Call) readTimestamp(cur *cursor) error {
	s, err := readString(cur, "timestamp")
	if err != nil {
		return err
	}
	t, ok := parseTime(s)
	if !ok || t.IsZero() {
		return malformed("timestamp must be an RFC 3339 time.")
	}
	c.Timestamp = t
	return nil
}

// parseTime is strict where time.Parse is not: it takes an hour of one digit, a
// comma before the fraction, and an offset beyond a day.
func parseTime(s string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || len(s) < len("2006-01-02T15:04:05Z") || s[13] != ':' || s[19] == ',' {
		return time.Time{}, false
	}
	if offset := s[len(s)-5:]; s[len(s)-1] != 'Z' && (offset[:2] > "23" || offset[3:] > "59") {
		return time.Time{}, false
	}
	return t, true
}

func (c *Call) readRequestID(cur *cursor) error {
	s, err := readString(cur, "requestId")
	if err != nil {
		return err
	}
	if s == "" || len(s) > MaxRequestID || !visibleASCII(s) {
		return malformed("requestId must be 1 to 128 visible ASCII characters without spaces.")
	}
	c.RequestID = s
	return nil
}

func visibleASCII(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

func (c *Call) readTool(cur *cursor) error {
	err := readObject(cur, "tool", func(name string) error {
		switch name {
		case "name":
			return c.readToolName(cur)
		case "params":
			return c.readParams(cur)
		case "annotations":
			return c.Hints.read(cur)
		}
		return malformed("tool has a member that is not part of the protocol.")
	})
	switch {
	case err != nil:
		return err
	case c.Tool == "":
		return malformed("tool.name is missing.")
	case c.Params == nil:
		return malformed("tool.params is missing.")
	}
	return nil
}

func (c *Call) readToolName(cur *cursor) error {
	s, err := readString(cur, "tool.name")
	if err != nil {
		return err
	}
	if len(s) > MaxToolName {
		return malformed("tool.name must be at most 128 bytes.")
	}
	c.Sent, c.Tool = s, Canonical(s)
	if c.Tool == "" {
		return malformed("tool.name must not be empty.")
	}
	return nil
}

func (c *Call) readParams(cur *cursor) error {
	if cur.peek() != '{' {
		return malformed("tool.params must be an object.")
	}
	c.Params = bytes.Clone(cur.next())
	c.decoded = c.Params
	return nil
}

// readObject calls member with each name; member must read the value.
func readObject(cur *cursor, what string, member func(name string) error) error {
	if cur.peek() != '{' {
		return malformed(what + " must be an object.")
	}
	for cur.enter(); cur.more(); {
		if err := member(readName(cur)); err != nil {
			return err
		}
	}
	return nil
}

// readName reads the name of a member. It saves an allocation for each that is
// one of ours and is spelled without escapes.
func readName(cur *cursor) string {
	raw := cur.next()
	if name := knownName(raw[1 : len(raw)-1]); name != "" {
		return name
	}
	return cur.said()
}

// knownNames are all of the protocol's by their length.
var knownNames = func() (byLength [16][]string) {
	for _, n := range slices.Concat(bodyNames, contextNames, messageNames, provenanceNames) {
		if same := &byLength[len(n)]; !slices.Contains(*same, n) {
			*same = append(*same, n)
		}
	}
	return byLength
}()

func knownName(raw []byte) string {
	if len(raw) >= len(knownNames) {
		return ""
	}
	for _, n := range knownNames[len(raw)] {
		if n[0] == raw[0] && n == string(raw) {
			return n
		}
	}
	return ""
}

func readString(cur *cursor, what string) (string, error) {
	if cur.peek() != '"' {
		return "", malformed(what + " must be a string.")
	}
	cur.next()
	return cur.said(), nil
}

// validText is what every identifier of the context must be. Control
// characters are refused because these strings become parts of keys, prompts
// and log lines. In UTF-8 no part of a longer character looks like one.
func validText(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == 0x7f {
			return false
		}
	}
	return len(s) <= MaxText
}
