// Package protocol is what agents' runtimes and the gateway say to each other: the call that a runtime asks about
// ([Call]), what it tells of its agent's loop ([Event]), and what goes back ([Answer]).
//
// [Decode] and [DecodeEvent] turn the raw bytes of a request into a call or an event and refuse every body that two
// readers could understand differently: duplicate or case-varied member names, invalid UTF-8, lone surrogates, trailing
// data, numbers that are not finite, nesting that is not bounded. The package judges nothing and keeps nothing: who
// signed the bytes, whether the timestamp is recent and what the call may do are decided elsewhere. It never repeats a
// part of the body in an error. What an event holds of a text ([Text]) is gone with the request.
package protocol

import (
	"cmp"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/text"
)

// Limits of a body. A body beyond any of them is [Malformed].
const (
	MaxBody      = 1 << 20 // bytes of the whole body
	MaxDepth     = 100     // objects and arrays inside each other, the body itself being the first
	MaxNumber    = 64      // characters of a number literal
	MaxRequestID = 128     // characters of requestId
	MaxToolName  = 128     // bytes of tool.name as sent
	MaxText      = 512     // bytes of any identifier in the context
)

// MaxWaitMs is the longest wait a caller can claim, one day. A longer claim counts as this one, so that turning it into
// a [time.Duration] can't overflow.
const MaxWaitMs = 24 * 60 * 60 * 1000

// Call is one decoded tool call.
type Call struct {
	Client    string // who signed it; set by the server after authentication, never from the body
	RequestID string
	Timestamp time.Time
	Tool      string         // canonical name, see [Canonical]
	Sent      string         // the name as it was sent
	Params    jsontext.Value // the raw JSON object
	Hints     Hints          // what the tool's own definition says of it
	Context   Context
	Body      [32]byte // the signature of the raw bytes; set by the server
	Reached   *int     // the highest iteration that its run has told, with this call; set by the verifier

	walked walked // the params, read once; see [Call.Values]
}

// Iteration is how far the run of the call is, nil where that was never told. In one run the count never goes back: a
// call that tells none, or less, has reached what the run told before.
func (c *Call) Iteration() *int { return cmp.Or(c.Reached, c.Context.Iteration) }

// Context is what the caller says about the call. Every member is optional, and a member left out is the zero value:
// missing metadata is never trust.
type Context struct {
	AgentID         string        `json:"agentId,omitzero"`
	SessionKey      string        `json:"sessionKey,omitzero"`
	MessageProvider string        `json:"messageProvider,omitzero"`
	SessionID       string        `json:"sessionId,omitzero"`
	RunID           string        `json:"runId,omitzero"`
	ToolCallID      string        `json:"toolCallId,omitzero"`
	Iteration       *int          `json:"iteration,omitzero"` // nil when not given; 0 is a real iteration
	ChannelID       string        `json:"channelId,omitzero"`
	SenderID        string        `json:"senderId,omitzero"`
	SenderIsOwner   bool          `json:"senderIsOwner,omitzero"`
	GroupID         string        `json:"groupId,omitzero"`
	SpawnedBy       string        `json:"spawnedBy,omitzero"`
	Trigger         string        `json:"trigger,omitzero"`
	InputProvenance Provenance    `json:"inputProvenance,omitzero"`
	UserMessages    []UserMessage `json:"userMessages,omitzero"`
	WaitMs          int64         `json:"waitMs,omitzero"` // how long the caller can wait, at most [MaxWaitMs]
	// the runtime found a secret in what a tool returned, and could not report it
	SecretsRead bool `json:"secretsRead,omitzero"`
	// the runtime runs the params of an allow instead of those that it asked about
	Edits bool `json:"edits,omitzero"`

	// where a coding agent was started, or the workspace of an agent, as hook or plugin says
	Workspace string `json:"workspace,omitzero"`
	Platform  string `json:"platform,omitzero"`  // the system on which commands run, such as linux, darwin or win32
	Directory string `json:"directory,omitzero"` // where it works now: people read it, and their yes is bound to it

	// the names of sessions and agents as they were sent, where that is not their one spelling; see keys
	spelled [4]string
}

// check bounds the wait, and gives the names of sessions and agents their one spelling.
func (c *Context) check() error {
	c.WaitMs = min(c.WaitMs, MaxWaitMs)
	for i, key := range c.keys() {
		if canonical := CanonicalKey(*key); canonical != *key {
			c.spelled[i], *key = *key, canonical
		}
	}
	if inKey := agentInKey(c.SessionKey); c.AgentID != "" && inKey != "" && c.AgentID != inKey {
		return &wrong{"agentId", "contradicts context.sessionKey"}
	}
	return nil
}

// Provenance says where the input of the run came from. On the wire it is a string or an object with the member "kind".
type Provenance struct {
	Kind string `json:"kind,omitzero"`
}

func (p *Provenance) read(r *reader) error {
	type object Provenance
	if r.peek() == '{' {
		return r.object((*object)(p))
	}
	return r.value(&p.Kind, MaxText)
}

// UserMessage is one message a person wrote in the conversation.
type UserMessage struct {
	Text          string `json:"text" max:"0"`
	SenderID      string `json:"senderId,omitzero"`
	SenderIsOwner bool   `json:"senderIsOwner,omitzero"`
}

// aliases is the one table of other names for a tool. It holds what OpenClaw itself renames, and nothing that merely
// looks alike.
var aliases = map[string]string{
	"bash":        "exec",
	"apply-patch": "apply_patch",
	"cron":        "automations",
}

// Canonical returns the name under which a tool is judged. Only ASCII is folded: a look-alike or an invisible character
// leaves an unknown tool, which gets the strictest default, instead of a known one.
func Canonical(name string) string {
	name = text.Lower(strings.Trim(name, spaceASCII))
	if to, ok := aliases[name]; ok {
		return to
	}
	return name
}

const spaceASCII = " \t\n\v\f\r"

// Agent returns the agent that makes the call: agentId, or else the id in a session key of the form agent:<id>:…, or
// else "".
func (c *Call) Agent() string {
	if c.Context.AgentID != "" {
		return c.Context.AgentID
	}
	return agentInKey(c.Context.SessionKey)
}

func agentInKey(key string) string {
	rest, ok := strings.CutPrefix(key, "agent:")
	if id, _, more := strings.Cut(rest, ":"); ok && more {
		return id
	}
	return ""
}

// OwnerMessages returns the texts of the messages the owner wrote, in order.
func (c *Call) OwnerMessages() []string {
	var texts []string
	for _, m := range c.Context.UserMessages {
		if m.SenderIsOwner {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

// Hints are a tool's annotations by the Model Context Protocol, where the caller sends them along. The tool's server
// wrote them: they can make a call look worse, and no better. Nil is not said.
type Hints struct {
	ReadOnly    *bool `json:"readOnlyHint"`
	Destructive *bool `json:"destructiveHint"`
	OpenWorld   *bool `json:"openWorldHint"`
}

// Acts reports whether the tool's own definition says that it changes something or reaches outside.
func (h *Hints) Acts() bool {
	return is(h.ReadOnly, false) || is(h.Destructive, true) || is(h.OpenWorld, true)
}

// Destroys reports whether it says that what it does can't be undone.
func (h *Hints) Destroys() bool { return is(h.Destructive, true) }

// Outside reports whether it says that it deals with the world outside.
func (h *Hints) Outside() bool { return is(h.OpenWorld, true) }

func is(said *bool, what bool) bool { return said != nil && *said == what }

// CanonicalKey is the one spelling of a session key, a session id or an agent id: without white space around it,
// without colons at its end, and in lower case, as OpenClaw keeps them. Two spellings of one conversation must not be
// two conversations, or what one has read would not count in the other. Only ASCII is folded, as in [Canonical]: see
// [OddKey] for the rest.
func CanonicalKey(s string) string {
	for s = strings.Trim(s, spaceASCII); strings.HasSuffix(s, ":"); {
		s = strings.Trim(s[:len(s)-1], spaceASCII)
	}
	return text.Lower(s)
}

// OddKey reports whether a canonical key could be mistaken for another one: it holds something other than visible ASCII
// characters (a space, an invisible character, a letter that looks like another), or an empty part. A conversation with
// such a key is untrusted.
func OddKey(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f || s[i] == ':' && i > 0 && s[i-1] == ':' {
			return true
		}
	}
	return strings.HasPrefix(s, ":")
}

// keys are the names of sessions and agents.
func (c *Context) keys() [4]*string {
	return [...]*string{&c.AgentID, &c.SessionKey, &c.SessionID, &c.SpawnedBy}
}

// HideKeys lets the caller choose the name of each session and agent whose spelling, as it was sent, is not its one
// spelling: a secret in it could no longer be recognised in lower case.
func (c *Context) HideKeys(key func(sent string) string) {
	for i, k := range c.keys() {
		if sent := c.spelled[i]; sent != "" {
			*k = key(sent)
		}
	}
}

// OddKeys reports whether a name of the conversation, of its agent or of what started it could be mistaken for another.
func (c *Context) OddKeys() bool {
	return OddKey(c.SessionKey) || OddKey(c.SessionID) || OddKey(c.SpawnedBy) || OddKey(c.AgentID)
}
