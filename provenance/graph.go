// Package provenance draws one turn of an agent as a graph: what came into the
// model's context, what it was called with, which tools it called, what they
// brought in, and what was blocked.
//
// A graph is made of [Fact]s, small notes that each observer adds to the
// turn; where a runtime reports the events of its loop they say all of it, and
// where it only asks about calls the rest is worked out from those. The package is
// pure: it keeps nothing and reads no clock. It decides nothing either, a graph
// is evidence for people. It has no field for content: of a text there is its
// SHA-256 and its size, never a preview.
package provenance

import (
	"time"

	"github.com/openclaw-verifier/verifier/taint"
)

// Graph is one turn, in the schema of the agent loop RFC.
type Graph struct {
	TurnID     string  `json:"turnId"`
	SessionKey string  `json:"sessionKey"`
	AgentID    string  `json:"agentId,omitzero"`
	RunID      string  `json:"runId,omitzero"`
	Timestamp  int64   `json:"timestamp"` // when it began, in Unix milliseconds
	DurationMs int64   `json:"durationMs"`
	Nodes      []Node  `json:"nodes"`
	Edges      []Edge  `json:"edges"`
	Summary    Summary `json:"summary"`
	Sealed     bool    `json:"sealed"`         // the turn is over
	Cut        bool    `json:"cut,omitzero"`   // it had more facts than are kept: some of the first are missing
	Calls      bool    `json:"calls,omitzero"` // made of calls alone: the model's own are worked out
}

// Kind is what a node represents.
type Kind string

// The kinds of nodes.
const (
	Input          Kind = "input"
	SystemPrompt   Kind = "system_prompt"
	History        Kind = "history"
	LLMCall        Kind = "llm_call"
	ToolCall       Kind = "tool_call"
	ToolResult     Kind = "tool_result"
	Output         Kind = "output"
	PolicyDecision Kind = "policy_decision"
)

// Node is one thing that happened.
type Node struct {
	ID          string      `json:"id"`
	Kind        Kind        `json:"kind"`
	Trust       taint.Level `json:"trust"`
	Tool        string      `json:"tool,omitzero"`
	Iteration   *int        `json:"iteration,omitzero"`
	ContentHash string      `json:"contentHash,omitzero"`
	Blocked     bool        `json:"blocked,omitzero"`
	BlockReason string      `json:"blockReason,omitzero"`
	Metadata    *Metadata   `json:"metadata,omitzero"`
}

// Metadata is what else is known of a node.
type Metadata struct {
	Label      string `json:"label,omitzero"` // what it is called in a sentence: "web_fetch example.com"
	Ref        string `json:"ref,omitzero"`   // what the agent was told, to find the decision by
	By         string `json:"by,omitzero"`    // what consented
	Step       int64  `json:"step,omitzero"`  // the conversation's count of calls
	Model      string `json:"model,omitzero"`
	Size       int64  `json:"size,omitzero"`
	DurationMs int64  `json:"durationMs,omitzero"`
	Tokens     int64  `json:"tokens,omitzero"` // that a call of the model took
	Error      bool   `json:"error,omitzero"`
}

// Relation is how two nodes belong together.
type Relation string

// The relations.
const (
	Triggers    Relation = "triggers"
	Produces    Relation = "produces"
	Consumes    Relation = "consumes"
	DerivesFrom Relation = "derives_from"
	BlockedBy   Relation = "blocked_by"
)

// Edge joins two nodes.
type Edge struct {
	From     string   `json:"from"`
	To       string   `json:"to"`
	Relation Relation `json:"relation"`
}

// Summary is the turn in short.
type Summary struct {
	MaxTaint        taint.Level `json:"maxTaint"`
	ExternalSources []string    `json:"externalSources"`
	ToolsBlocked    []string    `json:"toolsBlocked"`
	IterationCount  int         `json:"iterationCount"`
	Tokens          int64       `json:"tokens,omitzero"` // that its calls of the model took, as far as the runtime says
}

// Keep is how long a turn can be looked at.
const Keep = 7 * 24 * time.Hour
