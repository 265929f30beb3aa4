package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hook"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/policy"
)

// configFlag is the config of a command. Its file is named by the flag or the
// variable, or it is found at one of two places.
type configFlag struct {
	Config string `short:"c" env:"VERIFIER_CONFIG" placeholder:"FILE" help:"The config. Without it: ./verifier.yaml, else ~/.config/verifier/verifier.yaml, else the defaults."`

	found   bool // it was not named
	notHere bool // never take one from the current directory: the agent chooses it
}

// configName is the file's usual name.
const configName = "verifier.yaml"

// find looks where a config may be, if none was named. One in the current directory counts only if it is private to you,
// the only one, and the one that the server was last started with: an agent, or an archive that you unpacked, may have
// put it there to be taken for yours.
func (c *configFlag) find() error {
	if c.Config != "" {
		return nil
	}
	usual := hook.FoundConfig(os.Getenv)
	here, err := filepath.Abs(configName)
	if err != nil {
		return &failure{fmt.Sprintf("the current directory is not there any more: %v", err), "go to another one"}
	}
	_, err = os.Lstat(here)
	switch {
	case c.notHere || here == usual || errors.Is(err, fs.ErrNotExist):
		c.Config, c.found = usual, usual != ""
		return nil
	case usual != "":
		return &failure{fmt.Sprintf("there are two configs, %s and %s, and the one in this directory may not be yours", here, usual), "say which you mean, with --config " + shellWord(usual) + " or VERIFIER_CONFIG"}
	}
	if err := config.Private(here); err != nil {
		return err
	}
	state, err := config.FindState("")
	if err != nil || state.Config() != here {
		return &failure{here + " was found in this directory, and no server has run with it yet: it may have come with a download or from the agent", "if it is yours, name it: --config " + shellWord(here) + ". Once `verifier serve` has run with it, it is found here"}
	}
	c.Config, c.found = here, true
	return nil
}

// usualConfig is where a config is looked for; empty where there is no home.
func usualConfig() string { return hook.UsualConfig(os.Getenv) }

// loadConfig reads the config, and gives what is risky in it. No path is no
// config: all defaults.
func (a *app) loadConfig(path string) (*config.Config, []config.Finding, error) {
	if path == "" {
		return config.Default(), nil, nil
	}
	return config.Load(path, os.LookupEnv, a.chats.platforms())
}

// quietConfig is for commands that only look something up in it: the risks are
// for check and serve to tell.
func (c *configFlag) quietConfig(a *app) (*config.Config, error) {
	if err := c.find(); err != nil {
		return nil, err
	}
	c.announce(a)
	cfg, _, err := a.loadConfig(c.Config)
	return cfg, err
}

// announce names the config that was found, once for each run of the program.
func (c *configFlag) announce(a *app) {
	if c.found && a.saidConfig != c.Config {
		a.saidConfig = c.Config
		a.warnf("config: %s\n", c.Config)
	}
}

func place(path string, line, col int) string {
	if line == 0 {
		return path
	}
	return fmt.Sprintf("%s:%d:%d", path, line, col)
}

// CheckCmd reads a config and says what it thinks of it.
type CheckCmd struct {
	configFlag
	includeFlag
}

// Run checks.
func (c *CheckCmd) Run(a *app) error {
	if err := c.find(); err != nil {
		return err
	}
	if c.Config == "" {
		return &failure{"there is no config: the gateway runs with its defaults", "run `verifier init` to write one, or name yours with --config"}
	}
	cfg, findings, err := config.Load(c.Config, os.LookupEnv, a.chats.platforms())
	if err == nil && len(cfg.Policy.Trust.Directories) == 0 {
		findings = append(findings, config.Finding{Severity: config.Warning, Path: "trust.directories", Text: everyFile})
	}
	for _, f := range findings {
		a.printf("%s: %s: %s\n", f.Severity, place(c.Config, f.Line, f.Col), f)
	}
	if err == nil {
		err = a.chats.check(cfg)
	}
	if err == nil && len(c.Include) > 0 {
		if err = c.add(cfg); err == nil {
			_, _, err = policy.New(cfg.Policy)
		}
	}
	if err != nil {
		return err
	}
	checkAgents(a)
	a.printf("ok: %s: %s\n", c.Config, summary(cfg, findings))
	return nil
}

// checkAgents names the versions of the coding agents whose settings run the hook, and warns of those that were not tried.
func checkAgents(a *app) {
	for _, name := range hook.Agents() {
		if !isWired(name) {
			continue
		}
		if text, known := ofVersion(a, name); known {
			a.printf("ok: %s\n", text)
		} else {
			a.printf("warning: %s\n", text)
		}
		if text := ofOtherHooks(name); text != "" {
			a.printf("warning: %s\n", text)
		}
	}
}

const everyFile = "is not set, so every file counts as your own, also one that the agent has downloaded: name the directories that hold your own files, such as the agent's workspace"

func summary(c *config.Config, findings []config.Finding) string {
	store := "SQLite in the state directory"
	if c.Store.URL.Set() {
		store = "Redis"
	}
	warnings := 0
	for _, f := range findings {
		if f.Severity == config.Warning {
			warnings++
		}
	}
	// Without a secret of its own the config uses the one in the state directory.
	clients := max(len(c.Clients()), 1)
	return fmt.Sprintf("policy %s, %s, %s, %s; %s", cmp.Or(c.Policy.Profile, "default"), count(clients, "client"), count(len(c.People()), "approver"), store, count(warnings, "warning"))
}

func count(n int, what string) string { return approval.Count(n, what, what+"s") }
