package policy

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// TrustRule says what calls of a tool bring in that have a certain host or path. All that it names must fit; the first
// rule that fits counts, the owner's before the shipped ones.
type TrustRule struct {
	// Tool is whose calls it is about.
	Tool string `yaml:"tool"`
	// Host is that of the address: wiki.example, or *.example for all below it.
	Host string `yaml:"host"`
	// Path is a file, or a directory and all below it.
	Path string `yaml:"path"`
	// Level is what the call brings in.
	Level *taint.Level `yaml:"level"`
}

// trustRule is one that was checked.
type trustRule struct {
	host, path string
	level      taint.Level
}

// readRules reads the owner's rules and directories.
func (b *builder) readRules() {
	for i, d := range b.config.Trust.Directories {
		clean, ok := cleanPath(d)
		if !ok || relative(clean) {
			b.fail(fmt.Sprintf("trust.directories[%d]", i), "must be an absolute path, or begin with ~/")
		}
		b.inside = append(b.inside, clean)
	}
	for i := range b.config.Trust.Rules {
		b.readRule(fmt.Sprintf("trust.rules[%d]", i), &b.config.Trust.Rules[i])
	}
}

func (b *builder) readRule(at string, c *TrustRule) {
	name, ok := b.toolName(at+".tool", c.Tool)
	clean, isPath := cleanPath(c.Path)
	switch {
	case !ok:
	case c.Host == "" && c.Path == "":
		b.fail(at, "names no host or path: use trust.tools for all calls of a tool")
	case c.Level == nil:
		b.fail(at, "says nothing: give it a level")
	case c.Path != "" && !isPath:
		b.fail(at+".path", "is no path")
	default:
		b.trust[name] = append(b.trust[name], &trustRule{strings.ToLower(c.Host), clean, *c.Level})
	}
}

var (
	// sending are the actions of message that read nothing.
	sending = setOfWords("send reply react broadcast edit")
	// placeReaders return what is in the file or directory that they are given.
	placeReaders = setOfWords("read read_file ls file_fetch dir_list dir_fetch")
)

// apply lets the first of the owner's rules that fits say what the call brings in, or else where it looks and what it
// does.
func (pl *Plan) apply(s *said) (told bool) {
	for _, r := range pl.rule.trust {
		if r.fits(s) {
			pl.Raise = r.level
			return true
		}
	}
	name, before := pl.rule.name, pl.Raise
	switch {
	case name == "message" && sending[strings.ToLower(strings.TrimSpace(s.top("action")))]:
		pl.Raise = system
	case pl.policy.inside == nil || !placeReaders[name]:
	case !within(filePath(s), pl.policy.inside):
		pl.Raise = taint.Worse(pl.Raise, external)
	case name == "read_file":
		pl.Raise = local
	}
	return pl.Raise != before
}

func (r *trustRule) fits(s *said) bool {
	clean, isPath := cleanPath(filePath(s))
	return (r.host == "" || r.hasHost(s)) && (r.path == "" || isPath && below(clean, r.path))
}

// hasHost reports whether the call names this host and no other.
func (r *trustRule) hasHost(s *said) bool {
	found, addresses := false, 0
	for i := range s.args {
		addresses += strings.Count(s.args[i].value, "://")
	}
	for _, p := range hostParams {
		address := s.top(p)
		if address == "" {
			continue
		}
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !sameHost(r.host, strings.ToLower(u.Hostname())) {
			return false
		}
		found = true
	}
	return found && addresses == 1
}

func sameHost(rule, host string) bool {
	host = strings.TrimSuffix(host, ".")
	if below, ok := strings.CutPrefix(rule, "*."); ok {
		return strings.HasSuffix(host, "."+below)
	}
	return host == rule
}

// filePath is the one file that a call names, or "" if there is none or several.
func filePath(s *said) string {
	name := ""
	for _, p := range pathParams {
		v := s.top(p)
		switch {
		case v == "":
		case name != "" && name != v:
			return ""
		default:
			name = v
		}
	}
	return name
}

// within reports whether a path is one of the owner's directories or below one. What is
// relative is the agent's own workspace; what could lead out of it is not.
func within(name string, places []string) bool {
	clean, ok := cleanPath(name)
	if !ok {
		return false
	}
	return relative(clean) || slices.ContainsFunc(places, func(p string) bool {
		return below(clean, p) ||
			strings.HasPrefix(clean, "~/") != strings.HasPrefix(p, "~/") && below(byHome(clean), byHome(p))
	})
}

// byHome is a path below somebody's home directory as one below ~: the owner may write ~/work, and the agent
// /home/ann/work.
func byHome(clean string) string {
	if rest, ok := strings.CutPrefix(clean, "/root/"); ok {
		return "~/" + rest
	}
	for _, homes := range []string{"/home/", "/Users/"} {
		if rest, ok := strings.CutPrefix(clean, homes); ok {
			_, rest, _ = strings.Cut(rest, "/")
			return "~/" + rest
		}
	}
	return clean
}

func below(clean, place string) bool {
	rest, found := strings.CutPrefix(clean, strings.TrimSuffix(place, "/"))
	return clean == place || found && strings.HasPrefix(rest, "/")
}

func relative(clean string) bool {
	return !strings.HasPrefix(clean, "/") && !strings.HasPrefix(clean, "~")
}

// cleanPath takes away what makes no difference. A path that goes up, or is spelled
// in a way that only a shell or a browser understands, is none. OpenClaw drops an @ before it.
func cleanPath(name string) (string, bool) {
	name = strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(name), "@"), `\`, "/")
	goesUp := name == ".." || strings.HasPrefix(name, "../") || strings.HasSuffix(name, "/..") ||
		strings.Contains(name, "/../")
	if name == "" || goesUp || strings.ContainsAny(name, "\x00$`*?%") || strings.Contains(name, "://") {
		return "", false
	}
	return path.Clean(name), true
}

// sees works out what the call brings in, and what of its arguments makes it act, fetch or leave.
func (pl *Plan) sees(c *toolcall.Call, s *said, g ground) {
	told := pl.apply(s)
	if pl.rule.opens {
		pl.opens(s, g, told)
	}
	if pl.Line != nil && pl.Line.Network {
		pl.Raise = untrusted
	} else if !told && (fileReaders[pl.rule.name] || pl.Line != nil) && pl.readsOthers(s, g) {
		pl.Raise = taint.Worse(pl.Raise, external)
	}
	if pl.Reach.BlindRead || pl.rule.name == "nodes" && shownByDevice[s.top("action")] {
		pl.Raise = taint.Worse(pl.Raise, external)
	}
	if runtime := s.top("runtime"); pl.rule.name == "sessions_spawn" && runtime != "" && runtime != "subagent" {
		pl.Raise = taint.Worse(
			pl.Raise,
			shared,
		) // an agent of another runtime has tools that this gateway is not asked about
	}
	pl.acts(c, s, told)
	if pl.Raise > system {
		pl.Source = s.label(c.Tool)
		if pl.Line != nil && pl.Line.Network && len(pl.Line.Programs) == 1 && pl.Source == c.Tool {
			name, _, _ := strings.Cut(pl.Line.Programs[0], " ")
			pl.Source = bounded(c.Tool, name)
		}
	}
}

// shownByDevice are actions of nodes that bring in what a screen or a camera shows.
var shownByDevice = map[string]bool{
	"notifications_list": true, "screen_snapshot": true, "screen_record": true, "camera_snap": true,
	"camera_clip": true, "photos_latest": true,
}

// opens says what a tool brings in that looks at what it is given the path or the address of. An address makes the call
// one of
// web_fetch by another name. What a model is asked about it goes to a service.
func (pl *Plan) opens(s *said, g ground, told bool) {
	files, elsewhere, gets := 0, false, false
	for i := range s.args {
		a := &s.args[i]
		switch {
		case isAddress(a.value):
			gets = true
		case a.name == "prompt" && strings.TrimSpace(a.value) != "":
			pl.Leaves = true
		}
		if fileParams[a.name] || addressParams[a.name] {
			files++
			elsewhere = elsewhere || !g.holds(a.value) && !inWorkspace(a.value)
		}
	}
	switch {
	case gets:
		pl.Leaves, pl.Raise = true, untrusted
		pl.tighten(
			escalation,
			"This call of "+pl.rule.called()+" fetches an address, which can carry data out",
			pl.rule.getting,
		)
	case elsewhere && pl.policy.inside != nil:
		pl.Raise = taint.Worse(pl.Raise, external)
	case pl.rule.shows && files > 0 && !elsewhere && !told:
		pl.Raise = local // as any other file that the agent reads there
	}
}

var addressParams = setOf("address params")

// inWorkspace reports whether a file is in the agent's workspace where that is not named: a path that is relative and
// does not
// lead out, or one in the directory that OpenClaw makes.
func inWorkspace(name string) bool {
	clean, ok := cleanPath(name)
	return ok && (relative(clean) || strings.Contains(clean, "/.openclaw/workspace/"))
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

// readsOthers reports whether the call reads a file that others wrote, or one that is not the owner's where the owner
// says
// which are.
func (pl *Plan) readsOthers(s *said, g ground) bool {
	if pl.Line == nil {
		return slices.ContainsFunc(s.files(pl.rule.name), g.fromOthers)
	}
	at := g.of(pl.Line)
	inStart := false
	for _, word := range pl.Line.Words {
		if !strings.ContainsAny(word, "./~$\\") && !othersWrote.names[strings.ToLower(word)] &&
			!strings.Contains(at.start, "/.") {
			inStart = true // most words name nothing, or what is where it starts
		} else if at.fromOthers(word) {
			return true
		}
	}
	return inStart && at.fromOthers(".") || len(pl.policy.inside) > 0 && at.outside(pl.Line) != ""
}

// acts finds what in a call of a tool that only looks does more than to look.
func (pl *Plan) acts(c *toolcall.Call, s *said, told bool) {
	by := ""
	fetches := pl.rule.name == "web_fetch" || pl.rule.opens && pl.Raise == untrusted
	switch h := &c.Hints; {
	case h.Acts():
		by = "what its tool says of itself"
	case strings.TrimSpace(s.top("gatewayUrl")) != "":
		by, pl.Leaves, pl.Raise = "its gatewayUrl", true, untrusted
	case pl.rule.name == "session_status" && strings.TrimSpace(s.top("model")) != "":
		by = "the model that it sets"
	case pl.rule.name == "web_fetch" && slices.ContainsFunc(s.names,
		func(name string) bool { return !pageParams[name] }):
		by = "an argument that we don't know"
	case fetches && !told && slices.ContainsFunc(s.args, namesPrivate):
		by = "its address, which may be in your own network"
	case strings.HasPrefix(pl.rule.name, serverPrefix) && pl.rule.safe && pl.saves(s):
		by = "the file that it writes"
	case pathTools[pl.rule.name] && c.Context.Platform != "linux" && c.Context.Platform != "darwin" &&
		!strings.HasPrefix(c.Context.Workspace, "/") &&
		slices.ContainsFunc(s.files(pl.rule.name), namesShare):
		by, pl.Leaves, pl.Raise = "its path, which is on another machine", true, untrusted
	}
	clones := s.top("projectGitUrl") != "" // a session that starts with a repository fetches that
	if c.Hints.Outside() || clones {
		pl.Raise = untrusted
	}
	pl.Leaves = pl.Leaves || clones
	if by != "" && !pl.sink {
		pl.sink = true
		pl.tighten(escalation, "This call of "+pl.rule.called()+" acts by "+by, pl.rule.sinkModes)
	}
}

var (
	// pageParams are the arguments of web_fetch in OpenClaw and the coding agents. With another it may send something.
	pageParams = setOfWords("url urls prompt format timeout timeoutMs extractMode maxChars offset")
	// pathTools look at what they are given the path of.
	pathTools = setOfWords("read ls glob grep memory_get image view_image pdf")
)

// namesShare reports whether a path is on another machine: Windows asks it for the file, and tells it who the user is.
func namesShare(name string) bool {
	name = strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(name), "@"), `\`, "/")
	return strings.HasPrefix(name, "//") && len(name) > 2 && name[2] != '/'
}

// namesPrivate reports whether an argument is, or a text for a model has, an address that is no page under a public
// name.
func namesPrivate(a argument) bool {
	if a.name == "url" && !strings.Contains(a.value, "://") && !isAddress(a.value) {
		a.value = "https://" + a.value
	}
	return slices.ContainsFunc(
		strings.FieldsFunc(a.value, func(c rune) bool { return c <= ' ' || strings.ContainsRune("<>\"'`()[]", c) }),
		func(word string) bool {
			return isAddress(word) && !isPage(strings.TrimRight(word, ".,;:!?"))
		},
	)
}

// isPage reports whether an address is a page under a public name. One in the owner's own network may do something when
// it is merely opened, such as a router's; an address in numbers counts as such.
func isPage(address string) bool {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	last := host[strings.LastIndexByte(host, '.')+1:]
	return strings.Contains(host, ".") && last != "" && last[0] >= 'a' && last[0] <= 'z' &&
		!slices.ContainsFunc(privateEndings, func(end string) bool { return strings.HasSuffix("."+host, end) })
}

// privateEndings end names that only a network of one's own knows, or that mean an address in numbers.
var privateEndings = strings.Fields(
	`.local .localhost .localdomain .internal .intranet .lan .home .corp .private .onion .arpa .svc .cluster
	.fritz.box .nip.io .sslip.io .localtest.me .lvh.me .vcap.me`,
)
