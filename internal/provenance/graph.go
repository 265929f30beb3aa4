// Package provenance draws one turn of an agent as a graph, from the record: what came into the model's context, what
// it was called with, which tools it called, what they brought in, and what was blocked.
//
// Where a runtime reports the events of its loop, their entries say all of it; where it only asks about calls, the rest
// is worked out from those. The package decides nothing: a graph is evidence for people. It has no field for content:
// of a text there is its SHA-256 and its size, never a preview.
package provenance

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/openclaw-verifier/verifier/internal/record"
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
	Cut        bool    `json:"cut,omitzero"`   // it has more than is drawn
	Calls      bool    `json:"calls,omitzero"` // made of calls alone: the model's own are worked out
}

// Node is one thing that happened.
type Node struct {
	ID          string      `json:"id"`
	Kind        string      `json:"kind"` // as the RFC names it, such as tool_call
	Trust       taint.Level `json:"trust"`
	Tool        string      `json:"tool,omitzero"`
	Iteration   *int        `json:"iteration,omitzero"`
	ContentHash string      `json:"contentHash,omitzero"`
	Blocked     bool        `json:"blocked,omitzero"`
	BlockReason string      `json:"blockReason,omitzero"`
	Metadata    Metadata    `json:"metadata,omitzero"`
}

const (
	toolCall   = "tool_call"
	toolResult = "tool_result"
)

// kinds are what the sources of a context are called in a graph.
var kinds = map[string]string{
	"system_prompt": "system_prompt", "user_message": "input", "tool_result": toolResult,
	"compacted_history": "history",
}

// name is what a node is called in a sentence: what a tool was called for, or the tool, or nothing. It is foreign text.
func (n *Node) name() string { return cmp.Or(n.Metadata.Label, n.Tool) }

// Metadata is what else is known of a node.
type Metadata struct {
	Label      string `json:"label,omitzero"` // what it is called in a sentence: "web_fetch example.com"
	Ref        string `json:"ref,omitzero"`   // what the agent was told, to find the decision by
	By         string `json:"by,omitzero"`    // what consented
	Model      string `json:"model,omitzero"`
	Size       int64  `json:"size,omitzero"`
	DurationMs int64  `json:"durationMs,omitzero"`
	Error      bool   `json:"error,omitzero"`
}

// Edge joins two nodes. It leads from what reads, produces or was blocked: the RFC names the relations.
type Edge struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Relation string `json:"relation"`
}

// Summary is the turn in short.
type Summary struct {
	MaxTaint        taint.Level `json:"maxTaint"`
	ExternalSources []string    `json:"externalSources"`
	ToolsBlocked    []string    `json:"toolsBlocked"`
	IterationCount  int         `json:"iterationCount"`
}

// Build draws the turn that these entries are of, in their order.
func Build(turn string, entries []record.Entry) *Graph {
	g := &Graph{
		TurnID: turn, Nodes: []Node{}, Edges: []Edge{}, Calls: true,
		Summary: Summary{ExternalSources: []string{}, ToolsBlocked: []string{}},
	}
	b := builder{Graph: g, llm: -1, calls: map[string]int{}, counts: map[string]int{}}
	for i := range entries {
		e := &entries[i]
		if i == 0 {
			g.SessionKey, g.AgentID, g.RunID, g.Timestamp = e.Session, e.Agent, e.Run, e.At.UnixMilli()
		}
		g.DurationMs = e.At.UnixMilli() - g.Timestamp
		for j := range e.Parts {
			b.add(e, &e.Parts[j])
		}
	}
	return g
}

// builder is a graph under way. It names nodes by their index.
type builder struct {
	*Graph
	llm    int            // the last call of the model; -1: none
	fresh  []int          // what the next call of the model reads for the first time
	worst  int            // what made the trust what it is
	calls  map[string]int // by the runtime's id
	counts map[string]int // by kind
}

func (b *builder) add(e *record.Entry, p *record.Part) {
	b.Sealed = p.What == record.PartEnded
	b.Calls = b.Calls && p.What != record.PartContext && p.What != record.PartAsked
	worst := b.Summary.MaxTaint
	switch p.What {
	case "":
		if e.Kind == record.KindDecision {
			b.decided(e, p)
		}
	case record.PartContext:
		for _, s := range p.Sources {
			b.read(cmp.Or(kinds[s.Kind], "history"), level(s.Trust), Node{
				Tool: s.Tool, ContentHash: s.Hash, Metadata: Metadata{Size: s.Size},
			})
		}
	case record.PartAsked:
		b.catchUp(level(e.Level))
		b.ask(Node{Iteration: p.Iteration, ContentHash: p.Hash, Metadata: Metadata{Model: p.Model}})
	case record.PartWanted:
		b.call(e, p, false)
	case record.PartReturned:
		b.result(e, p)
	case record.PartBlocked:
		b.edge(b.node("policy_decision", worst, Node{Blocked: true, BlockReason: p.Reason}), b.llm, "derives_from")
	case record.PartSaid:
		b.edge(b.node("output", worst, Node{ContentHash: p.Hash}), b.llm, "derives_from")
	}
}

// level reads one from the record; what can't be read is the worst.
func level(text string) taint.Level {
	l, _ := taint.ParseLevel(text)
	return l
}

// node adds one. The worst trust only gets worse from one to the next.
func (b *builder) node(kind string, trust taint.Level, n Node) int {
	b.counts[kind]++
	n.ID, n.Kind, n.Trust = fmt.Sprintf("%s_%d", kind, b.counts[kind]), kind, trust
	at, s := len(b.Nodes), &b.Summary
	b.Nodes = append(b.Nodes, n)
	if trust > s.MaxTaint || at == 0 {
		s.MaxTaint, b.worst = trust, at
	}
	add := func(list *[]string, name string) {
		if name != "" && !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	switch {
	case kind == toolCall && n.Blocked:
		add(&s.ToolsBlocked, n.Tool)
	case (kind == toolCall || kind == toolResult) && trust >= taint.External:
		add(&s.ExternalSources, n.name())
	}
	return at
}

// read adds one that the next call of the model reads.
func (b *builder) read(kind string, trust taint.Level, n Node) int {
	at := b.node(kind, trust, n)
	b.fresh = append(b.fresh, at)
	return at
}

func (b *builder) edge(from, to int, relation string) {
	if from >= 0 && to >= 0 {
		b.Edges = append(b.Edges, Edge{b.Nodes[from].ID, b.Nodes[to].ID, relation})
	}
}

// catchUp shows that the conversation was worse than anything in the turn says: what came before is in its history.
func (b *builder) catchUp(met taint.Level) {
	if met > b.Summary.MaxTaint {
		b.read("history", met, Node{})
	}
}

// ask is a call of the model: it reads what is new, under all that was before.
func (b *builder) ask(n Node) {
	before := b.llm
	b.llm = b.node("llm_call", b.Summary.MaxTaint, n)
	b.Summary.IterationCount++
	if len(b.fresh) == 0 {
		b.edge(before, b.llm, "triggers")
	}
	for _, read := range b.fresh {
		b.edge(b.llm, read, "consumes")
	}
	b.fresh = nil
}

// decided is a call that was decided. Where the runtime says nothing of the context, its run's start stands for it.
func (b *builder) decided(e *record.Entry, p *record.Part) {
	if len(b.Nodes) == 0 && p.Birth != "" {
		b.read("input", level(p.Birth), Node{})
	}
	m := &b.Nodes[b.call(e, p, e.Decision == record.Allow)].Metadata
	m.Ref, m.By = e.Ref, e.By
}

// call is a tool's call. One that passed is worth what it brings in. Where the runtime does not tell of the model's
// calls, each iteration is one, and without iterations each call.
func (b *builder) call(e *record.Entry, p *record.Part, allowed bool) int {
	b.catchUp(level(e.Level))
	same := func(was *int) bool { return was != nil && p.Iteration != nil && *was == *p.Iteration }
	if b.llm < 0 || b.Calls && !same(b.Nodes[b.llm].Iteration) {
		b.ask(Node{Iteration: p.Iteration})
	}
	c := Node{Tool: cmp.Or(p.Tool, e.Tool), Iteration: p.Iteration, Metadata: Metadata{Label: p.Label}}
	trust, cause := b.Nodes[b.llm].Trust, b.worst
	if allowed {
		trust = level(p.Trust)
	} else {
		c.Blocked, c.BlockReason = true, cmp.Or(p.Reason, e.Error)
	}
	at := b.node(toolCall, trust, c)
	b.edge(b.llm, at, "triggers")
	if allowed {
		b.fresh = append(b.fresh, at)
	} else if p.Tainted {
		b.edge(at, cause, "blocked_by")
	}
	if p.Call != "" {
		b.calls[p.Call] = at
	}
	return at
}

// result is what a tool gave back, which is no better than what the call was said to bring in. The call is no longer
// what the model reads.
func (b *builder) result(e *record.Entry, p *record.Part) {
	r := Node{Tool: cmp.Or(p.Tool, e.Tool), Iteration: p.Iteration, ContentHash: p.Hash, Metadata: Metadata{
		Label: p.Label, Size: p.Size, DurationMs: p.DurationMs, Error: p.Failed,
	}}
	call, known := b.calls[p.Call]
	if !known { // the last of the tool that nothing came back of
		call = -1
		for _, n := range b.fresh {
			if b.Nodes[n].Kind == toolCall && b.Nodes[n].Tool == r.Tool {
				call = n
			}
		}
	}
	trust := level(p.Trust)
	if call >= 0 {
		c := &b.Nodes[call]
		r.Metadata.Label = cmp.Or(r.Metadata.Label, c.Metadata.Label)
		if !c.Blocked {
			trust = taint.Worse(trust, c.Trust)
		}
	}
	b.fresh = slices.DeleteFunc(b.fresh, func(i int) bool { return i == call })
	b.edge(call, b.read(toolResult, trust, r), "produces")
}
