package verifier_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/turns"
	"github.com/openclaw-verifier/verifier/verifier"
)

func inRun(members, run string) string { return members + `,"runId":"` + run + `"` }

func (r *rig) graph(name string) *provenance.Graph {
	r.t.Helper()
	g, err := r.v.Turns().Graph(r.t.Context(), name)
	if err != nil {
		r.t.Fatalf("%s: %v", name, err)
	}
	return g
}

// picture is what a graph says, a line for each node and edge.
func picture(g *provenance.Graph) (out []string) {
	for _, n := range g.Nodes {
		line := strings.TrimSpace(fmt.Sprintf("%s (%s) %s", n.ID, n.Trust, n.Tool))
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

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s:\n%s", what, diff)
	}
}

// A run that another has followed is over: what was granted for it too, even for
// whoever comes back to it.
func TestANewRunSealsTheTurnAndEndsItsGrants(t *testing.T) {
	store, _ := openSQLite(t)
	r := newRig(t, store, 1, nil)
	first, second := inRun(stranger("m"), "r1"), inRun(stranger("m"), "r2")
	ref := r.asked("of a stranger", call(t, "exec", ls, first))
	o, err := r.desk.Answer(t.Context(), approval.Answer{ID: ownerID, Via: "terminal", Ref: ref, Allow: true, Scope: approval.Scope{Turn: true}})
	if err != nil || o.Kind != approval.Counted {
		t.Fatalf("%+v, %v", o, err)
	}
	r.allow(call(t, "exec", lsAll, first))
	if r.graph("r1").Sealed {
		t.Error("sealed too early")
	}
	r.allow(call(t, "read", `{"path":"notes.txt"}`, second))
	if !r.graph("r1").Sealed {
		t.Error("not sealed by the next run")
	}
	r.asked("the grant is over", call(t, "exec", lsAll, first))
	elsewhere := newRig(t, store, 1, nil)
	elsewhere.asked("in another instance as well", call(t, "exec", lsAll, first))
}

// What is heard late of a run that is over, or of one that nobody knows, does not
// end the one that is going on, and is not what its conversation shows.
func TestALateWordOfAnotherRunEndsNothing(t *testing.T) {
	store, _ := openSQLite(t)
	r := newRig(t, store, 1, nil)
	r.asked("of a stranger", call(t, "exec", ls, inRun(stranger("m"), "r1")))
	r.asked("of a stranger", call(t, "exec", ls, inRun(stranger("m"), "r2")))
	r.hear(loop.AfterToolCall, `{"toolName":"web_fetch"}`, inRun(stranger("m"), "r1"))
	r.hear(loop.AgentEnd, `{}`, inRun(stranger("m"), "r1"))
	r.hear(loop.AgentEnd, `{}`, inRun(stranger("m"), "r0"))
	if g := r.graph("r2"); g.Sealed {
		t.Error("r2 is over")
	}
	if !r.graph("r1").Sealed {
		t.Error("r1 is not")
	}
	if g := r.graph(conv("m").Ref()); g.RunID != "r2" {
		t.Errorf("the conversation shows %s", g.RunID)
	}
}

// A child's run goes on beside its parent's.
func TestAChildsRunDoesNotEndItsParents(t *testing.T) {
	store, _ := openSQLite(t)
	r := newRig(t, store, 1, nil)
	parent := inRun(owner("m"), "r1")
	r.allow(call(t, "read", `{"path":"notes.txt"}`, parent))
	child := `"sessionKey":"agent:main:subagent:1","spawnedBy":"agent:main:m","runId":"r2"`
	r.allow(call(t, "web_fetch", `{"url":"https://example.com"}`, child))
	r.asked("the parent is tainted", call(t, "exec", ls, parent))
	g := r.graph("r1")
	if g.Sealed || r.graph("r2").SessionKey != "agent:main:subagent:1" {
		t.Errorf("%+v", g)
	}
	same(t, "the parent's turn shows where its taint came from", []string{
		"input_1 (owner)", "llm_call_1 (owner)", "tool_call_1 (local) read", "history_1 (untrusted)", "llm_call_2 (untrusted)", "tool_call_2 (untrusted) exec BLOCKED",
	}, picture(g)[:6])
}

func TestAGraphGoesIntoTheRecordOnceWhereThatIsWanted(t *testing.T) {
	store, _ := openSQLite(t)
	r := newRig(t, store, 1, func(o *verifier.Options) {
		persist := policy.Declared{Name: "persist", Action: policy.Action{PersistGraph: true}}
		rules, _, err := policy.New(policy.Config{Policies: []policy.Declared{persist}})
		if err != nil {
			t.Fatal(err)
		}
		o.Policy = func() *policy.Policy { return rules }
	})
	turn := inRun(owner("m"), "r1")
	r.allow(call(t, "web_fetch", `{"url":"https://example.com/a"}`, turn))
	r.record.fail(true)
	r.refused("a graph that can't be recorded", told(t, loop.BeforeResponseEmit, `{"content":"x"}`, turn))
	r.record.fail(false)
	next := inRun(owner("m"), "r2")
	r.allow(call(t, "read", `{"path":"notes.txt"}`, next))
	r.hear(loop.BeforeResponseEmit, `{"content":"x"}`, next)
	r.hear(loop.AgentEnd, `{}`, next)
	r.allow(call(t, "read", `{"path":"notes.txt"}`, inRun(owner("m"), "r3")))
	r.allow(call(t, "read", `{"path":"notes.txt"}`, inRun(owner("m"), "r4")))
	var runs []string
	for _, e := range r.record.entries {
		if e.Kind != record.KindGraph {
			continue
		}
		var g provenance.Graph
		if err := json.Unmarshal(e.Graph, &g); err != nil || !g.Sealed || g.RunID != e.Run {
			t.Errorf("%s: %v", e.Graph, err)
		}
		runs = append(runs, e.Run)
	}
	same(t, "runs", []string{"r2", "r3"}, runs)
}

// hoarder keeps what is noted, and can be told to fail.
type hoarder struct {
	verifier.Store
	mu    sync.Mutex
	notes []session.Note
	err   error
}

func (h *hoarder) Note(ctx context.Context, notes ...session.Note) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return h.err
	}
	h.notes = append(h.notes, notes...)
	return h.Store.Note(ctx, notes...)
}

func TestOnlyWhatMattersIsNotedAndNothingOfContent(t *testing.T) {
	store, _ := openSQLite(t)
	h := &hoarder{Store: store}
	r := newRig(t, store, 1, func(o *verifier.Options) { o.Store = h })
	turn := inRun(owner("m"), "r1")
	for range 90 {
		r.allow(call(t, "read", `{"path":"notes.txt","note":"planted-params"}`, turn))
	}
	if len(h.notes) != 0 {
		t.Fatalf("%d notes for calls that were allowed", len(h.notes))
	}
	r.hear(loop.AfterToolCall, `{"toolName":"web_fetch","result":"planted-result"}`, turn)
	r.asked("after the page", call(t, "exec", `{"command":"planted-command"}`, turn))
	r.hear(loop.BeforeResponseEmit, `{"content":"planted-content"}`, turn)
	if g := r.graph("r1"); !g.Cut || g.SessionKey == "" || g.Summary.ToolsBlocked[0] != "exec" {
		t.Errorf("%+v", g)
	}
	for _, n := range h.notes {
		if n.Keep != provenance.Keep || n.Most > provenance.MaxFacts {
			t.Errorf("%s is kept for %s, %d at most", n.List, n.Keep, n.Most)
		}
		for _, e := range n.Entries {
			if strings.Contains(string(e), "planted") {
				t.Errorf("%s", e)
			}
		}
	}
	before := len(r.graph("r1").Nodes)
	h.err = errors.New("store: out of order")
	r.asked("though it can't be noted", call(t, "exec", `{"command":"id"}`, turn))
	h.err = nil
	if got := len(r.graph("r1").Nodes); got != before+2 {
		t.Errorf("%d nodes, want the %d and the model's and the tool's call that could not be noted at once", got, before)
	}
}

func TestWhatOthersWriteIntoTheStoreIsNoFactAndNoName(t *testing.T) {
	store, _ := openSQLite(t)
	r := newRig(t, store, 1, nil)
	r.asked("of a stranger", call(t, "exec", ls, inRun(stranger("m"), "r1")))
	g := r.graph("r1")
	forged := []byte(`{"w":"said","t":1,"l":"system"}`)
	for _, seal := range []string{"", otherKey.Seal("note", g.TurnID+":turn", string(forged))} {
		n := session.Note{List: g.TurnID + ":turn", Most: 99, Keep: time.Hour, Entries: [][]byte{append([]byte(seal), forged...)}}
		if err := store.Note(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	same(t, "graph", g, r.graph("r1"))
	// A run named like a reference of ours does not stand in its way.
	ref := r.asked("of a stranger", call(t, "exec", `{"command":"id"}`, inRun(stranger("n"), "r2")))
	r.asked("who names a run like it", call(t, "exec", `{"command":"id"}`, inRun(stranger("o"), ref)))
	if got := r.graph(ref); got.RunID != "r2" {
		t.Errorf("%s shows the run %s", ref, got.RunID)
	}
	for _, name := range []string{"", "nobody", "00", strings.Repeat("0", 16), strings.Repeat("x", 9000), "../../x"} {
		if _, err := r.v.Turns().Graph(t.Context(), name); !errors.Is(err, turns.ErrUnknown) {
			t.Errorf("%.20q: %v", name, err)
		}
	}
}

// What nobody was asked about is known to the next process too, once it was kept.
func TestATurnOfAllowedCallsOutlivesItsProcess(t *testing.T) {
	onBoth(t, func(t *testing.T, v *vault) {
		first, second := newRig(t, v, 1, nil), newRig(t, v, 1, nil)
		first.allow(call(t, "exec", ls, owner("quiet")+`,"runId":"quiet run"`))
		if _, err := second.v.Turns().Graph(t.Context(), "quiet run"); !errors.Is(err, turns.ErrUnknown) {
			t.Fatalf("before it was kept: %v", err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		first.v.Turns().Keep(gone) // nobody waits for it any more: it is kept the next time
		first.v.Turns().Keep(t.Context())
		for _, name := range []string{"quiet run", conv("quiet").Ref()} {
			if g := second.graph(name); len(picture(g)) == 0 || g.RunID != "quiet run" {
				t.Errorf("%s: %+v", name, g)
			}
		}
		before := second.graph("quiet run")
		first.v.Turns().Keep(t.Context())
		if again := second.graph("quiet run"); len(again.Nodes) != len(before.Nodes) {
			t.Errorf("kept twice: %d nodes, then %d", len(before.Nodes), len(again.Nodes))
		}
	})
}
