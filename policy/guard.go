package policy

import (
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/command"
)

// guard finds calls that name what belongs to the verifier, to its owner or to OpenClaw's own configuration by a
// literal word. An agent that could reach these could approve itself. It reads what a call says and not what that comes
// to: another spelling passes. The real fence is to run the verifier as another user.
type guard struct {
	marks    [256][]guarded // by their first byte, in lower case
	classes  [256]uint8     // what a byte may be
	commands []string       // names of our own program
}

// guarded is a word that is ours: the last two names of a path, a variable, the host of an address, our program.
type guarded struct {
	word  string
	start bool   // other words that begin like this are ours, too
	port  string // it is a host, and only ours with this port
	runs  bool   // it is our program: only ours before one of its subcommands, or in a directory of programs
}

// openclawPaths are OpenClaw's own: who writes them needs no approval any more.
var openclawPaths = []string{
	"openclaw.json", ".openclaw/credentials", ".openclaw/.env", ".openclaw/extensions", "exec-approvals.json",
	"auth-profiles.json",
}

// ourNames are this machine, by convention or by public DNS.
var ourNames = strings.Fields("localhost localhost.localdomain ip6-localhost ip6-loopback 127.0.0.1 ::1 0.0.0.0 :: " +
	"::ffff:127.0.0.1 0:0:0:0:0:0:0:1 localtest.me lvh.me vcap.me host.docker.internal")

// subcommands are what our own program does. Help and version are harmless.
var subcommands = setOfWords(
	"approve deny reply pending serve init audit login check send explain reset-trust sources revoke grant grants",
)

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
	for i := range out.classes {
		c := byte(i)
		if out.marks[lowered(c)] != nil {
			out.classes[c] |= begins
		}
		if continues(c) || c == '-' || c == '.' {
			out.classes[c] |= inName
		}
		if strings.IndexByte(" \t\r\n\"'`;|&<>(){}[],=:\x00", c) >= 0 {
			out.classes[c] |= endsPath
		}
	}
	return out
}

// The classes of bytes: a guarded word begins with it, a name goes on after it, it ends a path.
const begins, inName, endsPath = 1, 2, 4

func (g *guard) add(m guarded) {
	if m.word = strings.ToLower(m.word); m.word != "" {
		g.marks[m.word[0]] = append(g.marks[m.word[0]], m)
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
	scheme, rest, found := strings.Cut(strings.ToLower(strings.TrimSpace(a)), "://")
	if !found {
		scheme, rest = "", scheme
	} else if scheme != "unix" {
		rest, _, _ = strings.Cut(rest, "/")
		rest = rest[strings.LastIndexByte(rest, '@')+1:]
	}
	if strings.ContainsAny(rest, `/\`) {
		g.addPath(rest)
		return
	}
	host, port := rest, ""
	if i := strings.LastIndexByte(rest, ':'); i >= 0 &&
		(rest[0] == '[' && rest[i-1] == ']' || strings.Count(rest, ":") == 1) {
		host, port = rest[:i], rest[i+1:]
	}
	host = strings.Trim(host, "[]")
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "redis": "6379", "rediss": "6379"}[scheme]
	}
	names := []string{host}
	if ip, err := netip.ParseAddr(host); host == "" || host == "*" ||
		err == nil && (ip.IsLoopback() || ip.IsUnspecified()) ||
		slices.Contains(ourNames, host) {
		names = slices.Concat(names, ourNames, hosts)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		g.add(guarded{word: strings.TrimSuffix(name, "."), port: port})
	}
}

// find says what of ours a call names, or "": said is all that it says, with a zero byte after each string. Our program
// is only looked for where the tool carries commands, which do what does says.
func (g *guard) find(said string, commands bool, does *command.Line) string {
	m := g.in(said, commands)
	if does != nil {
		for _, words := range does.Commands {
			if slices.Contains(g.commands, program(words[0])) {
				return "our own command"
			}
		}
		for i := 0; m == nil && i < len(does.Words); i++ { // without their quotes
			m = g.in(does.Words[i], commands)
		}
	}
	switch {
	case m == nil:
		return ""
	case m.runs:
		return "our own command"
	case m.port != "":
		return "our own address"
	}
	return "what is guarded: " + m.word
}

// in finds the first guarded word in a text, or else in a path without doubled slashes, "." and "..": all between two
// zero bytes, or a word of that.
func (g *guard) in(text string, commands bool) *guarded {
	m := g.literally(text, commands)
	if m != nil || !isUntidy(text) {
		return m
	}
	for whole := range strings.SplitSeq(text, "\x00") {
		if m == nil && len(whole) <= longestWhole && strings.Contains(whole, "..") {
			m = g.literally(tidied(whole), commands)
		}
	}
	from := 0
	for i := 0; m == nil && i <= len(text); i++ {
		if i == len(text) || g.classes[text[i]]&endsPath != 0 {
			if word := text[from:i]; isUntidy(word) {
				m = g.literally(tidied(word), commands)
			}
			from = i + 1
		}
	}
	return m
}

// longestWhole is longer than paths are.
const longestWhole = 4096

func tidied(name string) string { return path.Clean(strings.ReplaceAll(name, `\`, "/")) }

// isUntidy reports whether two names that belong together may be apart. What is before or after them does not matter.
func isUntidy(text string) bool {
	return strings.IndexByte(text, '\\') >= 0 || strings.IndexByte(text, '/') >= 0 &&
		(strings.Contains(text, "//") || strings.Contains(text, "/./") || strings.Contains(text, "/../"))
}

func (g *guard) literally(text string, commands bool) *guarded {
	before := uint8(0) // one bit lower, a name that goes on hides what begins
	for i := range len(text) {
		c := g.classes[text[i]]
		if c&^(before>>1)&begins != 0 {
			marks := g.marks[lowered(text[i])]
			for n := range marks {
				if m := &marks[n]; m.isAt(text, i) && (commands || !m.runs) {
					return m
				}
			}
		}
		before = c
	}
	return nil
}

// isAt reports whether it is at a place in a text, as a word of its own. A backup of a guarded file, with a dot or a
// dash and more behind its name, is guarded, too.
func (m *guarded) isAt(text string, i int) bool {
	end := i + len(m.word)
	if end > len(text) || end < len(text) && !m.start && continues(text[end]) {
		return false
	}
	for n := range len(m.word) {
		if lowered(text[i+n]) != m.word[n] {
			return false
		}
	}
	switch {
	case m.port != "":
		return m.hasPort(text[max(0, i-len("https://[")):i], text[end:])
	case m.runs:
		before := text[max(0, i-len("/bin/")):i]
		return strings.HasSuffix(before, "/bin/") || strings.HasSuffix(before, "sbin/") ||
			subcommands[nextWord(text[end:])]
	}
	return true
}

// longestJoint is what stands between a host and a port at most: ("127.0.0.1", 8787)
const longestJoint = 4

// hasPort reports whether the port follows the host, or is the one that the address leaves out.
func (m *guarded) hasPort(before, after string) bool {
	before = strings.TrimSuffix(before, "[")
	implied := m.port == "80" && strings.HasSuffix(before, "http://") ||
		m.port == "443" && strings.HasSuffix(before, "https://")
	rest := strings.TrimPrefix(strings.TrimPrefix(after, "."), "]")
	port := strings.TrimLeft(
		rest[:min(len(rest), longestJoint)],
		": /=,\"'\t\x00",
	) + rest[min(len(rest), longestJoint):]
	if implied && !strings.HasPrefix(rest, ":") {
		return true
	}
	number, ours := strings.CutPrefix(port, m.port)
	return ours && len(port) < len(rest) && (number == "" || !continues(number[0]))
}

// longestCommand is more than our program and a subcommand of it are.
const longestCommand = 64

// nextWord is the word behind a name, without its quotes.
func nextWord(after string) string {
	after, _, _ = strings.Cut(strings.TrimPrefix(after[:min(len(after), longestCommand)], ".exe"), "\x01")
	words := strings.FieldsFunc(after, func(c rune) bool { return c != '-' && (c < 'a' || c > 'z') })
	if len(words) == 0 || strings.HasPrefix(after, words[0]) {
		return ""
	}
	return words[0]
}

// lowered is a letter of ASCII in lower case.
func lowered(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// continues reports whether a character goes on with a name. Dots and dashes do not: a backup of a guarded file is
// guarded.
func continues(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c >= 0x80
}
