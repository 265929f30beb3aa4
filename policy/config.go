package policy

import "github.com/openclaw-verifier/verifier/taint"

// Config is the owner's policy as written in the file. The zero Config is the profile "default".
type Config struct {
	// Profile is what all else is laid over: default, also if empty, paranoid, permissive, interactive or strict.
	Profile string `yaml:"profile"`
	// TaintPolicy is the mode of a tool that nothing else names, by level. A level left out keeps the profile's mode.
	TaintPolicy TaintPolicy `yaml:"taintPolicy"`
	// ToolOverrides are the owner's own modes: tool, then level or "*".
	ToolOverrides map[string]Override `yaml:"toolOverrides"`
	// Tools says what single tools do.
	Tools map[string]Tool `yaml:"tools"`
	// Trust says how far tool output and unknown senders are trusted, MCP how far servers of tools are.
	Trust Trust `yaml:"trust"`
	MCP   MCP   `yaml:"mcp"`
	// Taint says from which level a conversation counts as tainted.
	Taint Taint `yaml:"taint"`
	// AskCommands begin the commands that a coding agent asks about at every level. Nil means the shipped list.
	AskCommands []string `yaml:"askCommands"`
	// Policies are the owner's own rules; they only tighten.
	Policies []Declared `yaml:"policies"`
	// Scope limits which tools are judged. The others pass, but still count.
	Scope Scope `yaml:"scope"`
	// MaxIterations is how often a run may call the model before a person is asked whether it may go on. 0 means 10.
	MaxIterations int `yaml:"maxIterations"`
	// MaxCalls is the same for the calls, but those that only look, build or test, of a run that counts no iterations.
	// 0 means 100.
	MaxCalls int `yaml:"maxCalls"`
	// Agents tightens the policy for single agents, by agent id.
	Agents map[string]Agent `yaml:"agents"`
	// Guard is what no call may touch. It is set by the program, not the file.
	Guard Guard `yaml:"-"`
}

// TaintPolicy is a mode by level; nil keeps what the profile says.
type TaintPolicy struct {
	System    *taint.Mode `yaml:"system"`
	Owner     *taint.Mode `yaml:"owner"`
	Local     *taint.Mode `yaml:"local"`
	Shared    *taint.Mode `yaml:"shared"`
	External  *taint.Mode `yaml:"external"`
	Untrusted *taint.Mode `yaml:"untrusted"`
}

func (t *TaintPolicy) byLevel() [taint.Levels]*taint.Mode {
	return [taint.Levels]*taint.Mode{t.System, t.Owner, t.Local, t.Shared, t.External, t.Untrusted}
}

// Override is a mode by level for one tool. Any is for each level that is not named.
type Override struct {
	Any         *taint.Mode `yaml:"*"`
	TaintPolicy `yaml:",inline"`
}

// Trust is the part of the policy about where content comes from.
type Trust struct {
	Tools         map[string]taint.Level `yaml:"tools"`         // what a tool's output brings in
	UnknownSender *taint.Level           `yaml:"unknownSender"` // of a run that nobody attests; nil: untrusted
	Directories   []string               `yaml:"directories"`   // whose files alone are the owner's own; empty: all are
	Rules         []TrustRule            `yaml:"rules"`         // what calls bring in, by their arguments
}

// TrustRule says what calls of a tool bring in that have a certain host or path. The first rule that fits counts.
type TrustRule struct {
	Tool  string       `yaml:"tool"`
	Host  string       `yaml:"host"` // of the address: wiki.example, or *.example for all below it
	Path  string       `yaml:"path"` // a file, or a directory and all below it
	Level *taint.Level `yaml:"level"`
}

// MCP is the part of the policy about servers of tools (Model Context Protocol), by the owner's names for them.
type MCP struct {
	Servers map[string]Server `yaml:"servers"`
}

// Server is what the owner says of a server of tools.
type Server struct {
	// Trust is the level of what all its tools return, and its resources and prompts. Nil: as the shipped table has it,
	// else untrusted. trust.tools says it for one tool.
	Trust *taint.Level `yaml:"trust"`
	// Annotations says that the server is believed where it says that a tool only reads.
	Annotations bool `yaml:"annotations"`
}

// Tool is what the owner says a tool does: the third table, beside what its answers are worth and at which level it may
// be called. What is left out stays as the shipped table has it; of a tool that is not in it, source and sink.
type Tool struct {
	// Source says whether its answers hold what others wrote: untrusted, unless trust.tools has a level, or else local.
	Source *bool `yaml:"source"`
	// Sink says whether it acts outside or changes anything.
	Sink *bool `yaml:"sink"`
	// Destinations are params that say where it goes, whom it reaches or what it gives away. Empty: none; nil: unknown.
	Destinations []string `yaml:"destinations"`
	// Destructive says that it can't be undone, as a payment can't: a tainted conversation asks about it each time.
	Destructive *bool `yaml:"destructive"`
	// Secret says that it bears secrets: no lasting grant covers it, and the conversation holds secrets then.
	Secret *bool `yaml:"secret"`
	// Leaves says that its arguments leave the machine: it asks once the conversation has read secrets.
	Leaves *bool `yaml:"leaves"`
	// Safe puts it on the safe list: it only looks, and may be called at every level.
	Safe *bool `yaml:"safe"`
}

// Taint is the part of the policy about tainted conversations.
type Taint struct {
	// From is the level at which a sink needs a person. Nil means external, or untrusted under the profile permissive.
	From *taint.Level `yaml:"from"`
	// Secrets is what becomes of calls that leave the machine in a conversation that has read secrets: ask, which is
	// also what empty means, or off: then only what holds a secret asks.
	Secrets string `yaml:"secrets"`
}

// Declared is one of the owner's policies, in the words of the agent-loop hooks proposal. It only tightens.
type Declared struct {
	Name   string `yaml:"name"`
	When   When   `yaml:"when"`
	Action Action `yaml:"action"`
}

// When is what must be so, all of it. Nothing at all is always so.
type When struct {
	ContextTaintIncludes []taint.Level     `yaml:"context_taint_includes"` // at one of these levels or a worse one
	IterationGTE         *int              `yaml:"iteration_gte"`          // never so where the runtime counts none
	Tool                 []string          `yaml:"tool"`                   // the tools whose calls it is about
	Params               map[string]string `yaml:"params"`                 // of the call, and their values
}

// Action is what happens then. "*" is every tool.
type Action struct {
	RemoveTools    []string `yaml:"remove_tools"`  // not offered to the model, and refused without a word
	BlockTools     []string `yaml:"block_tools"`   // refused, with the reason
	ConfirmTools   []string `yaml:"confirm_tools"` // a person is asked
	BlockTurn      bool     `yaml:"block_turn"`    // every call is refused
	Reason         string   `yaml:"reason"`        // what the agent reads, where it reads one
	LogFullContext bool     `yaml:"log_full_context"`
	PersistGraph   bool     `yaml:"persist_graph"`
}

// Scope names tools to judge or not to judge, never both.
type Scope struct {
	Include []string `yaml:"include"`
	Exclude []string `yaml:"exclude"`
}

// Agent tightens the policy for one agent; it can't loosen it.
type Agent struct {
	TaintPolicy   TaintPolicy         `yaml:"taintPolicy"`
	ToolOverrides map[string]Override `yaml:"toolOverrides"`
	Scope         Scope               `yaml:"scope"` // more tools that are judged; unset: the global one
	MaxIterations int                 `yaml:"maxIterations"`
}

// Guard lists what belongs to the verifier itself and to its owner. Whatever else holds, no call may name any of it.
type Guard struct {
	Paths     []string // files and directories
	Addresses []string // host:port that we listen on, and the store's
	Hosts     []string // names of this machine
	Commands  []string // names of our own program
	Names     []string // other words: environment variables, header names
}

// Problem is a finding in a Config: an error or a warning with its place.
type Problem struct {
	Path string // dotted, as in the file: toolOverrides.exec.untrusted
	Text string // what is wrong and what to do
}

// Error makes a Problem an error.
func (p *Problem) Error() string {
	if p.Path == "" {
		return p.Text
	}
	return p.Path + ": " + p.Text
}
