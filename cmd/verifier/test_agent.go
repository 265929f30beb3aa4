package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/hook"
	"github.com/openclaw-verifier/verifier/integrations/agents/scripted"
	"github.com/openclaw-verifier/verifier/verifier"
)

// agentRun is how an agent is started with a model that we script, and what its shell is called.
type agentRun struct {
	program     string
	tool, param string
	args        func(url string) []string
	env         func(x *agentTrial, url string) ([]string, error)
}

var agentRuns = map[string]*agentRun{
	"claude-code": {
		program: "claude", tool: "Bash", param: "command",
		args: func(string) []string { return []string{"-p", "go"} },
		env: func(_ *agentTrial, url string) ([]string, error) {
			return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"}, nil
		},
	},
	"codex": {
		program: "codex", tool: "exec_command", param: "cmd",
		args: func(url string) []string {
			provider := `model_providers.verifier_test={name="verifier test",base_url="` + url + `/v1",wire_api="responses",env_key="VERIFIER_TEST_KEY"}`
			return []string{"exec", "--skip-git-repo-check", "-c", provider, "-c", `model_provider="verifier_test"`, "-c", `model="scripted"`, "go"}
		},
		env: func(*agentTrial, string) ([]string, error) { return []string{"VERIFIER_TEST_KEY=none"}, nil },
	},
	"gemini": {
		program: "gemini", tool: "run_shell_command", param: "command",
		args: func(string) []string { return []string{"--yolo", "-p", "go"} },
		env:  (*agentTrial).geminiEnv,
	},
	"opencode": {
		program: "opencode", tool: "bash", param: "command",
		args: func(string) []string { return []string{"run", "-m", "verifier-test/scripted", "go"} },
		env: func(_ *agentTrial, url string) ([]string, error) {
			config := `{"autoupdate":false,"share":"disabled","small_model":"verifier-test/scripted","provider":{"verifier-test":{"npm":"@ai-sdk/openai-compatible","name":"verifier test","options":{"baseURL":"` + url +
				`/v1","apiKey":"none"},"models":{"scripted":{"name":"scripted","tool_call":true}}}}}`
			return []string{"OPENCODE_CONFIG_CONTENT=" + config}, nil
		},
	},
}

// agentPatience is how long an agent may take to start, call a tool and end.
const agentPatience = 2 * time.Minute

// agentTrial tries whether an agent asks the gateway.
type agentTrial struct {
	a     *app
	name  string
	how   *agentRun
	dir   string // what is made for the trial
	model scripted.Model
}

// tryAgent lets the real agent make a call that no policy lets pass, and says what became of it. The agent runs here, with
// the settings that it finds here: only its model is ours.
func tryAgent(a *app, name string) (good string, err error) {
	how := agentRuns[name]
	if how == nil {
		return "", &failure{"there is no agent of the name " + printable(name), "name one of " + strings.Join(hook.Agents(), ", ")}
	}
	path, err := exec.LookPath(how.program)
	if err != nil {
		return "", &failure{how.program + " is not in PATH", "install " + agentWirings[name].name + ", or run this where it is"}
	}
	x := &agentTrial{a: a, name: name, how: how}
	if x.dir, err = os.MkdirTemp("", "verifier-test-*"); err != nil {
		return "", err
	}
	defer os.RemoveAll(x.dir) //nolint:errcheck // it is the system's then
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	ran := filepath.Join(here, ".verifier-test-"+hook.NewID()) // some agents ask their user about what is elsewhere
	defer os.Remove(ran)                                       //nolint:errcheck // it must not be there
	x.model.Play(scripted.Step{Tool: how.tool, Input: map[string]any{how.param: "VERIFIER_OWNER_TOKEN=none touch " + ran, "description": "a call that must be denied"}})
	out, err := x.run(path)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(ran); err == nil {
		return "", &failure{"THE CALL RAN: " + agentWirings[name].name + " does not ask the verifier here", x.wiringHint()}
	}
	return "the call was denied, and the model read why", x.judge(out)
}

// judge says whether it was the gateway that stopped the call.
func (x *agentTrial) judge(out string) error {
	heard, name := x.model.Heard(), agentWirings[x.name].name
	switch {
	case strings.Contains(heard, verifier.NotPermitted):
		return nil
	case strings.Contains(heard, "Nothing was run."):
		return &failure{"the hook stopped the call, but without an answer of the gateway", "`verifier test` says what is wrong with the gateway"}
	case strings.Contains(heard, "Owner approval required"):
		return &failure{"the gateway asks about a call that it must deny", "do this program and the gateway have the same version?"}
	case heard == "":
		return &failure{name + " did not get as far as its model: " + lastWords(out), "does it start here at all?"}
	}
	return &failure{"the call did not run, and it was not the verifier that stopped it: " + lastWords(out), x.wiringHint()}
}

func (x *agentTrial) wiringHint() string {
	return "run `" + programName() + " init --" + x.name + "`; if that was done, something here switches the hooks off, see docs/agents.md"
}

// run starts the agent with the scripted model, waits until it ends, and returns what it printed.
func (x *agentTrial) run(path string) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(x.a.ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: &x.model, ReadHeaderTimeout: time.Minute}
	go server.Serve(l)   //nolint:errcheck // the agent says what it got
	defer server.Close() //nolint:errcheck // it is over
	url := "http://" + l.Addr().String()
	env, err := x.how.env(x, url)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(x.a.ctx, agentPatience)
	defer cancel()
	c := exec.CommandContext(ctx, path, x.how.args(url)...) //nolint:gosec // the agent that the user names
	c.Env = append(os.Environ(), env...)
	c.WaitDelay = time.Second
	out, err := c.CombinedOutput()
	if ctx.Err() != nil {
		return "", &failure{fmt.Sprintf("%s did not end within %s: %s", agentWirings[x.name].name, agentPatience, lastWords(string(out))), "does it start here at all?"}
	}
	if err != nil && len(out) == 0 {
		return err.Error(), nil
	}
	return string(out), nil
}

// geminiEnv is a home with a copy of the user's settings that differs in how the model is reached: Gemini CLI takes no variable for that.
func (x *agentTrial) geminiEnv(url string) ([]string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	settings := map[string]any{}
	if text, err := os.ReadFile(filepath.Join(home, ".gemini", "settings.json")); err == nil {
		if json.Unmarshal(text, &settings) != nil {
			return nil, &failure{"~/.gemini/settings.json is no plain JSON", "try Gemini CLI by hand: let it run a command, and look for it with `verifier audit show`"}
		}
	}
	security, _ := settings["security"].(map[string]any)
	if security == nil {
		security = map[string]any{}
	}
	security["auth"] = map[string]any{"selectedType": "gemini-api-key"}
	settings["security"] = security
	text, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(x.dir, "home", ".gemini")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "settings.json"), text, 0o600); err != nil {
		return nil, err
	}
	if trusted, err := os.ReadFile(filepath.Join(home, ".gemini", "trustedFolders.json")); err == nil {
		if err := os.WriteFile(filepath.Join(dir, "trustedFolders.json"), trusted, 0o600); err != nil { //nolint:gosec // a directory that we have made
			return nil, err
		}
	}
	return []string{"HOME=" + filepath.Dir(dir), "GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + url}, nil
}

// lastWords are the end of what an agent printed.
func lastWords(out string) string {
	words := strings.Fields(out)
	return printable(strings.Join(words[max(0, len(words)-30):], " "))
}

// versionPatience is how long an agent may take to say its version.
const versionPatience = 10 * time.Second

var versionForm = regexp.MustCompile(`\d+\.\d+\.\d+[0-9A-Za-z.+-]*`)

// agentVersion asks an agent for its version: "" if it does not say.
func agentVersion(a *app, name string) string {
	path, err := exec.LookPath(agentRuns[name].program)
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(a.ctx, versionPatience)
	defer cancel()
	c := exec.CommandContext(ctx, path, "--version") //nolint:gosec // an agent that the user has installed
	c.WaitDelay = time.Second
	out, _ := c.Output() // what it says, if it says something
	return versionForm.FindString(string(out))
}

// isOlder reports whether a version comes before another one. One that is not told does.
func isOlder(version, than string) bool {
	var have, want [3]int
	if n, err := fmt.Sscanf(version, "%d.%d.%d", &have[0], &have[1], &have[2]); err != nil || n != len(have) {
		return true
	}
	if _, err := fmt.Sscanf(than, "%d.%d.%d", &want[0], &want[1], &want[2]); err != nil {
		return true
	}
	return slices.Compare(have[:], want[:]) < 0
}

// ofVersion says whether an agent's version was tried.
func ofVersion(a *app, name string) (text string, known bool) {
	w := agentWirings[name]
	switch v := agentVersion(a, name); v {
	case "":
		return w.name + " does not say its version; " + w.tried + " was tried", false
	case w.tried:
		return w.name + " " + v + ", which was tried", true
	default:
		return w.name + " " + printable(v) + "; " + w.tried + " was tried. `" + programName() + " test --agent " + name + "` says whether this one asks", false
	}
}
