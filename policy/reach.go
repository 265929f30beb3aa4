package policy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/toolcall"
)

// Reach is what a call touches beyond its own conversation. Taint follows it:
// what is sent to is raised to the sender's level, who reads is raised to the
// level of what was read, and automations that a tainted conversation
// schedules start tainted.
type Reach struct {
	Sends     []string // session keys it sends to
	Reads     []string // session keys it reads from
	Schedules bool     // allowing it lets automations run later
	Job       string   // of those: the one that it changes; empty: a new one, or one that can't be told
	Unchanged bool     // of those: it only lets the job run, as it is
	Into      bool     // of those: the job may run in someone's session, not in one of its own
	JobName   string   // what the job is called, for people
	BlindSend bool     // it also, or only, sends to a session that it does not name by its key
	BlindRead bool     // it also, or only, reads from such a one
}

func (r *Reach) empty() bool { return len(r.Sends) == 0 && len(r.Reads) == 0 && !r.Schedules }

// reacher is how a tool names other sessions.
type reacher struct {
	params []param // where a session key may stand
	vague  []param // what names a session in a way taint can't follow
	sends  bool
	reads  bool
	own    bool // naming none means the call's own session
}

// A send may be answered, and the answer is read: both ways.
var reachers = map[string]*reacher{
	"sessions_send":      {params: []param{paramSessionKey, paramSession, paramTarget, paramKey}, vague: []param{paramLabel}, sends: true, reads: true},
	"conversations_send": {params: []param{paramSessionKey}, sends: true, own: true},
	"conversations_turn": {params: []param{paramSessionKey}, sends: true, reads: true, own: true},
	"sessions_history":   {params: []param{paramSessionKey, paramSession, paramKey}, vague: []param{paramLabel}, reads: true},
	"sessions_search":    {params: []param{paramSessionKey}, reads: true},
	"transcripts":        {params: []param{paramSessionKey}, reads: true},
	"session_status":     {params: []param{paramSessionKey}, reads: true, own: true},
}

func (r *rule) reach(c *toolcall.Call, t *text) Reach {
	var out Reach
	if c.Tool == "automations" {
		if out.Schedules = !quiet[t.param(paramAction)]; out.Schedules {
			out.Sends, out.BlindSend = scheduledInto(c)
			out.scheduled(c, t)
		}
		return out
	}
	if looksAtCommands(c) { // the command may be of an earlier context window of this session
		if out.BlindRead = c.Context.SessionKey == ""; !out.BlindRead {
			out.Reads = []string{c.Context.SessionKey}
		}
		return out
	}
	if c.Tool == "sessions_list" {
		out.BlindRead = showsMessages(c)
		return out
	}
	if r.reaches == nil {
		return out
	}
	keys, blind := r.reaches.keys(c, t)
	if r.reaches.sends {
		out.Sends, out.BlindSend = keys, blind
	}
	if r.reaches.reads {
		out.Reads, out.BlindRead = keys, blind
	}
	return out
}

// showsMessages reports whether a list of sessions comes with what was said in
// them, which may be anyone's text.
func showsMessages(c *toolcall.Call) bool {
	var p struct {
		Limit  float64 `json:"messageLimit"`
		Last   bool    `json:"includeLastMessage"`
		Titles bool    `json:"includeDerivedTitles"`
	}
	return json.Unmarshal(c.Params, &p) != nil || p.Limit != 0 || p.Last || p.Titles
}

// quiet are the actions of automations after which nothing runs that would not
// have run before. Whatever else there is, or will be, counts.
var quiet = words("list status get remove")

// keys are the other sessions a call names; blind means that it also, or only,
// means one that it does not name by its key.
func (r *reacher) keys(c *toolcall.Call, t *text) (keys []string, blind bool) {
	named := false
	agent := cmp.Or(t.param(paramAgentID), c.Agent())
	for _, p := range r.params {
		v := strings.TrimSpace(t.param(p))
		if v == "" || r.own && v == "current" {
			continue
		}
		named = true
		forms, ok := sessionKeys(v, agent)
		blind = blind || !ok
		if !slices.ContainsFunc(forms, func(f string) bool { return f == c.Context.SessionKey }) {
			keys = append(keys, forms...)
		}
	}
	for _, p := range r.vague {
		if t.param(p) != "" {
			blind = true
		}
	}
	return keys, blind || !named && !r.own
}

// maxKey is the longest session key a call can come from.
const maxKey = toolcall.MaxText

// sessionKeys are the keys that a session which a call names may have: the one it
// names, and that with the agent in front where it was left out. A label or a
// session id is no key, and what could be mistaken for another key is none that
// taint could follow.
func sessionKeys(v, agent string) ([]string, bool) {
	v, agent = toolcall.CanonicalKey(v), toolcall.CanonicalKey(agent)
	switch {
	case len(v) > maxKey || toolcall.OddKey(v) || toolcall.OddKey(agent):
		return nil, false
	case strings.HasPrefix(v, "agent:") && strings.Count(v, ":") >= 2:
		return []string{v}, true
	case v == "main" && agent != "":
		return []string{"agent:" + agent + ":main"}, true
	case strings.Contains(v, ":") || v == "global":
		if agent == "" {
			return []string{v}, true
		}
		return []string{v, "agent:" + agent + ":" + v}, true
	default:
		return nil, false
	}
}
