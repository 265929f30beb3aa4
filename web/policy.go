package web

import (
	"cmp"
	"fmt"
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
	Groups   []policyGroup
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

// policyGroup is tools that the policy treats alike at every level.
type policyGroup struct {
	Spans  []modeSpan
	Tools  []string
	Rules  []ruleTools // which rule says so of which of them
	strict int         // more where it asks or blocks at more levels
}

// modeSpan is neighbouring levels with the same mode.
type modeSpan struct{ From, To, Mode string }

// ruleTools is a rule, and tools that it decides about in an untrusted conversation.
type ruleTools struct {
	Rule  string
	Tools []string
}

// ruleWords say what rules are, where their name does not.
var ruleWords = map[string]string{
	"safe": "On the safe list", "dangerous": "On the dangerous list: asked at every level", "override": "By an override", "taintPolicy": "By the level alone",
	"taint-escalation": "Acts or sends, and outside content came in", "wrapper": "Only wraps another call, which is judged on its own",
}

// modeWords are what the page calls the modes.
var modeWords = map[string]string{taint.Allow.String(): "allow", taint.Confirm.String(): "ask", taint.Restrict.String(): "block"}

func modeWord(mode string) string { return cmp.Or(modeWords[mode], mode) }

type triedView struct {
	Tool   string
	Levels []triedLevel
	After  string
}

type triedLevel struct {
	Level, Mode string
	Why         []string
}

// otherTool is the row of every tool that the policy does not know.
const otherTool = "(any other tool)"

// policies are the views of what the policy in force decides, and of what another would.
type policies struct{ *site }

// table shows what would be decided.
func (p *policies) table(w http.ResponseWriter, r *http.Request, m *member) {
	p.show(w, r, m, "policy", view{Title: "Policy", At: "policy", Policy: p.matrix()})
}

// try judges a call that is not made. It comes by POST: its arguments would be in
// the browser's history otherwise.
func (p *policies) try(w http.ResponseWriter, r *http.Request, m *member) {
	v := p.matrix()
	v.Tool, v.Params = strings.TrimSpace(r.PostFormValue("tool")), cmp.Or(strings.TrimSpace(r.PostFormValue("params")), "{}")
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

func (p *policies) matrix() policyView {
	rules := p.o.Policy()
	v := policyView{Params: "{}", Reloaded: p.o.Reload()}
	if text, err := p.o.Rehearsal.Text(); err == nil {
		v.Rehearsal.Text = text
	}
	if before := v.Reloaded.Before; before != nil {
		v.Differs = differences(before, rules)
	}
	v.Groups = groups(rules)
	return v
}

// groups puts tools with the same row together, what passes everywhere first.
func groups(rules *policy.Policy) (out []policyGroup) {
	at := map[string]int{}
	for _, tool := range slices.Concat(rules.Tools(), []string{otherTool}) {
		spans, strict, rule := row(rules, tool)
		key := fmt.Sprint(spans)
		i, known := at[key]
		if !known {
			i = len(out)
			at[key] = i
			out = append(out, policyGroup{Spans: spans, strict: strict})
		}
		out[i].add(tool, rule)
	}
	slices.SortStableFunc(out, func(a, b policyGroup) int { return a.strict - b.strict })
	return out
}

func (g *policyGroup) add(tool, rule string) {
	g.Tools = append(g.Tools, tool)
	rule = cmp.Or(ruleWords[rule], rule)
	i := slices.IndexFunc(g.Rules, func(r ruleTools) bool { return r.Rule == rule })
	if i < 0 {
		i = len(g.Rules)
		g.Rules = append(g.Rules, ruleTools{Rule: rule})
	}
	g.Rules[i].Tools = append(g.Rules[i].Tools, tool)
}

// row is what the policy says of a tool from level to level, and which rule decides at the last.
func row(rules *policy.Policy, tool string) (spans []modeSpan, strict int, rule string) {
	call := &toolcall.Call{Tool: tool, Sent: tool, Params: jsontext.Value("{}")}
	for _, level := range taint.All() {
		verdict := rules.Judge(call, session.View{Level: level})
		mode := verdict.Mode.String()
		strict += int(verdict.Mode)
		if n := len(spans); n > 0 && spans[n-1].Mode == mode {
			spans[n-1].To = level.String()
		} else {
			spans = append(spans, modeSpan{level.String(), level.String(), mode})
		}
		rule = verdict.Rule
	}
	return spans, strict, rule
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
