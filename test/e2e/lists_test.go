package e2e_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/openclaw-verifier/verifier/test/gateway"
)

// entry is one call of a list, and what its buttons carry.
type entry struct {
	Short string `json:"short"`
	Once  string `json:"once"`
	Deny  string `json:"deny"`
}

// listed is a card with these commands on it: five cards are open by default, and the next calls share one.
func listed(t *testing.T, g *gateway.Gateway, commands ...string) (ref string, entries func() []entry) {
	t.Helper()
	var others []string
	for i := range 5 {
		others = append(others, g.Ask(gateway.Sh(fmt.Sprint("echo ", i), unvouched("m"))).Ref)
	}
	for _, c := range commands {
		ref = g.Ask(gateway.Sh(c, unvouched("m"))).Ref
	}
	for _, other := range others {
		g.Refuse(other, "")
	}
	return ref, func() []entry {
		g.Waits()
		var out struct {
			Cards []struct {
				Entries []entry `json:"entries"`
			} `json:"cards"`
		}
		if status := g.Owner(http.MethodGet, "/owner/pending", nil, &out); status != http.StatusOK ||
			len(out.Cards) != 1 {
			t.Fatalf("%d, %d cards", status, len(out.Cards))
		}
		return out.Cards[0].Entries
	}
}

// A button for one call of a list allows no other, and what is made of buttons is none.
func TestH383TheButtonOfOneCallIsForThatCall(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	ref, entries := listed(t, g, "git log one", "git log two", "git log three")
	all := entries()
	if len(all) != 3 {
		t.Fatalf("the card lists %+v", all)
	}
	tap := func(handle string) string { return g.AnswerTo(map[string]any{"handle": handle}).Kind }
	first, second, third := all[0].Once, all[1].Once, all[2].Deny
	for _, forged := range []string{first + "AA", second[:8] + first[8:] + "A"} {
		if kind := tap(forged); kind != "not found" {
			t.Errorf("a forged button is told %q", kind)
		}
	}
	for i, c := range []struct{ handle, want string }{{second, "counted"}, {second, "too late"}, {third, "counted"}} {
		if kind := tap(c.handle); kind != c.want {
			t.Errorf("tap %d is told %q, want %q", i, kind, c.want)
		}
	}
	g.Ask(gateway.Sh("git log one", unvouched("m")))
	g.Allow(gateway.Sh("git log two", unvouched("m")))
	g.Deny(gateway.Impatient(gateway.Sh("git log three", unvouched("m"))))
	g.AnswerTo(map[string]any{"ref": ref, "allow": true}) // the rest
	g.Allow(gateway.Sh("git log one", unvouched("m")))
	g.Ask(gateway.Sh("git log two", unvouched("m"))) // once is once
}

// Forty equal calls at once are one question, and one yes lets one of them pass.
func TestH382AFloodOfEqualQuestions(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	together(40, func() { g.Send(gateway.Impatient(gateway.Sh("make deploy", unvouched("x")))) })
	g.Approve(g.Waits().Ref, 0)
	g.Allow(gateway.Sh("make deploy", unvouched("x")))
	g.Ask(gateway.Sh("make deploy", unvouched("x")))
}
