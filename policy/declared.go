package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// Declared is one of the owner's policies, in the words of the agent-loop hooks
// proposal. It tightens and never loosens.
type Declared struct {
	Name   string `yaml:"name"`
	When   When   `yaml:"when"`
	Action Action `yaml:"action"`
}

// When is what must be so, all of it. Nothing at all is always so.
type When struct {
	// ContextTaintIncludes is so where the conversation is at one of these levels
	// or at a worse one: what came in before does not go away.
	ContextTaintIncludes []taint.Level `yaml:"context_taint_includes"`
	// IterationGTE is so from this iteration of the turn on, and never where the
	// runtime counts none.
	IterationGTE *int `yaml:"iteration_gte"`
	// Tool names the tools whose calls it is about.
	Tool []string `yaml:"tool"`
	// Params are params of the call and their values.
	Params map[string]string `yaml:"params"`
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

// declared is one that was checked.
type declared struct {
	Declared
	from    taint.Level // so from this level on
	tools   map[string]bool
	removes map[string]bool
	blocks  map[string]bool
	asks    map[string]bool
}

// maxReason is how long a reason may be: it goes to the agent with a few words
// around it.
const maxReason = 300

// readDeclared reads the owner's policies.
func (b *builder) readDeclared() {
	seen := map[string]bool{}
	for i := range b.config.Policies {
		c := &b.config.Policies[i]
		at := fmt.Sprintf("policies[%d]", i)
		switch {
		case strings.TrimSpace(c.Name) == "":
			b.fail(at, "has no name: the record says which policy decided")
		case seen[c.Name]:
			b.fail(at+".name", c.Name+" is the name of another policy, too")
		case len(c.Action.Reason) > maxReason:
			b.fail(at+".action.reason", "is too long: 300 bytes are enough to say why")
		case c.Action.idle():
			b.fail(at+".action", "does nothing: give it remove_tools, block_tools, confirm_tools, block_turn, log_full_context or persist_graph")
		}
		seen[c.Name] = true
		b.declared = append(b.declared, b.readPolicy(at, c))
	}
}

func (a *Action) idle() bool {
	return len(a.RemoveTools)+len(a.BlockTools)+len(a.ConfirmTools) == 0 && !a.BlockTurn && !a.LogFullContext && !a.PersistGraph
}

func (b *builder) readPolicy(at string, c *Declared) *declared {
	d := &declared{Declared: *c}
	for i, l := range c.When.ContextTaintIncludes {
		b.checkLevel(fmt.Sprintf("%s.when.context_taint_includes[%d]", at, i), l)
	}
	if levels := c.When.ContextTaintIncludes; len(levels) > 0 {
		d.from = min(slices.Min(levels), untrusted)
	}
	if n := c.When.IterationGTE; n != nil && *n < 0 {
		b.fail(at+".when.iteration_gte", "must not be negative")
	}
	d.tools = b.readNames(at+".when.tool", c.When.Tool)
	d.removes = b.readTargets(at+".action.remove_tools", c.Action.RemoveTools)
	d.blocks = b.readTargets(at+".action.block_tools", c.Action.BlockTools)
	d.asks = b.readTargets(at+".action.confirm_tools", c.Action.ConfirmTools)
	return d
}

func (b *builder) readTargets(path string, names []string) map[string]bool {
	set := b.readNames(path, slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == everyTool }))
	if slices.Contains(names, everyTool) {
		set[everyTool] = true
	}
	return set
}

const everyTool = "*"

// mode is what a policy makes of calls of a tool, where it is so.
func (d *declared) mode(tool string) taint.Mode {
	has := func(set map[string]bool) bool { return set[tool] || set[everyTool] }
	switch {
	case d.Action.BlockTurn || has(d.removes) || has(d.blocks):
		return restrict
	case has(d.asks):
		return confirm
	}
	return allow
}

// concerns reports whether a call is one it is about, apart from the level.
func (d *declared) concerns(c *toolcall.Call) bool {
	if len(d.tools) > 0 && !d.tools[c.Tool] {
		return false
	}
	if n := d.When.IterationGTE; n != nil {
		if reached := c.Iteration(); reached == nil || *reached < *n {
			return false
		}
	}
	return len(d.When.Params) == 0 || d.hasParams(c)
}

func (d *declared) hasParams(c *toolcall.Call) bool {
	params := map[string]string{}
	for path, value := range c.Strings {
		params[path] = value
	}
	return !slices.ContainsFunc(slices.Collect(maps.Keys(d.When.Params)), func(name string) bool {
		got, ok := params[name]
		return !ok || got != d.When.Params[name]
	})
}

// sentence says on a card and in the record what a policy did.
func (d *declared) sentence(m taint.Mode) string {
	text := "Your policy " + d.Name + " " + verbs[m] + " this"
	if d.Action.Reason != "" {
		text += ": " + strings.TrimSuffix(d.Action.Reason, ".")
	}
	return text + "."
}

// silent reports whether the agent gets no reason.
func (d *declared) silent(tool string) bool {
	return !d.Action.BlockTurn && !d.blocks[tool] && !d.blocks[everyTool]
}
