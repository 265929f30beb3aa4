package toolcall

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"strings"
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
	var c Call
	err := c.Decode(body)
	return c, err
}

// Decode is [Decode] where there is a place for the call already. It must be empty
// before, and is where it fails.
func (c *Call) Decode(body []byte) error {
	return c.decode(body, MaxBody, &rest{tool: true})
}

// decode reads a body of at most so many bytes. Most are plain and are read and
// checked at once. Of what is not, or is no call, the whole body has to say what is
// wrong with it.
func (c *Call) decode(body []byte, most int, r *rest) (err error) {
	if len(body) > MaxBody || !c.readPlain(body, r) {
		*c = Call{}
		err = c.readChecked(body, most, r)
	}
	if err == nil {
		err = c.complete(body)
	}
	if err != nil {
		*c = Call{}
	}
	return err
}

// readPlain reads a body and checks it on the way. If it can't, the body may be
// valid all the same.
func (c *Call) readPlain(body []byte, r *rest) bool {
	cur := cursor{plain: plain{text: body}}
	return c.read(&cur, r) == nil && cur.done()
}

// readChecked checks a body and then reads it.
func (c *Call) readChecked(body []byte, most int, r *rest) error {
	if err := checkValid(body, most); err != nil {
		return err
	}
	return c.read(&cursor{plain: plain{text: body}, valid: true}, r)
}

// checkValid says whether a body is one JSON value within limits.
func checkValid(body []byte, most int) error {
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

// complete checks what only the whole body can tell.
func (c *Call) complete(body []byte) error {
	c.Context.canonicalKeys()
	inKey := agentInKey(c.Context.SessionKey)
	switch {
	case c.Timestamp.IsZero():
		return malformed("timestamp is missing.")
	case c.RequestID == "":
		return malformed("requestId is missing.")
	case c.Context.AgentID != "" && inKey != "" && c.Context.AgentID != inKey:
		return malformed("context.agentId contradicts context.sessionKey.")
	}
	c.Body = sha256.Sum256(body)
	return nil
}

// read meets each member once, by its exact name, at its own place: nothing
// inside params can stand for a member of the call.
func (c *Call) read(cur *cursor, r *rest) error {
	versioned := false
	r.reset()
	err := readObject(cur, "The body", func(name []byte) error {
		switch string(name) {
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
		return r.read(c, cur, name)
	})
	if err == nil && !versioned {
		return malformed("version is missing.")
	}
	if err == nil {
		err = r.missing(c)
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
	err := readObject(cur, "tool", func(name []byte) error {
		switch string(name) {
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
	c.decoded, c.written = c.Params, cur.shared()
	return nil
}

// readObject calls member with each name; member must read the value, and not
// keep the name.
func readObject(cur *cursor, what string, member func(name []byte) error) error {
	if cur.peek() != '{' {
		return malformed(what + " must be an object.")
	}
	var seen names
	for cur.enter(); cur.more('}'); {
		if err := member(cur.name(&seen)); err != nil {
			return err
		}
	}
	return nil
}

func readString(cur *cursor, what string) (string, error) {
	if cur.peek() != '"' {
		return "", malformed(what + " must be a string.")
	}
	cur.next()
	return cur.said(), nil
}

// validText says whether the string that was read last, which reads s, is what every
// identifier of the context must be. Control characters are refused because these
// strings become parts of keys, prompts and log lines. In UTF-8 no part of a longer
// character looks like one. Where no escape stands, DEL is the only one that JSON
// allows.
func (c *cursor) validText(s string) bool {
	switch {
	case len(s) > MaxText:
		return false
	case !c.hasEscape():
		return strings.IndexByte(s, 0x7f) < 0
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] == 0x7f {
			return false
		}
	}
	return true
}
