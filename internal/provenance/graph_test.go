package provenance_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/openclaw-verifier/verifier/internal/provenance"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/text"
	"github.com/openclaw-verifier/verifier/taint"
)

var began = time.Date(2026, 10, 3, 14, 2, 11, 0, time.UTC)

// turn gives entries times in the order in which they came.
func turn(entries ...record.Entry) *provenance.Graph {
	for i := range entries {
		entries[i].At = began.Add(time.Duration(i) * 10 * time.Millisecond)
	}
	return provenance.Build("00112233445566aa", entries)
}

// called is a call that was let pass, of a run that the owner started.
func called(tool, met, brings string) record.Entry {
	return record.Entry{
		Kind: record.KindDecision, Decision: record.Allow, Session: "agent:main:main", Tool: tool, Level: met,
		Parts: []record.Part{{Birth: "owner", Trust: brings}},
	}
}

func denied(tool, met, why string, tainted bool) record.Entry {
	return record.Entry{
		Kind: record.KindDecision, Decision: record.Deny, Tool: tool, Level: met, Error: why,
		Parts: []record.Part{{Birth: "owner", Tainted: tainted}},
	}
}

func event(level string, parts ...record.Part) record.Entry {
	return record.Entry{Kind: record.KindEvent, Session: "agent:main:main", Level: level, Parts: parts}
}

// at names the iteration and the id of a call.
func at(e record.Entry, iteration int, id string) record.Entry {
	e.Parts[0].Iteration, e.Parts[0].Call = &iteration, id
	return e
}

func lines(g *provenance.Graph) []string {
	out := []string{}
	for _, n := range g.Nodes {
		line := strings.TrimSpace(fmt.Sprintf("%s %s %s", n.ID, n.Trust, n.Tool))
		if n.Blocked {
			line += " BLOCKED"
		}
		out = append(out, line)
	}
	for _, e := range g.Edges {
		out = append(out, fmt.Sprintf("%s %s %s", e.From, e.Relation, e.To))
	}
	return out
}

func TestTurnsAreDrawn(t *testing.T) {
	asked, ended := record.Part{What: record.PartAsked}, record.Part{What: record.PartEnded}
	for name, tt := range map[string]struct {
		entries []record.Entry
		want    string // nodes and edges
	}{
		"calls alone make the same picture": {
			[]record.Entry{called("read", "owner", "local"), called("web_fetch", "local", "untrusted"),
				denied("exec", "untrusted", "unanswered", true)},
			`input_1 owner; llm_call_1 owner; tool_call_1 local read; llm_call_2 local; tool_call_2 untrusted web_fetch;
			llm_call_3 untrusted; tool_call_3 untrusted exec BLOCKED;
			llm_call_1 consumes input_1; llm_call_1 triggers tool_call_1; llm_call_2 consumes tool_call_1;
			llm_call_2 triggers tool_call_2; llm_call_3 consumes tool_call_2; llm_call_3 triggers tool_call_3;
			tool_call_3 blocked_by tool_call_2`,
		},
		"what came before the turn is in its history": {
			[]record.Entry{called("read", "external", "local"), denied("exec", "external", "restrict", true)},
			`input_1 owner; history_1 external; llm_call_1 external; tool_call_1 local read; llm_call_2 external;
			tool_call_2 external exec BLOCKED; llm_call_1 consumes input_1; llm_call_1 consumes history_1;
			llm_call_1 triggers tool_call_1;
			llm_call_2 consumes tool_call_1; llm_call_2 triggers tool_call_2; tool_call_2 blocked_by history_1`,
		},
		"what is blocked at any level is blamed on nothing": {
			[]record.Entry{denied("gateway", "owner", "guard", false)},
			`input_1 owner; llm_call_1 owner; tool_call_1 owner gateway BLOCKED; llm_call_1 consumes input_1;
			llm_call_1 triggers tool_call_1`,
		},
		"calls of one iteration share the model's call": {
			[]record.Entry{at(called("read", "owner", "local"), 0, ""), at(called("ls", "owner", "local"), 0, "")},
			`input_1 owner; llm_call_1 owner; tool_call_1 local read; tool_call_2 local ls;
			llm_call_1 consumes input_1; llm_call_1 triggers tool_call_1; llm_call_1 triggers tool_call_2`,
		},
		"a result is no better than its call, and found by its id or its tool": {
			[]record.Entry{
				event("owner", asked), at(called("web_fetch", "owner", "untrusted"), 0, "c1"), called("read",
					"untrusted", "local"),
				event("untrusted", record.Part{What: record.PartReturned, Tool: "web_fetch", Call: "c1",
					Trust: "local"}),
				event("untrusted", record.Part{What: record.PartReturned, Tool: "read", Trust: "shared"}),
			},
			`history_1 owner; llm_call_1 owner; tool_call_1 untrusted web_fetch; tool_call_2 local read;
			tool_result_1 untrusted web_fetch; tool_result_2 shared read; llm_call_1 consumes history_1;
			llm_call_1 triggers tool_call_1; llm_call_1 triggers tool_call_2; tool_call_1 produces tool_result_1;
			tool_call_2 produces tool_result_2`,
		},
		"all that a runtime tells": {
			[]record.Entry{
				event("owner", record.Part{What: record.PartContext, Sources: []record.Source{
					{Kind: "system_prompt", Trust: "system"}, {Kind: "compacted_history", Trust: "owner"},
					{Kind: "user_message", Trust: "owner"},
				}}),
				event("owner", asked),
				event("owner",
					record.Part{What: record.PartWanted, Tool: "exec", Reason: "restrict", Tainted: true}),
				event("owner", record.Part{What: record.PartBlocked, Reason: "too many"}),
				event("owner", record.Part{What: record.PartSaid, Hash: "sha256:0"}, ended),
			},
			`system_prompt_1 system; history_1 owner; input_1 owner; llm_call_1 owner; tool_call_1 owner exec BLOCKED;
			policy_decision_1 owner BLOCKED; output_1 owner; llm_call_1 consumes system_prompt_1;
			llm_call_1 consumes history_1;
			llm_call_1 consumes input_1; llm_call_1 triggers tool_call_1; tool_call_1 blocked_by history_1;
			policy_decision_1 derives_from llm_call_1; output_1 derives_from llm_call_1`,
		},
	} {
		want := strings.FieldsFunc(tt.want, func(r rune) bool { return r == ';' })
		for i := range want {
			want[i] = strings.TrimSpace(want[i])
		}
		if diff := cmp.Diff(want, lines(turn(tt.entries...))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	g := turn(called("read", "owner", "local"), called("web_fetch", "local", "untrusted"),
		denied("exec", "untrusted", "unanswered", true))
	if s := g.Summary; s.MaxTaint != taint.Untrusted || s.IterationCount != 3 || s.ToolsBlocked[0] != "exec" ||
		s.ExternalSources[0] != "web_fetch" || !g.Calls || g.DurationMs != 20 {
		t.Errorf("%+v", g)
	}
	over := event("local", ended)
	if g := turn(called("read", "owner", "local"), over, over); !g.Sealed {
		t.Error("not sealed")
	}
	if g := turn(called("read", "owner", "local"), over, called("ls", "owner", "local")); g.Sealed ||
		len(g.Nodes) != 5 {
		t.Errorf("what came after the end is lost or hidden: %v", lines(g))
	}
}

// Whatever entries there are, in whatever order: the graph holds together, trust never gets better along the model's
// calls, what leads to something stands before it, and no line of its text moves a terminal.
func TestAnyEntriesMakeASoundGraph(t *testing.T) {
	levels := []string{"", "system", "owner", "local", "shared", "external", "untrusted", "nonsense"}
	rapid.Check(t, func(t *rapid.T) {
		level := rapid.SampledFrom(levels)
		part := rapid.Custom(func(t *rapid.T) record.Part {
			p := record.Part{
				What: rapid.SampledFrom([]string{
					"", record.PartContext, record.PartAsked, record.PartWanted,
					record.PartReturned,
					record.PartBlocked,
					record.PartSaid, record.PartEnded, "unknown",
				}).Draw(t, "what"),
				Tool: rapid.SampledFrom([]string{"", "read", "exec"}).Draw(t,
					"tool"), Call: rapid.SampledFrom([]string{"", "c1", "c2"}).Draw(t, "id"),
				Trust: level.Draw(t, "trust"), Birth: level.Draw(t, "birth"), Tainted: rapid.Bool().Draw(t, "tainted"),
				Reason: rapid.String().Draw(t, "reason"), Label: rapid.String().Draw(t, "label"),
				Sources: []record.Source{{Kind: rapid.SampledFrom([]string{"user_message", "x"}).Draw(t, "kind"),
					Trust: level.Draw(t, "source")}},
			}
			if rapid.Bool().Draw(t, "counts") {
				n := rapid.IntRange(0, 3).Draw(t, "iteration")
				p.Iteration = &n
			}
			return p
		})
		g := provenance.Build(rapid.String().Draw(t, "id"), rapid.SliceOfN(rapid.Custom(func(t *rapid.T) record.Entry {
			return record.Entry{
				Kind: rapid.SampledFrom([]record.Kind{record.KindDecision, record.KindEvent}).Draw(t,
					"entry"), Parts: rapid.SliceOfN(part, 1, 3).Draw(t, "parts"),
				At: began.Add(time.Duration(rapid.IntRange(0, 50).Draw(t, "at"))), Level: level.Draw(t,
					"level"), Tool: rapid.String().Draw(t, "name"),
				Decision: rapid.SampledFrom([]string{record.Allow, record.Deny, ""}).Draw(t, "decision"),
			}
		}), 0, 30).Draw(t, "entries"))
		order, worst := map[string]int{}, taint.System
		for i, n := range g.Nodes {
			if _, twice := order[n.ID]; twice {
				t.Fatalf("%s is there twice", n.ID)
			}
			order[n.ID] = i
			if n.Kind == "llm_call" && n.Trust < worst {
				t.Fatalf("%s is better than what came before: %v", n.ID, lines(g))
			}
			if n.Kind == "llm_call" {
				worst = n.Trust
			}
			if n.Trust > g.Summary.MaxTaint {
				t.Fatalf("%s is worse than the worst", n.ID)
			}
		}
		for _, e := range g.Edges {
			from, there := order[e.From]
			to, alsoThere := order[e.To]
			backward := e.Relation == "consumes" || e.Relation == "derives_from" ||
				e.Relation == "blocked_by"
			if !there || !alsoThere || backward != (from > to) {
				t.Fatalf("%+v joins nothing, or leads back in time: %v", e, lines(g))
			}
		}
		if _, err := json.Marshal(g); err != nil {
			t.Fatal(err)
		}
		if s := g.Text(); strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && !text.Shows(r) }) {
			t.Fatalf("the drawing is %q", s)
		}
	})
}

func TestTheDrawingStaysAsItWas(t *testing.T) {
	fetch := at(called("web_fetch", "local", "untrusted"), 1, "c2")
	fetch.Parts[0].Label = "web_fetch example.com"
	got := turn(
		event("owner", record.Part{What: record.PartContext, Sources: []record.Source{{Kind: "system_prompt",
			Trust: "system"}, {Kind: "compacted_history", Trust: "owner"}}}),
		event("owner", record.Part{What: record.PartAsked}), at(called("read", "owner", "local"), 0, "c1"),
		event("local", record.Part{What: record.PartReturned, Tool: "read", Call: "c1", Trust: "local"}),
		event("local", record.Part{What: record.PartAsked}), fetch, called("vestige_search", "local", "shared"),
		event("untrusted", record.Part{What: record.PartReturned, Tool: "web_fetch", Call: "c2", Trust: "untrusted",
			Failed: true}),
		event("untrusted", record.Part{What: record.PartAsked}), denied("exec", "untrusted", "unanswered", true),
		event("untrusted", record.Part{What: record.PartBlocked, Reason: "This turn has used up its iterations."}),
		event("untrusted", record.Part{What: record.PartSaid}, record.Part{What: record.PartEnded}),
	).Text()
	want, err := os.ReadFile("testdata/example.txt")
	if err != nil || got != string(want) {
		t.Errorf("%v; it is now:\n%s", err, got)
	}
}
