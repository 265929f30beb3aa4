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
)

// agent is how one agent is run.
type agent struct {
	name, program string
	tool, param   string // its shell
	args          []string
	wire          []string // flags of init
	settings      string   // what init writes, below the home directory
	env           []string
	files         map[string]string // below the home directory; @URL@ is the model's
}

var agents = []agent{
	{
		name: "claude-code", program: "claude/node_modules/.bin/claude", tool: "Bash", param: "command", args: []string{"-p", "go"}, wire: []string{"--user"}, settings: ".claude/settings.json",
		env: []string{"ANTHROPIC_BASE_URL=@URL@", "ANTHROPIC_API_KEY=x", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"},
	},
	{
		name: "gemini", program: "gemini/node_modules/.bin/gemini", tool: "run_shell_command", param: "command", args: []string{"--yolo", "-p", "go"}, wire: []string{"--root", "@HOME@"}, settings: "etc/gemini-cli/settings.json",
		env:   []string{"GEMINI_API_KEY=x", "GOOGLE_GEMINI_BASE_URL=@URL@"},
		files: map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"},"folderTrust":{"enabled":false}},"general":{"enableAutoUpdate":false}}`},
	},
	{
		name: "opencode", program: "opencode/node_modules/.bin/opencode", tool: "bash", param: "command", args: []string{"run", "go"}, settings: ".config/opencode/plugin/verifier.js",
		files: map[string]string{
			".config/opencode/opencode.json": `{"autoupdate":false,"share":"disabled","model":"fake/fake","small_model":"fake/fake","provider":{"fake":{"npm":"@ai-sdk/openai-compatible","name":"fake","options":{"baseURL":"@URL@/v1","apiKey":"x"},"models":{"fake":{"name":"fake","tool_call":true}}}}}`,
			".config/opencode/package.json":  `{"dependencies":{"@opencode-ai/plugin":"1.18.33"}}`,
		},
	},
	{
		name: "codex", program: "codex/node_modules/.bin/codex", tool: "exec_command", param: "cmd", args: []string{"exec", "--skip-git-repo-check", "--sandbox", "danger-full-access", "go"}, wire: []string{"--root", "@HOME@"}, settings: "etc/codex/requirements.toml",
		env:   []string{"FAKE_KEY=x"},
		files: map[string]string{".codex/config.toml": "model = \"fake\"\nmodel_provider = \"fake\"\n[model_providers.fake]\nname = \"fake\"\nbase_url = \"@URL@/v1\"\nwire_api = \"responses\"\nenv_key = \"FAKE_KEY\"\n"},
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
}

// scene is one agent with a gateway, a model and a home of its own.
type scene struct {
	*testing.T
	*agent
	model             *model
	url, cache, bin   string
	home, work, state string
	stop              func()
}

func newScene(t *testing.T, a *agent, cache, bin string) *scene {
	m := &model{}
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
	return strings.NewReplacer("@URL@", s.url, "@HOME@", s.home).Replace(text)
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
	env := []string{"HOME=" + s.home, "VERIFIER_STATE=" + s.state, "PATH=" + filepath.Join(s.cache, "node/node_modules/.bin") + ":" + os.Getenv("PATH"), "TERM=dumb"}
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
	for range 600 {
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
func (s *scene) play(script ...step) bool {
	s.Helper()
	s.model.play(script...)
	ran := filepath.Join(s.work, "ran")
	os.Remove(ran) //nolint:errcheck // there is none
	ctx, cancel := context.WithTimeout(s.Context(), 3*time.Minute)
	defer cancel()
	args := append([]string{filepath.Join(s.cache, s.program)}, s.args...)
	if strings.HasPrefix(s.settings, "etc/") { // the machine's settings: /etc as a copy, for this process alone
		args = append([]string{"unshare", "-m", "sh", "-c", `rm -rf "$HOME/etc-all"; cp -a /etc "$HOME/etc-all" 2>/dev/null; cp -a "$HOME/etc/." "$HOME/etc-all/" && mount --bind "$HOME/etc-all" /etc && exec "$@"`, "sh"}, args...)
	}
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Env, c.Dir = s.environ(), s.work
	out, _ := c.CombinedOutput()
	s.Logf("%s", out[max(0, len(out)-600):])
	_, err := os.Stat(ran)
	return err == nil
}

func (s *scene) shell(command string) step {
	return step{s.tool, map[string]any{s.param: command, "description": "x"}}
}

func (s *scene) touch() step { return s.shell("touch " + filepath.Join(s.work, "ran")) }

// tap says yes to the first question that there is.
func (s *scene) tap(done chan<- struct{}) {
	defer close(done)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for range 600 {
		out, _ := s.verifier("pending", "--json").Output()
		if r := regexp.MustCompile(`"ref":\s*"([0-9A-Z]{4})"`).FindSubmatch(out); r != nil {
			s.verifier("approve", string(r[1])).Run() //nolint:errcheck // the call says whether it counted
			return
		}
		select {
		case <-tick.C:
		case <-s.Context().Done():
			return
		}
	}
}

func (s *scene) all() {
	fetch := s.shell("curl -s " + s.url + "/page")
	if !s.play(s.touch()) {
		s.Fatalf("the owner's own request did not pass; the model read %.2000s", s.model.heard())
	}
	if record, err := os.ReadFile(filepath.Join(s.state, "record.jsonl")); err != nil || !bytes.Contains(record, []byte(filepath.Join(s.work, "ran"))) {
		s.Fatalf("it ran, and the gateway was not asked: %v", err)
	}
	released := make(chan struct{})
	go s.tap(released)
	if !s.play(fetch, s.touch()) {
		s.Errorf("a tap did not release the call")
	}
	<-released
	s.edit("--timeout 600s", "--timeout 16s")
	if s.play(fetch, s.touch()) || !strings.Contains(s.model.heard(), "Owner approval required") {
		s.Errorf("without an answer it ran, or the model did not read why")
	}
	hook := filepath.Join(s.bin, "verifier-hook")
	if err := os.Rename(hook, hook+".away"); err != nil {
		s.Fatal(err)
	}
	if s.play(s.touch()) {
		s.Errorf("it ran without the hook")
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\nkill -9 $$\n"), 0o755); err != nil {
		s.Fatal(err)
	}
	if s.play(s.touch()) {
		s.Errorf("it ran with a hook that was killed")
	}
	if err := os.Rename(hook+".away", hook); err != nil {
		s.Fatal(err)
	}
	s.stop()
	if s.play(s.touch()) || !strings.Contains(s.model.heard(), "can't be reached") {
		s.Errorf("it ran without the gateway, or the model did not read why")
	}
}
