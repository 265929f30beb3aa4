package policy

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/command"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/taint"
)

// bringsIn works out what the call brings in, and what of its arguments makes it act, fetch or leave.
func (pl *planner) bringsIn() {
	name, runtime, before := pl.rule.name, pl.top("runtime"), pl.Raise
	ruled := pl.apply()
	if ruled = ruled || pl.Raise != before; pl.rule.opens {
		pl.opens(ruled)
	}
	fetches := pl.Line != nil && pl.Line.Network
	// the files that others wrote, and those that are not the owner's where the owner says which are
	others := pl.named.others || pl.Line != nil && pl.named.outside && len(pl.policy.inside) > 0
	switch {
	case fetches:
		pl.Raise = untrusted
	case others && !ruled, pl.Reach.BlindRead, name == "nodes" && shownByDevice[pl.top("action")]:
		pl.Raise = taint.Worse(pl.Raise, external)
	case name == "sessions_spawn" && runtime != "" && runtime != "subagent":
		pl.Raise = taint.Worse(pl.Raise, shared) // this gateway is not asked about tools of another runtime's agent
	}
	pl.acts(ruled)
	if pl.Raise == system {
		return
	}
	if pl.Source = pl.label(); fetches && pl.Line.Program() != "" && pl.Source == pl.Tool {
		pl.Source = SourceLabel(pl.Tool, pl.Line.Program())
	}
}

// apply lets the first of the owner's rules that fits say what the call brings in, or else where it looks.
func (pl *planner) apply() (ruled bool) {
	file := pl.only(pathParams)
	clean, isPath := cleanPath(file)
	for _, r := range pl.rule.trust {
		if (r.Host == "" || r.hasHost(&pl.said)) && (r.Path == "" || isPath && below(clean, r.Path)) {
			pl.Raise = *r.Level
			return true
		}
	}
	switch name := pl.rule.name; {
	case name == "message" && sending[strings.ToLower(strings.TrimSpace(pl.top("action")))]:
		pl.Raise = system
	case pl.policy.inside == nil || !placeReaders[name]:
	case !isPath || !relative(clean) && !within(clean, pl.policy.inside):
		pl.Raise = taint.Worse(pl.Raise, external)
	case name == "read_file":
		pl.Raise = local
	}
	return false
}

// hasHost reports whether the call names this host, or one below *.host, and no other.
func (r *TrustRule) hasHost(s *said) bool {
	u, err := url.Parse(s.only(hostParams))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || strings.Count(s.all, "://") != 1 {
		return false
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	above, many := strings.CutPrefix(r.Host, "*.")
	return host == r.Host || many && strings.HasSuffix(host, "."+above)
}

// only is what a call says under some names, or "" if it says nothing or two things there.
func (s *said) only(names []string) (value string) {
	for _, name := range names {
		v := s.top(name)
		if v != "" && value != "" && v != value {
			return ""
		}
		value = cmp.Or(v, value)
	}
	return value
}

// opens says what a tool brings in that looks at what it is given the path or the address of. An address makes the call
// one of web_fetch by another name. What a model is asked about it goes to a service.
func (pl *planner) opens(ruled bool) {
	files, elsewhere, gets := 0, false, false
	for i := range pl.args {
		a := &pl.args[i]
		gets = gets || isAddress(a.value)
		pl.Leaves = pl.Leaves || a.name == "prompt" && strings.TrimSpace(a.value) != ""
		if fileParams[a.name] || addressParams[a.name] {
			clean, ok := cleanPath(a.value)
			here := ok && (relative(clean) || strings.Contains(clean, "/.openclaw/workspace/")) || pl.holds(a.value)
			files, elsewhere = files+1, elsewhere || !here
		}
	}
	switch {
	case gets:
		pl.Leaves, pl.Raise = true, untrusted
		if pl.policy.Strict {
			text := "This call of " + pl.rule.called() + " fetches an address, which can carry data out"
			pl.tighten(escalation, text, pl.rule.acting)
		}
	case elsewhere && pl.policy.inside != nil:
		pl.Raise = taint.Worse(pl.Raise, external)
	case pl.rule.shows && files > 0 && !elsewhere && !ruled:
		pl.Raise = local // as any other file that the agent reads there
	}
}

// isAddress reports whether a text is or holds an address that could be fetched. What looks like one counts.
func isAddress(value string) bool {
	value = strings.TrimSpace(value)
	if strings.Contains(value, "://") || strings.HasPrefix(value, "//") || strings.HasPrefix(value, `\\`) {
		return true
	}
	scheme, _, found := strings.Cut(value, ":")
	return found && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// acts finds what in a call of a tool that only looks does more than to look.
func (pl *planner) acts(ruled bool) {
	by, name := "", pl.rule.name
	switch h := &pl.Hints; {
	case h.Acts():
		by = "what its tool says of itself"
	case strings.TrimSpace(pl.top("gatewayUrl")) != "":
		by, pl.Leaves, pl.Raise = "its gatewayUrl", true, untrusted
	case name == "session_status" && strings.TrimSpace(pl.top("model")) != "":
		by = "the model that it sets"
	case name == "web_fetch" && slices.ContainsFunc(pl.names, func(name string) bool { return !pageParams[name] }):
		by = "an argument that we don't know"
	case (name == "web_fetch" || pl.rule.opens && pl.Raise == untrusted) && !ruled &&
		slices.ContainsFunc(pl.args, namesPrivate):
		by = "its address, which may be in your own network"
	case strings.HasPrefix(name, serverPrefix) && pl.rule.safe && pl.saves():
		by = "the file that it writes"
	case !pl.onUnix() && !strings.HasPrefix(pl.Context.Workspace, "/") && slices.ContainsFunc(pl.files, namesShare):
		by, pl.Leaves, pl.Raise = "its path, which is on another machine", true, untrusted
	}
	clones := pl.top("projectGitUrl") != "" // a session that starts with a repository fetches that
	if pl.Leaves = pl.Leaves || clones; clones || pl.Hints.Outside() {
		pl.Raise = untrusted
	}
	if by != "" && !pl.sink {
		pl.sink = true
		pl.tighten(escalation, "This call of "+pl.rule.called()+" acts by "+by, pl.rule.acting)
	}
}

var (
	// sending are the actions of message that read nothing.
	sending = setOfWords("send reply react broadcast edit")
	// placeReaders return what is in the file or directory that they are given.
	placeReaders = setOfWords("read read_file ls file_fetch dir_list dir_fetch")
	// pageParams are the arguments of web_fetch in OpenClaw and the coding agents. With another it may send something.
	pageParams = setOfWords("url urls prompt format timeout timeoutMs extractMode maxChars offset")
	// shownByDevice are actions of nodes that bring in what a screen or a camera shows.
	shownByDevice = setOfWords("notifications_list screen_snapshot screen_record camera_snap camera_clip photos_latest")
	// publicPage is the address of a page under a name. One in the owner's own network may do something when it is
	// merely opened, such as a router's; an address in numbers counts as such.
	publicPage = regexp.MustCompile(`(?i)^https?://([^/?#\\@]*@)?([\w-]+\.)+[a-z][\w-]*\.?(:\d*)?([/?#]|$)`)
	// privatePage has a name that only a network of one's own knows, or that means an address in numbers.
	privatePage = regexp.MustCompile(`(?i)^https?://[^/?#]*\.(local|localhost|localdomain|internal|intranet|lan|home` +
		`|corp|private|onion|arpa|svc|cluster|fritz\.box|nip\.io|sslip\.io|localtest\.me|lvh\.me` +
		`|vcap\.me)\.?(:\d*)?([/?#]|$)`)
)

// namesShare reports whether a path is on another machine: Windows asks it for the file, and tells it who the user is.
func namesShare(name string) bool {
	name = slashed(name)
	return strings.HasPrefix(name, "//") && len(name) > 2 && name[2] != '/'
}

// namesPrivate reports whether a value is, or a text for a model has, an address that is no page under a public name.
func namesPrivate(a argument) bool {
	if a.name == "url" && !isAddress(a.value) {
		a.value = "https://" + a.value
	}
	words := strings.FieldsFunc(a.value, func(c rune) bool { return c <= ' ' || strings.ContainsRune("<>\"'`()[]", c) })
	return slices.ContainsFunc(words, func(word string) bool {
		word = strings.TrimRight(word, ".,;:!?")
		return isAddress(word) && (!publicPage.MatchString(word) || privatePage.MatchString(word))
	})
}

// Writing is what a call may write into files, as far as a person has seen that.
type Writing uint8

// What a call may write.
const (
	WritesNothing Writing = iota
	// what the call says, or makes of what is here: seen by the person who allows it and reads all of it
	WritesShown
	WritesInstall // packages: seen in a clean conversation, or by the person who allows it
	WritesUnseen  // what it brings in, or we can't tell
)

var (
	// unseenWriters may write into the workspace what no card shows as it will be.
	unseenWriters = setOfWords("file_write computer dir_fetch plugins openclaw skill_workshop")
	savingParams  = setOfWords("path outpath outputpath savepath saveto downloadpath downloaddir filepath filename " +
		"file out output outfile destination dest")
)

// writing says what a call may write. A tool that acts and is not in our table may write anything.
func (pl *planner) writing() Writing {
	r, line := pl.rule, pl.Line
	switch {
	case r.writes:
		return WritesShown
	case line == nil && (r.sink && !IsShipped(r.name) || unseenWriters[r.name] || pl.saves()):
		return WritesUnseen
	case line == nil, line.Effect != command.Anything && r.startsHere():
		return WritesNothing
	case line.Install:
		return WritesInstall
	case pl.Raise <= taint.Local && !line.Network && r.startsHere() && !pl.named.outside && pl.holds("."):
		return WritesShown
	}
	return WritesUnseen
}

// saves reports whether a call names a file in which its tool puts what it gets: browser download path=Makefile.
func (pl *planner) saves() bool {
	return pl.rule.saves &&
		slices.ContainsFunc(pl.args, func(a argument) bool { return savingParams[a.name] && a.value != "" })
}

// Reach is what a call touches beyond its own conversation. Taint follows it: what is sent to is raised to the sender's
// level, who reads is raised to the level of what was read, and automations that a tainted conversation schedules start
// tainted.
type Reach struct {
	Sends     []string // session keys it sends to
	Reads     []string // session keys it reads from
	Schedules []string // the agents whose automations may run later if it is allowed; nil: none
	BlindSend bool     // it also, or only, sends to a session that it does not name by its key
	BlindRead bool     // it also, or only, reads from such a one
	TooMany   bool     // it names more of them than we follow
}

// reacher is how a tool names other sessions.
type reacher struct {
	sends, reads bool
	own          bool // naming none means the call's own session
	params       []string
}

// A send may be answered, and the answer is read: both ways.
var reachers = map[string]*reacher{
	"sessions_send":      {true, true, false, strings.Fields("sessionKey session target key")},
	"conversations_send": {true, false, true, []string{"sessionKey"}},
	"conversations_turn": {true, true, true, []string{"sessionKey"}},
	"sessions_history":   {false, true, false, strings.Fields("sessionKey session key")},
	"sessions_search":    {false, true, false, []string{"sessionKey"}},
	"transcripts":        {false, true, false, []string{"sessionKey"}},
	"session_status":     {false, true, true, []string{"sessionKey"}},
}

var (
	// quiet are the only actions of automations after which nothing runs that would not have run before.
	quiet = setOfWords("list status get remove")
	// messageParams let a list of sessions have what was said in them, which may be anyone's text.
	messageParams = setOfWords("messagelimit includelastmessage includederivedtitles")
)

func (s *said) reach() (out Reach) {
	switch r := reachers[s.Tool]; {
	case s.Tool == "automations":
		if !quiet[s.top("action")] {
			return s.schedules()
		}
	case s.polls(): // the command may be of an earlier context window of this session
		if out.BlindRead = s.Context.SessionKey == ""; !out.BlindRead {
			out.Reads = []string{s.Context.SessionKey}
		}
	case s.Tool == "sessions_list":
		out.BlindRead = slices.ContainsFunc(s.args, func(a argument) bool {
			return messageParams[a.name] && a.value != "0" && a.value != "false"
		})
	case r != nil:
		var named []string
		for _, p := range r.params {
			if v := s.top(p); v != "" && (!r.own || v != "current") {
				named = append(named, v)
			}
		}
		keys, blind := s.sessions(named, []string{cmp.Or(s.top("agentId"), s.Agent())})
		blind = blind || named == nil && !r.own || s.top("label") != "" // a label is one that taint can't follow
		if r.sends {
			out.Sends, out.BlindSend = keys, blind
		}
		if r.reads {
			out.Reads, out.BlindRead = keys, blind
		}
	}
	return out
}

// mostReached is how many agents and sessions an automation may name. All of them are raised in one commit.
const mostReached = 32

// schedules says whose automations run later, and into which sessions an automation, or a wake-up, puts a text. A run
// of its own starts at the agent's automation floor; but a text that waits in a session until someone writes there
// comes in with that person's message, and nothing tells it apart then.
func (s *said) schedules() (out Reach) {
	agents, named, events := []string{s.Agent()}, []string(nil), false
	for i := range s.args {
		value, name := s.args[i].value, s.args[i].name
		key, session := strings.CutPrefix(value, "session:")
		if (name == "sessionkey" || name == "sessiontarget" && session) && !slices.Contains(named, key) {
			named = append(named, key)
		}
		agent := protocol.CanonicalKey(value)
		if (name == "agentid" || name == "agent") && !slices.Contains(agents, agent) {
			agents = append(agents, agent)
		}
		if len(agents)+len(named) > mostReached {
			out.TooMany = true
			break
		}
		events = events || name == "sessiontarget" && value == "main" ||
			(name == "kind" || name == "action") && (value == "systemEvent" || value == "wake")
	}
	if events {
		named = append([]string{"main"}, named...)
	}
	out.Schedules = agents
	out.Sends, out.BlindSend = s.sessions(named, agents)
	return out
}

// sessions are the keys that the sessions which a call names may have, other than its own: the key that it names, and
// that with the agent in front where it was left out. A label or a session id is no key, and what could be mistaken for
// another key is none that taint could follow: then it is blind.
func (s *said) sessions(named, agents []string) (keys []string, blind bool) {
	for _, agent := range agents {
		agent = protocol.CanonicalKey(strings.TrimSpace(agent))
		for _, v := range named {
			v = protocol.CanonicalKey(strings.TrimSpace(v))
			forms, colon := []string{v}, strings.Contains(v, ":") || v == "global"
			switch {
			case len(v) > protocol.MaxText || protocol.OddKey(v) || protocol.OddKey(agent),
				!colon && (v != "main" || agent == ""):
				blind = true
				continue
			case v == "main":
				forms[0] = "agent:" + agent + ":main"
			case agent != "" && (!strings.HasPrefix(v, "agent:") || strings.Count(v, ":") < 2):
				forms = append(forms, "agent:"+agent+":"+v)
			}
			if !slices.Contains(forms, s.Context.SessionKey) {
				keys = slices.DeleteFunc(keys, func(key string) bool { return slices.Contains(forms, key) })
				keys = append(keys, forms...)
			}
		}
	}
	return keys, blind
}
