package web

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// policyView is the policy in force as a table, and what it says of one call.
type policyView struct {
	Levels   []string
	Rows     []policyRow
	Reloaded Reload
	Tried    *triedView
	Tool     string // what was typed
	Params   string
	Fault    string

	Differs   []policyDifference // what the last reload changed in the table
	Rehearsal rehearsalView
}

// policyDifference is a cell that is not what it was before the last reload.
type policyDifference struct{ Tool, Level, Before, After string }

type policyRow struct {
	Tool  string
	Cells []policyCell
}

// policyCell is a mode and why.
type policyCell struct{ Mode, Rule, Why string }

type triedView struct {
	Tool   string
	Levels []triedLevel
	After  string
}

type triedLevel struct {
	Level, Mode string
	Why         []string
}

// otherTool stands for every tool that the policy does not know.
const otherTool = "(any other tool)"

// policy shows what would be decided.
func (p *Page) policy(w http.ResponseWriter, r *http.Request, m *member) {
	p.show(w, r, m, "policy", view{Title: "Policy", At: "policy", Policy: p.matrix()})
}

// try judges a call that nobody makes. It comes by POST: its arguments would
// stand in the browser's history otherwise.
func (p *Page) try(w http.ResponseWriter, r *http.Request, m *member) {
	v := p.matrix()
	v.Tool, v.Params = strings.TrimSpace(r.PostFormValue("tool")), strings.TrimSpace(r.PostFormValue("params"))
	if v.Params == "" {
		v.Params = "{}"
	}
	params := jsontext.Value(v.Params)
	switch {
	case v.Tool == "":
		v.Fault = "Name a tool."
	case !params.IsValid() || params.Kind() != jsontext.KindBeginObject:
		v.Fault = `The arguments are no JSON object, such as {"command":"date"}.`
	default:
		v.Tried = judged(p.o.Policy(), &toolcall.Call{Tool: toolcall.Canonical(v.Tool), Sent: v.Tool, Params: params})
	}
	p.show(w, r, m, "policy", view{Title: "Policy", At: "policy", Policy: v})
}

func judged(rules *policy.Policy, c *toolcall.Call) *triedView {
	out := &triedView{Tool: c.Tool, After: "What it returns leaves the conversation as trusted as it was."}
	for _, level := range taint.All() {
		v := rules.Judge(c, session.View{Level: level})
		out.Levels = append(out.Levels, triedLevel{level.String(), v.Mode.String(), v.Sentences()[1:]})
	}
	if plan := rules.Plan(c); plan.Raise > taint.System {
		out.After = "Once it is allowed, the conversation is " + plan.Raise.String() + " at best."
	}
	return out
}

func (p *Page) matrix() policyView {
	rules := p.o.Policy()
	v := policyView{Params: "{}", Reloaded: p.o.Reload()}
	if text, err := p.o.Rehearsal.Text(); err == nil {
		v.Rehearsal.Text = text
	}
	if before := v.Reloaded.Before; before != nil {
		v.Differs = differences(before, rules)
	}
	for _, level := range taint.All() {
		v.Levels = append(v.Levels, level.String())
	}
	for _, tool := range slices.Concat(rules.Tools(), []string{otherTool}) {
		row := policyRow{Tool: tool}
		call := &toolcall.Call{Tool: tool, Sent: tool, Params: jsontext.Value("{}")}
		for _, level := range taint.All() {
			verdict := rules.Judge(call, session.View{Level: level})
			row.Cells = append(row.Cells, policyCell{verdict.Mode.String(), verdict.Rule, strings.Join(verdict.Sentences()[1:], " ")})
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

// differences are the cells in which two policies differ, of all tools that either
// knows.
func differences(before, after *policy.Policy) (out []policyDifference) {
	tools := slices.Concat(before.Tools(), after.Tools(), []string{otherTool})
	slices.Sort(tools)
	for _, tool := range slices.Compact(tools) {
		call := &toolcall.Call{Tool: tool, Sent: tool, Params: jsontext.Value("{}")}
		for _, level := range taint.All() {
			a, b := before.Judge(call, session.View{Level: level}).Mode, after.Judge(call, session.View{Level: level}).Mode
			if a != b {
				out = append(out, policyDifference{tool, level.String(), a.String(), b.String()})
			}
		}
	}
	return out
}
