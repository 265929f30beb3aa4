package main

import (
	"cmp"
	"fmt"
	"os"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hook"
	"github.com/openclaw-verifier/verifier/policy"
)

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
		printFinding(a.stdout, c.Config, f)
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

func count(n int, what string) string { return plural(n, what, what+"s") }

// SchemaCmd prints the config's schema.
type SchemaCmd struct{}

// schemaFile is what the schema is called beside a config.
const schemaFile = "verifier.schema.json"

// Run prints.
func (*SchemaCmd) Run(a *app) error {
	text, err := config.Schema(a.chats.platforms())
	if err != nil {
		return err
	}
	a.printf("%s", text)
	return nil
}
