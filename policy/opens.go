package policy

import (
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// mediaParams are the params in which tools take the path or the address of what
// they look at.
var mediaParams = words("path paths filePath file_path notebook_path file files image images pdf pdfs video videos media mediaUrl url urls")

// open says what a tool brings in that looks at what it is given the path or the
// address of. An address makes the call one of web_fetch by another name.
func (p *Policy) open(pl *Plan, t *text) {
	files, elsewhere := 0, 0
	for path, value := range t.strings {
		if mediaParams[topOf(path)] && path != value {
			files++
			if !inWorkspace(value) {
				elsewhere++
			}
		}
		switch {
		case isAddress(value):
			pl.gets, pl.Leaves = true, true
		case path == "prompt" && path != value && strings.TrimSpace(value) != "": // a model gets it
			pl.Leaves = true
		case p.inside != nil && mediaParams[topOf(path)] && !within(value, p.inside):
			pl.Raise = taint.Worse(pl.Raise, external)
		}
	}
	if pl.rule.shows && files > 0 && elsewhere == 0 && !pl.told {
		pl.Raise = local // as any other file that the agent reads there
	}
	if pl.gets {
		pl.Raise, pl.Modes = untrusted, pl.Modes.Stricter(pl.rule.getting)
	}
}

// inWorkspace reports whether a file is in the agent's workspace: a path that is
// relative and does not lead out, or one in the directory that OpenClaw makes.
func inWorkspace(name string) bool {
	clean, ok := cleanPath(name)
	return ok && (relative(clean) || strings.Contains(clean, "/.openclaw/workspace/"))
}

// elsewhere makes a call that is sent to a gateway of the agent's choosing one
// that acts outside: what it says goes there, and what comes back is from there.
// A session that starts with a repository fetches that; an agent of another
// runtime has tools that this gateway is not asked about.
func (pl planner) elsewhere(t *text) {
	if r := t.param(paramRuntime); pl.rule.name == "sessions_spawn" && r != "" && r != "subagent" {
		pl.Raise = taint.Worse(pl.Raise, shared)
	}
	if t.param(paramProjectGitURL) != "" {
		pl.Leaves, pl.Raise = true, untrusted
	}
	if strings.TrimSpace(t.param(paramGatewayURL)) == "" {
		return
	}
	pl.Leaves, pl.Raise = true, untrusted
	if !pl.sink {
		pl.actsBy("its gatewayUrl")
	}
}

// tellsNoOne reports whether a call answers a heartbeat and says that the owner is not to be told.
func tellsNoOne(c *toolcall.Call) bool {
	var said struct {
		Notify *bool `json:"notify"`
	}
	return c.Tool == "heartbeat_respond" && json.Unmarshal(c.Params, &said) == nil && said.Notify != nil && !*said.Notify
}

// isAddress reports whether a text is or holds an address that could be fetched.
// What looks like one counts.
func isAddress(value string) bool {
	value = strings.TrimSpace(value)
	if strings.Contains(value, "://") || strings.HasPrefix(value, "//") || strings.HasPrefix(value, `\\`) {
		return true
	}
	scheme, _, found := strings.Cut(value, ":")
	return found && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// topOf is the member at the top of params that a path is in.
func topOf(path string) string {
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return path
}
