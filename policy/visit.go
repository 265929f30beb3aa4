package policy

import (
	"net/url"
	"strings"

	"github.com/openclaw-verifier/verifier/toolcall"
)

// looks are the actions of the browser that only look at a page, and lookParams
// what such a call may be given: which page, and how much of it is shown. With
// anything else the call is one of the browser like any other: a profile may be
// the owner's own browser, with all that the owner is logged in to.
var (
	looks      = words("open navigate snapshot text screenshot tabs status")
	lookParams = words("action url targetUrl targetId snapshotFormat mode refs urls compact interactive depth maxChars limit labels fullPage type selector frame ref element timeoutMs label")
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

// visit makes a call of the browser that does no more than web_fetch one that is
// asked about no more than web_fetch, and one of process that only looks at what commands printed one that does not act.
// What the owner says of the tool comes first. A look of a server's tool that goes into a file acts.
func (pl planner) visit(c *toolcall.Call) {
	pl.save(c)
	if !pl.rule.looks || pl.by != "" {
		return
	}
	if pl.polls = looksAtCommands(c); pl.polls {
		pl.sink, pl.Shell, pl.Modes = false, false, pl.rule.looking
		return
	}
	action, address := "", ""
	for path, value := range c.Strings {
		switch {
		case !lookParams[path]:
			return
		case path == value: // the name of the member
		case path == "action":
			action = value
		case path == "url" || path == "targetUrl":
			if !isPage(value) {
				return
			}
			address = value
		}
	}
	if !looks[action] || address == "" && (action == "open" || action == "navigate") {
		return
	}
	pl.visits, pl.sink, pl.Modes = true, false, pl.rule.looking
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
