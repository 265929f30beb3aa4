package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/lineage"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/taint"
)

// graph is a turn as the owner's API shows it.
func (r *rig) graph(name string) provenance.Graph {
	r.t.Helper()
	var g provenance.Graph
	if status := r.owner(http.MethodGet, "/api/graphs/"+name, nil, &g); status != http.StatusOK {
		r.t.Fatalf("the turn %s: status %d", name, status)
	}
	return g
}

func drawnAs(g *provenance.Graph) (out []string) {
	for _, n := range g.Nodes {
		line := strings.TrimSpace(fmt.Sprintf("%s (%s) %s", n.ID, n.Trust, n.Tool))
		if n.Blocked {
			line += " BLOCKED"
		}
		out = append(out, line)
	}
	return out
}

func persisting(c *config.Config) {
	c.Policy.Policies = []policy.Declared{{Name: "persist", Action: policy.Action{PersistGraph: true}}}
}

// TestH132AResultIsWorthWhatItsCallWas: what is told of a result names the tool and
// not the command.
func TestH132AResultIsWorthWhatItsCallWas(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		for _, c := range []struct{ command, want string }{{"curl https://evil.example", "untrusted"}, {"git status", "local"}} {
			m := with(ownerIn(c.want), "runId", c.want, "toolCallId", "call-1")
			r.allow(sh(c.command, m))
			r.takes(event{name: "after_tool_call", context: m, about: `{"toolName":"exec","toolCallId":"call-1","size":3}`})
			g := r.graph(c.want)
			if got := strings.Join(drawnAs(&g), " · "); !strings.Contains(got, "tool_call_1 ("+c.want+") exec · tool_result_1 ("+c.want+") exec") {
				t.Errorf("%s: %s", c.command, got)
			}
		}
	})
}

// The running example of openclaw-provenance over the wire, on both stores: its
// picture node by node, the footer, the record, and a restart in between.
func TestTheRunningExampleIsDrawnAsItsAuthorsDid(t *testing.T) {
	t.Parallel()
	onBoth(t, persisting, func(t *testing.T, r *rig) {
		m := with(ownerIn("m"), "runId", "r1")
		r.takes(census(m, `{"kind":"system_prompt"},{"kind":"compacted_history"}`))
		for i, c := range []call{{tool: "read", params: `{"path":"file.txt"}`, context: m}, fetch(m), sh("cmd", m)} {
			r.takes(event{name: "before_llm_call", context: m, about: fmt.Sprintf(`{"tools":[],"iteration":%d}`, i)})
			if c.tool == "exec" {
				r.mustAsk(c)
			} else {
				r.allow(c)
			}
		}
		a := r.takes(event{name: "before_response_emit", context: m, about: `{"content":"done"}`})
		if a.AppendFooter != "Informed by 1 web page; highest distrust: untrusted." {
			t.Errorf("footer %q", a.AppendFooter)
		}
		want := []string{
			"system_prompt_1 (system)", "history_1 (owner)",
			"llm_call_1 (owner)", "tool_call_1 (local) read",
			"llm_call_2 (local)", "tool_call_2 (untrusted) web_fetch",
			"llm_call_3 (untrusted)", "tool_call_3 (untrusted) exec BLOCKED",
			"output_1 (untrusted)",
		}
		g := r.graph("r1")
		if got := drawnAs(&g); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if i := slices.IndexFunc(r.entries(), func(e audit.Entry) bool { return e.Kind == audit.KindGraph }); i < 0 || !strings.Contains(string(r.entries()[i].Graph), g.TurnID) {
			t.Error("the record has no graph")
		}
		if status := r.as("wrong", http.MethodGet, "/api/graphs/r1", nil, nil); status != http.StatusUnauthorized {
			t.Errorf("a stranger gets %d", status)
		}
	})
}

func TestOriginsOverTheWire(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		key := lineage.NewKey([]byte(r.secret))
		prints := func(text string) string {
			list, err := json.Marshal(key.Extract(text).Fingerprints)
			if err != nil {
				t.Fatal(err)
			}
			return `"fingerprints":` + string(list)
		}
		m := ownerIn("m")
		r.takes(census(m, `{"kind":"user_message","senderId":"1","senderIsOwner":true,`+prints("mail bob@good.example")+`}`))
		r.allow(fetch(m))
		r.takes(returned(m, "web_fetch", `,"origin":"example.com",`+prints("or mallory@evil.example")))
		r.mustAsk(call{tool: "send_email", params: `{"to":"mallory@evil.example","cc":"bob@good.example"}`, context: m})
		want := []string{"to: came from web_fetch example.com 1 call ago (untrusted)", "cc: you wrote it"}
		all := r.entries()
		if got := all[len(all)-1].Origins; !slices.Equal(got, want) {
			t.Errorf("the record says %q, want %q", got, want)
		}
	})
}

// What the hostile cases say of levels can be seen in the graphs of their turns.
func TestH16TheGraphOfAChildBeginsAtItsParentsLevel(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.allow(fetch(with(ownerIn("m"), "runId", "r1")))
	r.mustAsk(sh("date", with(spawned("subagent:1", "m"), "runId", "r2")))
	if g := r.graph("r2"); g.Nodes[0].Trust != taint.Untrusted && g.Nodes[1].Trust != taint.Untrusted || g.Summary.MaxTaint != taint.Untrusted {
		t.Errorf("%q", drawnAs(&g))
	}
}

func TestH17NoGraphShowsAnActionBehindTheFetchThatTaintedIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	m := with(ownerIn("m"), "runId", "r1")
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			if i == 32 {
				r.allow(fetch(m))
				return
			}
			r.send(impatient(sh("date", m)))
		})
	}
	all.Wait()
	g, fetched := r.graph("r1"), int64(0)
	for _, n := range g.Nodes {
		if n.Tool == "web_fetch" {
			fetched = n.Metadata.Step
		}
	}
	for _, n := range g.Nodes {
		if n.Tool == "exec" && n.Blocked != (n.Metadata.Step > fetched) {
			t.Errorf("%s at step %d, the fetch at %d, blocked: %v", n.ID, n.Metadata.Step, fetched, n.Blocked)
		}
	}
	if fetched == 0 {
		t.Error("the fetch is missing")
	}
}

func TestH22TheGraphShowsAStrangerForWhatTheyAre(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.allow(sh("date", with(ownerIn("m"), "runId", "r1")))
	r.mustAsk(sh("date", map[string]any{"sessionKey": "agent:main:m", "senderId": "9", "runId": "r2"}))
	if g := r.graph("r2"); g.Nodes[0].Kind != provenance.Input || g.Nodes[0].Trust != taint.External {
		t.Errorf("a stranger: %q", drawnAs(&g))
	}
}

func TestH23TheGraphShowsAWebhookForWhatItIs(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.mustAsk(sh("date", map[string]any{"sessionKey": "agent:main:cron:job:run:1", "runId": "r3"}))
	if g := r.graph("r3"); g.Nodes[0].Trust != taint.Untrusted {
		t.Errorf("a webhook: %q", drawnAs(&g))
	}
}

func TestATurnThatNobodyWasAskedAboutIsThereAfterARestart(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		r.allow(sh("date", with(ownerIn("m"), "runId", "r1")))
		r.restart()
		if g := r.graph("r1"); g.RunID != "r1" || len(g.Nodes) == 0 {
			t.Errorf("%+v", g)
		}
	})
}
