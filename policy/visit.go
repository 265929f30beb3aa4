package policy

import (
	"net/url"
	"strings"

	"github.com/openclaw-verifier/verifier/toolcall"
)

// polling are the calls that only look at commands which run already, by their tool: the actions, and what such a call may be given:
// which command, how long to wait and how much to show. OpenClaw takes the action as it is written.
var polling = map[string]struct{ actions, params map[string]bool }{
	"process":  {words("list poll log"), words("action sessionId timeout offset limit")},
	"terminal": {words("list read"), words("action sessionId")},
}

// looksAtCommands reports whether a call only looks at what background commands of its session have printed.
func looksAtCommands(c *toolcall.Call) bool {
	looks, ok := polling[c.Tool]
	if !ok {
		return false
	}
	action := ""
	for path, value := range c.Strings {
		switch {
		case !looks.params[path]:
			return false
		case path == value: // the name of the member
		case path == "action":
			action = value
		}
	}
	return looks.actions[action]
}

// visit makes a call of process that only looks at what commands printed one that does not act. What the owner says of the
// tool comes first. A look of a server's tool that goes into a file acts.
func (pl planner) visit(c *toolcall.Call) {
	pl.save(c)
	if pl.polls = pl.rule.looks && pl.by == "" && looksAtCommands(c); pl.polls {
		pl.sink, pl.Shell, pl.Modes = false, false, pl.rule.looking
	}
}

// isPage reports whether an address is a page of the public web. One in the owner's own network may do something
// when it is merely opened, such as a router's; an address in numbers counts as such.
func isPage(value string) bool {
	u, err := url.Parse(strings.TrimSpace(value))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	_, numbers := inetAton(host)
	return strings.Contains(host, ".") && !numbers && !isPrivate(host)
}
