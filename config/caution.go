package config

import (
	"net/url"
	"time"

	"github.com/openclaw-verifier/verifier/internal/auditor"
	"github.com/openclaw-verifier/verifier/internal/protocol"
)

// Caution says after which tools' results a second model looks at what the agent
// wants to do next.
type Caution struct {
	// Defaults switches on the shipped table of tools. Default true.
	Defaults bool `yaml:"defaults"`
	// Tools are the owner's own words, by tool.
	Tools map[string]bool `yaml:"tools"`
	// Auditor is the model that is asked. Without a provider, no model is asked.
	Auditor Auditor `yaml:"auditor"`
}

// Auditor is the second model.
type Auditor struct {
	// Provider is the kind of server: openai or anthropic. Empty: no auditor.
	Provider string `yaml:"provider"`
	// BaseURL is where the server is. Empty: the maker's own.
	BaseURL string `yaml:"baseUrl"`
	// Model is the name of the model there.
	Model string `yaml:"model"`
	// Key is shown to the server. Unset: none is.
	Key Secret `yaml:"key"`
	// TimeoutMs is how long an answer may take. Default 3000.
	TimeoutMs int `yaml:"timeoutMs"`
	// FailMode is what no answer means for a call that would pass. Default block.
	FailMode AuditorFailMode `yaml:"failMode"`
	// Mode is what an answer may do. Default escalate.
	Mode AuditorMode `yaml:"mode"`
}

// AuditorFailMode is an [auditor.FailMode] in the file.
type AuditorFailMode string

// AuditorMode is an [auditor.Mode] in the file.
type AuditorMode string

// providers are the kinds of servers that can be asked.
var providers = []string{"openai", "anthropic"}

// Timeout is TimeoutMs as a duration.
func (a *Auditor) Timeout() time.Duration { return time.Duration(a.TimeoutMs) * time.Millisecond }

// CautionTools are the owner's words by the names under which tools are judged.
func (c *Config) CautionTools() map[string]bool {
	out := make(map[string]bool, len(c.Caution.Tools))
	for name, on := range c.Caution.Tools {
		out[protocol.Canonical(name)] = on
	}
	return out
}

func (k *checker) checkCaution() {
	a := &k.Caution.Auditor
	inRange(k.report, "caution.auditor.timeoutMs", a.TimeoutMs, 100, 20_000)
	seen := map[string]bool{}
	for _, name := range sortedKeys(k.Caution.Tools) {
		tool := protocol.Canonical(name)
		if tool == "" || seen[tool] {
			k.fail("caution.tools", "names a tool twice, or with no name", "keep one of the spellings")
		}
		seen[tool] = true
	}
	if a.Provider == "" {
		if a.Model != "" || a.BaseURL != "" || a.Key.Set() {
			k.fail("caution.auditor", "names no provider, so no model would be asked", "add `provider: openai` or `provider: anthropic`")
		}
		return
	}
	if a.Provider != providers[0] && a.Provider != providers[1] {
		k.fail("caution.auditor.provider", "is none that we can ask", "write openai (also for Ollama, vLLM and LM Studio, with baseUrl) or anthropic")
	}
	if a.Model == "" {
		k.fail("caution.auditor.model", "is missing", "name the model that is to be asked; a small and fast one will do")
	}
	k.checkBase(a)
}

// checkBase wants an address whose owner is the only one who reads the question.
func (k *checker) checkBase(a *Auditor) {
	if a.BaseURL == "" {
		if !a.Key.Set() {
			k.fail("caution.auditor.key", "is missing, and the provider's own server wants one", `write key: "${NAME}", an environment variable, or file:/path`)
		}
		return
	}
	u, err := url.Parse(a.BaseURL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "":
		k.fail("caution.auditor.baseUrl", "is no address of a server", "write it as http://127.0.0.1:11434/v1")
	case u.User != nil:
		k.fail("caution.auditor.baseUrl", "holds a password", "put it into caution.auditor.key")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		k.find(Warning, "caution.auditor.baseUrl", "what you asked your agent for goes over the network unencrypted; write https://, or run the model on this machine")
	}
}

// cautionRisks are what is valid and yet worth a second look.
func (k risks) cautionRisks() {
	a := &k.Caution.Auditor
	if a.Provider == "" {
		if len(k.Caution.Tools) > 0 {
			k.find(Warning, "caution.tools", "nothing follows from it without caution.auditor: name a provider and a model")
		}
		return
	}
	if a.FailMode != AuditorFailMode(auditor.FailBlock) {
		k.find(Warning, "caution.auditor.failMode", "an attacker who keeps the auditor from answering gets past it; block asks you instead")
	}
	if a.Mode == AuditorMode(auditor.AutoApprove) {
		k.find(Warning, "caution.auditor.mode", "a model may answer in your place where only the level asks; never "+
			"for what your overrides, policies or an agent's rules ask about, for dangerous or destructive calls, or "+
			"where secrets are involved")
	}
}
