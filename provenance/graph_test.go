package provenance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/taint"
)

// turn numbers facts in the order in which they came.
func turn(facts ...provenance.Fact) *provenance.Graph {
	for i := range facts {
		facts[i].At = int64(1000 + 10*i)
	}
	return provenance.Build("turn", facts)
}

func called(tool string, met, brings taint.Level) provenance.Fact {
	return provenance.Fact{What: provenance.Called, Tool: tool, Level: met, Brings: brings, Allowed: true}
}

// started makes a call that of a run which the owner started.
func started(f provenance.Fact) provenance.Fact {
	f.Start = taint.Owner
	return f
}

func lines(g *provenance.Graph) []string {
	out := []string{}
	for _, n := range g.Nodes {
		line := fmt.Sprintf("%s %s %s", n.ID, n.Trust, n.Tool)
		if n.Blocked {
			line += " BLOCKED"
		}
		out = append(out, strings.TrimSpace(line))
	}
	for _, e := range g.Edges {
		out = append(out, fmt.Sprintf("%s %s %s", e.From, e.Relation, e.To))
	}
	return out
}

func TestCallsAloneMakeTheSamePicture(t *testing.T) {
	g := turn(
		provenance.Fact{What: provenance.Began, Session: "agent:main:main"},
		started(called("read", taint.Owner, taint.Local)), called("web_fetch", taint.Local, taint.Untrusted),
		provenance.Fact{What: provenance.Called, Tool: "exec", Level: taint.Untrusted, Tainted: true, Reason: "unanswered"},
	)
	want := []string{
		"input_1 owner",
		"llm_call_1 owner", "tool_call_1 local read",
		"llm_call_2 local", "tool_call_2 untrusted web_fetch",
		"llm_call_3 untrusted", "tool_call_3 untrusted exec BLOCKED",
		"llm_call_1 consumes input_1", "llm_call_1 triggers tool_call_1",
		"llm_call_2 consumes tool_call_1", "llm_call_2 triggers tool_call_2",
		"llm_call_3 consumes tool_call_2", "llm_call_3 triggers tool_call_3", "tool_call_3 blocked_by tool_call_2",
	}
	if diff := cmp.Diff(want, lines(g)); diff != "" {
		t.Error(diff)
	}
	if s := g.Summary; s.MaxTaint != taint.Untrusted || s.IterationCount != 3 || s.ToolsBlocked[0] != "exec" || s.ExternalSources[0] != "web_fetch" || !g.Calls || g.DurationMs != 30 {
		t.Errorf("%+v", g)
	}
}

func TestParallelCallsOfOneIterationShareTheModelsCall(t *testing.T) {
	zero, one := 0, 1
	a, b, c := called("read", taint.Owner, taint.Local), called("ls", taint.Owner, taint.Local), called("read", taint.Owner, taint.Local)
	a.Iteration, b.Iteration, c.Iteration = &zero, &zero, &one
	if g := turn(a, b, c); g.Summary.IterationCount != 2 {
		t.Errorf("%v", lines(g))
	}
}

func TestTheFooterCountsWhatCameFromOutside(t *testing.T) {
	for want, facts := range map[string][]provenance.Fact{
		"": {called("read", taint.Owner, taint.Local)},
		"Informed by 2 web pages and 1 email; highest distrust: untrusted.": {
			called("web_fetch", taint.Owner, taint.Untrusted), called("read", taint.Untrusted, taint.Local),
			called("email", taint.Untrusted, taint.External), called("browser", taint.Untrusted, taint.Untrusted),
		},
		"Informed by 1 message, 1 fetching command and 2 other tool results; highest distrust: untrusted.": {
			called("message", taint.Owner, taint.External), called("exec", taint.External, taint.Untrusted), called("exec", taint.External, taint.Local),
			called("mine", taint.External, taint.Untrusted), {What: provenance.Returned, Tool: "theirs", Level: taint.Untrusted},
		},
		"Informed by 1 web page; highest distrust: untrusted.": {
			called("web_fetch", taint.Owner, taint.Untrusted), {What: provenance.Returned, Tool: "web_fetch", Level: taint.Untrusted},
			{What: provenance.Called, Tool: "browser", Level: taint.Untrusted},
		},
		"Informed by 1 message or history by others; highest distrust: external.": {{What: provenance.Held, Kind: provenance.Input, Level: taint.External}},
	} {
		if got := turn(facts...).Footer(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestATurnIsSealedUntilSomethingFollows(t *testing.T) {
	end := provenance.Fact{What: provenance.Ended}
	if g := turn(called("read", 0, 0), end, end); !g.Sealed {
		t.Error("not sealed")
	}
	if g := turn(called("read", 0, 0), end, called("ls", 0, 0)); g.Sealed || len(g.Nodes) != 5 {
		t.Errorf("what came after the end is lost or hidden: %v", lines(g))
	}
}

// Whatever facts there are, in whatever order: the graph holds together, trust
// never gets better along the model's calls, and what leads to something stands
// before it.
func TestAnyFactsMakeASoundGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		facts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) provenance.Fact {
			f := provenance.Fact{
				What: rapid.SampledFrom([]provenance.What{
					provenance.Began, provenance.Dropped, provenance.Held, provenance.Asked, provenance.Wanted, provenance.Called,
					provenance.Returned, provenance.Blocked, provenance.Said, provenance.Ended, "unknown",
				}).Draw(t, "what"),
				At: rapid.Int64Range(0, 50).Draw(t, "at"), Level: taint.Level(rapid.IntRange(0, 5).Draw(t, "level")), Brings: taint.Level(rapid.IntRange(0, 5).Draw(t, "brings")),
				Kind: provenance.History, Tool: rapid.SampledFrom([]string{"", "read", "exec"}).Draw(t, "tool"), ID: rapid.SampledFrom([]string{"", "c1", "c2"}).Draw(t, "id"),
				Allowed: rapid.Bool().Draw(t, "allowed"), Tainted: rapid.Bool().Draw(t, "tainted"), Reason: rapid.String().Draw(t, "reason"),
			}
			if rapid.Bool().Draw(t, "counts") {
				n := rapid.IntRange(0, 3).Draw(t, "iteration")
				f.Iteration = &n
			}
			return f
		}), 0, 30).Draw(t, "facts")
		g := provenance.Build("turn", facts)
		order, worst := map[string]int{}, taint.System
		for i, n := range g.Nodes {
			if _, twice := order[n.ID]; twice {
				t.Fatalf("%s is there twice", n.ID)
			}
			order[n.ID] = i
			if n.Kind == provenance.LLMCall && n.Trust < worst {
				t.Fatalf("%s is better than what came before: %v", n.ID, lines(g))
			}
			if n.Kind == provenance.LLMCall {
				worst = n.Trust
			}
			if n.Trust > g.Summary.MaxTaint {
				t.Fatalf("%s is worse than the worst", n.ID)
			}
		}
		for _, e := range g.Edges {
			from, there := order[e.From]
			to, alsoThere := order[e.To]
			if !there || !alsoThere {
				t.Fatalf("%+v joins nothing", e)
			}
			backward := e.Relation == provenance.Consumes || e.Relation == provenance.DerivesFrom || e.Relation == provenance.BlockedBy
			if backward != (from > to) {
				t.Fatalf("%+v leads back in time: %v", e, lines(g))
			}
		}
		if _, err := json.Marshal(g); err != nil {
			t.Fatal(err)
		}
		_ = g.Footer()
	})
}

// A conversation that was worse before the turn than anything in it says so.
func TestWhatCameBeforeTheTurnIsInItsHistory(t *testing.T) {
	g := turn(started(called("read", taint.External, taint.Local)), provenance.Fact{What: provenance.Called, Tool: "exec", Level: taint.External, Tainted: true})
	want := []string{
		"input_1 owner", "history_1 external", "llm_call_1 external", "tool_call_1 local read", "llm_call_2 external", "tool_call_2 external exec BLOCKED",
		"llm_call_1 consumes input_1", "llm_call_1 consumes history_1", "llm_call_1 triggers tool_call_1",
		"llm_call_2 consumes tool_call_1", "llm_call_2 triggers tool_call_2", "tool_call_2 blocked_by history_1",
	}
	if diff := cmp.Diff(want, lines(g)); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsBlockedAtAnyLevelIsBlamedOnNothing(t *testing.T) {
	g := turn(started(called("web_fetch", taint.Owner, taint.Untrusted)), provenance.Fact{What: provenance.Called, Tool: "gateway", Level: taint.Untrusted, Reason: "guard"})
	for _, e := range g.Edges {
		if e.Relation == provenance.BlockedBy {
			t.Errorf("%+v", e)
		}
	}
}
