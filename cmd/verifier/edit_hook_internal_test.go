package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/hook"
)

// hookHolds lets the real hook ask about an event and wait for a person.
func (r *rig) hookHolds(agent, event string) <-chan string {
	out := make(chan string, 1)
	go func() {
		var said, words bytes.Buffer
		hook.Run(r.t.Context(), hook.Options{
			Agent: agent, Owner: true, Edits: true, Timeout: time.Minute,
			Gateway: func() (hook.Gateway, error) {
				return hook.Gateway{URL: r.url + "/verify", Secret: []byte(r.secret)}, nil
			},
			Notes: func() (string, error) { return r.state.Dir() + "/hook", nil },
			Stdin: strings.NewReader(event), Stdout: &said, Stderr: &words, Env: func(string) string { return "" },
		})
		out <- said.String() + words.String()
	}()
	return out
}

// TestTheHookOfClaudeCodeRunsWhatTheOwnerMadeOfTheCall: the agent is handed the owner's arguments, without the directory that the hook has added; what
// ran then counts as what was judged. Codex does the same before a call, and can't beside its dialog: its owner reads so.
func TestTheHookOfClaudeCodeRunsWhatTheOwnerMadeOfTheCall(t *testing.T) {
	t.Parallel()
	r := newRig(t, unhurried)
	event := func(name, session, id, command, more string) string {
		return fmt.Sprintf(`{"hook_event_name":%q,"session_id":%q,"cwd":"/srv/x","tool_name":"Bash","tool_use_id":%q,"tool_input":{"command":%q,"description":"d"}%s}`, name, session, id, command, more)
	}
	edited := func(session, id, params string) string {
		held := r.hookHolds("claude-code", event("PreToolUse", session, id, "git push", ""))
		v := r.editTwice(r.waits().Ref, params)
		if v.Kind != "counted" {
			t.Fatalf("the change is told %+v", v)
		}
		return <-held
	}
	got := edited("s1", "t1", `{"command":"git push --dry-run","description":"d","workdir":"/srv/x"}`)
	if want := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"git push --dry-run","description":"d"}}}`; strings.TrimSpace(got) != want {
		t.Errorf("the agent is handed %s, want %s", got, want)
	}
	r.asAgent("claude-code", event("PostToolUse", "s1", "t1", "git push --dry-run", `,"tool_response":{"stdout":"ok"}`))
	if strings.Contains(r.record(), "something else than it asked about") {
		t.Errorf("what the owner wrote counts as another hook's change:\n%s", r.record())
	}
	if got := edited("s2", "t2", `{"command":"git push","description":"d","workdir":"/elsewhere"}`); strings.Contains(got, "allow") || !strings.Contains(got, "directory in which the command runs") {
		t.Errorf("another directory: %s", got)
	}
	held := r.hookHolds("codex", event("PreToolUse", "s3", "t3", "git push", ""))
	if v := r.editTwice(r.waits().Ref, `{"command":"git push --dry-run","description":"d","workdir":"/srv/x"}`); v.Kind != "counted" {
		t.Fatalf("codex: the change is told %+v", v)
	}
	if got := <-held; !strings.Contains(got, `"permissionDecision":"allow","updatedInput":{"command":"git push --dry-run","description":"d"}`) {
		t.Errorf("codex is handed %s", got)
	}
	held = r.hookHolds("codex", event("PermissionRequest", "s4", "", "git push", ""))
	ref := r.waits().Ref
	r.unedited("beside codex' dialog", r.edit(ref, `{"command":"git push --dry-run"}`), "can't run other arguments than its own")
	r.refuse(ref, "")
	if got := <-held; strings.Contains(got, "allow") {
		t.Errorf("codex: %s", got)
	}
}
