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

// TrustRule says what calls of a tool bring in that have a certain host or path. All
// that it names must fit; the first rule that fits counts, the owner's before the
// shipped ones.
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
	raises  bool     // it can make a level worse and no better
	outside []string // for paths that are in none of these
	inside  []string // for paths that are in one of these
	action  string   // for calls whose param of that name is this
	host    string
	path    string
	level   taint.Level
}

// sending are the actions of message that read nothing.
var sending = strings.Fields("send reply react broadcast edit")

// shippedTrust are the rules that hold before the owner says anything. None
// lowers a level but that for sending: what is sent is not read. Commands that read
// mail need none: they stand in the lexicon with all that fetches.
func shippedTrust(directories []string) map[string][]*trustRule {
	out := map[string][]*trustRule{}
	for _, action := range sending {
		out["message"] = append(out["message"], &trustRule{action: action, level: system})
	}
	if len(directories) > 0 {
		for _, tool := range strings.Fields("read read_file ls file_fetch dir_list dir_fetch") {
			out[tool] = append(out[tool], &trustRule{raises: true, outside: directories, level: external})
		}
		inside := &trustRule{outside: directories, level: local}
		out["read_file"] = append(out["read_file"], inside.not())
	}
	return out
}

// readRules lays the owner's rules before the shipped ones.
func (b *builder) readRules() {
	var dirs []string
	for i, d := range b.config.Trust.Directories {
		clean, ok := cleanPath(d)
		if !ok || relative(clean) {
			b.fail(fmt.Sprintf("trust.directories[%d]", i), "must be an absolute path, or begin with ~/")
		}
		dirs = append(dirs, clean)
	}
	b.trust, b.inside = shippedTrust(dirs), dirs
	own := map[string][]*trustRule{}
	for i := range b.config.Trust.Rules {
		at := fmt.Sprintf("trust.rules[%d]", i)
		if name, r := b.readRule(at, &b.config.Trust.Rules[i]); r != nil {
			own[name] = append(own[name], r)
		}
	}
	for name, rules := range own {
		b.trust[name] = slices.Concat(rules, b.trust[name])
	}
}

func (b *builder) readRule(at string, c *TrustRule) (tool string, _ *trustRule) {
	name, ok := b.toolName(at+".tool", c.Tool)
	switch {
	case !ok:
		return "", nil
	case c.Host == "" && c.Path == "":
		b.fail(at, "names no host or path: use trust.tools for all calls of a tool")
		return "", nil
	case c.Level == nil:
		b.fail(at, "says nothing: give it a level")
		return "", nil
	}
	r := &trustRule{host: c.Host, level: *c.Level}
	if c.Path != "" {
		if r.path, ok = cleanPath(c.Path); !ok {
			b.fail(at+".path", "is no path")
		}
	}
	return name, r
}

// not is the rule for calls that the other is not for.
func (r *trustRule) not() *trustRule {
	n := *r
	n.outside = nil
	n.inside = r.outside
	return &n
}

// apply finds the rule for a call and lets it change the plan.
func (pl planner) apply(t *text) {
	for _, r := range pl.rule.trust {
		if !r.fits(t) {
			continue
		}
		if !r.raises || r.level > pl.Raise {
			pl.Raise, pl.told = r.level, true
		}
		return
	}
}

// actsBy makes the call one that acts by what it says itself.
func (pl planner) actsBy(what string) {
	pl.by, pl.Modes, pl.sink = what, pl.rule.sinkModes, true
}

func (r *trustRule) fits(t *text) bool {
	return (r.host == "" || r.hasHost(t)) && (r.path == "" || r.hasPath(t)) &&
		(r.action == "" || strings.EqualFold(r.action, strings.TrimSpace(t.param(paramAction)))) &&
		(r.outside == nil || !within(filePath(t), r.outside)) && (r.inside == nil || within(filePath(t), r.inside))
}

// hasHost reports whether the call names this host and no other.
func (r *trustRule) hasHost(t *text) bool {
	found := false
	for _, p := range hostParams {
		address := t.param(p)
		if address == "" {
			continue
		}
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !sameHost(strings.ToLower(r.host), strings.ToLower(u.Hostname())) {
			return false
		}
		found = true
	}
	return found && strings.Count(string(t.values), "://") == 1
}

func sameHost(rule, host string) bool {
	host = strings.TrimSuffix(host, ".")
	if below, ok := strings.CutPrefix(rule, "*."); ok {
		return strings.HasSuffix(host, "."+below)
	}
	return host == rule
}

func (r *trustRule) hasPath(t *text) bool {
	clean, ok := cleanPath(filePath(t))
	return ok && below(clean, r.path)
}

// filePath is the one file that a call names, or "" if there is none or several.
func filePath(t *text) string {
	name := ""
	for _, p := range fileParams {
		v := t.param(p)
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
		return below(clean, p) || strings.HasPrefix(clean, "~/") != strings.HasPrefix(p, "~/") && below(byHome(clean), byHome(p))
	})
}

// byHome is a path below somebody's home directory as one below ~: the owner may write ~/work, and the agent /home/ann/work.
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
	if name == "" || strings.ContainsAny(name, "\x00$`*?%") || strings.Contains(name, "://") || strings.Contains(name, "..") && slices.Contains(strings.Split(name, "/"), "..") {
		return "", false
	}
	return path.Clean(name), true
}

// hinted takes the word of the tool's own definition, where it makes things worse.
func (pl planner) hinted(h *toolcall.Hints) {
	if h.Destroys() {
		pl.Grantable = false
	}
	if h.Outside() {
		pl.Raise = untrusted
	}
	if h.Acts() && !pl.sink {
		pl.actsBy("what its tool says of itself")
	}
}
