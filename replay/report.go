package replay

import (
	"cmp"
	"maps"
	"slices"
)

// Report is what came of a run.
type Report struct {
	Sessions             int     `json:"sessions"`
	Benign               int     `json:"benign"` // no attack, and the task was done
	Attacks              int     `json:"attacks"`
	InjectedCalls        int     `json:"injectedCalls"`
	InjectedAllowed      int     `json:"injectedAllowed"` // without a person
	LeakedSessions       int     `json:"leakedSessions"`
	PromptsPerBenignTask float64 `json:"promptsPerBenignTask"` // calls that were asked about
	CardsPerBenignTask   float64 `json:"cardsPerBenignTask"`   // those of one iteration share a card
	ZeroPromptShare      float64 `json:"zeroPromptShare"`
	RefusedPerBenignTask float64 `json:"refusedPerBenignTask"` // calls that did not pass and that no person was asked about
	PromptsPerAttack     float64 `json:"promptsPerAttack"`
	Rules                []Count `json:"rules"`    // which asked in benign tasks, most first
	Tools                []Count `json:"tools"`    // about which was asked there
	Consents             []Count `json:"consents"` // what let tainted calls pass unasked there
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
}

func newTally() *tally {
	return &tally{rules: map[string]int{}, tools: map[string]int{}, consents: map[string]int{}}
}

// outcome is one session, played.
type outcome struct {
	prompts, cards, refused, injected, leaked int
	rules, tools, consents                    []string
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
