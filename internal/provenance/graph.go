// Package provenance draws one turn of an agent as a graph, from the record: what came into the model's context, what
// it was called with, which tools it called, what they brought in, and what was blocked.
//
// Where a runtime reports the events of its loop, their entries say all of it; where it only asks about calls, the rest
// is worked out from those. The package decides nothing: a graph is evidence for people. It has no field for content:
// of a text there is its SHA-256 and its size, never a preview.
package provenance

import (
	"cmp"
	"slices"
	"strconv"

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

// kinds are what the sources of a context are called in a graph.
var kinds = map[string]Kind{
	"system_prompt": SystemPrompt, "user_message": Input, "tool_result": ToolResult, "compacted_history": History,
}

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

// Name is what a node is called in a sentence: what a tool was called for, or the tool, or nothing. It is foreign text.
func (n *Node) Name() string {
	if n.Metadata != nil && n.Metadata.Label != "" {
		return n.Metadata.Label
	}
	return n.Tool
}

// Metadata is what else is known of a node.
type Metadata struct {
	Label      string `json:"label,omitzero"` // what it is called in a sentence: "web_fetch example.com"
	Ref        string `json:"ref,omitzero"`   // what the agent was told, to find the decision by
	By         string `json:"by,omitzero"`    // what consented
	Model      string `json:"model,omitzero"`
	Size       int64  `json:"size,omitzero"`
	DurationMs int64  `json:"durationMs,omitzero"`
	Tokens     int64  `json:"tokens,omitzero"` // that a call of the model took
	Count      int    `json:"count,omitzero"`  // how many sources it stands for
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

// Build draws the turn that these entries are of.
func Build(turn string, entries []record.Entry) *Graph {
	entries = slices.Clone(entries) // the caller's stay in their order
	slices.SortStableFunc(entries, func(a, b record.Entry) int { return a.At.Compare(b.At) })
	b := builder{
		g: &Graph{
			TurnID: turn, Nodes: []Node{}, Edges: []Edge{}, Calls: true,
			Summary: Summary{ExternalSources: []string{}, ToolsBlocked: []string{}},
		},
		llm: -1, worst: -1, calls: map[string]int{}, counts: map[Kind]int{},
	}
	for i := range entries {
		e := &entries[i]
		if e.Part == nil {
			continue
		}
		if b.g.Timestamp == 0 {
			b.g.SessionKey, b.g.AgentID, b.g.RunID, b.g.Timestamp = e.Session, e.Agent, e.Run, e.At.UnixMilli()
		}
		b.g.DurationMs = e.At.UnixMilli() - b.g.Timestamp
		b.add(e, e.Part)
		for j := range e.Part.More {
			b.add(e, &e.Part.More[j])
		}
	}
	return b.g
}

// builder is a graph under way.
type builder struct {
	g      *Graph
	llm    int            // the last call of the model; -1: none
	fresh  []int          // what the next call of the model reads for the first time
	worst  int            // what made the trust what it is
	calls  map[string]int // by the runtime's id
	counts map[Kind]int
}

func (b *builder) add(e *record.Entry, p *record.Part) {
	s := &b.g.Summary
	b.g.Sealed = p.What == record.PartEnded
	switch p.What {
	case "":
		if e.Kind == record.KindDecision {
			b.decided(e, p)
		}
	case record.PartContext:
		b.g.Calls = false
		for i := range p.Sources {
			f := &p.Sources[i]
			from := record.Part{Tool: f.Tool, Hash: f.Hash, Size: f.Size}
			n := b.node(cmp.Or(kinds[f.Kind], History), level(f.Trust), &from)
			if f.Count > 1 {
				b.metadata(n).Count = f.Count
			}
			b.fresh = append(b.fresh, n)
		}
	case record.PartAsked:
		b.g.Calls = false
		b.ask(level(e.Level), p)
	case record.PartAnswered: // a runtime may tell of several calls of the model at once: the last then has it all
		if s.Tokens += p.Tokens; b.llm >= 0 {
			m := b.metadata(b.llm)
			m.Model = cmp.Or(m.Model, p.Model)
			m.DurationMs += p.DurationMs
			m.Tokens += p.Tokens
		}
	case record.PartWanted:
		b.call(e, p, false)
	case record.PartReturned:
		b.result(e, p)
	case record.PartBlocked:
		n := b.node(PolicyDecision, s.MaxTaint, nil)
		b.g.Nodes[n].Blocked, b.g.Nodes[n].BlockReason = true, p.Reason
		b.edge(n, b.llm, DerivesFrom)
	case record.PartSaid:
		b.edge(b.node(Output, s.MaxTaint, &record.Part{Hash: p.Hash}), b.llm, DerivesFrom)
	}
}

// level reads one from the record; what can't be read is the worst.
func level(text string) taint.Level {
	l, err := taint.ParseLevel(text)
	if err != nil {
		return taint.Untrusted
	}
	return l
}

// node adds one. The worst trust only gets worse from one to the next.
func (b *builder) node(k Kind, trust taint.Level, p *record.Part) int {
	b.counts[k]++
	n := Node{ID: string(k) + "_" + strconv.Itoa(b.counts[k]), Kind: k, Trust: trust}
	if p != nil {
		n.Tool, n.Iteration, n.ContentHash = p.Tool, p.Iteration, p.Hash
		m := Metadata{Label: p.Label, Model: p.Model, Size: p.Size, DurationMs: p.DurationMs, Error: p.Failed}
		if m != (Metadata{}) {
			n.Metadata = &m
		}
	}
	b.g.Nodes = append(b.g.Nodes, n)
	at := len(b.g.Nodes) - 1
	if s := &b.g.Summary; trust > s.MaxTaint || b.worst < 0 {
		s.MaxTaint, b.worst = taint.Worse(s.MaxTaint, trust), at
	}
	return at
}

func (b *builder) metadata(n int) *Metadata {
	if b.g.Nodes[n].Metadata == nil {
		b.g.Nodes[n].Metadata = new(Metadata)
	}
	return b.g.Nodes[n].Metadata
}

func (b *builder) edge(from, to int, r Relation) {
	if from >= 0 && to >= 0 {
		b.g.Edges = append(b.g.Edges, Edge{From: b.g.Nodes[from].ID, To: b.g.Nodes[to].ID, Relation: r})
	}
}

// catchUp shows that the conversation was worse than anything in the turn says: what came before is in its history.
func (b *builder) catchUp(l taint.Level) {
	if l > b.g.Summary.MaxTaint {
		b.fresh = append(b.fresh, b.node(History, l, nil))
	}
}

// ask is a call of the model: it reads what is new, under all that was before.
func (b *builder) ask(l taint.Level, p *record.Part) {
	b.catchUp(l)
	before := b.llm
	b.llm = b.node(LLMCall, b.g.Summary.MaxTaint, p)
	b.g.Summary.IterationCount++
	if len(b.fresh) == 0 {
		b.edge(before, b.llm, Triggers)
	}
	for _, n := range b.fresh {
		b.edge(b.llm, n, Consumes)
	}
	b.fresh = nil
}

// decided is a call that was decided. Where the runtime says nothing of the context, its run's start stands for it.
func (b *builder) decided(e *record.Entry, p *record.Part) {
	if len(b.g.Nodes) == 0 && p.Birth != "" {
		b.fresh = append(b.fresh, b.node(Input, level(p.Birth), nil))
	}
	n := b.call(e, p, e.Decision == record.Allow)
	m := b.metadata(n)
	m.Ref, m.By = e.Ref, e.By
	if *m == (Metadata{}) {
		b.g.Nodes[n].Metadata = nil
	}
}

// call is a tool's call. One that passed is worth what it brings in. Where the runtime does not tell of the model's
// calls, each iteration is one, and without iterations each call.
func (b *builder) call(e *record.Entry, p *record.Part, allowed bool) int {
	b.catchUp(level(e.Level))
	same := func(was *int) bool { return was != nil && p.Iteration != nil && *was == *p.Iteration }
	if b.llm < 0 || b.g.Calls && !same(b.g.Nodes[b.llm].Iteration) {
		b.ask(taint.System, &record.Part{Iteration: p.Iteration})
	}
	trust, by := b.g.Nodes[b.llm].Trust, b.worst
	if allowed {
		trust = level(p.Trust)
	}
	c := record.Part{Tool: cmp.Or(p.Tool, e.Tool), Iteration: p.Iteration, Label: p.Label}
	n := b.node(ToolCall, trust, &c)
	b.edge(b.llm, n, Triggers)
	if p.Call != "" {
		b.calls[p.Call] = n
	}
	if allowed {
		b.fresh = append(b.fresh, n)
		b.external(n)
		return n
	}
	b.g.Nodes[n].Blocked, b.g.Nodes[n].BlockReason = true, cmp.Or(p.Reason, e.Error)
	b.g.Summary.ToolsBlocked = named(b.g.Summary.ToolsBlocked, c.Tool)
	if p.Tainted {
		b.edge(n, by, BlockedBy)
	}
	return n
}

// result is what a tool gave back, which is no better than what the call was said to bring in. The call is no longer
// what the model reads.
func (b *builder) result(e *record.Entry, p *record.Part) {
	r := *p
	r.Tool = cmp.Or(p.Tool, e.Tool)
	call, known := b.calls[p.Call]
	if !known {
		call = b.lastCall(r.Tool)
	}
	if call >= 0 && b.g.Nodes[call].Metadata != nil {
		r.Label = cmp.Or(r.Label, b.g.Nodes[call].Metadata.Label)
	}
	trust := level(p.Trust)
	if call >= 0 && !b.g.Nodes[call].Blocked {
		trust = taint.Worse(trust, b.g.Nodes[call].Trust)
	}
	n := b.node(ToolResult, trust, &r)
	b.edge(call, n, Produces)
	b.fresh = append(slices.DeleteFunc(b.fresh, func(i int) bool { return i == call }), n)
	b.external(n)
}

// lastCall is the last call of a tool that nothing came back of; -1: none.
func (b *builder) lastCall(tool string) int {
	for _, n := range slices.Backward(b.fresh) {
		if b.g.Nodes[n].Kind == ToolCall && b.g.Nodes[n].Tool == tool {
			return n
		}
	}
	return -1
}

// external keeps a name for what came from outside.
func (b *builder) external(n int) {
	if node := &b.g.Nodes[n]; node.Trust >= taint.External {
		b.g.Summary.ExternalSources = named(b.g.Summary.ExternalSources, node.Name())
	}
}

func named(list []string, name string) []string {
	if name == "" || slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}
