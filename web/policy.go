package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/channels"
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

// Rehearsal plays the owner's own record against a changed policy. It saves
// nothing and puts nothing in force.
type Rehearsal interface {
	// Text is the policy in force, to be changed.
	Text() (string, error)
	// Play says what another policy would have done; a Refused error is for the
	// person.
	Play(ctx context.Context, text string) (Played, error)
}

// Refused says what is wrong with a policy, in words for the person who wrote it.
type Refused struct{ Text string }

func (r *Refused) Error() string { return r.Text }

// Played is what a changed policy would have done with the calls of the record.
type Played struct {
	Sessions, Calls int
	Before, After   map[string]int // calls by how they fared
	Differences     []Difference   // the first of them
	More            int            // the others
}

// Difference is a call that would have fared otherwise.
type Difference struct {
	Session, Tool string
	Params        jsontext.Value // as they are in the record
	Before, After string
}

// maxDifferences is how many are shown.
const maxDifferences = 50

// Add adds one, or counts it.
func (p *Played) Add(d Difference) {
	if len(p.Differences) == maxDifferences {
		p.More++
		return
	}
	p.Differences = append(p.Differences, d)
}

// Bounds of a rehearsal.
const (
	maxPolicy     = 64 << 10
	rehearsalTime = 30 * time.Second
)

// rehearsing lets one run at a time: it plays the record twice.
var rehearsing sync.Mutex

// rehearsalView is a changed policy and what it would have done.
type rehearsalView struct {
	Text   string
	Fault  string
	Played *playedView
}

type playedView struct {
	Sessions, Calls, More int
	Fates                 []fateView
	Differences           []differenceView
}

type fateView struct {
	Name          string
	Before, After int
}

type differenceView struct{ Talk, Tool, Text, Before, After string }

// rehearse plays the record against the policy that was sent.
func (p *policies) rehearse(w http.ResponseWriter, r *http.Request, m *member) {
	v := p.matrix()
	if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(rehearsalTime + writeTimeout)); err != nil {
		p.o.Log.DebugContext(r.Context(), "a replay has no time limit of its own", "err", err)
	}
	v.Rehearsal = p.rehearsal(r, r.PostFormValue("policy"))
	p.show(w, r, m, "policy", view{Title: "Policy", At: "policy", Policy: v})
}

func (p *policies) rehearsal(r *http.Request, text string) rehearsalView {
	v := rehearsalView{Text: text}
	if !rehearsing.TryLock() {
		v.Fault = "A replay is running. Ask again in a moment."
		return v
	}
	defer rehearsing.Unlock()
	ctx, cancel := context.WithTimeout(r.Context(), rehearsalTime)
	defer cancel()
	played, err := p.o.Rehearsal.Play(ctx, text)
	refused, isRefused := errors.AsType[*Refused](err)
	switch {
	case isRefused:
		v.Fault, _ = channels.Safe(refused.Text, channels.Form{Lines: true, Limit: 2000})
	case err != nil:
		p.o.Log.WarnContext(r.Context(), "the record could not be played against a changed policy", "err", err)
		v.Fault = "It could not be played to the end. The log says why."
	default:
		v.Played = viewPlayed(&played)
	}
	return v
}

func viewPlayed(p *Played) *playedView {
	v := &playedView{Sessions: p.Sessions, Calls: p.Calls, More: p.More}
	for _, name := range []string{"passes", "asks", "is refused"} {
		v.Fates = append(v.Fates, fateView{name, p.Before[name], p.After[name]})
	}
	for _, d := range p.Differences {
		v.Differences = append(v.Differences, differenceView{foreign(d.Session), toolName(d.Tool), channels.Brief(&approval.Ask{Tool: d.Tool, Shown: d.Params}), d.Before, d.After})
	}
	return v
}
