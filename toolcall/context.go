package toolcall

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// textMembers are the members of the context that hold a short string.
var textMembers = map[string]func(*Context) *string{
	"agentId":         func(c *Context) *string { return &c.AgentID },
	"sessionKey":      func(c *Context) *string { return &c.SessionKey },
	"messageProvider": func(c *Context) *string { return &c.MessageProvider },
	"sessionId":       func(c *Context) *string { return &c.SessionID },
	"runId":           func(c *Context) *string { return &c.RunID },
	"toolCallId":      func(c *Context) *string { return &c.ToolCallID },
	"channelId":       func(c *Context) *string { return &c.ChannelID },
	"accountId":       func(c *Context) *string { return &c.AccountID },
	"senderId":        func(c *Context) *string { return &c.SenderID },
	"groupId":         func(c *Context) *string { return &c.GroupID },
	"spawnedBy":       func(c *Context) *string { return &c.SpawnedBy },
	"trigger":         func(c *Context) *string { return &c.Trigger },
}

// Names a member must not resemble without being equal to it.
var (
	contextNames    = append(keys(textMembers), "iteration", "senderIsOwner", "inputProvenance", "userMessages", "waitMs")
	messageNames    = []string{"text", "senderId", "senderIsOwner", "at"}
	provenanceNames = []string{"kind"}
)

func keys[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	return names
}

func (c *Context) read(dec *jsontext.Decoder) error {
	return readObject(dec, "context", func(name string) error {
		if field, ok := textMembers[name]; ok {
			return readText(dec, name, field(c))
		}
		switch name {
		case "iteration":
			return c.readIteration(dec)
		case "waitMs":
			return c.readWait(dec)
		case "senderIsOwner":
			return readBool(dec, "context.senderIsOwner", &c.SenderIsOwner)
		case "inputProvenance":
			return c.InputProvenance.read(dec)
		case "userMessages":
			return c.readMessages(dec)
		}
		return skipUnknown(dec, name, contextNames)
	})
}

// skipUnknown passes over a member a newer caller may send, but not over one
// that differs from a known one only in case: a reader that folds case would
// take it for the real one.
func skipUnknown(dec *jsontext.Decoder, name string, known []string) error {
	for _, k := range known {
		if strings.EqualFold(name, k) {
			return malformed("context has a member whose name differs from a known one only in case.")
		}
	}
	return dec.SkipValue()
}

// absent reads a null, which for an optional member means that it is not given.
func absent(dec *jsontext.Decoder) (bool, error) {
	if dec.PeekKind() != jsontext.KindNull {
		return false, nil
	}
	_, err := dec.ReadToken()
	return true, err
}

// readText reads a short string; name is that of a member of the context.
func readText(dec *jsontext.Decoder, name string, to *string) error {
	if null, err := absent(dec); null || err != nil {
		return err
	}
	if dec.PeekKind() != jsontext.KindString {
		return wrongType(dec, "context."+name+" must be a string.")
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	if *to = tok.String(); !validText(*to) {
		return malformed("context." + name + " must be at most 512 bytes without control characters.")
	}
	return nil
}

func readBool(dec *jsontext.Decoder, what string, to *bool) error {
	if null, err := absent(dec); null || err != nil {
		return err
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	if k := tok.Kind(); k != jsontext.KindTrue && k != jsontext.KindFalse {
		return malformed(what + " must be true or false.")
	}
	*to = tok.Bool()
	return nil
}

// readCount reads a number that is not negative. It parses the literal, since
// the decoder's own conversions truncate fractions and saturate.
func readCount(dec *jsontext.Decoder, what string, bits int) (int64, error) {
	tok, err := dec.ReadToken()
	if err != nil {
		return 0, err
	}
	if tok.Kind() == jsontext.KindNumber {
		if n, err := strconv.ParseInt(tok.String(), 10, bits); err == nil && n >= 0 {
			return n, nil
		}
	}
	return 0, malformed(what + " must be a whole number that is not negative.")
}

func (c *Context) readIteration(dec *jsontext.Decoder) error {
	if null, err := absent(dec); null || err != nil {
		return err
	}
	n, err := readCount(dec, "context.iteration", 32)
	if err != nil {
		return err
	}
	i := int(n)
	c.Iteration = &i
	return nil
}

func (c *Context) readWait(dec *jsontext.Decoder) error {
	if null, err := absent(dec); null || err != nil {
		return err
	}
	n, err := readCount(dec, "context.waitMs", 64)
	c.WaitMs = min(n, MaxWaitMs)
	return err
}

func (p *Provenance) read(dec *jsontext.Decoder) error {
	if dec.PeekKind() != jsontext.KindBeginObject {
		return readText(dec, "inputProvenance", &p.Kind)
	}
	return readObject(dec, "context.inputProvenance", func(name string) error {
		if name == "kind" {
			return readText(dec, "inputProvenance.kind", &p.Kind)
		}
		return skipUnknown(dec, name, provenanceNames)
	})
}

func (c *Context) readMessages(dec *jsontext.Decoder) error {
	if null, err := absent(dec); null || err != nil {
		return err
	}
	if dec.PeekKind() != jsontext.KindBeginArray {
		return wrongType(dec, "context.userMessages must be an array.")
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != jsontext.KindEndArray {
		// Bounded because an empty entry costs three bytes there and many more here.
		if len(c.UserMessages) == MaxUserMessages {
			return malformed("context.userMessages must have at most 4096 entries.")
		}
		var m UserMessage
		if err := m.read(dec); err != nil {
			return err
		}
		c.UserMessages = append(c.UserMessages, m)
	}
	_, err := dec.ReadToken()
	return err
}

func (m *UserMessage) read(dec *jsontext.Decoder) error {
	return readObject(dec, "Each entry of context.userMessages", func(name string) error {
		switch name {
		case "text":
			return m.readMessageText(dec)
		case "senderId":
			return readText(dec, "userMessages.senderId", &m.SenderID)
		case "senderIsOwner":
			return readBool(dec, "context.userMessages.senderIsOwner", &m.SenderIsOwner)
		case "at":
			return m.readAt(dec)
		}
		return skipUnknown(dec, name, messageNames)
	})
}

// readMessageText takes any text: it is what a person wrote, not an identifier.
func (m *UserMessage) readMessageText(dec *jsontext.Decoder) (err error) {
	if null, err := absent(dec); null || err != nil {
		return err
	}
	m.Text, err = readString(dec, "context.userMessages.text")
	return err
}

// readAt keeps the time as it was sent: callers have used text and epoch numbers.
func (m *UserMessage) readAt(dec *jsontext.Decoder) error {
	if dec.PeekKind() != jsontext.KindNumber {
		return readText(dec, "userMessages.at", &m.At)
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	m.At = tok.String()
	return nil
}
