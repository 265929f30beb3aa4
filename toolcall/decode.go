package toolcall

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"slices"
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
	if err := checkLimits(body); err != nil {
		return Call{}, err
	}
	var w wire
	if err := json.Unmarshal(body, &w); err != nil {
		return Call{}, explain(err)
	}
	if err := complete(&w.call); err != nil {
		return Call{}, err
	}
	w.call.Body = sha256.Sum256(body)
	return w.call, nil
}

// explain turns whatever stopped the decoder into a Malformed.
func explain(err error) error {
	if m, ok := errors.AsType[*Malformed](err); ok {
		return m
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return malformed("The body has the same member twice in one object.")
	}
	return malformed("The body is not one valid JSON value.")
}

// complete checks what only the whole body can tell.
func complete(c *Call) error {
	switch {
	case c.Timestamp.IsZero():
		return malformed("timestamp is missing.")
	case c.RequestID == "":
		return malformed("requestId is missing.")
	case c.Tool == "":
		return malformed("tool is missing.")
	}
	inKey := agentInKey(c.Context.SessionKey)
	if c.Context.AgentID != "" && inKey != "" && c.Context.AgentID != inKey {
		return malformed("context.agentId contradicts context.sessionKey.")
	}
	return nil
}

var bodyNames = []string{"version", "timestamp", "requestId", "tool", "context", "name", "params"}

// wire reads the body in one pass over its tokens, so that each member is met
// once, by its exact name, at its own place: nothing inside params can stand
// for a member of the call.
type wire struct {
	call Call
}

// UnmarshalJSONFrom implements [json.UnmarshalerFrom].
func (w *wire) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	versioned := false
	err := readObject(dec, "The body", func(name string) error {
		switch name {
		case "version":
			versioned = true
			return readVersion(dec)
		case "timestamp":
			return w.readTimestamp(dec)
		case "requestId":
			return w.readRequestID(dec)
		case "tool":
			return w.readTool(dec)
		case "context":
			return w.call.Context.read(dec)
		}
		return malformed("The body has a member that is not part of the protocol.")
	})
	if err == nil && !versioned {
		return malformed("version is missing.")
	}
	return err
}

func readVersion(dec *jsontext.Decoder) error {
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	if tok.Kind() != jsontext.KindNumber || tok.String() != "1" {
		return malformed("version must be the number 1.")
	}
	return nil
}

func (w *wire) readTimestamp(dec *jsontext.Decoder) error {
	s, err := readString(dec, "timestamp")
	if err != nil {
		return err
	}
	t, ok := parseTime(s)
	if !ok || t.IsZero() {
		return malformed("timestamp must be an RFC 3339 time.")
	}
	w.call.Timestamp = t
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

func (w *wire) readRequestID(dec *jsontext.Decoder) error {
	s, err := readString(dec, "requestId")
	if err != nil {
		return err
	}
	if s == "" || len(s) > MaxRequestID || strings.ContainsFunc(s, notVisibleASCII) {
		return malformed("requestId must be 1 to 128 visible ASCII characters without spaces.")
	}
	w.call.RequestID = s
	return nil
}

func notVisibleASCII(r rune) bool { return r <= ' ' || r >= 0x7f }

func (w *wire) readTool(dec *jsontext.Decoder) error {
	err := readObject(dec, "tool", func(name string) error {
		switch name {
		case "name":
			return w.readToolName(dec)
		case "params":
			return w.readParams(dec)
		}
		return malformed("tool has a member that is not part of the protocol.")
	})
	switch {
	case err != nil:
		return err
	case w.call.Tool == "":
		return malformed("tool.name is missing.")
	case w.call.Params == nil:
		return malformed("tool.params is missing.")
	}
	return nil
}

func (w *wire) readToolName(dec *jsontext.Decoder) error {
	s, err := readString(dec, "tool.name")
	if err != nil {
		return err
	}
	if len(s) > MaxToolName {
		return malformed("tool.name must be at most 128 bytes.")
	}
	w.call.Sent, w.call.Tool = s, Canonical(s)
	if w.call.Tool == "" {
		return malformed("tool.name must not be empty.")
	}
	return nil
}

func (w *wire) readParams(dec *jsontext.Decoder) error {
	if dec.PeekKind() != jsontext.KindBeginObject {
		return wrongType(dec, "tool.params must be an object.")
	}
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	w.call.Params = bytes.Clone(v)
	return nil
}

// readObject calls member with each name; member must read the value.
func readObject(dec *jsontext.Decoder, what string, member func(name string) error) error {
	if dec.PeekKind() != jsontext.KindBeginObject {
		return wrongType(dec, what+" must be an object.")
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != jsontext.KindEndObject {
		name, err := readName(dec)
		if err != nil {
			return err
		}
		if err := member(name); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// knownNames saves an allocation for each name that is spelled without escapes.
var knownNames = func() map[string]string {
	names := map[string]string{}
	for _, n := range slices.Concat(bodyNames, contextNames, messageNames, provenanceNames) {
		names[n] = n
	}
	return names
}()

func readName(dec *jsontext.Decoder) (string, error) {
	raw, err := dec.ReadValue()
	if err != nil {
		return "", err
	}
	if name, ok := knownNames[string(raw[1:len(raw)-1])]; ok {
		return name, nil
	}
	name, err := jsontext.AppendUnquote(nil, raw)
	return string(name), err
}

func readString(dec *jsontext.Decoder, what string) (string, error) {
	if dec.PeekKind() != jsontext.KindString {
		return "", wrongType(dec, what+" must be a string.")
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return "", err
	}
	return tok.String(), nil
}

// wrongType tells a value of another type from text that is no JSON at all:
// for the latter the decoder's own error is the better answer.
func wrongType(dec *jsontext.Decoder, reason string) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	return malformed(reason)
}

// validText is what every identifier of the context must be. Control
// characters are refused because these strings become parts of keys, prompts
// and log lines.
func validText(s string) bool {
	return len(s) <= MaxText && !strings.ContainsFunc(s, isControl)
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }
