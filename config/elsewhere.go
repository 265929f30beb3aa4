package config

import "strings"

// strangers are keys that people will try because the documents this product
// comes from have them, at a place where they mean nothing to a server. Each
// gets a word of why instead of "unknown".
var strangers = map[string]problem{
	"failMode":          failMode,
	"agents.*.failMode": failMode,
	"webhook.failMode":  failMode,
	"enabled":           {"is the client's switch: a server that runs is on", "remove it; to switch the verifier off, switch it off in the client"},
	"webhook.url":       {"belongs to the client: it says where the server is", "remove it; the server's side of it is listen and webhook.path"},
	"webhook.timeout":   {"belongs to the client: it says how long the client waits", "remove it; webhook.hold says how long a call waits for a person here"},
	"webhook.headers":   {"belongs to the client: it says what the client sends", "remove it; to demand a bearer token, set webhook.bearer"},
	"tools.verifier":    {"is the client's file: this one holds only what is under tools.verifier", "move what is under tools.verifier to the top of the file"},
	"plugins":           {"is the client's file: this one holds only the plugin's config", "move what is under plugins.entries.<id>.config to the top of the file"},
}

var failMode = problem{
	"belongs to the client: it says what the client does when it can't ask; a server that is asked and can't decide always denies",
	"remove it here, and set it in the client",
}

// elsewhere finds a stranger. A star is any one key.
func (all platforms) elsewhere(path string) (problem, bool) {
	if p, ok := strangers[path]; ok {
		return p, true
	}
	if _, chat := all.named(path); chat {
		return problem{"is one level too high", "write it as channels." + path}, true
	}
	if strings.HasPrefix(path, "tools.verifier.") {
		return strangers["tools.verifier"], true
	}
	first, rest, ok := strings.Cut(path, ".")
	if i := strings.LastIndex(rest, "."); ok && i >= 0 {
		p, found := strangers[first+".*"+rest[i:]]
		return p, found
	}
	return problem{}, false
}
