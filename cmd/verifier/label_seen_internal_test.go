package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestLabelSeenKnowsCalledTools: what hooks and plugins ask about, and what models are offered, is proposed, strictly; no value is kept, and a restart forgets nothing.
func TestLabelSeenKnowsCalledTools(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		m := ownerIn("seen")
		<-r.g.live.Load().redactor.Ready() // until then no name is known to be plain

		r.allow(call{tool: "mcp__notes__get_note", params: `{"id":"hunter2-value","deep":{"inner-name":1},"sk_live_51H8xJ2K9":"x","flag":true}`, context: m}) // as Claude Code's hook names it
		r.send(impatient(call{tool: "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", context: m}))                                                                 // a secret as a name
		r.notice(call{tool: "todo_lookup", params: `{"q":"x"}`, context: m})
		r.takes(event{name: "before_llm_call", about: `{"tools":[{"name":"offered_tool"}]}`, context: m})
		var members strings.Builder
		for i := range 100 {
			fmt.Fprintf(&members, `,"b%d":1`, i)
		}
		r.g.seen.Note("many_names", "many_names", []byte(`{"a":1`+members.String()+`}`))
		for i := range 1100 {
			if r.redis != nil { // once is enough
				break
			}
			r.g.seen.Note(fmt.Sprint("bulk_", i), "", nil)
		}
		r.restart()
		r.quit()
		text, err := os.ReadFile(seenToolsFile(r.state.Dir()))
		if err != nil {
			t.Fatal(err)
		}
		for _, never := range []string{"hunter2", "sk_live", "inner-name", "ghp_"} {
			if strings.Contains(string(text), never) {
				t.Errorf("%q is kept", never)
			}
		}
		if !strings.Contains(string(text), `"many_names":{}`) {
			t.Error("the arguments of a call that has very many are looked at")
		}
		if n := strings.Count(string(text), "bulk_"); r.redis == nil && (n < 900 || n > 1000) {
			t.Errorf("%d of 1,100 tools are kept", n)
		}
		var out output
		if code := run(context.Background(), []string{"label", "--seen", "--state", r.state.Dir()}, &out, &out); code != exitOK {
			t.Fatal(code, out.String())
		}
		for _, line := range []string{
			"mcp__notes__get_note: {source: true, sink: true, destinations: [deep, flag, id]}", "todo_lookup: {source: true, sink: true, destinations: [q]}", "offered_tool: {source: true, sink: true}", "it was seen only in calls",
		} {
			if !strings.Contains(out.String(), line) {
				t.Errorf("no %q in %.3000s", line, out.String())
			}
		}
	})
}
