package policy

import (
	"cmp"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/openclaw-verifier/verifier/internal/command"
)

// guard finds calls that name what belongs to the verifier, to its owner or to OpenClaw's own configuration by a
// literal word. An agent that could reach these could approve itself. It reads what a call says and not what that comes
// to: another spelling passes. The real fence is to run the verifier as another user.
type guard struct {
	marks    [256][]guarded // by their first byte, in small letters and capitals
	commands []string       // names of our own program
}

// guarded is a word that is ours: the last two names of a path, a variable, the host of an address, our program.
type guarded struct {
	word  string
	start bool   // other words that begin like this are ours, too
	port  string // it is a host, and only ours with this port, or where the scheme means that
	runs  bool   // it is our program: only ours before one of its subcommands, or in a directory of programs
}

// openclawPaths are OpenClaw's own: who writes them needs no approval any more.
var openclawPaths = strings.Fields("openclaw.json .openclaw/credentials .openclaw/.env .openclaw/extensions " +
	"exec-approvals.json auth-profiles.json")

// ourNames are this machine, by convention or by public DNS.
var ourNames = strings.Fields("localhost localhost.localdomain ip6-localhost ip6-loopback 127.0.0.1 ::1 0.0.0.0 :: " +
	"::ffff:127.0.0.1 0:0:0:0:0:0:0:1 localtest.me lvh.me vcap.me host.docker.internal")

// subcommands are what our own program does. Help and version are harmless.
var subcommands = setOfWords("approve deny reply pending serve init audit login check send explain reset-trust " +
	"sources revoke grant grants")

func newGuard(g Guard) *guard {
	out := &guard{}
	for _, p := range openclawPaths {
		out.add(guarded{word: p})
	}
	for _, p := range g.Paths {
		out.addPath(p)
	}
	for _, a := range g.Addresses {
		out.addAddress(a, g.Hosts)
	}
	for _, c := range g.Commands {
		out.add(guarded{word: c, runs: true})
		out.commands = append(out.commands, strings.ToLower(c))
	}
	for _, n := range g.Names {
		word, start := strings.CutSuffix(n, "*")
		out.add(guarded{word: word, start: start})
	}
	return out
}

func (g *guard) add(m guarded) {
	if m.word = strings.ToLower(m.word); m.word == "" {
		return
	}
	first := m.word[0]
	g.marks[first] = append(g.marks[first], m)
	if 'a' <= first && first <= 'z' {
		g.marks[first-' '] = append(g.marks[first-' '], m)
	}
}

// addPath keeps the last two names of a path, so that ~, $HOME, a mount or a relative start make no difference.
func (g *guard) addPath(p string) {
	clean := path.Clean(strings.ReplaceAll(p, `\`, "/"))
	parts := strings.Split(strings.TrimLeft(clean, "./"), "/")
	switch {
	case parts[0] == "":
	case len(parts) == 1 && clean[0] == '/':
		g.add(guarded{word: clean})
	default:
		g.add(guarded{word: strings.Join(parts[max(0, len(parts)-2):], "/")})
	}
}

// addAddress reads host:port, a bare host, a URL, or a socket's path. An address on this machine has all names of it.
func (g *guard) addAddress(a string, hosts []string) {
	if a = strings.ToLower(strings.TrimSpace(a)); !strings.Contains(a, "://") {
		a = "//" + a
	}
	u, err := url.Parse(strings.ReplaceAll(a, "%", "%25")) // also one with a zone
	if err != nil {
		g.add(guarded{word: a})
		return
	}
	host, port := u.Hostname(), cmp.Or(u.Port(), impliedPorts[u.Scheme])
	if u.Host == "" {
		g.addPath(u.Path)
		return
	}
	names := []string{host}
	if ip, err := netip.ParseAddr(host); host == "" || host == "*" || slices.Contains(ourNames, host) ||
		err == nil && (ip.IsLoopback() || ip.IsUnspecified()) {
		names = slices.Concat(names, ourNames, hosts)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		g.add(guarded{word: strings.TrimSuffix(name, "."), port: port})
	}
}

var impliedPorts = map[string]string{"http": "80", "https": "443", "redis": "6379", "rediss": "6379"}

// find says what of ours a call names, or "". Our program is only looked for where the tool carries commands, whose
// words are read without their quotes as well.
func (g *guard) find(s *said, commands bool, line *command.Line) string {
	starts := func(words []string) bool { return slices.Contains(g.commands, program(words[0])) }
	m := g.inAll(s.all, commands)
	for i := 0; m == nil && line != nil && i < len(line.Words); i++ {
		m = g.inAll(line.Words[i], commands)
	}
	switch {
	case line != nil && slices.ContainsFunc(line.Commands, starts), m != nil && m.runs:
		return "our own command"
	case m == nil:
		return ""
	case m.port != "":
		return "our own address"
	default:
		return "what is guarded: " + m.word
	}
}

// inAll finds the first guarded word in values and in their words, also where one is a path that goes up. Capitals, and
// what makes no difference in a path, hide none.
func (g *guard) inAll(text string, commands bool) *guarded {
	text = strings.ReplaceAll(text, `\`, "/")
	if !strings.Contains(text, "/") {
		return g.in(text, commands)
	}
	for strings.Contains(text, "//") || strings.Contains(text, "/./") {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "/./", "/"), "//", "/")
	}
	m := g.in(text, commands)
	if m != nil || !strings.Contains(text, "../") {
		return m
	}
	values := strings.FieldsFunc(text, func(c rune) bool { return c <= 1 })
	for _, name := range append(values, strings.FieldsFunc(text, endsWord)...) {
		if m == nil && len(name) <= mostPath && strings.Contains(name, "../") {
			m = g.in(path.Clean(name), commands)
		}
	}
	return m
}

// in finds the first guarded word in a text, in small letters or capitals.
func (g *guard) in(text string, commands bool) *guarded {
	ascii := !strings.ContainsFunc(text, func(c rune) bool { return c >= utf8.RuneSelf })
	if !ascii { // a letter may be of another length than its small one
		text = strings.ToLower(text)
	}
	for i := range len(text) {
		marks := g.marks[text[i]]
		if marks == nil || i > 0 && (continues(text[i-1]) || text[i-1] == '-' || text[i-1] == '.') {
			continue // a name that goes on hides what begins
		}
		for n := range marks {
			if m := &marks[n]; (commands || !m.runs) && m.isAt(text, i, ascii) {
				return m
			}
		}
	}
	return nil
}

var (
	// ourCommand is what follows our program: a quote or a blank, and a subcommand.
	ourCommand = regexp.MustCompile(`^(?:\.exe)?[^a-z\x01-]+([a-z-]+)`)
	// ourPort is what follows a host: its port, as in ("127.0.0.1", 8787).
	ourPort = regexp.MustCompile(`^\.?\]?[: /=,"'\t\x00]{1,4}([0-9]+)`)
)

// mostBefore and mostAfter are how much of a text around a word is looked at.
const mostBefore, mostAfter = 16, 64

// isAt reports whether what is at a place in a text is ours. A backup of it, x.bak or x-old, is ours, too.
func (m *guarded) isAt(text string, at int, ascii bool) bool {
	end := at + len(m.word)
	if end > len(text) || !strings.EqualFold(text[at:end], m.word) {
		return false
	}
	before, after := text[max(0, at-mostBefore):at], text[end:min(end+mostAfter, len(text))]
	if ascii { // otherwise the whole text is in small letters
		before, after = strings.ToLower(before), strings.ToLower(after)
	}
	switch {
	case after != "" && !m.start && continues(after[0]):
		return false
	case m.port != "":
		if port := ourPort.FindStringSubmatch(after); port != nil && port[1] == m.port {
			return true
		}
		scheme := map[string]string{"80": "http:/", "443": "https:/"}[m.port] // it means the port
		return scheme != "" && strings.HasSuffix(strings.TrimSuffix(before, "["), scheme) &&
			!strings.HasPrefix(strings.TrimLeft(after, ".]"), ":")
	case m.runs:
		if word := ourCommand.FindStringSubmatch(after); word != nil && subcommands[word[1]] {
			return true
		}
		return strings.HasSuffix(before, "/bin/") || strings.HasSuffix(before, "/sbin/")
	}
	return true
}

// continues reports whether a character goes on with a name. Dots and dashes don't: see [guarded.isAt].
func continues(c byte) bool {
	return 'a' <= c|' ' && c|' ' <= 'z' || '0' <= c && c <= '9' || c == '_' || c >= 0x80
}
