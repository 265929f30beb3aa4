package provenance

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/openclaw-verifier/verifier/taint"
)

// Build draws the turn that these facts are of.
func Build(turn string, facts []Fact) *Graph {
	facts = slices.Clone(facts) // the caller's stay in their order
	slices.SortStableFunc(facts, func(a, b Fact) int { return cmp.Compare(a.At, b.At) })
	b := builder{
		g: &Graph{
			TurnID: turn, Nodes: []Node{}, Edges: []Edge{}, Cut: len(facts) >= MaxFacts,
			Summary: Summary{ExternalSources: []string{}, ToolsBlocked: []string{}},
		},
		llm: -1, worst: -1, calls: map[string]int{}, counts: map[Kind]int{},
	}
	b.g.Calls = !slices.ContainsFunc(facts, func(f Fact) bool { return f.What == Asked || f.What == Held })
	for i := range facts {
		b.add(&facts[i])
	}
	if len(facts) > 0 {
		b.g.Timestamp = facts[0].At
		b.g.DurationMs = facts[len(facts)-1].At - facts[0].At
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

func (b *builder) add(f *Fact) {
	b.g.Sealed = f.What == Ended || b.g.Sealed && (f.What == Began || f.What == Dropped)
	switch f.What {
	case Began:
		b.began(f)
	case Held:
		b.fresh = append(b.fresh, b.node(f, f.Kind, f.Level))
	case Asked:
		b.ask(f)
	case Answered:
		b.answered(f)
	case Wanted, Called:
		b.call(f)
	case Returned:
		b.result(f)
	case Blocked:
		n := b.node(f, PolicyDecision, b.g.Summary.MaxTaint)
		b.g.Nodes[n].Blocked, b.g.Nodes[n].BlockReason = true, f.Reason
		b.edge(n, b.llm, DerivesFrom)
	case Said:
		out := b.node(f, Output, b.g.Summary.MaxTaint)
		b.edge(out, b.llm, DerivesFrom)
	case Dropped:
		b.g.Cut = true
	case Ended:
	}
}

func (b *builder) began(f *Fact) {
	if b.g.SessionKey == "" {
		b.g.SessionKey, b.g.AgentID, b.g.RunID = f.Session, f.Agent, f.Run
	}
}

// node adds one. Trust only gets worse from one to the next.
func (b *builder) node(f *Fact, k Kind, trust taint.Level) int {
	b.counts[k]++
	n := Node{ID: string(k) + "_" + strconv.Itoa(b.counts[k]), Kind: k, Trust: trust, Tool: f.Tool, Iteration: f.Iteration, ContentHash: f.Hash}
	if f.Metadata != (Metadata{}) {
		m := f.Metadata
		n.Metadata = &m
	}
	b.g.Nodes = append(b.g.Nodes, n)
	at := len(b.g.Nodes) - 1
	if s := &b.g.Summary; trust > s.MaxTaint || b.worst < 0 {
		s.MaxTaint, b.worst = taint.Worse(s.MaxTaint, trust), at
	}
	return at
}

func (b *builder) edge(from, to int, r Relation) {
	if from >= 0 && to >= 0 {
		b.g.Edges = append(b.g.Edges, Edge{From: b.g.Nodes[from].ID, To: b.g.Nodes[to].ID, Relation: r})
	}
}

// catchUp shows that the conversation was worse than anything in the turn says:
// what came before it is still in the context.
func (b *builder) catchUp(level taint.Level) {
	if level > b.g.Summary.MaxTaint {
		b.fresh = append(b.fresh, b.node(&Fact{}, History, level))
	}
}

// ask is a call of the model: it reads what is new, under all that was before.
func (b *builder) ask(f *Fact) {
	b.catchUp(f.Level)
	before := b.llm
	b.llm = b.node(f, LLMCall, b.g.Summary.MaxTaint)
	b.g.Summary.IterationCount++
	if len(b.fresh) == 0 {
		b.edge(before, b.llm, Triggers)
	}
	for _, n := range b.fresh {
		b.edge(b.llm, n, Consumes)
	}
	b.fresh = nil
}

// answered says of the model's last call what it took. A runtime may tell of
// several calls at once: the last then has it all.
func (b *builder) answered(f *Fact) {
	b.g.Summary.Tokens += f.Tokens
	if b.llm < 0 {
		return
	}
	n := &b.g.Nodes[b.llm]
	if n.Metadata == nil {
		n.Metadata = &Metadata{}
	}
	n.Metadata.Model = cmp.Or(n.Metadata.Model, f.Model)
	n.Metadata.DurationMs += f.DurationMs
	n.Metadata.Tokens += f.Tokens
}

// model is the model's call that wanted a tool's. Where the runtime does not tell
// of them, each iteration is one, and without iterations each call.
func (b *builder) model(f *Fact) {
	if b.llm >= 0 && !b.g.Calls {
		return
	}
	if b.llm >= 0 && f.Iteration != nil && b.g.Nodes[b.llm].Iteration != nil && *f.Iteration == *b.g.Nodes[b.llm].Iteration {
		return
	}
	b.ask(&Fact{Iteration: f.Iteration})
}

// call is a tool's call. One that passed is worth what it brings in.
func (b *builder) call(f *Fact) {
	if f.What == Called && len(b.g.Nodes) == 0 { // what was in the context was not reported
		b.fresh = append(b.fresh, b.node(&Fact{}, Input, f.Start))
	}
	b.catchUp(f.Level)
	b.model(f)
	trust := b.g.Nodes[b.llm].Trust
	if f.Allowed {
		trust = f.Brings
	}
	by := b.worst
	n := b.node(f, ToolCall, trust)
	b.edge(b.llm, n, Triggers)
	if f.ID != "" {
		b.calls[f.ID] = n
	}
	if f.Allowed {
		b.fresh = append(b.fresh, n)
		b.external(n)
		return
	}
	b.g.Nodes[n].Blocked, b.g.Nodes[n].BlockReason = true, f.Reason
	b.g.Summary.ToolsBlocked = named(b.g.Summary.ToolsBlocked, f.Tool)
	if f.Tainted {
		b.edge(n, by, BlockedBy)
	}
}

// result is what a tool gave back, which is no better than what the call was said
// to bring in. The call is no longer what the model reads.
func (b *builder) result(f *Fact) {
	call, known := b.calls[f.ID]
	if !known {
		call = b.lastCall(f.Tool)
	}
	trust := f.Level
	if call >= 0 && !b.g.Nodes[call].Blocked {
		trust = taint.Worse(trust, b.g.Nodes[call].Trust)
	}
	n := b.node(f, ToolResult, trust)
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

// Name is what a node is called in a sentence: what a tool was called for, or the
// tool, or nothing. It is foreign text.
func (n *Node) Name() string {
	if n.Metadata != nil && n.Metadata.Label != "" {
		return n.Metadata.Label
	}
	return n.Tool
}

func named(list []string, name string) []string {
	if name == "" || slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

// What is a sort of fact.
type What string

// The sorts of facts.
const (
	Began    What = "began"    // whose turn it is
	Held     What = "held"     // something stood in the context
	Asked    What = "asked"    // the model was called
	Answered What = "answered" // and has answered: what that took
	Wanted   What = "wanted"   // the model wanted a call that was taken out
	Called   What = "called"   // a call was decided
	Returned What = "returned" // a tool gave its answer
	Blocked  What = "blocked"  // the turn was blocked
	Said     What = "said"     // the response is out
	Ended    What = "ended"    // the turn is over
	Dropped  What = "dropped"  // there was more before than is kept
)

// Happened reports whether it is of something in the turn, not of the turn.
func (f Fact) Happened() bool { return f.What != Began && f.What != Ended && f.What != Dropped }

// MaxFacts is how many facts of a turn are kept.
const MaxFacts = 500

// Fact is one thing that was seen of a turn. Members that do not apply are zero.
type Fact struct {
	What      What        `json:"w"`
	At        int64       `json:"t"`          // Unix milliseconds
	Number    int         `json:"q,omitzero"` // tells it from others of the same moment
	Level     taint.Level `json:"l"`          // what it is worth; of a call, the level it met
	Start     taint.Level `json:"z,omitzero"` // of a call: what its run started at
	Brings    taint.Level `json:"b,omitzero"` // of a call that was allowed: what it brought in
	Kind      Kind        `json:"k,omitzero"` // of what stood in the context
	Tool      string      `json:"o,omitzero"`
	Sent      string      `json:"-"`          // the tool's name as it was sent, where it is another
	ID        string      `json:"i,omitzero"` // of a call, as the runtime names it
	Iteration *int        `json:"n,omitzero"`
	Hash      string      `json:"h,omitzero"`
	Allowed   bool        `json:"a,omitzero"`
	Tainted   bool        `json:"x,omitzero"` // of a call that was blocked: at a better level it would not have been
	Reason    string      `json:"r,omitzero"`
	Session   string      `json:"s,omitzero"`
	Agent     string      `json:"g,omitzero"`
	Run       string      `json:"u,omitzero"`
	Metadata
}
