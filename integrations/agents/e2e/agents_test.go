// Package e2e runs the hook in the real coding agents, against the real gateway and a scripted model on loopback.
// `make e2e-agents` installs the agents and says where they are; without them nothing runs.
package e2e_test

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/integrations/agents/e2e/scripted"
)

// agent is how one agent is run.
type agent struct {
	name, program string
	tool, param   string // its shell
	args          []string
	wire          []string // flags of init
	settings      string   // what init writes, below the home directory
	env           []string
	files         map[string]string // below the home directory; @URL@ is the model's, @SERVER@ the program that offers a tool
	task          scripted.Step     // starts a sub-agent
}

// poke is a tool of a server: it makes the file.
var poke = scripted.Step{Tool: "*poke", Input: map[string]any{}}

var agents = []agent{
	{
		name: "claude-code", program: "claude/node_modules/.bin/claude", tool: "Bash", param: "command", args: []string{"--mcp-config", "@HOME@/servers.json", "-p", "go"}, wire: []string{"--user"}, settings: ".claude/settings.json",
		env:   []string{"ANTHROPIC_BASE_URL=@URL@", "ANTHROPIC_API_KEY=x", "DISABLE_AUTOUPDATER=1", "ENABLE_TOOL_SEARCH=false", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"},
		files: map[string]string{"servers.json": `{"mcpServers":{"files":{"command":"@SERVER@","env":{"BE":"server","RAN":"@RAN@"}}}}`},
		task:  scripted.Step{Tool: "Task", Input: object{"description": "x", "prompt": scripted.Below, "subagent_type": "general-purpose"}},
	},
	{
		name: "gemini", program: "gemini/node_modules/.bin/gemini", tool: "run_shell_command", param: "command", args: []string{"--yolo", "-p", "go"}, wire: []string{"--root", "@HOME@"}, settings: "etc/gemini-cli/settings.json",
		env:   []string{"GEMINI_API_KEY=x", "GOOGLE_GEMINI_BASE_URL=@URL@"},
		files: map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"},"folderTrust":{"enabled":false}},"general":{"enableAutoUpdate":false},"mcpServers":{"files":{"command":"@SERVER@","env":{"BE":"server","RAN":"@RAN@"},"trust":true}}}`},
		task:  scripted.Step{Tool: "invoke_agent", Input: object{"agent_name": "generalist", "prompt": scripted.Below}},
	},
	{
		name: "opencode", program: "opencode/node_modules/.bin/opencode", tool: "bash", param: "command", args: []string{"run", "go"}, settings: ".config/opencode/plugin/verifier.js",
		files: map[string]string{
			".config/opencode/opencode.json": `{"autoupdate":false,"share":"disabled","model":"fake/fake","small_model":"fake/fake","provider":{"fake":{"npm":"@ai-sdk/openai-compatible","name":"fake","options":{"baseURL":"@URL@/v1","apiKey":"x"},"models":{"fake":{"name":"fake","tool_call":true}}}},"mcp":{"files":{"type":"local","command":["@SERVER@"],"environment":{"BE":"server","RAN":"@RAN@"}}}}`,
			".config/opencode/package.json":  `{"dependencies":{"@opencode-ai/plugin":"1.18.33"}}`,
		},
		task: scripted.Step{Tool: "task", Input: object{"description": "x", "prompt": scripted.Below, "subagent_type": "general"}},
	},
	{
		name: "codex", program: "codex/node_modules/.bin/codex", tool: "exec_command", param: "cmd", args: []string{"exec", "--skip-git-repo-check", "--sandbox", "danger-full-access", "go"}, wire: []string{"--root", "@HOME@"}, settings: "etc/codex/requirements.toml",
		env:   []string{"FAKE_KEY=x"},
		files: map[string]string{".codex/config.toml": "model = \"fake\"\nmodel_provider = \"fake\"\n[model_providers.fake]\nname = \"fake\"\nbase_url = \"@URL@/v1\"\nwire_api = \"responses\"\nenv_key = \"FAKE_KEY\"\n[mcp_servers.files]\ncommand = \"@SERVER@\"\nenv = { BE = \"server\", RAN = \"@RAN@\" }\n"},
		task:  scripted.Step{Tool: "*spawn_agent", Input: object{"message": scripted.Below, "task_name": "reader"}},
	},
}

func TestTheRealAgents(t *testing.T) {
	cache, bin := os.Getenv("AGENTS_CACHE"), os.Getenv("AGENTS_BIN")
	if cache == "" || bin == "" {
		t.Skip("make e2e-agents says where the agents are")
	}
	for i := range agents {
		t.Run(agents[i].name, func(t *testing.T) { newScene(t, &agents[i], cache, bin).all() })
	}
	for i := range agents {
		t.Run(agents[i].name+"-edit", func(t *testing.T) { newScene(t, &agents[i], cache, bin).changed() })
	}
	managed := agents[0] // Claude Code with the machine's settings
	managed.wire, managed.settings = []string{"--root", "@HOME@"}, "etc/claude-code/managed-settings.json"
	t.Run("claude-code-managed", func(t *testing.T) { newScene(t, &managed, cache, bin).managed() })
	t.Run("claude-code-terminal", func(t *testing.T) { newScene(t, &managed, cache, bin).terminal() })
	t.Run("gemini-terminal", func(t *testing.T) { newScene(t, &agents[1], cache, bin).geminiTerminal() })
	t.Run("opencode-terminal", func(t *testing.T) { newScene(t, &agents[2], cache, bin).opencodeTerminal() })
}

type object = map[string]any

// scene is one agent with a gateway, a model and a home of its own.
type scene struct {
	*testing.T
	*agent
	model             *scripted.Model
	url, cache, bin   string
	home, work, state string
	stop              func()
}

func newScene(t *testing.T, a *agent, cache, bin string) *scene {
	m := &scripted.Model{}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	s := &scene{T: t, agent: a, model: m, url: server.URL, cache: cache, bin: t.TempDir(), home: t.TempDir(), work: t.TempDir(), state: filepath.Join(t.TempDir(), "state")}
	for _, name := range []string{"verifier", "verifier-hook"} { // of its own, so that one can be taken away
		text, err := os.ReadFile(filepath.Join(bin, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(s.bin, name), text, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range a.files {
		s.put(name, s.fill(text))
	}
	if a.name == "opencode" {
		s.run(exec.CommandContext(s.Context(), "cp", "-r", filepath.Join(cache, "opencode-plugin/node_modules"), filepath.Join(s.home, ".config/opencode/node_modules")))
	}
	s.serve()
	wire := []string{"init", "--" + a.name, "--owner"}
	for _, w := range a.wire {
		wire = append(wire, s.fill(w))
	}
	s.run(s.verifier(wire...))
	return s
}

func (s *scene) fill(text string) string {
	return strings.NewReplacer("@URL@", s.url, "@HOME@", s.home, "@SERVER@", os.Args[0], "@RAN@", filepath.Join(s.work, "ran")).Replace(text)
}

func (s *scene) put(name, text string) {
	path := filepath.Join(s.home, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		s.Fatal(err)
	}
}

func (s *scene) environ() []string {
	path := filepath.Join(s.cache, "node/node_modules/.bin") + ":" + filepath.Dir(filepath.Join(s.cache, s.program)) + ":" + os.Getenv("PATH")
	env := []string{"HOME=" + s.home, "VERIFIER_STATE=" + s.state, "PATH=" + path, "TERM=dumb"}
	for _, e := range s.env {
		env = append(env, s.fill(e))
	}
	return env
}

func (s *scene) verifier(args ...string) *exec.Cmd {
	c := exec.CommandContext(s.Context(), filepath.Join(s.bin, "verifier"), args...)
	c.Env = s.environ()
	return c
}

func (s *scene) run(c *exec.Cmd) string {
	s.Helper()
	out, err := c.CombinedOutput()
	if err != nil {
		s.Fatalf("%v: %v\n%s", c.Args, err, out)
	}
	return string(out)
}

// serve starts the gateway.
func (s *scene) serve() {
	c := s.verifier("serve", "--listen", "127.0.0.1:0")
	if err := c.Start(); err != nil {
		s.Fatal(err)
	}
	s.stop = func() { c.Process.Kill(); c.Wait() } //nolint:errcheck // it is gone either way
	s.Cleanup(func() { s.stop() })
	s.wait("the gateway", func() bool { _, err := os.Stat(filepath.Join(s.state, "address")); return err == nil })
}

func (s *scene) wait(what string, done func() bool) {
	s.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for range 1800 { // a busy machine starts an agent in a minute
		if done() {
			return
		}
		<-tick.C
	}
	s.Fatalf("%s did not come", what)
}

// edit changes what init wrote.
func (s *scene) edit(old, replacement string) {
	path := filepath.Join(s.home, s.settings)
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, []byte(old)) {
		s.Fatalf("%s has no %q: %v", path, old, err)
	}
	s.put(s.settings, strings.ReplaceAll(string(text), old, replacement))
}

// play lets the agent do what the model says, and reports whether it made the file.
func (s *scene) play(script ...scripted.Step) bool {
	s.Helper()
	s.model.Play(script...)
	ran := filepath.Join(s.work, "ran")
	os.Remove(ran) //nolint:errcheck // there is none
	ctx, cancel := context.WithTimeout(s.Context(), 3*time.Minute)
	defer cancel()
	args := []string{filepath.Join(s.cache, s.program)}
	for _, a := range s.args {
		args = append(args, s.fill(a))
	}
	out, _ := s.within(ctx, args...).CombinedOutput()
	s.Logf("%s", out[max(0, len(out)-600):])
	_, err := os.Stat(ran)
	return err == nil
}

// within is a command in the scene, in the directory where the agent works.
func (s *scene) within(ctx context.Context, args ...string) *exec.Cmd {
	if strings.HasPrefix(s.settings, "etc/") { // the machine's settings: /etc as a copy, for this process alone
		args = append([]string{"unshare", "-m", "sh", "-c", `rm -rf "$HOME/etc-all"; cp -a /etc "$HOME/etc-all" 2>/dev/null; cp -a "$HOME/etc/." "$HOME/etc-all/" && mount --bind "$HOME/etc-all" /etc && exec "$@"`, "sh"}, args...)
	}
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Env, c.Dir = s.environ(), s.work
	return c
}

func (s *scene) shell(command string) scripted.Step {
	return scripted.Step{Tool: s.tool, Input: object{s.param: command, "description": "x"}}
}

func (s *scene) touch() scripted.Step { return s.shell("touch " + filepath.Join(s.work, "ran")) }

var pendingRef = regexp.MustCompile(`"ref":\s*"([0-9A-Z]{4})"`)

// ref names the question that waits; "" if none does.
func (s *scene) ref() string {
	out, _ := s.verifier("pending", "--json").Output()
	if r := pendingRef.FindSubmatch(out); r != nil {
		return string(r[1])
	}
	return ""
}

// tap says yes to the first question that there is.
func (s *scene) tap(done chan<- struct{}) {
	defer close(done)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for range 600 {
		if ref := s.ref(); ref != "" {
			s.verifier("approve", ref).Run() //nolint:errcheck // the call says whether it counted
			return
		}
		select {
		case <-tick.C:
		case <-s.Context().Done():
			return
		}
	}
}
