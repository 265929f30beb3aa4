package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// Limit is how much may be done in a while. Who counts is not the policy, which
// has no clock: it says which limits a call falls under.
type Limit struct {
	// Tool and Agent name whose calls count. Empty: all.
	Tool  []string `yaml:"tool"`
	Agent []string `yaml:"agent"`
	// Per is what is counted apart: run, conversation, agent or all. Empty means
	// conversation.
	Per Per `yaml:"per"`
	// Calls is how many there may be. 0: any number.
	Calls int `yaml:"calls"`
	// Param is a number among the params, and Most how much it may sum up to.
	Param string `yaml:"param"`
	Most  int    `yaml:"most"`
	// Tokens is how many the model may take, as the runtime reports them. Beyond
	// it the calls of these tools and agents meet the limit.
	Tokens int `yaml:"tokens"`
	// Window is how long a call counts. 0 means an hour, or a day for a run.
	Window time.Duration `yaml:"window"`
	// Then is what happens beyond. Nil means restrict.
	Then *taint.Mode `yaml:"then"`
}

// Per is what a limit counts apart.
type Per string

// What Per can be.
const (
	PerRun          Per = "run"
	PerConversation Per = "conversation"
	PerAgent        Per = "agent"
	PerAll          Per = "all"
)

// UnmarshalText reads the word.
func (p *Per) UnmarshalText(text []byte) error {
	switch v := Per(text); v {
	case PerRun, PerConversation, PerAgent, PerAll:
		*p = v
		return nil
	}
	return fmt.Errorf("there is no %q here: use %s, %s, %s or %s", text, PerRun, PerConversation, PerAgent, PerAll)
}

// Bound is a limit that a call falls under.
type Bound struct {
	Name   string // its key in the config: limits[0]
	Limit  *Limit
	Amount float64 // what the call adds to the sum
	then   taint.Mode
	bad    bool // the sum can't be told: the limit counts as reached
}

// limit is one that was checked.
type limit struct {
	Limit
	name  string
	tools map[string]bool
	then  taint.Mode
}

func (b *builder) readLimits() {
	for i := range b.config.Limits {
		c, at := b.config.Limits[i], fmt.Sprintf("limits[%d]", i)
		l := &limit{Limit: c, name: at, then: restrict, tools: b.readNames(at+".tool", c.Tool)}
		switch {
		case c.Calls < 0 || c.Most < 0 || c.Tokens < 0 || c.Window < 0:
			b.fail(at, "has a number below zero")
		case c.Calls == 0 && c.Most == 0 && c.Tokens == 0:
			b.fail(at, "limits nothing: give it calls, or param and most, or tokens")
		case c.Tokens > 0 && (c.Calls > 0 || c.Most > 0):
			b.fail(at, "counts tokens and calls: make two limits of it")
		case (c.Param == "") != (c.Most == 0):
			b.fail(at, "needs both param and most, or neither")
		case c.Window > 24*time.Hour:
			b.fail(at+".window", "is longer than a day: counts live as long as the process")
		case c.Then != nil && *c.Then == allow:
			b.fail(at+".then", "must be confirm or restrict: a limit that allows is none")
		}
		if c.Then != nil {
			l.then = *c.Then
		}
		switch {
		case l.Window > 0:
		case l.Per == PerRun: // all of it
			l.Window = 24 * time.Hour
		default:
			l.Window = time.Hour
		}
		if l.Per == "" {
			l.Per = PerConversation
		}
		b.limits = append(b.limits, l)
	}
}

// bounds are the limits that a call falls under.
func (p *Policy) bounds(c *toolcall.Call) (out []Bound) {
	for _, l := range p.limits {
		if len(l.tools) > 0 && !l.tools[c.Tool] || !l.counts(c.Agent()) {
			continue
		}
		b := Bound{Name: l.name, Limit: &l.Limit, then: l.then}
		if l.Param != "" {
			b.Amount, b.bad = amountOf(c, l.Param)
		}
		out = append(out, b)
	}
	return out
}

// Budgets are the limits of tokens that a call of an agent's model counts under.
func (p *Policy) Budgets(agent string) (out []Bound) {
	for _, l := range p.limits {
		if l.Tokens > 0 && l.counts(agent) {
			out = append(out, Bound{Name: l.name, Limit: &l.Limit, then: l.then})
		}
	}
	return out
}

// counts reports whether the limit is about an agent.
func (l *limit) counts(agent string) bool {
	return len(l.Agent) == 0 || slices.ContainsFunc(l.Agent, func(a string) bool { return strings.EqualFold(a, agent) })
}

// amountOf reads the param that is summed up. What is no number, or below zero,
// can't be.
func amountOf(c *toolcall.Call, name string) (amount float64, bad bool) {
	var params map[string]any
	if err := json.Unmarshal(c.Params, &params); err != nil {
		return 0, true
	}
	switch v := params[name].(type) {
	case nil:
		return 0, false
	case float64:
		return v, v < 0
	case string:
		n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		return n, err != nil || n < 0 || n != n
	}
	return 0, true
}

// Reached reports whether a call that adds to these counts is beyond the limit. A
// budget of tokens is reached once it is used up: a tool call adds nothing to it.
func (b *Bound) Reached(calls int, sum float64) bool {
	if b.Limit.Tokens > 0 {
		return sum >= float64(b.Limit.Tokens)
	}
	return b.bad || b.Limit.Calls > 0 && calls+1 > b.Limit.Calls || b.Limit.Most > 0 && sum+b.Amount > float64(b.Limit.Most)
}

// Exceed makes a limit that is reached count, before the store is asked.
func (pl *Plan) Exceed(b *Bound) {
	if pl.gate.rule != "" {
		return // a gate decides alone
	}
	pl.exceeded = append(pl.exceeded, *b)
	pl.Modes = pl.Modes.Stricter(taint.Every(b.then))
}

func (b *Bound) sentence() string {
	what := strconv.Itoa(b.Limit.Calls) + " calls"
	if b.Limit.Most > 0 {
		what = strconv.Itoa(b.Limit.Most) + " of " + b.Limit.Param
	}
	if b.Limit.Tokens > 0 {
		what = strconv.Itoa(b.Limit.Tokens) + " tokens of the model"
	}
	per := map[Per]string{PerRun: " in a run", PerConversation: " in a conversation", PerAgent: " by an agent", PerAll: ""}[b.Limit.Per]
	return "The limit " + b.Name + " is reached (" + what + per + " within " + shortly(b.Limit.Window) + "): " + outcomes[b.then] + "."
}

// shortly is a time without the parts that are zero: 1h, 1h30m, 45s.
func shortly(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
