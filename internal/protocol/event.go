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

// MayBlock reports whether the runtime waits for leave to go on.
func (n Name) MayBlock() bool {
	return n == LoopIterationStart || n == BeforeLLMCall || n == AfterLLMCall || n == BeforeResponseEmit
}

// MaxEventBody is how many bytes the body of an event may have.
const MaxEventBody = 8 << 20

// Event is one decoded event. What its name does not have is zero.
type Event struct {
	Name Name
	Call Call // whom it is about: client, request and context. It names no tool

	Loop
	Returned Returned // what a tool returned
	Emitted
	Spawned
	Ended
	Hello    Hello
	Job      Job // a scheduled job that something happened to
	Answered Answered
}

// Loop is what the events of the agent's loop have.
type Loop struct {
	Iteration    *int      `json:"iteration" need:"loop_iteration_start loop_iteration_end"` // nil when not given
	Sources      []Source  `json:"sources" max:"256" need:"context_assembled"`
	SystemPrompt *Text     `json:"systemPrompt"`
	Model        string    `json:"model"`
	Wanted       []Wanted  `json:"toolCalls" max:"256" need:"after_llm_call"` // the calls that the model wants to make
	Tools        []Offered `json:"tools" need:"before_llm_call"`              // those that the model is offered
	Messages     anything  `json:"messages"`
}

// Source is one thing that the model's context was made of.
type Source struct {
	Kind          Kind         `json:"kind" need:"always"`
	Trust         *taint.Level `json:"trust"`          // nil: by what it is
	Tool          string       `json:"-"`              // canonical, see [Canonical]
	Sent          string       `json:"tool" max:"128"` // the tool's name as it was sent
	Index         *int64       `json:"messageIndex"`   // how many messages were there before it; nil when not given
	SenderID      string       `json:"senderId"`
	SenderIsOwner bool         `json:"senderIsOwner"`
	Size          int64        `json:"size"`
	Hash          Hash         `json:"contentHash"`
	Seen          Fingerprints `json:"fingerprints"`
}

// ByUser reports whether the user wrote it, as the runtime attests: the owner, and nothing marks it as something else.
func (s *Source) ByUser() bool {
	return s.Kind == KindUserMessage && s.SenderIsOwner && (s.Trust == nil || *s.Trust <= taint.Owner)
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

// UnmarshalText reads one of the kinds.
func (k *Kind) UnmarshalText(text []byte) error {
	switch *k = Kind(text); *k {
	case KindSystemPrompt, KindUserMessage, KindToolResult, KindCompactedHistory:
		return nil
	}
	return must("be system_prompt, user_message, tool_result or compacted_history")
}

// Offered is a tool that the model is offered.
type Offered struct {
	Name    string  `json:"name" need:"always" max:"128"` // as it was sent
	Caution caution `json:"metadata"`                     // its own definition asks for caution
}

// Wanted is a call that the model wants to make.
type Wanted struct {
	ID        string         `json:"id"`
	Name      string         `json:"name" need:"always"`
	Arguments jsontext.Value `json:"arguments"` // an object
	Sent      jsontext.Value `json:"-"`         // all of it, as it stood in the body
}

func (w *Wanted) read(r *reader) error {
	type members Wanted
	r.peek()
	start := r.at
	err := r.object((*members)(w))
	if err != nil {
		return err
	}
	if k := w.Arguments.Kind(); len(w.Arguments) == 0 || k == jsontext.KindNull {
		w.Arguments = jsontext.Value("{}")
	} else if k != jsontext.KindBeginObject {
		return &wrong{"arguments", "must be an object"}
	}
	w.Sent = jsontext.Value(r.text[start:r.at]).Clone()
	return nil
}

// Returned is what a tool returned.
type Returned struct {
	Tool       string       `json:"-"`                                // canonical, see [Canonical]
	Sent       string       `json:"toolName" need:"always" max:"128"` // the tool's name as it was sent
	ToolCallID string       `json:"toolCallId"`
	Origin     string       `json:"origin" max:"256"`
	Error      bool         `json:"error"`
	Marked     bool         `json:"marked"`          // the runtime itself marks it as outside content
	Secret     bool         `json:"secret"`          // the runtime has found a secret in it
	Changed    bool         `json:"changed"`         // what ran is something else than was judged, the runtime says
	Child      string       `json:"childSessionKey"` // the session that it has started, the runtime says
	DurationMs int64        `json:"durationMs"`
	Size       int64        `json:"size"`
	Seen       Fingerprints `json:"fingerprints"`
	Hash       Hash         `json:"contentHash"` // that of the result, where it was sent
	Result     anything     `json:"result"`
}

// Emitted is the response that is about to go out.
type Emitted struct {
	Content     *Text `json:"content"`
	ContentHash Hash  `json:"contentHash"` // where only that was sent
}

// Spawned is a session that the agent has started.
type Spawned struct {
	Child string `json:"childSessionKey" need:"always"`
}

// Ended is why a session ended, and which one goes on.
type Ended struct {
	Reason         string `json:"reason"`
	NextSessionID  string `json:"nextSessionId"`
	NextSessionKey string `json:"nextSessionKey"`
}

// Job is what the runtime's scheduler tells of one of its jobs.
type Job struct {
	Action  string `json:"action" need:"always"` // added, updated, started, finished, removed, scheduled
	ID      string `json:"jobId" need:"always"`  // as the runtime writes it
	Outside bool   `json:"outside"`              // its text comes from outside, or from what a command prints
	Target  string `json:"sessionTarget"`        // main, isolated, session:<key>
}

// Answered is a question whose call the user has let run, or not, at the agent's own terminal.
type Answered struct {
	Ticket string `json:"question" need:"always" max:"256"` // as the answer to the call named the question
	Ran    bool   `json:"ran"`                              // the runtime reported its result, without an error
}

// Hello is what a runtime's plugin says of itself.
type Hello struct {
	Name     string `json:"runtime" need:"always" max:"256"` // OpenClaw
	Version  string `json:"version" need:"always" max:"256"` // of the plugin
	Instance string `json:"instance" max:"256"`              // another one each time the runtime starts
	FailMode string `json:"failMode" max:"256"`              // what it does without an answer: deny, allow
	Scope    string `json:"scope" max:"256"`                 // which tools it asks about, for people; empty: all
	Off      bool   `json:"off"`                             // it is switched off: it asks about nothing
	Blind    bool   `json:"blind"`                           // it does not see what starts a run
}
