package webtest

import (
	_ "embed" // the rules
	"strings"
)

//go:embed vendor/axe-4.14.0.min.js
var axe string

// Barriers are the serious and critical faults that axe-core finds for people
// who use a keyboard, a screen reader or little contrast: which rule, and where.
func (t *Tab) Barriers() []string {
	t.b.t.Helper()
	var there bool
	if t.Eval(`"axe" in window`, &there); !there {
		t.Eval(axe+"; true", nil)
	}
	var found []struct {
		ID, Impact, Help string
		Where            []string
	}
	t.Eval(`axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.map(v => ({ID: v.id, Impact: v.impact, Help: v.help, Where: v.nodes.map(n => n.target.join(" ") + " " + (n.any[0] ? n.any[0].message : ""))})))`, &found)
	var out []string
	for _, f := range found {
		if f.Impact == "serious" || f.Impact == "critical" {
			out = append(out, f.ID+" ("+f.Help+"): "+strings.Join(f.Where, "; "))
		}
	}
	return out
}

// Wide reports whether the page is wider than its tab, so that one has to push
// it to and fro.
func (t *Tab) Wide() bool {
	t.b.t.Helper()
	var wide bool
	t.Eval("document.documentElement.scrollWidth > document.documentElement.clientWidth", &wide)
	return wide
}

// Small are the things to tap that a finger may miss: less than 44 pixels high or wide. Links in running text don't count.
func (t *Tab) Small() (out []string) {
	t.b.t.Helper()
	t.Eval(`[...document.querySelectorAll("a[href], button, summary, select, input:not([type=hidden])")].filter(e => e.checkVisibility() && !e.matches(".hint a, dd a, .story a, .skip")).
		map(e => ({e, r: e.getBoundingClientRect()})).filter(({r}) => r.height < 43.5 || r.width < 43.5).map(({e, r}) => e.outerHTML.slice(0, 100) + " " + Math.round(r.width) + "×" + Math.round(r.height))`, &out)
	return out
}
