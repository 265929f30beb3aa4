package protocol

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

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
	c, _, err := decode(body, MaxBody, true, "")
	return c, err
}

// DecodeNotice reads a call that may say, beside tool, that it is only a notice
// of a call that will not be asked about.
func DecodeNotice(body []byte) (c Call, notice bool, err error) {
	c, rest, err := decode(body, MaxBody, true, "notice")
	if err != nil {
		return Call{}, false, err
	}
	for name, value := range rest {
		switch {
		case name != "notice":
			return Call{}, false, errNoMember
		case json.Unmarshal(value, &notice) != nil:
			return Call{}, false, malformed("notice must be true or false.")
		}
	}
	return c, notice, nil
}

// DecodeAbout reads a body of at most so many bytes that is no call: what every
// body has, and one member of another name, which must be there. The call has no
// tool then.
func DecodeAbout(body []byte, most int, member string) (Call, jsontext.Value, error) {
	c, rest, err := decode(body, most, false, member)
	if err != nil {
		return Call{}, nil, err
	}
	about, given := rest[member]
	switch {
	case !given:
		return Call{}, nil, malformed(member + " is missing.")
	case len(rest) > 1:
		return Call{}, nil, errNoMember
	}
	return c, about, nil
}

var errNoMember = malformed("The body has a member that is not part of the protocol.")

// message is a body on the wire. What only some bodies have is in Rest.
type message struct {
	Version   jsontext.Value            `json:"version"`
	Timestamp string                    `json:"timestamp"`
	RequestID string                    `json:"requestId"`
	Tool      object[tool]              `json:"tool"`
	Context   object[context]           `json:"context"`
	Rest      map[string]jsontext.Value `json:",embed"`
}

type tool struct {
	Name   jsontext.Value            `json:"name"`
	Params jsontext.Value            `json:"params"`
	Hints  Hints                     `json:"annotations"`
	Rest   map[string]jsontext.Value `json:",embed"`
}

type context struct {
	Context  `json:",embed"`
	Messages messages                  `json:"userMessages"`
	Rest     map[string]jsontext.Value `json:",embed"`
}

// object is a member that must not be null where it is given.
type object[T any] struct {
	is    T
	given bool
}

var errNoObject = errors.New("protocol: no object")

func (o *object[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != jsontext.KindBeginObject {
		return errNoObject
	}
	o.given = true
	return json.UnmarshalDecode(dec, &o.is)
}

// messages are bounded while they are read: an empty one takes three bytes in the
// body and many more here.
type messages []UserMessage

func (m *messages) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == jsontext.KindNull {
		return dec.SkipValue()
	}
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != jsontext.KindBeginArray {
		return malformed("context.userMessages must be an array.")
	}
	for dec.PeekKind() != jsontext.KindEndArray {
		if len(*m) == MaxUserMessages {
			return malformed("context.userMessages must have at most 4096 entries.")
		}
		var one object[userMessage]
		if err := json.UnmarshalDecode(dec, &one); err != nil {
			return err
		}
		one.is.UserMessage.At = string(one.is.At)
		if err := errors.Join(validText("userMessages.senderId", one.is.SenderID), validText("userMessages.at", string(one.is.At)),
			noVariants(one.is.Rest, "text", "senderId", "senderIsOwner", "at")); err != nil {
			return err
		}
		*m = append(*m, one.is.UserMessage)
	}
	_, err := dec.ReadToken()
	return err
}

type userMessage struct {
	UserMessage `json:",embed"`
	At          sentTime                  `json:"at"`
	Rest        map[string]jsontext.Value `json:",embed"`
}

// sentTime is a time as it was sent: callers have used text and epoch numbers.
type sentTime string

func (t *sentTime) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == jsontext.KindNumber {
		literal, err := dec.ReadValue()
		*t = sentTime(literal)
		return err
	}
	return json.UnmarshalDecode(dec, (*string)(t))
}

// UnmarshalJSONFrom reads a string or an object with the member "kind".
func (p *Provenance) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != jsontext.KindBeginObject {
		return json.UnmarshalDecode(dec, &p.Kind)
	}
	var said struct {
		Kind string                    `json:"kind"`
		Rest map[string]jsontext.Value `json:",embed"`
	}
	if err := json.UnmarshalDecode(dec, &said); err != nil {
		return err
	}
	p.Kind = said.Kind
	return noVariants(said.Rest, "kind")
}

// decode reads a body, with a tool or without one, and gives the member that only
// some bodies have.
func decode(body []byte, most int, withTool bool, more string) (Call, map[string]jsontext.Value, error) {
	if err := checkLimits(body, most); err != nil {
		return Call{}, nil, err
	}
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		return Call{}, nil, explain(err)
	}
	for name := range m.Rest {
		if name != more || more == "" {
			return Call{}, nil, errNoMember
		}
	}
	c := Call{RequestID: m.RequestID, Context: m.Context.is.Context, Body: sha256.Sum256(body)}
	c.Context.UserMessages = m.Context.is.Messages
	c.Context.WaitMs = min(c.Context.WaitMs, MaxWaitMs)
	var ok bool
	switch c.Timestamp, ok = parseTime(m.Timestamp); {
	case m.Version == nil:
		return Call{}, nil, malformed("version is missing.")
	case string(m.Version) != "1":
		return Call{}, nil, malformed("version must be the number 1.")
	case m.Timestamp == "":
		return Call{}, nil, malformed("timestamp is missing.")
	case !ok || c.Timestamp.IsZero():
		return Call{}, nil, malformed("timestamp must be an RFC 3339 time.")
	case c.RequestID == "":
		return Call{}, nil, malformed("requestId is missing.")
	case len(c.RequestID) > MaxRequestID || !visibleASCII(c.RequestID):
		return Call{}, nil, malformed("requestId must be 1 to 128 visible ASCII characters without spaces.")
	case withTool && !m.Tool.given:
		return Call{}, nil, malformed("tool is missing.")
	case !withTool && m.Tool.given:
		return Call{}, nil, errNoMember
	}
	if withTool {
		if err := c.take(&m.Tool.is); err != nil {
			return Call{}, nil, err
		}
	}
	if err := c.Context.check(m.Context.is.Rest); err != nil {
		return Call{}, nil, err
	}
	return c, m.Rest, nil
}

// explain says what is wrong with a body that could not be read. It names members
// that the protocol knows, and nothing else of the body.
func explain(err error) error {
	if m, ok := errors.AsType[*Malformed](err); ok {
		return m
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return malformed("The body has the same member twice in one object.")
	}
	wrong, ok := errors.AsType[*json.SemanticError](err)
	switch {
	case !ok:
		return malformed("The body is not one valid JSON value.")
	case wrong.JSONPointer == "":
		return malformed("The body must be an object.")
	}
	name := strings.ReplaceAll(string(wrong.JSONPointer[1:]), "/", ".")
	kind := reflect.Invalid
	if wrong.GoType != nil {
		kind = wrong.GoType.Kind()
	}
	switch {
	case errors.Is(err, errNoObject):
		return malformed(name + " must be an object.")
	case kind == reflect.String:
		return malformed(name + " must be a string.")
	case kind == reflect.Bool:
		return malformed(name + " must be true or false.")
	case kind == reflect.Int, kind == reflect.Int64:
		return malformed(name + " must be a whole number.")
	}
	return malformed(name + " has a value of the wrong kind.")
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

func visibleASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

func (c *Call) take(t *tool) error {
	notText := json.Unmarshal(t.Name, &c.Sent) != nil || t.Name.Kind() != jsontext.KindString
	c.Tool, c.Hints = Canonical(c.Sent), t.Hints
	switch {
	case len(t.Rest) > 0:
		return malformed("tool has a member that is not part of the protocol.")
	case t.Name == nil:
		return malformed("tool.name is missing.")
	case notText:
		return malformed("tool.name must be a string.")
	case t.Params == nil:
		return malformed("tool.params is missing.")
	case len(c.Sent) > MaxToolName:
		return malformed("tool.name must be at most 128 bytes.")
	case c.Tool == "":
		return malformed("tool.name must not be empty.")
	case t.Params.Kind() != jsontext.KindBeginObject:
		return malformed("tool.params must be an object.")
	}
	return c.read(t.Params)
}

// contextNames are the members of the context.
var contextNames = []string{
	"agentId", "sessionKey", "messageProvider", "sessionId", "runId", "toolCallId", "iteration", "channelId", "accountId",
	"senderId", "senderIsOwner", "groupId", "spawnedBy", "trigger", "inputProvenance", "userMessages", "waitMs", "secretsRead", "edits", "workspace", "directory", "platform",
}

// check checks what was read, and the members beside it.
func (c *Context) check(rest map[string]jsontext.Value) error {
	for _, text := range [...]struct{ name, is string }{
		{"agentId", c.AgentID}, {"sessionKey", c.SessionKey}, {"messageProvider", c.MessageProvider}, {"sessionId", c.SessionID},
		{"runId", c.RunID}, {"toolCallId", c.ToolCallID}, {"channelId", c.ChannelID}, {"accountId", c.AccountID}, {"senderId", c.SenderID},
		{"groupId", c.GroupID}, {"spawnedBy", c.SpawnedBy}, {"trigger", c.Trigger}, {"inputProvenance", c.InputProvenance.Kind},
		{"workspace", c.Workspace}, {"directory", c.Directory}, {"platform", c.Platform},
	} {
		if err := validText(text.name, text.is); err != nil {
			return err
		}
	}
	if err := noVariants(rest, contextNames...); err != nil {
		return err
	}
	c.canonicalKeys()
	inKey := agentInKey(c.SessionKey)
	switch {
	case c.Iteration != nil && (*c.Iteration < 0 || *c.Iteration > math.MaxInt32):
		return malformed("context.iteration must be a whole number that is not negative.")
	case c.WaitMs < 0:
		return malformed("context.waitMs must be a whole number that is not negative.")
	case c.AgentID != "" && inKey != "" && c.AgentID != inKey:
		return malformed("context.agentId contradicts context.sessionKey.")
	}
	return nil
}

// validText checks an identifier of the context. Control characters are refused
// because these strings become parts of keys, prompts and log lines. In UTF-8 no
// part of a longer character looks like one.
func validText(name, s string) error {
	bad := len(s) > MaxText
	for i := range len(s) {
		bad = bad || s[i] < ' ' || s[i] == 0x7f
	}
	if bad {
		return malformed("context." + name + " must be at most 512 bytes without control characters.")
	}
	return nil
}

// noVariants passes over members that a newer caller may send, but not over one
// that differs from a known one only in case: a reader that folds case would
// take it for the real one.
func noVariants(rest map[string]jsontext.Value, known ...string) error {
	for sent := range rest {
		for _, k := range known {
			if strings.EqualFold(sent, k) {
				return malformed("context has a member whose name differs from a known one only in case.")
			}
		}
	}
	return nil
}

// checkLimits bounds what the decoder will be given, in one pass that allocates
// nothing. It need not understand what is no JSON: whatever it passes over
// there, the decoder refuses afterwards.
func checkLimits(body []byte, most int) error {
	if len(body) > most {
		return malformed("The body must be at most " + strconv.Itoa(most>>20) + " MiB.")
	}
	if !utf8.Valid(body) {
		return malformed("The body must be valid UTF-8.")
	}
	return checkTokens(body)
}

func checkTokens(body []byte) error {
	depth := 0
	for i := 0; i < len(body); {
		switch b := body[i]; {
		case b == '"':
			i = AfterString(body, i+1)
			continue
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			depth--
		case b == '-' || '0' <= b && b <= '9':
			end := AfterNumber(body, i+1)
			if err := checkNumber(body[i:end]); err != nil {
				return err
			}
			i = end
			continue
		}
		if depth > MaxDepth {
			return malformed("The body must be nested at most 100 levels deep.")
		}
		i++
	}
	return nil
}

// AfterString returns the index after the quote that ends the string whose
// inside starts at i: the first one behind an even number of backslashes.
func AfterString(body []byte, i int) int {
	start := i
	for {
		n := bytes.IndexByte(body[i:], '"')
		if n < 0 {
			return len(body)
		}
		i += n + 1
		if backslashes(body[start:i-1])%2 == 0 {
			return i
		}
	}
}

// backslashes counts those at the end of b.
func backslashes(b []byte) int {
	n := 0
	for n < len(b) && b[len(b)-1-n] == '\\' {
		n++
	}
	return n
}

// AfterNumber returns the index after the number that is at i.
func AfterNumber(body []byte, i int) int {
	for i < len(body) {
		switch b := body[i]; {
		case '0' <= b && b <= '9', b == '.', b == '-', b == '+', b == 'e', b == 'E':
			i++
		default:
			return i
		}
	}
	return i
}

// checkNumber refuses a number that some reader could not hold. Without an
// exponent, the length alone keeps a number finite.
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
