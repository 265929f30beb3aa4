package main

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// PolicyCmd is about the owner's policy.
type PolicyCmd struct {
	Test PolicyTestCmd `cmd:"" help:"Run your own examples against the policy."`
}

// PolicyTestCmd runs examples.
type PolicyTestCmd struct {
	Cases []string `arg:"" name:"cases" help:"Files of examples: a list under the key cases."`
	configFlag
}

// Run runs the examples.
func (c *PolicyTestCmd) Run(a *app) error {
	rules, err := (&ExplainCmd{configFlag: c.configFlag}).policy(a)
	if err != nil {
		return err
	}
	failed, all := 0, 0
	for _, name := range c.Cases {
		cases, err := config.LoadCases(name)
		if err != nil {
			return err
		}
		for i := range cases {
			all++
			if err := tryCase(rules, name, i, &cases[i]); err != nil {
				failed++
				a.printf("%v\n", err)
			}
		}
	}
	if failed > 0 {
		a.printf("%d of %d examples fail\n", failed, all)
		return exit(exitNo)
	}
	a.printf("ok: %d examples\n", all)
	return nil
}

// wrong is an example that came out otherwise.
type wrong struct {
	file  string
	index int
	c     *config.Case
	v     policy.Verdict
}

func (w *wrong) Error() string {
	want := w.c.Want
	if w.c.Rule != "" {
		want += " by " + w.c.Rule
	}
	text := printable(w.file) + ": cases[" + strconv.Itoa(w.index) + "] " + printable(cmp.Or(w.c.Name, w.c.Tool)) + " at " + w.v.Level.String() + " is " + w.v.Mode.String() + " by " + w.v.Rule + ", not " + printable(want)
	for _, s := range path(w.v) {
		text += "\n  " + printable(s)
	}
	return text
}

func tryCase(rules *policy.Policy, file string, index int, c *config.Case) error {
	params, err := c.JSON()
	if err != nil {
		return err
	}
	call := &toolcall.Call{
		Tool: toolcall.Canonical(c.Tool), Sent: c.Tool, Params: params,
		Context: toolcall.Context{AgentID: toolcall.CanonicalKey(c.Agent), SessionKey: toolcall.CanonicalKey(c.Session), Iteration: c.Iteration},
	}
	levels, err := (&ExplainCmd{Level: c.Level}).levels()
	if err != nil {
		return err
	}
	want, err := taint.ParseMode(strings.TrimSpace(c.Want))
	if err != nil {
		return err
	}
	history := c.History
	if history == nil {
		history = []string{}
	}
	for _, l := range levels {
		v := rules.Judge(call, session.View{Level: l, History: history})
		if v.Mode != want || c.Rule != "" && v.Rule != c.Rule {
			return &wrong{file, index, c, v}
		}
	}
	return nil
}
