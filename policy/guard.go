package policy

import (
	"bytes"
	"slices"
	"strings"
)

// guard finds calls that name what belongs to the verifier, to its owner or to
// OpenClaw's own configuration. An agent that could reach these could approve
// itself. It reads every string of a call in all the ways that [text.readings]
// knows; a shell knows more.
type guard struct {
	whole     [][]byte // paths, names: see addPath, addName
	words     *matcher // of whole
	prefixes  [][]byte // starts of words, with their case
	addresses []address
	hosts     []string // names of this machine, in lower case
	commands  [][]byte
	paths     [][]string // in parts, for patterns: see worksOut
	runtimes  [][]string // the same for OpenClaw's
}

// openclawPaths are OpenClaw's own: who writes them needs no approval any more.
var openclawPaths = []string{
	"openclaw.json",
	".openclaw/credentials",
	".openclaw/.env",
	".openclaw/extensions",
	"exec-approvals.json",
	"auth-profiles.json",
}

func newGuard(g Guard) guard {
	var out guard
	for _, p := range openclawPaths {
		out.whole = append(out.whole, []byte(p))
	}
	for _, p := range g.Paths {
		out.addPath(p)
		if parts := partsOf(strings.ReplaceAll(p, `\`, "/")); len(parts) > 1 {
			out.paths = append(out.paths, parts)
		}
	}
	for _, p := range openclawPaths {
		out.runtimes = append(out.runtimes, partsOf("~/.openclaw/"+strings.TrimPrefix(p, ".openclaw/")))
	}
	for _, a := range g.Addresses {
		out.addAddress(a)
	}
	for _, h := range g.Hosts {
		out.hosts = append(out.hosts, strings.TrimSuffix(strings.ToLower(h), "."))
	}
	for _, c := range g.Commands {
		if c != "" {
			out.commands = append(out.commands, []byte(strings.ToLower(c)))
		}
	}
	for _, n := range g.Names {
		out.addName(n)
	}
	out.words = newMatcher(out.whole)
	return out
}

// addPath keeps the last two components, so that ~, $HOME, a mount or a
// relative start make no difference.
func (g *guard) addPath(p string) {
	lower := folded([]byte(p))
	clean := cleaned(bytes.ReplaceAll(lower, []byte{'\\'}, []byte{'/'}))
	parts := bytes.FieldsFunc(clean, func(r rune) bool { return r == '/' })
	for len(parts) > 0 && (string(parts[0]) == "." || string(parts[0]) == "..") {
		parts = parts[1:]
	}
	switch n := len(parts); {
	case n == 0:
	case n == 1 && bytes.HasPrefix(clean, []byte{'/'}):
		g.whole = append(g.whole, append([]byte{'/'}, parts[0]...))
	default:
		g.whole = append(g.whole, bytes.Join(parts[max(0, n-2):], []byte{'/'}))
	}
}

// addName keeps a word, or with a star at its end the start of one. The start
// keeps its case: VERIFIER_* are variables, verifier_test is a package.
func (g *guard) addName(n string) {
	if prefix, ok := strings.CutSuffix(n, "*"); ok && prefix != "" {
		g.prefixes = append(g.prefixes, []byte(prefix))
		return
	}
	if n != "" {
		g.whole = append(g.whole, []byte(strings.ToLower(n)))
	}
}

// find says what of ours a call names, or "". Commands are only looked for
// where the tool carries commands.
func (g *guard) find(t *text, tool string, commands bool) (found string) {
	if slices.ContainsFunc(g.prefixes, func(p []byte) bool { return starts(t.raw, p) }) {
		return "a name that is ours"
	}
	if t.marks&hasBreak != 0 && bytes.Contains(t.lower, []byte("://")) && g.address(unbroken(t.lower)) {
		return "our own address"
	}
	if g.spread(t.values) {
		return "our own address"
	}
	var lines [][]byte
	if commands {
		lines = t.lines()
	}
	if t.setsRuntime(tool) || slices.ContainsFunc(lines, func(b []byte) bool { return edits(b, tool == "openclaw") }) {
		return "what changes the agent's own runtime"
	}
	if slices.ContainsFunc(lines, showsEnvironment) {
		return "the environment of running programs"
	}
	t.readings(commands, func(b []byte) bool {
		found = g.in(b, commands)
		return found != ""
	})
	return found
}

func (g *guard) in(b []byte, commands bool) string {
	if w := find(g.words, b); w != nil {
		return "what is guarded: " + string(w)
	}
	if g.address(b) || commands && g.together(b) || g.socket(b) {
		return "our own address"
	}
	if process(b, commands) {
		return "the inside of a running program"
	}
	if commands && g.command(b) {
		return "our own command"
	}
	return ""
}

// starts reports whether a word in b begins with prefix.
func starts(b, prefix []byte) bool {
	for at := 0; ; {
		i := bytes.Index(b[at:], prefix)
		if i < 0 {
			return false
		}
		if at += i; at == 0 || !extends(b[at-1]) {
			return true
		}
		at++
	}
}

// unbroken drops tabs and newlines, which an address parser ignores.
func unbroken(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for _, c := range b {
		if byteMarks[c]&hasBreak == 0 {
			out = append(out, c)
		}
	}
	return out
}
