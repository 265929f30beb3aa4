package main

import (
	"runtime"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/lineage"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// ExplainCmd judges a call without a server.
type ExplainCmd struct {
	Tool      string `help:"The tool." required:"" placeholder:"NAME"`
	Params    string `help:"Its arguments, a JSON object." default:"{}" placeholder:"JSON"`
	Level     string `help:"How far the conversation is trusted: system, owner, local, shared, external or untrusted. Without it, all six." placeholder:"LEVEL"`
	Agent     string `help:"The agent that calls." placeholder:"ID"`
	Iteration *int   `help:"The iteration of the turn." placeholder:"N"`
	Session   string `help:"The conversation's session key." placeholder:"KEY"`
	configFlag
	includeFlag
}

// Run explains.
func (c *ExplainCmd) Run(a *app) error {
	rules, err := c.policy(a)
	if err != nil {
		return err
	}
	params := jsontext.Value(c.Params)
	if !params.IsValid() || params.Kind() != jsontext.KindBeginObject {
		return &failure{"--params is not a JSON object", `quote it for the shell: --params '{"command":"date"}'`}
	}
	if protocol.Canonical(c.Tool) == "" {
		return &failure{"--tool is empty", "name the tool that the agent calls, such as exec"}
	}
	call := &protocol.Call{
		Tool: protocol.Canonical(c.Tool), Sent: c.Tool, Params: params,
		Context: protocol.Context{AgentID: protocol.CanonicalKey(c.Agent), SessionKey: protocol.CanonicalKey(c.Session),
			Iteration: c.Iteration},
	}
	chosen, err := c.levels()
	if err != nil {
		return err
	}
	for i := 0; i < len(chosen); {
		v := rules.Judge(call, policy.View{Level: chosen[i]})
		n := 1
		for i+n < len(chosen) && alike(v, rules.Judge(call, policy.View{Level: chosen[i+n]})) {
			n++
		}
		c.print(a, v, chosen[i:i+n])
		i += n
	}
	c.after(a, rules.Plan(call))
	owners := *call
	owners.Context.SenderIsOwner, owners.Context.Platform = true, runtime.GOOS
	for _, level := range chosen {
		if v := rules.Judge(&owners, policy.View{Level: level}); v.Mode == taint.Confirm && v.Grantable {
			plan := rules.Plan(&owners)
			explainYeses(a, &owners, &plan)
			break
		}
	}
	return nil
}

// explainYeses says which of your earlier answers may let the call pass, at a level at which a grant may answer for
// you.
func explainYeses(a *app, call *protocol.Call, plan *policy.Plan) {
	params, _ := call.Values()
	of := "exactly this call"
	if where := lineage.AlikeOf(params, plan.Goes(), plan.Content()).Where(); len(where) > 0 {
		of += ", or for calls to the same recipients: " + printable(strings.Join(where, ", "))
	}
	a.printf("It may pass where it asks, if you have said yes for a while to %s. `verifier grants` lists what you "+
		"gave.\n", of)
}

// levels are the one that was asked for, or all.
func (c *ExplainCmd) levels() ([]taint.Level, error) {
	if c.Level == "" {
		all := taint.All()
		return all[:], nil
	}
	level, err := taint.ParseLevel(c.Level)
	return []taint.Level{level}, err
}

// policy has no guard: what a server guards is known to the server.
func (c *ExplainCmd) policy(a *app) (*policy.Policy, error) {
	cfg, err := c.quietConfig(a)
	if err != nil {
		return nil, err
	}
	if err := c.add(cfg); err != nil {
		return nil, err
	}
	rules, _, err := policy.New(cfg.Policy)
	return rules, err
}

// path is a verdict in words, without the level that was asked for.
func path(v policy.Verdict) []string { return v.Sentences()[1:] }

func alike(v, w policy.Verdict) bool {
	return v.Mode == w.Mode && slices.Equal(path(v), path(w))
}

// print says a verdict once for all the levels that share it.
func (c *ExplainCmd) print(a *app, v policy.Verdict, levels []taint.Level) {
	at := levels[0].String()
	if n := len(levels); n > 1 {
		at += " to " + levels[n-1].String()
	}
	a.printf("%s at %s: %s\n", printable(protocol.Canonical(c.Tool)), at, v.Mode)
	for _, s := range path(v) {
		a.printf("  %s\n", printable(s))
	}
}

// after says what the call leaves behind.
func (c *ExplainCmd) after(a *app, p policy.Plan) {
	if p.Raise == taint.System {
		a.printf("What it returns leaves the conversation as trusted as it was.\n")
		return
	}
	a.printf("Once it is allowed, the conversation is %s at best (%s).\n", p.Raise, printable(p.Source))
}
