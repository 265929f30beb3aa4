package protocol

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/taint"
)

// Name is what happened.
type Name string

// The events.
const (
	SessionStart       Name = "session_start"
	ContextAssembled   Name = "context_assembled"
	LoopIterationStart Name = "loop_iteration_start"
	BeforeLLMCall      Name = "before_llm_call"
	AfterLLMCall       Name = "after_llm_call"
	BeforeToolCall     Name = "before_tool_call" // a call or the notice of one, see [DecodeNotice]
	AfterToolCall      Name = "after_tool_call"
	LoopIterationEnd   Name = "loop_iteration_end"
	BeforeResponseEmit Name = "before_response_emit"
	AgentEnd           Name = "agent_end"
	SubagentSpawned    Name = "subagent_spawned"
	SessionEnd         Name = "session_end"
	CronChanged        Name = "cron_changed"
	ResetRequested     Name = "reset_requested"   // someone wrote /new or /reset, and nothing else
	QuestionAnswered   Name = "question_answered" // at the agent's own terminal, or it is out of date
	SaysHello          Name = "hello"
)

// Known reports whether there is such an event.
func (n Name) Known() bool {
	return n == BeforeToolCall || (&Event{Name: n}).fields() != nil
}

// MayBlock reports whether the runtime waits for leave to go on.
func (n Name) MayBlock() bool {
	switch n { //nolint:exhaustive // the rest only tell
	case LoopIterationStart, BeforeLLMCall, AfterLLMCall, BeforeResponseEmit:
		return true
	}
	return false
}

// Limits of an event. A body beyond any of them is malformed.
const (
	MaxEventBody = 8 << 20 // bytes of the whole body
	MaxSources   = 256
	MaxTools     = 4096
	MaxToolCalls = 256
	MaxOrigin    = 256 // bytes
)

// Event is one decoded event. Members that its name does not have are zero.
type Event struct {
	Name Name
	Call Call // whom it is about: client, request and context. It names no tool

	Iteration    *int // nil when not given
	Sources      []Source
	Tools        []string // as they were sent
	Cautioned    []string // those of Tools whose own definition asks for caution
	Wanted       []Wanted // the calls that the model wants to make
	Returned     Returned // what a tool returned
	SystemPrompt *Text
	Content      *Text // of the response; only its hash, if that is what was sent
	Messages     Hash  // of all of them as they stand in the body
	Response     Hash
	Model        string
	LatencyMs    int64
	Tokens       Tokens

	Hello          Hello
	Job            Job // a scheduled job that something happened to
	Answered       Answered
	Child          string // the session key of a child
	Reason         string // why a session ended
	NextSessionID  string
	NextSessionKey string
}

// Hello is what a runtime's plugin says of itself.
type Hello struct {
	Name     string // of the runtime: OpenClaw
	Version  string // of the plugin
	Instance string // another one each time the runtime starts
	FailMode string // what it does without an answer: deny, allow
	Scope    string // which tools it asks about, for people; empty: all
	Off      bool   // it is switched off: it asks about nothing
	Blind    bool   // it does not see what starts a run
}

// Job is what the runtime's scheduler tells of one of its jobs.
type Job struct {
	Action  string // added, updated, started, finished, removed, scheduled
	ID      string // as the runtime writes it
	Outside bool   // its text is not its own: it comes from outside, or from what a command prints
	Target  string // main, isolated, session:<key>
}

// Answered is a question whose call the user has let run, or not, at the agent's own terminal.
type Answered struct {
	Ticket string // as the answer to the call named the question
	Ran    bool   // the call was let run
}

// Tokens are what a call of the model took, as far as the runtime says.
type Tokens struct {
	Input  int64
	Output int64
	Cached int64 // read from a cache, or written to one
	Total  int64 // all of it: what the runtime says, or the sum
}

// Hash is "sha256:" and 64 hex digits, or empty.
type Hash string

// Text is a text whose hash is kept. The text itself lives no longer than the
// request.
type Text struct {
	Hash Hash
	Text string // empty where only the hash was sent
}

// Kind is what part of the context a source is.
type Kind string

// The kinds of sources.
const (
	KindSystemPrompt     Kind = "system_prompt"
	KindUserMessage      Kind = "user_message"
	KindToolResult       Kind = "tool_result"
	KindCompactedHistory Kind = "compacted_history"
)

// Source is one thing that the model's context was made of.
type Source struct {
	Kind          Kind
	Trust         *taint.Level // nil: by what it is
	Tool          string       // canonical, see [Canonical]
	Sent          string       // the tool's name as it was sent
	Index         *int64       // how many messages were there before it; nil when not given
	SenderID      string
	SenderIsOwner bool
	Size          int64
	Hash          Hash
	Seen          Fingerprints
}

// ByUser reports whether the user wrote it, as the runtime attests: the owner,
// and nothing marks it as something else.
func (s *Source) ByUser() bool {
	return s.Kind == KindUserMessage && s.SenderIsOwner && (s.Trust == nil || *s.Trust <= taint.Owner)
}

// Wanted is a call that the model wants to make.
type Wanted struct {
	ID        string
	Name      string
	Arguments jsontext.Value // an object
	Sent      jsontext.Value // all of it, as it stood in the body
}

// Returned is what a tool returned.
type Returned struct {
	Tool       string // canonical, see [Canonical]
	Sent       string // the tool's name as it was sent
	ToolCallID string
	Origin     string
	Error      bool
	Marked     bool   // the runtime itself marks it as outside content
	Secret     bool   // the runtime has found a secret in it
	Changed    bool   // the runtime says that what ran is something else than was judged
	Job        string // the scheduled job that it has made or changed, as the runtime says
	Child      string // the session that it has started, as the runtime says
	DurationMs int64
	Size       int64
	Hash       Hash
	Text       string // empty unless it was sent
	Seen       Fingerprints
}
