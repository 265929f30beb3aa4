package e2e_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/hook"
	"github.com/openclaw-verifier/verifier/test/gateway"
)

// A person allows a call with other arguments than the agent's.

// patient has calls held for as long as a test may look at them.
const patient = "webhook: {hold: 60s, maxHold: 60s}\n"

// editable is the context of a call whose runtime can run other arguments.
func editable(session string) gateway.Context { return gateway.With(unvouched(session), "edits", true) }

// deploy is a call that is asked about.
func deploy(ctx gateway.Context) gateway.Call { return gateway.Sh("make deploy", ctx) }

const makeTest = `{"command":"make test"}`

// edit is the owner's answer with other arguments.
func edit(g *gateway.Gateway, ref, params string) gateway.Verdict {
	return g.AnswerTo(map[string]any{"ref": ref, "allow": true, "with": params})
}

// confirm is edit once the owner has read what changes.
func confirm(g *gateway.Gateway, ref, params, word string) gateway.Verdict {
	return g.AnswerTo(map[string]any{"ref": ref, "allow": true, "with": params, "confirm": word})
}

// editTwice is edit, confirmed.
func editTwice(t *testing.T, g *gateway.Gateway, ref, params string) {
	t.Helper()
	v := edit(g, ref, params)
	if v.Kind != "wants the same again" {
		t.Fatalf("the change to %s is told %+v", params, v)
	}
	if v := confirm(g, ref, params, v.Confirm); v.Kind != "counted" {
		t.Fatalf("the change to %s again is told %+v", params, v)
	}
}

// unedited checks that a change was refused, and that the call still waits.
func unedited(t *testing.T, g *gateway.Gateway, what string, v gateway.Verdict, says string) {
	t.Helper()
	if v.Kind == "counted" || v.Kind == "wants the same again" || !strings.Contains(v.Text, says) {
		t.Errorf("%s: told %+v, want %q", what, v, says)
	}
	g.Waits()
}

// refused says no to a call that is held, and checks that it did not run.
func refused(t *testing.T, g *gateway.Gateway, held <-chan gateway.Answer) {
	t.Helper()
	g.Refuse(g.Waits().Ref, "")
	if a := <-held; a.Allowed() {
		t.Errorf("it passed: %s", a.Raw)
	}
}

// It is shown, said again, judged, signed and recorded; and the yes is for that one request (H513, H566).
func TestAnEditedCallRunsAsThePersonWroteIt(t *testing.T) {
	t.Parallel()
	gateway.OnBoth(t, patient, func(t *testing.T, g *gateway.Gateway) {
		c := gateway.Call{Tool: "exec", Params: `{"command":"make deploy","timeout":60}`, ID: "edited", Context: editable("m")}
		body := c.Body()
		held := g.Later(t.Context(), body)
		ref := g.Waits().Ref
		v := edit(g, ref, `{"timeout":60, "command":"make test"}`)
		if v.Kind != "wants the same again" || !strings.Contains(v.Text, `"command": "make deploy" → "make test"`) ||
			strings.Contains(v.Text, "timeout") {
			t.Fatalf("the change is told %+v", v)
		}
		v = confirm(g, ref, `{"command":"make test","timeout":60}`, v.Confirm)
		if v.Kind != "counted" || !strings.Contains(v.Text, "with other arguments") || strings.Contains(v.Text, "deploy") {
			t.Fatalf("the change again is told %+v", v)
		}
		const runs = `"params":{"command":"make test","timeout":60}`
		if a := <-held; !a.Allowed() || !strings.Contains(a.Raw, runs) {
			t.Errorf("the caller reads %s", a.Raw)
		}
		if a := g.Again(body); a.Allowed() { // the params are kept nowhere
			t.Errorf("the same request again reads %s", a.Raw)
		}
		e := g.About("edited")[0]
		if e.Decision != "allow" || e.By != "person" || e.Asked == "" || e.Asked == e.Digest || !strings.Contains(runs, string(e.Params)) {
			t.Errorf("the record says %+v", e)
		}
		record := string(g.Recorded())
		for _, want := range []string{
			`"params":{"command":"make deploy","timeout":60}`, `"edited":"` + e.Digest, `"says":"allow once with other arguments"`,
		} {
			if !strings.Contains(record, want) {
				t.Errorf("the record lacks %s", want)
			}
		}
		c.ID = ""
		g.Ask(c)
		g.Reload(patient + "toolOverrides: {exec: {\"*\": restrict}}\n")
		if a := g.Again(body); a.Allowed() {
			t.Errorf("once it is restricted: %s", a.Raw)
		}
	})
}

// The owner looks at a change while the call is answered otherwise, or its caller leaves.
func TestH505AnEditOnAStaleCardChangesNothing(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, patient)
	held := g.Hold(deploy(editable("m")))
	ref := g.Waits().Ref
	edit(g, ref, makeTest)
	refused(t, g, held)
	if v := edit(g, ref, makeTest); v.Kind != "too late" {
		t.Errorf("after a no: %+v", v)
	}
	gone := g.Ask(deploy(editable("n")))
	unedited(t, g, "its caller has gone", edit(g, gone.Ref, makeTest), "no longer waits")
	if v := g.Approve(gone.Ref, 0); v.Kind != "counted" {
		t.Errorf("the call as it was: %+v", v)
	}
	g.Allow(deploy(editable("n")))
}

// By another's token, by no token, and as the agent itself with the webhook's secret; and where two people have to allow the same call.
func TestH506WhoMayNotAnswerCanNotEdit(t *testing.T) {
	t.Parallel()
	const alice, bob = "5b1d8a0c9f3e7d2461a8c0b7e4f91d36", "e02f6c9b17d84a53b6f0e1c87d29a4f5"
	people := patient + "approvers: [{name: alice, token: " + alice + "}, {name: bob, token: " + bob + "}]\n"
	g := gateway.Start(t, people+"agents: {main: {approvers: [alice]}}\n")
	held := g.Hold(deploy(gateway.With(editable("m"), "agentId", "main")))
	var cards struct {
		Cards []gateway.Card `json:"cards"`
	}
	eventually(t, "alice is asked", func() bool {
		return g.As(alice, http.MethodGet, "/owner/pending", nil, &cards) == http.StatusOK && len(cards.Cards) == 1
	})
	in := map[string]any{"ref": cards.Cards[0].Ref, "allow": true, "with": makeTest}
	var v gateway.Verdict
	for range 2 {
		if status := g.As(bob, http.MethodPost, "/owner/answer", in, &v); status != http.StatusForbidden || v.Kind != "unauthorised" {
			t.Errorf("bob: %d %+v", status, v)
		}
		if status := g.As(g.Secret, http.MethodPost, "/owner/answer", in, nil); status != http.StatusUnauthorized {
			t.Errorf("with the webhook's secret: %d", status)
		}
	}
	for range 2 {
		g.As(alice, http.MethodPost, "/owner/answer", in, &v)
		in["confirm"] = v.Confirm
	}
	if a := <-held; !a.Allowed() || !strings.Contains(a.Raw, "make test") {
		t.Errorf("alice's change: %s", a.Raw)
	}

	g = gateway.Start(t, people+"approval: {approvals: 2}\n")
	g.Token = bob
	held = g.Hold(deploy(editable("m")))
	unedited(t, g, "the first of two", edit(g, g.Waits().Ref, makeTest), "several people have to allow the same call")
	refused(t, g, held)
}

// One of our own files, and one that a restrict meets that came after the owner looked.
func TestH507AnEditIsJudgedLikeAnyCall(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, patient)
	held := g.Hold(deploy(editable("m")))
	ref := g.Waits().Ref
	const refuses = "Your policy refuses"
	ours := fmt.Sprintf(`{"command":"cat %s/owner.token"}`, g.State.Dir())
	unedited(t, g, "our own files", edit(g, ref, ours), refuses)
	if v := edit(g, ref, makeTest); v.Kind != "wants the same again" {
		t.Fatalf("a change that passes: %+v", v)
	}
	g.Reload(patient + "toolOverrides: {exec: {\"*\": restrict}}\n")
	unedited(t, g, "restricted meanwhile", edit(g, ref, makeTest), refuses)
	g.Reload(patient)
	refused(t, g, held)
}

// No other tool, no longer yes, and nothing that two programs could read differently, that is too large or can't be shown (H510).
func TestH509AnEditChangesArgumentsAndNothingElse(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, patient)
	held := g.Hold(deploy(editable("m")))
	ref := g.Waits().Ref
	with := func(more map[string]any) (v gateway.Verdict) {
		in := map[string]any{"ref": ref, "allow": true, "with": makeTest}
		for k, v := range more {
			in[k] = v
		}
		g.AnswerTo(in)
		return g.AnswerTo(in)
	}
	unedited(t, g, "another tool", with(map[string]any{"tool": "gateway"}), "does not ask about this tool")
	unedited(t, g, "an unknown member", with(map[string]any{"toolName": "gateway"}), "could not be read")
	for _, more := range []map[string]any{{"minutes": 30}, {"turn": true}, {"same": true}, {"exactly": true,
		"minutes": 5}} {
		unedited(t, g, fmt.Sprint(more), with(more), "only be allowed once")
	}
	unedited(t, g, "a no with arguments", with(map[string]any{"allow": false}), "could not be read")
	for params, says := range map[string]string{
		`{"command":"make test","command":"make deploy"}`: "each name once",
		`{"a":{"b":1,"b":2}}`:                             "each name once",
		`{"command":"make test"} {}`:                      "not one valid JSON",
		`["make test"]`:                                   "must be a JSON object",
		`"make test"`:                                     "must be a JSON object",
		`{"command":"\ud800"}`:                            "not one valid JSON",
		`{"n":1e999}`:                                     "finite",
		`{"n":` + strings.Repeat("9", 65) + `}`:           "at most 64 characters",
		strings.Repeat(`{"a":`, 101) + "1" + strings.Repeat("}", 101):           "nested",
		`{"command":"` + strings.Repeat("x", 33<<10) + `"}`:                     "at most 32 KiB",
		`{"command":"make test` + "\u200b" + strings.Repeat("\u202e", 3) + `"}`: "can't be shown in full",
		`{"command":"make deploy"}`:                                             "Nothing is changed",
	} {
		unedited(t, g, params[:min(len(params), 60)], edit(g, ref, params), says)
	}
	invalid := []byte(`{"ref":"` + ref + `","allow":true,"with":"{\"command\":\"` + "\xff" + `\"}"}`)
	if status, text := g.Request(http.MethodPost, "/owner/answer", invalid, "Authorization", "Bearer "+g.Token); status != 422 {
		t.Errorf("what is not UTF-8 is told %d %s", status, text)
	}
	refused(t, g, held)
}

// By a member of its request, by its arguments, by a line in its own chat, or by claiming that its runtime could take one.
func TestH511TheAgentCanNotMakeAnEdit(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, strings.Replace(people, "hold: 5s", "hold: 60s, maxHold: 60s", 1))
	for _, member := range []string{`"edited":{"command":"id"}`, `"params":{"command":"id"}`, `"decision":"allow"`, `"with":"{}"`} {
		body := gateway.Sh("date", editable("m")).Body()
		body = append(body[:len(body)-1], ","+member+"}"...)
		if a := g.Again(body); a.Allowed() || !strings.Contains(a.Reason, "not part of the protocol") {
			t.Errorf("%s: %s", member, a.Raw)
		}
	}
	for name, m := range map[string]gateway.Context{
		"it says nothing":           unvouched("a"),
		"a word that is no boolean": gateway.With(unvouched("b"), "Edit", true, "canEdit", true),
		"in the user's words":       gateway.With(unvouched("c"), "userMessages", []map[string]any{{"text": "edits: true"}}),
	} {
		c := gateway.Call{Tool: "exec", Params: `{"command":"make deploy","edits":true,"context":{"edits":true}}`, Context: m}
		held := g.Hold(c)
		unedited(t, g, name, edit(g, g.Waits().Ref, makeTest), "can't run other arguments than its own")
		refused(t, g, held)
	}
	for _, claim := range []any{"true", 1, []bool{true}} {
		a := g.Send(gateway.Sh("date", gateway.With(unvouched("m"), "edits", claim)))
		if a.Allowed() || !strings.Contains(a.Reason, "must be true or false") {
			t.Errorf("edits: %v: %s", claim, a.Raw)
		}
	}
	held := g.Hold(deploy(editable("d")))
	line := ".approve exec " + g.Waits().Code(t) + ` with {"command":"id"}` // no typed line changes a call
	if v := relay(t, g, line, ann()); v.Kind != "misunderstood" {
		t.Errorf("a line that the agent's runtime passes on is told %+v", v)
	}
	if v := g.Reply(line); v.Kind != "misunderstood" {
		t.Errorf("the owner's own line is told %+v", v)
	}
	refused(t, g, held)
}

// What is hidden from the owner stays what it is when it is left alone; a mask that was moved, cut or added is refused,
// and nothing hides behind one (H569).
func TestH512AMaskNeverRuns(t *testing.T) {
	t.Parallel()
	const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	g := gateway.Start(t, patient)
	mask := fmt.Sprintf("[REDACTED: %d chars]", len(secret))
	whole := func(to, token, deep, list string) string {
		return `{"to":"` + to + `","token":"` + token + `","deep":{"apiKey":"` + deep + `","n":2},"list":` + list + `}`
	}
	list := `["` + mask + `","x"]`
	held := g.Hold(gateway.Call{
		Tool: "some_tool", Context: editable("m"),
		Params: `{"to":"bob","token":"` + secret + `","deep":{"apiKey":"` + secret + `","n":1},"list":["` + secret + `","x"]}`,
	})
	ref := g.Waits().Ref
	for what, params := range map[string]string{
		"a mask that was cut":        whole("alice", mask[:12], mask, list),
		"another number":             whole("alice", "[REDACTED: 4 chars]", mask, list),
		"more around it":             whole("alice", "x"+mask, mask, list),
		"a mask where none was":      whole(mask, mask, mask, list),
		"a list with another order":  whole("alice", mask, mask, `["x","`+mask+`"]`),
		"a list with one more":       whole("alice", mask, mask, `["`+mask+`","x","y"]`),
		"a mask as a name":           `{"` + mask + `":1}`,
		"a mask in another's member": `{"to":"alice","extra":{"apiKey":"` + mask + `"}}`,
	} {
		unedited(t, g, what, edit(g, ref, params), "A hidden value can be left as it is, or replaced as a whole")
	}
	for what, params := range map[string]string{
		"text that is shown in another order":  whole(`alice \u202egro.live`, mask, mask, list),
		"a character without width":            whole(`ali\u200bce`, mask, mask, list),
		"a control character":                  whole(`alice\u001b[2J`, mask, mask, list),
		"a character without width in a token": whole("alice", secret+`\u200b`, mask, list),
	} {
		unedited(t, g, what, edit(g, ref, params), "can't be shown in full")
	}
	editTwice(t, g, ref, whole("alice", mask, "mine", list))
	a := <-held
	want := `"params":{"deep":{"apiKey":"mine","n":2},"list":["` + secret + `","x"],"to":"alice","token":"` + secret +
		`"}`
	if !strings.Contains(a.Raw, want) {
		t.Errorf("it runs %s, want %s", a.Raw, want)
	}
	for name, text := range outputs(t, g) {
		if strings.Contains(text, secret) {
			t.Errorf("the secret is in %s", name)
		}
	}
	held = g.Hold(gateway.Call{Tool: "some_tool", Params: `{"to":"bob","token":"[REDACTED: 8 chars]"}`, Context: editable("n")})
	unedited(t, g, "what the client hid", edit(g, g.Waits().Ref, `{"to":"alice"}`), "hidden before they reached us")
	refused(t, g, held)
}

// The agent is handed the owner's arguments, without the directory that the hook has added; what ran then counts as what
// was judged. Codex does the same before a call, and can't beside its dialog: its owner reads so.
func TestAnAgentsHookHandsOutWhatTheOwnerWrote(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, patient)
	run := func(agent, event, session, command, more string) <-chan string {
		out := make(chan string, 1)
		text := fmt.Sprintf(`{"hook_event_name":%q,"session_id":%q,"cwd":"/srv/x","tool_name":"Bash","tool_use_id":"t1",`+
			`"tool_input":{"command":%q,"description":"d"}%s}`, event, session, command, more)
		go func() {
			var said bytes.Buffer
			hook.Run(t.Context(), hook.Options{
				Agent: agent, Owner: true, Edits: true, Timeout: time.Minute,
				Gateway: func() (hook.Gateway, error) {
					return hook.Gateway{URL: g.URL + "/verify", Secret: []byte(g.Secret)}, nil
				},
				Notes: func() (string, error) { return g.State.Dir() + "/hook", nil },
				Stdin: strings.NewReader(text), Stdout: &said, Stderr: &said, Env: func(string) string { return "" },
			})
			out <- said.String()
		}()
		return out
	}
	const owners = `{"command":"git push --dry-run","description":"d","workdir":"/srv/x"}`
	const handed = `"permissionDecision":"allow","updatedInput":{"command":"git push --dry-run","description":"d"}}`
	for agent, session := range map[string]string{"claude-code": "s1", "codex": "s3"} {
		held := run(agent, "PreToolUse", session, "git push", "")
		editTwice(t, g, g.Waits().Ref, owners)
		if got := <-held; !strings.Contains(got, handed) {
			t.Errorf("%s is handed %s", agent, got)
		}
	}
	<-run("claude-code", "PostToolUse", "s1", "git push --dry-run", `,"tool_response":{"stdout":"ok"}`)
	if strings.Contains(string(g.Recorded()), "something else than it asked about") {
		t.Error("what the owner wrote counts as another hook's change")
	}
	held := run("claude-code", "PreToolUse", "s2", "git push", "")
	editTwice(t, g, g.Waits().Ref, strings.Replace(owners, "/srv/x", "/elsewhere", 1))
	if got := <-held; strings.Contains(got, "allow") || !strings.Contains(got, "directory in which the command runs") {
		t.Errorf("another directory: %s", got)
	}
	held = run("codex", "PermissionRequest", "s4", "git push", "")
	ref := g.Waits().Ref
	unedited(t, g, "beside codex' dialog", edit(g, ref, `{"command":"git push --dry-run"}`), "can't run other arguments than its own")
	g.Refuse(ref, "")
	if got := <-held; strings.Contains(got, "allow") {
		t.Errorf("codex: %s", got)
	}
}
