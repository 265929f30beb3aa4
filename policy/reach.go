package policy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/protocol"
)

// Reach is what a call touches beyond its own conversation. Taint follows it: what is sent to is raised to the sender's
// level, who reads is raised to the level of what was read, and automations that a tainted conversation schedules start
// tainted.
type Reach struct {
	Sends     []string // session keys it sends to
	Reads     []string // session keys it reads from
	Schedules bool     // allowing it lets automations run later
	Unchanged bool     // of those: it only lets a job run that it names, as it is
	BlindSend bool     // it also, or only, sends to a session that it does not name by its key
	BlindRead bool     // it also, or only, reads from such a one
}

// reacher is how a tool names other sessions.
type reacher struct {
	sends, reads bool
	own          bool   // naming none means the call's own session
	vague        string // what names a session in a way taint can't follow
	params       []string
}

// A send may be answered, and the answer is read: both ways.
var reachers = map[string]*reacher{
	"sessions_send":      {true, true, false, "label", strings.Fields("sessionKey session target key")},
	"conversations_send": {true, false, true, "", []string{"sessionKey"}},
	"conversations_turn": {true, true, true, "", []string{"sessionKey"}},
	"sessions_history":   {false, true, false, "label", strings.Fields("sessionKey session key")},
	"sessions_search":    {false, true, false, "", []string{"sessionKey"}},
	"transcripts":        {false, true, false, "", []string{"sessionKey"}},
	"session_status":     {false, true, true, "", []string{"sessionKey"}},
}

func reachOf(s *said) (out Reach) {
	switch r := reachers[s.Tool]; {
	case s.Tool == "automations":
		if out.Schedules = !quiet[s.top("action")]; out.Schedules {
			out.Sends, out.BlindSend = scheduledInto(s)
			out.Unchanged = runsOne(s)
		}
	case polls(s): // the command may be of an earlier context window of this session
		if out.BlindRead = s.Context.SessionKey == ""; !out.BlindRead {
			out.Reads = []string{s.Context.SessionKey}
		}
	case s.Tool == "sessions_list":
		out.BlindRead = slices.ContainsFunc(s.args, showsMessages)
	case r != nil:
		keys, blind := r.keys(s)
		if r.sends {
			out.Sends, out.BlindSend = keys, blind
		}
		if r.reads {
			out.Reads, out.BlindRead = keys, blind
		}
	}
	return out
}

// showsMessages reports whether a list of sessions comes with what was said in them, which may be anyone's text.
func showsMessages(a argument) bool {
	switch topOf(a.path) {
	case "messageLimit":
		return a.value != "0"
	case "includeLastMessage", "includeDerivedTitles":
		return a.value != "false"
	}
	return false
}

// quiet are the actions of automations after which nothing runs that would not have run before. Whatever else there is,
// or will be, counts.
var quiet = setOfWords("list status get remove")

// keys are the other sessions a call names; blind means that it also, or only, means one that it does not name by its
// key.
func (r *reacher) keys(s *said) (keys []string, blind bool) {
	named := false
	agent := cmp.Or(s.top("agentId"), s.Agent())
	for _, p := range r.params {
		v := strings.TrimSpace(s.top(p))
		if v == "" || r.own && v == "current" {
			continue
		}
		named = true
		forms, ok := sessionKeys(v, agent)
		blind = blind || !ok
		if !slices.Contains(forms, s.Context.SessionKey) {
			keys = append(keys, forms...)
		}
	}
	return keys, blind || !named && !r.own || r.vague != "" && s.top(r.vague) != ""
}

// sessionKeys are the keys that a session which a call names may have: the one it names, and that with the agent in
// front where it was left out. A label or a session id is no key, and what could be mistaken for another key is none
// that taint could follow.
func sessionKeys(v, agent string) ([]string, bool) {
	v, agent = protocol.CanonicalKey(v), protocol.CanonicalKey(agent)
	colon := strings.Contains(v, ":") || v == "global"
	switch {
	case len(v) > protocol.MaxText || protocol.OddKey(v) || protocol.OddKey(agent):
	case strings.HasPrefix(v, "agent:") && strings.Count(v, ":") >= 2, colon && agent == "":
		return []string{v}, true
	case v == "main" && agent != "":
		return []string{"agent:" + agent + ":main"}, true
	case colon:
		return []string{v, "agent:" + agent + ":" + v}, true
	}
	return nil, false
}

// scheduledInto are the sessions that an automation, or a wake-up, puts a text into. A run of its own starts at the
// agent's automation floor; but a text that waits in a session until someone writes there comes in with that person's
// message, and nothing tells it apart then. blind means that a session is named in a way taint can't follow.
func scheduledInto(s *said) (keys []string, blind bool) {
	agents, events := []string{s.Agent()}, false
	var named []string
	for i := range s.args {
		value := s.args[i].value
		switch s.args[i].name {
		case "agentid", "agent":
			agents = append(agents, strings.ToLower(strings.TrimSpace(value)))
		case "sessionkey":
			named = append(named, value)
		case "sessiontarget":
			events = events || value == "main"
			if key, ok := strings.CutPrefix(value, "session:"); ok {
				named = append(named, key)
			}
		case "kind", "action":
			events = events || value == "systemEvent" || value == "wake"
		}
	}
	if events {
		for _, agent := range agents {
			named = append(named, "agent:"+agent+":main")
		}
	}
	for _, agent := range agents {
		for _, key := range named {
			forms, ok := sessionKeys(strings.TrimSpace(key), agent)
			keys, blind = append(keys, forms...), blind || !ok
		}
	}
	slices.Sort(keys)
	return slices.DeleteFunc(slices.Compact(keys), func(k string) bool { return k == s.Context.SessionKey }), blind
}

// runsOne reports whether a call of automations only lets one job run, which it names.
func runsOne(s *said) bool {
	named := map[string]bool{}
	for i := range s.args {
		if a := &s.args[i]; a.path == "id" || a.path == "jobId" {
			named[JobID(a.value)] = true
		}
	}
	return s.top("action") == "run" && len(named) == 1 && !named[""]
}
