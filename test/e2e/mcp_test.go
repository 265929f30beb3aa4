package e2e_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/openclaw-verifier/verifier/mcp/mcptest"
	"github.com/openclaw-verifier/verifier/test/gateway"
)

func TestMain(m *testing.M) { os.Exit(mcptest.Run(m)) }

// gate is `verifier mcp` before a fake server, and its client.
type gate struct {
	*gateway.Gateway
	*mcptest.Client
	t     *testing.T
	cmd   *exec.Cmd
	in    io.Closer
	notes string
	seen  string // the file of what the server got
	done  chan struct{}
}

// gated starts the gate before a program that the owner calls fake.
func gated(t *testing.T, g *gateway.Gateway, flags ...string) *gate {
	t.Helper()
	seen := filepath.Join(t.TempDir(), "seen")
	flags = append(append([]string{"--name", "fake"}, flags...), "--") // the last name counts
	return gatedBy(t, g, seen, append(flags, mcptest.Command(t, seen)...)...)
}

func gatedBy(t *testing.T, g *gateway.Gateway, seen string, flags ...string) *gate {
	t.Helper()
	out := &gate{Gateway: g, t: t, notes: filepath.Join(g.State.Dir(), "hook"), seen: seen, done: make(chan struct{})}
	out.cmd = exec.CommandContext(context.Background(), gateway.Program(t), append([]string{"mcp"}, out.where(flags...)...)...)
	from, err := out.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	to, err := out.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := out.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	reads, writes := io.Pipe()
	go func() {
		defer close(out.done)
		io.Copy(writes, from) //nolint:errcheck // the client sees the end
		_ = out.cmd.Wait()    // how it ends is not said here
		writes.Close()
	}()
	out.in, out.Client = to, mcptest.NewClient(t, to, reads)
	t.Cleanup(func() { out.end(syscall.SIGTERM) })
	return out
}

// where are the flags that say where the gateway is, and more.
func (g *gate) where(more ...string) []string {
	g.t.Helper()
	secret := filepath.Join(g.t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(g.Secret), 0o600); err != nil {
		g.t.Fatal(err)
	}
	return append([]string{"--gateway", g.URL, "--secret-file", secret, "--notes", g.notes}, more...)
}

// end ends the gate, and waits until it has.
func (g *gate) end(s os.Signal) {
	g.in.Close()
	_ = g.cmd.Process.Signal(s) // it may have ended
	<-g.done
}

// hook runs `verifier hook` of an agent in the same conversation, and gives what the agent reads.
func (g *gate) hook(agent, event string) string {
	g.t.Helper()
	args := append([]string{"hook", agent, "--timeout", "11s", "--owner", "--url", g.URL}, g.where()[2:]...)
	cmd := exec.CommandContext(g.t.Context(), gateway.Program(g.t), args...)
	cmd.Stdin = strings.NewReader(`{"session_id":"s1","cwd":"/w","prompt_id":"p1",` + event + `}`)
	out, err := cmd.CombinedOutput()
	if err != nil {
		g.t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// offers says what the server says of its tools from now on, and returns what the client sees of it.
func (g *gate) offers(tools string) string {
	g.t.Helper()
	mcptest.Offer(g.t, g.seen, tools)
	return g.Answer(g.Requests("tools/list", "{}"))
}

// sees reports whether the client sees the tool echo with this description, which the server gives it now.
func (g *gate) sees(description string) bool {
	g.t.Helper()
	return strings.Contains(g.offers(mcptest.Echo(description)), description)
}

// yes allows the one call that waits, and no refuses it.
func (g *gate) yes() { g.t.Helper(); g.Approve(g.Waits().Ref, 0) }

func (g *gate) no(id int) {
	g.t.Helper()
	g.Refuse(g.Waits().Ref, "no")
	g.Says(g.Answer(id), "Denied by the owner")
}

// calls are how many calls the server got.
func (g *gate) calls() int { return strings.Count(mcptest.Seen(g.t, g.seen), "tools/call") }

// The gate is killed while a call is held, and the owner says yes. The yes is for the next call like it, once (H252).
func TestH252ACallOfAKilledGateDoesNotRun(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	killed := gated(t, g)
	killed.Call("echo", `{"text":"h252"}`)
	ref := killed.Waits().Ref
	killed.end(os.Kill)
	eventually(t, "the gateway has seen that nobody waits", func() bool { return len(g.Decided()) > 0 })
	killed.Approve(ref, 0)
	if killed.calls() > 0 {
		t.Error("the server got the call")
	}
	next := gated(t, g)
	for _, asked := range []bool{false, true} {
		id := next.Call("echo", `{"text":"h252"}`)
		if asked {
			next.no(id)
			continue
		}
		next.Says(next.Answer(id), "said h252")
	}
}

// Where the agent runs our hook, what a server returns counts in its conversation, and a call that the hook has asked
// about passes the gate once. Alone, we don't know who started the client.
func TestH255TheGateTakesPartInTheAgentsConversation(t *testing.T) {
	t.Parallel()
	g := gated(t, gateway.Start(t, ""))
	before := func(tool, input, id string) string {
		return g.hook("claude-code", fmt.Sprintf(
			`"permission_mode":"default","hook_event_name":"PreToolUse","tool_name":%q,"tool_input":%s,"tool_use_id":%q`,
			tool, input, id))
	}
	with := func(id, text string) int {
		const params = `{"name":"echo","arguments":{"text":%q},"_meta":{"claudecode/toolUseId":%q}}`
		return g.Requests("tools/call", fmt.Sprintf(params, text, id))
	}
	g.no(g.Call("echo", `{"text":"alone"}`))
	g.hook("claude-code", `"hook_event_name":"UserPromptSubmit","prompt":"go"`)
	g.Says(before("mcp__fake__echo", `{"text":"a"}`, "t1"), `"allow"`)
	g.Says(g.Answer(with("t1", "a")), "said a")
	g.no(with("t1", "a")) // the conversation has read what the server said
	g.no(with("t1", "b"))
	g.Says(before("Bash", `{"command":"make deploy"}`, "t3"), `"deny"`)
	if n := g.calls(); n != 1 {
		t.Errorf("%d calls reached the server", n)
	}
}

// Gemini CLI and opencode tell a server no id of a call, and no agent tells one of a resource: the hook's yes is for one
// such call of the conversation. Codex has a name of its own for the id.
func TestH261H744TheHooksYesIsForOneCall(t *testing.T) {
	t.Parallel()
	const (
		echo     = `"tool_input":{"text":"a"}`
		context  = `,"mcp_context":{"server_name":"fake","tool_name":"echo"}`
		resource = `"tool_input":{"server":"fake","uri":"x://h744"},"tool_use_id":"c1"`
	)
	for _, c := range []struct{ agent, event, tool, more, meta string }{
		{"gemini", "BeforeTool", "mcp_fake_echo", echo + context, ""},
		{"opencode", "tool.execute.before", "fake_echo", echo + `,"tool_use_id":"c1"` + context, ""},
		{"codex", "PreToolUse", "mcp__fake__echo", echo + `,"tool_use_id":"c1"`, `,"_meta":{"callId":"c1"}`},
		{"codex", "PreToolUse", "read_mcp_resource", resource, ""},
		{"claude-code", "PreToolUse", "ReadMcpResourceTool", resource, ""},
	} {
		t.Run(c.agent+" "+c.tool, func(t *testing.T) {
			t.Parallel()
			g := gated(t, gateway.Start(t, ""))
			g.hook(c.agent, fmt.Sprintf(`"hook_event_name":%q,"tool_name":%q,%s`, c.event, c.tool, c.more))
			call := func(of string) int {
				if strings.Contains(c.tool, "esource") {
					return g.Requests("resources/read", `{"uri":"x://h74`+of+`"}`)
				}
				return g.Requests("tools/call", `{"name":"echo","arguments":{"text":"`+of+`"}`+c.meta+`}`)
			}
			of := map[bool]string{true: "4", false: "a"}[strings.Contains(c.tool, "esource")]
			g.Says(g.Answer(call(of)), `"result"`)
			g.no(call(of)) // the hook was not asked about these
			g.no(call("5"))
		})
	}
}

// `verifier mcp tools` shows the difference. What the owner accepts there is what was shown.
func TestH256AToolThatChangesIsBlockedUntilTheOwnerHasSeenIt(t *testing.T) {
	t.Parallel()
	g := gated(t, gateway.Start(t, ""))
	g.sees("says it")
	if g.sees("obeys <b>me</b>") {
		t.Error("a change passes")
	}
	g.Denied(g.Call("echo", `{"text":"x"}`), "owner has to look at the change")
	if len(g.Pending()) > 0 {
		t.Error("the owner is asked about a change")
	}
	if g.sees("says it\u202e") {
		t.Error("a change passes")
	}
	tools := func(args ...string) (string, int) {
		return g.Run(append([]string{"mcp", "tools", "--notes", g.notes}, args...)...)
	}
	version := func() string {
		text, _ := tools()
		found := regexp.MustCompile(`--accept '(.*)'`).FindStringSubmatch(text)
		if found == nil || !strings.Contains(text, "fake/echo  CHANGED") {
			t.Fatalf("`verifier mcp tools` shows %s", text)
		}
		return found[1]
	}
	text, _ := tools()
	g.Says(text, `+   "description": "says it\u202e",`)
	older := version()
	g.sees("is another")
	if text, code := tools("--accept", older); code == 0 {
		t.Errorf("another change than the one shown was accepted: %s", text)
	}
	if text, code := tools("--accept", version()); code != 0 {
		t.Errorf("not accepted: %s", text)
	}
	if !g.sees("is another") {
		t.Error("what the owner accepted is not in the list")
	}
	id := g.Call("echo", `{"text":"now"}`)
	g.yes()
	g.Says(g.Answer(id), "said now")
	a := g.Send(gateway.Sh("verifier mcp tools --accept fake/echo:1234abcd", gateway.OwnerIn("m")))
	if a.Allowed() || !strings.HasPrefix(a.Reason, "Not permitted here") {
		t.Errorf("the agent accepts by itself: %s", a.Raw)
	}
}

// What is restricted is not offered; the second layer is the call. A server's word about itself makes a label stricter and
// never looser, and the shipped labels are for servers that the owner's config names (H257, H258).
func TestH257H258WhatAServerMayOffer(t *testing.T) {
	t.Parallel()
	const calm = `"annotations":{"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}}`
	g := gateway.Start(t, "toolOverrides: {mcp__fake__drop: {\"*\": restrict}}\nmcp: {servers: {filesystem: {trust: external}}}\n")
	fake := gated(t, g)
	line := fake.offers(mcptest.Echo("says it") + `,{"name":"drop","inputSchema":{"type":"object"}},{"name":"read_text_file",` + calm)
	if fake.Says(line, `"echo"`); strings.Contains(line, `"drop"`) {
		t.Errorf("the client sees %s", line)
	}
	fake.Denied(fake.Call("drop", `{}`), "Not permitted here")
	fake.no(fake.Call("read_text_file", `{"path":"notes.txt"}`))

	files := gated(t, g, "--name", "filesystem")
	files.offers(`{"name":"read_text_file",` + calm + `,{"name":"list_directory","annotations":{"destructiveHint":true}}`)
	files.Says(files.Answer(files.Call("read_text_file", `{"path":"notes.txt"}`)), "said")
	files.Denied(files.Call("read_text_file", `{"path":"`+g.State.Dir()+`/owner.token"}`), "Not permitted here")
	files.no(files.Call("write_file", `{"path":"notes.txt","content":"x"}`))
	files.no(files.Call("list_directory", `{"path":"."}`))
}

// A call that the server has answered with a question is made again with the answer to it: the owner is not asked again,
// and a pause that came meanwhile ends it.
func TestH279ARetryIsAskedOnceAndAPauseCounts(t *testing.T) {
	t.Parallel()
	g := gated(t, gateway.Start(t, ""))
	more := func(n int) int {
		const params = `{"name":"more","arguments":{"n":"%d"},"inputResponses":{"a":{"action":"accept"}},"requestState":"s1"}`
		return g.Requests("tools/call", fmt.Sprintf(params, n))
	}
	for n := range 2 {
		id := g.Call("more", fmt.Sprintf(`{"n":"%d"}`, n))
		g.yes()
		g.Says(g.Answer(id), "input_required")
	}
	g.Says(g.Answer(more(0)), "input_required")
	g.Says(g.Answer(more(0)), "input_required") // the server has asked again
	if p := g.Pending(); len(p) > 0 {
		t.Errorf("the owner is asked again: %v", p)
	}
	g.Reply(".pause")
	g.Denied(more(1), "paused")
	if n := g.calls(); n != 4 {
		t.Errorf("%d calls reached the server", n)
	}
}
