package policy

import (
	"reflect"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// someDeclared are policies about a few tools, every tool, or the turn.
func someDeclared() *rapid.Generator[[]Declared] {
	tools := rapid.SliceOfN(rapid.SampledFrom([]string{"exec", "message", "acme"}), 0, 2)
	targets := rapid.SliceOfN(rapid.SampledFrom([]string{"exec", "message", "acme", "*"}), 0, 2)
	params := rapid.SampledFrom([]map[string]string{nil, {"x": "1"}, {"x": "2"}})
	return rapid.Custom(func(t *rapid.T) []Declared {
		out := make([]Declared, rapid.IntRange(0, 6).Draw(t, "policies"))
		for i := range out {
			out[i] = Declared{
				Name: "p" + strconv.Itoa(i),
				When: When{Tool: tools.Draw(t, "tool"), Params: params.Draw(t, "params")},
				Action: Action{
					RemoveTools: targets.Draw(t, "remove"), BlockTools: targets.Draw(t, "block"), ConfirmTools: targets.Draw(t, "confirm"),
					BlockTurn: rapid.Bool().Draw(t, "turn"), LogFullContext: rapid.Bool().Draw(t, "log"), PersistGraph: rapid.Bool().Draw(t, "graph"), Reason: "because " + strconv.Itoa(i),
				},
			}
			out[i].Action.PersistGraph = out[i].Action.PersistGraph || out[i].Action.idle()
		}
		return out
	})
}

// TestTheIndexLeavesOutNothingThatCounts holds what is decided by the policies that
// the index gives against what is decided by all of them.
func TestTheIndexLeavesOutNothingThatCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, _, err := New(Config{Policies: someDeclared().Draw(t, "declared")})
		if err != nil {
			t.Fatal(err)
		}
		all := *p
		all.index = index{rest: p.declared}
		for _, tool := range []string{"exec", "message", "acme", "read", "unheard"} {
			c := &toolcall.Call{Tool: tool, Sent: tool, Params: []byte(`{"x":"1"}`), Context: toolcall.Context{AgentID: "main"}}
			quick, slow := p.Plan(c), all.Plan(c)
			for l := taint.System; l <= taint.Untrusted; l++ {
				view := session.View{Version: 1, Level: l}
				if got, want := quick.Judge(view), slow.Judge(view); !reflect.DeepEqual(got, want) {
					t.Fatalf("%s at %s:\n got %+v\nwant %+v", tool, l, got, want)
				}
			}
		}
	})
}
