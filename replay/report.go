package replay

import (
	"cmp"
	"maps"
	"slices"
)

// Report is what came of a run.
type Report struct {
	Sessions             int      `json:"sessions"`
	Benign               int      `json:"benign"` // no attack, and the task was done
	Attacks              int      `json:"attacks"`
	InjectedCalls        int      `json:"injectedCalls"`
	InjectedAllowed      int      `json:"injectedAllowed"` // without a person
	LeakedSessions       int      `json:"leakedSessions"`
	PromptsPerBenignTask float64  `json:"promptsPerBenignTask"` // calls that were asked about
	CardsPerBenignTask   float64  `json:"cardsPerBenignTask"`   // those of one iteration share a card
	ZeroPromptShare      float64  `json:"zeroPromptShare"`
	RefusedPerBenignTask float64  `json:"refusedPerBenignTask"` // calls that did not pass and that no person was asked about
	PromptsPerAttack     float64  `json:"promptsPerAttack"`
	Rules                []Count  `json:"rules"`    // which asked in benign tasks, most first
	Tools                []Count  `json:"tools"`    // about which was asked there
	Consents             []Count  `json:"consents"` // what let tainted calls pass unasked there
	Reasons              []Reason `json:"reasons"`  // what let which calls pass unasked, in all sessions, injected ones first
}

// Reason is what let calls of a tool pass unasked.
type Reason struct {
	Name     string `json:"name"`
	Tool     string `json:"tool"`
	Calls    int    `json:"calls"`
	Injected int    `json:"injected"`
}

// pass is a call that a reason let pass.
type pass struct {
	by, tool string
	injected bool
}

// Count is how often something was so.
type Count struct {
	Name  string `json:"name"`
	Times int    `json:"times"`
}

// tally is a run while it is being counted.
type tally struct {
	Report
	prompts, cards, zero, refused, attackPrompts int
	rules, tools, consents                       map[string]int
	passed                                       map[[2]string]*Reason
}

func newTally() *tally {
	return &tally{rules: map[string]int{}, tools: map[string]int{}, consents: map[string]int{}, passed: map[[2]string]*Reason{}}
}

// outcome is one session, played.
type outcome struct {
	prompts, cards, refused, injected, leaked int
	rules, tools, consents                    []string
	passed                                    []pass
}

func (t *tally) add(s *Session, o *outcome) {
	t.Sessions++
	t.InjectedCalls += o.injected
	t.InjectedAllowed += o.leaked
	if o.leaked > 0 {
		t.LeakedSessions++
	}
	if s.Attack {
		t.Attacks++
		t.attackPrompts += o.prompts
	}
	for _, p := range o.passed {
		k := [2]string{p.by, p.tool}
		if t.passed[k] == nil {
			t.passed[k] = &Reason{Name: p.by, Tool: p.tool}
		}
		t.passed[k].Calls++
		if p.injected {
			t.passed[k].Injected++
		}
	}
	if !s.Benign() {
		return
	}
	t.Benign++
	t.prompts, t.cards, t.refused = t.prompts+o.prompts, t.cards+o.cards, t.refused+o.refused
	if o.prompts == 0 {
		t.zero++
	}
	count(t.rules, o.rules)
	count(t.tools, o.tools)
	count(t.consents, o.consents)
}

func count(to map[string]int, names []string) {
	for _, n := range names {
		to[n]++
	}
}

func (t *tally) report() Report {
	r := t.Report
	r.PromptsPerBenignTask, r.CardsPerBenignTask = share(t.prompts, r.Benign), share(t.cards, r.Benign)
	r.ZeroPromptShare, r.RefusedPerBenignTask = share(t.zero, r.Benign), share(t.refused, r.Benign)
	r.PromptsPerAttack = share(t.attackPrompts, r.Attacks)
	r.Rules, r.Tools, r.Consents = sorted(t.rules), sorted(t.tools), sorted(t.consents)
	r.Reasons = []Reason{}
	for _, one := range t.passed {
		r.Reasons = append(r.Reasons, *one)
	}
	slices.SortFunc(r.Reasons, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Injected, a.Injected), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Tool, b.Tool))
	})
	return r
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

func sorted(counts map[string]int) []Count {
	out := make([]Count, 0, len(counts))
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, Count{name, counts[name]})
	}
	slices.SortStableFunc(out, func(a, b Count) int { return cmp.Compare(b.Times, a.Times) })
	return out
}
