package protocol

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Malformed is the error of a body that is not a call. Reason is a sentence that can be shown to the caller: it names
// members of the protocol and never repeats anything from the body.
type Malformed struct {
	Reason string
}

func (m *Malformed) Error() string { return m.Reason }

func malformed(reason string) error { return &Malformed{Reason: reason} }

// message is a body on the wire. What only some bodies have is in Rest.
type message struct {
	Version   jsontext.Value            `json:"version"`
	Timestamp string                    `json:"timestamp"`
	RequestID string                    `json:"requestId"`
	Tool      *tool                     `json:"tool"`
	Context   object[Context]           `json:"context"`
	Event     *Event                    `json:"event"`
	Rest      map[string]jsontext.Value `json:",embed"`
}

// tool has no other members than these.
type tool struct {
	Name   *string        `json:"name"`
	Params jsontext.Value `json:"params"`
	Hints  *object[Hints] `json:"annotations"`
}

// Decode reads one call. Every error it returns is a [*Malformed]. Client is left empty: the body has no say in who
// signed it.
func Decode(body []byte) (Call, error) {
	c, _, err := decode(body, form{most: MaxBody, tool: true})
	return c, err
}

// DecodeNotice reads a call that may say, beside tool, that it is only a notice of a call that will not be asked about.
func DecodeNotice(body []byte) (c Call, notice bool, err error) {
	c, value, err := decode(body, form{most: MaxBody, tool: true, more: "notice"})
	if value != nil && json.Unmarshal(value, &notice) != nil {
		return Call{}, false, malformed("notice must be true or false.")
	}
	return c, notice, err
}

// DecodeAbout reads a body of at most so many bytes that is no call: what every body has, and one member of another
// name, which must be there. The call has no tool then.
func DecodeAbout(body []byte, most int, member string) (Call, jsontext.Value, error) {
	c, value, err := decode(body, form{most: most, more: member})
	if err == nil && value == nil {
		err = malformed(member + " is missing.")
	}
	return c, value, err
}

// form is what a body is made of, beside what all bodies have.
type form struct {
	most  int    // bytes
	tool  bool   // it is a call
	more  string // the name of a member that only such bodies have
	event *Event // nil: none
}

var errNoMember = malformed("The body has a member that is not part of the protocol.")

// decode reads a body, and gives the member that only some bodies have.
func decode(body []byte, f form) (c Call, more jsontext.Value, err error) {
	m := message{Event: f.event}
	if err := checkLimits(body, f.most); err != nil {
		return Call{}, nil, err
	}
	if err := json.Unmarshal(body, &m, json.RejectUnknownMembers(true)); err != nil {
		return Call{}, nil, explain(err)
	}
	for name := range m.Rest {
		if name != f.more || name == "" {
			return Call{}, nil, errNoMember
		}
	}
	c = Call{RequestID: m.RequestID, Context: m.Context.Is, Body: sha256.Sum256(body)}
	var isTime bool
	invisible := func(r rune) bool { return r <= ' ' || r >= 0x7f }
	switch c.Timestamp, isTime = parseTime(m.Timestamp); {
	case m.Version == nil:
		err = malformed("version is missing.")
	case string(m.Version) != "1":
		err = malformed("version must be the number 1.")
	case m.Timestamp == "":
		err = malformed("timestamp is missing.")
	case !isTime || c.Timestamp.IsZero():
		err = malformed("timestamp must be an RFC 3339 time.")
	case m.RequestID == "":
		err = malformed("requestId is missing.")
	case len(m.RequestID) > MaxRequestID || strings.ContainsFunc(m.RequestID, invisible):
		err = malformed("requestId must be 1 to 128 visible ASCII characters without spaces.")
	case !f.tool && m.Tool != nil:
		err = errNoMember
	case f.tool:
		err = c.take(m.Tool)
	}
	if err == nil {
		err = c.Context.settle()
	}
	if err != nil {
		return Call{}, nil, err
	}
	return c, m.Rest[f.more], nil
}

// settle bounds the wait, and gives the names of sessions and agents their one spelling.
func (c *Context) settle() error {
	c.WaitMs = min(c.WaitMs, MaxWaitMs)
	for i, key := range c.keys() {
		if canonical := CanonicalKey(*key); canonical != *key {
			c.spelled[i], *key = *key, canonical
		}
	}
	if inKey := agentInKey(c.SessionKey); c.AgentID != "" && inKey != "" && c.AgentID != inKey {
		return malformed("context.agentId contradicts context.sessionKey.")
	}
	return nil
}

// parseTime is strict where time.Parse is not: it takes an hour of one digit, a comma before the fraction, and an
// offset beyond a day.
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

func (c *Call) take(t *tool) error {
	switch {
	case t == nil:
		return malformed("tool is missing.")
	case t.Name == nil:
		return malformed("tool.name is missing.")
	case t.Params == nil:
		return malformed("tool.params is missing.")
	case len(*t.Name) > MaxToolName:
		return malformed("tool.name must be at most 128 bytes.")
	case Canonical(*t.Name) == "":
		return malformed("tool.name must not be empty.")
	case t.Params.Kind() != jsontext.KindBeginObject:
		return malformed("tool.params must be an object.")
	}
	c.Tool, c.Sent = Canonical(*t.Name), *t.Name
	if t.Hints != nil {
		c.Hints = t.Hints.Is
	}
	return c.read(t.Params)
}

// checkLimits bounds what the decoder will be given, in one pass that allocates nothing. It need not understand what is
// no JSON: whatever it passes over there, the decoder refuses afterwards.
func checkLimits(body []byte, most int) error {
	if len(body) > most {
		return malformed("The body must be at most " + strconv.Itoa(most>>20) + " MiB.")
	}
	if !utf8.Valid(body) {
		return malformed("The body must be valid UTF-8.")
	}
	depth := 0
	for i := 0; i < len(body); i++ {
		switch b := body[i]; {
		case b == '"':
			i = endOfString(body, i)
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			depth--
		case b == '-' || '0' <= b && b <= '9':
			end := i + 1
			for end < len(body) && strings.IndexByte("0123456789.-+eE", body[end]) >= 0 {
				end++
			}
			if err := checkNumber(body[i:end]); err != nil {
				return err
			}
			i = end - 1
		}
		if depth > MaxDepth {
			return malformed("The body must be nested at most 100 levels deep.")
		}
	}
	return nil
}

// endOfString is where the string ends that begins at i: the next quote behind an even number of backslashes.
func endOfString(body []byte, i int) int {
	for start := i + 1; ; {
		n := bytes.IndexByte(body[i+1:], '"')
		if n < 0 {
			return len(body)
		}
		i += n + 1
		inside := body[start:i]
		if (len(inside)-len(bytes.TrimRight(inside, `\`)))%2 == 0 {
			return i
		}
	}
}

// checkNumber refuses a number that some reader could not hold. Without an exponent, the length alone keeps a number
// finite.
func checkNumber(literal []byte) error {
	if len(literal) > MaxNumber {
		return malformed("A number must be at most 64 characters long.")
	}
	if !bytes.ContainsAny(literal, "eE") {
		return nil
	}
	if _, err := strconv.ParseFloat(string(literal), 64); errors.Is(err, strconv.ErrRange) {
		return malformed("A number must be finite as a 64-bit float.")
	}
	return nil
}
