// Package loop gives the events of package protocol their old names, until what uses them is rewritten.
package loop

import "github.com/openclaw-verifier/verifier/internal/protocol"

// What is in package protocol.
type (
	Name     = protocol.Name
	Event    = protocol.Event
	Hello    = protocol.Hello
	Job      = protocol.Job
	Answered = protocol.Answered
	Tokens   = protocol.Tokens
	Hash     = protocol.Hash
	Text     = protocol.Text
	Kind     = protocol.Kind
	Source   = protocol.Source
	Wanted   = protocol.Wanted
	Returned = protocol.Returned
	Answer   = protocol.Answer
	Tool     = protocol.Tool
)

// The events.
const (
	SessionStart       = protocol.SessionStart
	ContextAssembled   = protocol.ContextAssembled
	LoopIterationStart = protocol.LoopIterationStart
	BeforeLLMCall      = protocol.BeforeLLMCall
	AfterLLMCall       = protocol.AfterLLMCall
	BeforeToolCall     = protocol.BeforeToolCall
	AfterToolCall      = protocol.AfterToolCall
	LoopIterationEnd   = protocol.LoopIterationEnd
	BeforeResponseEmit = protocol.BeforeResponseEmit
	AgentEnd           = protocol.AgentEnd
	SubagentSpawned    = protocol.SubagentSpawned
	SessionEnd         = protocol.SessionEnd
	CronChanged        = protocol.CronChanged
	ResetRequested     = protocol.ResetRequested
	QuestionAnswered   = protocol.QuestionAnswered
	SaysHello          = protocol.SaysHello
)

// The kinds of sources.
const (
	SystemPrompt     = protocol.KindSystemPrompt
	UserMessage      = protocol.KindUserMessage
	ToolResult       = protocol.KindToolResult
	CompactedHistory = protocol.KindCompactedHistory
)

// Limits of an event.
const (
	MaxBody = protocol.MaxEventBody
)

// Functions of package protocol.
var (
	Decode = protocol.DecodeEvent
	HashOf = protocol.HashOf
)
