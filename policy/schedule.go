package policy

import (
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// scheduledInto are the sessions that an automation, or a wake-up, puts a text
// into. A run of its own starts at the agent's automation floor; but a text that
// waits in a session until someone writes there comes in with that person's
// message, and nothing tells it apart then. blind means that a session is named
// in a way taint can't follow.
func scheduledInto(c *toolcall.Call) (keys []string, blind bool) {
	agents, events := []string{c.Agent()}, false
	var named []string
	for path, value := range c.Strings {
		name := path[strings.LastIndexByte(path, '.')+1:]
		if value == name {
			continue
		}
		switch name {
		case "agentId", "agent":
			agents = append(agents, strings.ToLower(strings.TrimSpace(value)))
		case "sessionKey":
			named = append(named, value)
		case "sessionTarget":
			events = events || value == "main"
			if key, ok := strings.CutPrefix(value, "session:"); ok {
				named = append(named, key)
			}
		case "kind", "action":
			events = events || value == "systemEvent" || value == "wake"
		}
	}
	for _, agent := range agents {
		if events {
			named = append(named, "agent:"+agent+":main")
		}
	}
	for _, key := range named {
		for _, agent := range agents {
			forms, ok := sessionKeys(strings.TrimSpace(key), agent)
			keys, blind = append(keys, forms...), blind || !ok
		}
	}
	slices.Sort(keys)
	keys = slices.DeleteFunc(slices.Compact(keys), func(k string) bool { return k == c.Context.SessionKey })
	return keys, blind
}

// changing are the actions of automations that change one job, which they name, or
// let it run.
var changing = words("update next_check run")

// scheduled says which job a call is about.
func (r *Reach) scheduled(c *toolcall.Call, t *text) {
	isolated, named := false, map[string]bool{}
	for path, value := range c.Strings {
		name := path[strings.LastIndexByte(path, '.')+1:]
		switch {
		case value == name:
		case path == "id" || path == "jobId":
			named[session.JobID(value)] = true
		case name == "sessionTarget":
			isolated = value == "isolated"
		case name == "name" && r.JobName == "":
			r.JobName = value
		}
	}
	r.Into = !isolated
	if changing[t.param(paramAction)] && len(named) == 1 {
		for id := range named {
			r.Job, r.Unchanged = id, id != "" && t.param(paramAction) == "run"
		}
	}
}
