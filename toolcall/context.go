package toolcall

import (
	"strconv"
	"strings"
)

// Names a member must not resemble without being equal to it.
var (
	contextNames = []string{
		"agentId", "sessionKey", "messageProvider", "sessionId", "runId", "toolCallId", "iteration", "channelId", "accountId",
		"senderId", "senderIsOwner", "groupId", "spawnedBy", "trigger", "inputProvenance", "userMessages", "waitMs", "secretsRead",
	}
	messageNames    = []string{"text", "senderId", "senderIsOwner", "at"}
	provenanceNames = []string{"kind"}
)

// textMember is where a member goes that holds a short string, or nil.
func (c *Context) textMember(name []byte) *string {
	switch string(name) {
	case "agentId":
		return &c.AgentID
	case "sessionKey":
		return &c.SessionKey
	case "messageProvider":
		return &c.MessageProvider
	case "sessionId":
		return &c.SessionID
	case "runId":
		return &c.RunID
	case "toolCallId":
		return &c.ToolCallID
	case "channelId":
		return &c.ChannelID
	case "accountId":
		return &c.AccountID
	case "senderId":
		return &c.SenderID
	case "groupId":
		return &c.GroupID
	case "spawnedBy":
		return &c.SpawnedBy
	case "trigger":
		return &c.Trigger
	}
	return nil
}

func (c *Context) read(cur *cursor) error {
	return readObject(cur, "context", func(name []byte) error {
		if field := c.textMember(name); field != nil {
			return readText(cur, string(name), field)
		}
		switch string(name) {
		case "iteration":
			return c.readIteration(cur)
		case "waitMs":
			return c.readWait(cur)
		case "senderIsOwner":
			return readBool(cur, "context.senderIsOwner", &c.SenderIsOwner)
		case "secretsRead":
			return readBool(cur, "context.secretsRead", &c.SecretsRead)
		case "inputProvenance":
			return c.InputProvenance.read(cur)
		case "userMessages":
			return c.readMessages(cur)
		}
		return skipUnknown(cur, name, contextNames)
	})
}

// skipUnknown passes over a member a newer caller may send, but not over one
// that differs from a known one only in case: a reader that folds case would
// take it for the real one.
func skipUnknown(cur *cursor, name []byte, known []string) error {
	sent := string(name)
	for _, k := range known {
		if strings.EqualFold(sent, k) {
			return malformed("context has a member whose name differs from a known one only in case.")
		}
	}
	cur.next()
	return nil
}

// readText reads a short string; name is that of a member of the context. Null
// means that an optional member is not given, here and below.
func readText(cur *cursor, name string, to *string) error {
	raw := cur.next()
	switch raw[0] {
	case 'n':
		return nil
	case '"':
		if *to = cur.said(); cur.validText(*to) {
			return nil
		}
		return malformed("context." + name + " must be at most 512 bytes without control characters.")
	default:
		return malformed("context." + name + " must be a string.")
	}
}

func readBool(cur *cursor, what string, to *bool) error {
	switch string(cur.next()) {
	case "null":
	case "true":
		*to = true
	case "false":
		*to = false
	default:
		return malformed(what + " must be true or false.")
	}
	return nil
}

// readCount reads a number that is not negative, and whether it is given.
func readCount(cur *cursor, what string, bits int) (n int64, given bool, err error) {
	raw := cur.next()
	if raw[0] == 'n' {
		return 0, false, nil
	}
	n, err = strconv.ParseInt(string(raw), 10, bits)
	if err != nil || n < 0 {
		return 0, false, malformed(what + " must be a whole number that is not negative.")
	}
	return n, true, nil
}

func (c *Context) readIteration(cur *cursor) error {
	n, given, err := readCount(cur, "context.iteration", 32)
	if given {
		i := int(n)
		c.Iteration = &i
	}
	return err
}

func (c *Context) readWait(cur *cursor) error {
	n, given, err := readCount(cur, "context.waitMs", 64)
	if given {
		c.WaitMs = min(n, MaxWaitMs)
	}
	return err
}

func (p *Provenance) read(cur *cursor) error {
	if cur.peek() != '{' {
		return readText(cur, "inputProvenance", &p.Kind)
	}
	return readObject(cur, "context.inputProvenance", func(name []byte) error {
		if string(name) == "kind" {
			return readText(cur, "inputProvenance.kind", &p.Kind)
		}
		return skipUnknown(cur, name, provenanceNames)
	})
}

func (c *Context) readMessages(cur *cursor) error {
	switch cur.peek() {
	case 'n':
		cur.next()
		return nil
	case '[':
	default:
		return malformed("context.userMessages must be an array.")
	}
	for cur.enter(); cur.more(']'); {
		// Bounded because an empty entry costs three bytes there and many more here.
		if len(c.UserMessages) == MaxUserMessages {
			return malformed("context.userMessages must have at most 4096 entries.")
		}
		var m UserMessage
		if err := m.read(cur); err != nil {
			return err
		}
		if c.UserMessages == nil {
			c.UserMessages = c.message[:0]
		}
		c.UserMessages = append(c.UserMessages, m)
	}
	return nil
}

func (m *UserMessage) read(cur *cursor) error {
	return readObject(cur, "Each entry of context.userMessages", func(name []byte) error {
		switch string(name) {
		case "text":
			return m.readMessageText(cur)
		case "senderId":
			return readText(cur, "userMessages.senderId", &m.SenderID)
		case "senderIsOwner":
			return readBool(cur, "context.userMessages.senderIsOwner", &m.SenderIsOwner)
		case "at":
			return m.readAt(cur)
		}
		return skipUnknown(cur, name, messageNames)
	})
}

// readMessageText takes any text: it is what a person wrote, not an identifier.
func (m *UserMessage) readMessageText(cur *cursor) (err error) {
	if cur.peek() == 'n' {
		cur.next()
		return nil
	}
	m.Text, err = readString(cur, "context.userMessages.text")
	return err
}

// readAt keeps the time as it was sent: callers have used text and epoch numbers.
func (m *UserMessage) readAt(cur *cursor) error {
	if b := cur.peek(); b == '-' || '0' <= b && b <= '9' {
		m.At = string(cur.next())
		return nil
	}
	return readText(cur, "userMessages.at", &m.At)
}
