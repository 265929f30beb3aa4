package policy

import (
	"bytes"
	"slices"
	"strings"
)

// isHost reports whether a host is this machine, by a name of its own, where the
// address is on this machine.
func (g *guard) isHost(a *address, host string) bool {
	return (a.host == "" || a.every) && slices.Contains(g.hosts, strings.TrimSuffix(host, "."))
}

// leads reports whether a word, given as a host, leads to the address.
func (g *guard) leads(a *address, word []byte) bool {
	host := string(bytes.Trim(word, "[]()"))
	return host != "" && len(host) <= maxHost && (a.reaches(host, false) || g.isHost(a, host))
}

// isLater is for a word that a shell works out when it runs the command.
func isLater(word []byte) bool { return bytes.ContainsAny(word, "$`") }

// spread finds an address of ours in two values of a call: a host, and the port as
// a number or a text, in any order. A small number is no host.
func (g *guard) spread(values []byte) bool {
	all := bytes.Split(values, []byte{0})
	for i := range g.addresses {
		a := &g.addresses[i]
		port := slices.ContainsFunc(all, func(v []byte) bool { return bytes.Equal(v, a.port) || bytes.Equal(v, a.hex) })
		if port && slices.ContainsFunc(all, func(v []byte) bool { return !isCount(v) && g.leads(a, v) }) {
			return true
		}
	}
	return false
}

// isCount is for a number that is more likely one than an address.
func isCount(v []byte) bool { return len(v) < 8 && len(bytes.Trim(v, "0123456789")) == 0 }

// socket finds the names under which bash connects: /dev/tcp/127.0.0.1/8787. A
// host or a port that the shell works out later may be ours.
func (g *guard) socket(b []byte) bool {
	if !bytes.Contains(b, []byte("/dev/")) {
		return false
	}
	for _, name := range [...]string{"/dev/tcp/", "/dev/udp/"} {
		for rest := b; ; {
			_, after, found := bytes.Cut(rest, []byte(name))
			if !found {
				break
			}
			rest = after
			host, port, _ := bytes.Cut(after[:wordEnd(after)], []byte{'/'})
			for i := range g.addresses {
				a := &g.addresses[i]
				if (isLater(host) || g.leads(a, host)) && (isLater(port) || bytes.Equal(bytes.TrimLeft(port, "0"), a.port)) {
					return true
				}
			}
		}
	}
	return false
}

// maxWord is how much of a word is read: more than any path or host has. Without a
// bound, a text made of such names would be read again for each.
const maxWord = 512

// wordEnd is where the word that b begins with ends, as far as it is read.
func wordEnd(b []byte) int {
	b = b[:min(len(b), maxWord)]
	if end := bytes.IndexAny(b, " \t\r\n\x00;|&<>\"'"); end >= 0 {
		return end
	}
	return len(b)
}

// connecting are programs that take a host and a port, so that 0 is a host too.
var connecting = words("nc ncat netcat nc.openbsd nc.traditional socat telnet busybox")

// together finds a host of this machine and a port of ours as words of one command
// line, in any order: nc ::1 8787, --port 8787 --host localhost, P=8787.
func (g *guard) together(b []byte) bool {
	if !slices.ContainsFunc(g.addresses, func(a address) bool { return bytes.Contains(b, a.port) || bytes.Contains(b, a.hex) }) {
		return false
	}
	const apart = " \t\r\n\x00;|&<>\"'`,=()"
	all := bytes.FieldsFunc(b, func(r rune) bool { return strings.ContainsRune(apart, r) })
	ports := bytes.FieldsFunc(b, func(r rune) bool { return strings.ContainsRune(apart+":/", r) })
	connects := slices.ContainsFunc(all, func(w []byte) bool { return connecting[string(w[bytes.LastIndexByte(w, '/')+1:])] })
	for i := range g.addresses {
		a := &g.addresses[i]
		port := slices.ContainsFunc(ports, func(w []byte) bool {
			return bytes.Equal(w, a.hex) || bytes.Equal(bytes.TrimLeft(bytes.TrimPrefix(w, []byte("-p")), "0"), a.port)
		})
		if port && slices.ContainsFunc(all, func(w []byte) bool {
			return connects && isLater(w) || (connects || !isCount(w)) && g.leads(a, w)
		}) {
			return true
		}
	}
	return false
}

// inside are the files by which one process sees into another, of any process, and
// of any but the one that reads.
var (
	inside = words("environ mem")
	others = words("fd fdinfo root cwd exe cmdline map_files maps auxv")
)

// process finds the inside of a running program: /proc/1/environ, /proc/*/mem. A
// command may also go there first, and name the file alone.
func process(b []byte, commands bool) bool {
	if !bytes.Contains(b, []byte("/proc")) {
		return false
	}
	environ := commands && names(b, "environ")
	workedOut := max(bytes.LastIndex(b, []byte(")/")), bytes.LastIndex(b, []byte("}/")))
	for rest := b; ; {
		_, after, found := bytes.Cut(rest, []byte("/proc"))
		if !found {
			return false
		}
		rest = after
		if environ && (len(after) == 0 || !continues(after[0])) {
			return true
		}
		end := wordEnd(after)
		parts := strings.Split(string(after[:end]), "/")
		if len(parts) < 2 || parts[0] != "" || !isProcess(parts[1]) {
			continue
		}
		if end == maxWord || seesInside(parts[1], parts[2:]) {
			return true
		}
		if commands && strings.Contains(parts[1], "$") && workedOut >= len(b)-len(after) {
			return true // /proc/$(pgrep x)/fd: what the shell works out has spaces
		}
	}
}

// seesInside reports whether a path below the directory of a process is one of the
// files by which one process sees into another.
func seesInside(process string, path []string) bool {
	self := process == "self" || process == "thread-self"
	for _, p := range path {
		if inside[p] || others[p] && !self || strings.ContainsAny(p, "*?[{$") {
			return true
		}
		if p != "task" && strings.Trim(p, "0123456789") != "" {
			return false
		}
	}
	return false
}

// isProcess tells a directory of a process from one of the system, such as sys: a
// number, a placeholder for one, or the process itself.
func isProcess(name string) bool {
	return name == "self" || name == "thread-self" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-_") != ""
}

// showsEnvironment finds ps with the option by which it shows the environment of
// every process: ps eww, ps aux e. With a dash, e means something else.
func showsEnvironment(b []byte) bool {
	if !bytes.Contains(b, []byte("ps")) {
		return false
	}
	lists, takes := false, false
	l := lineOf(b)
	for before := 0; l.next(); before = l.at {
		word := string(l.word)
		switch {
		case l.begins(before) || word == "ps":
			lists, takes = word == "ps" && l.command, false
		case !lists:
		case strings.HasPrefix(word, "-"):
			takes = len(word) == 2 && strings.Contains("opugtcskqn", word[1:])
		case takes:
			takes = false
		case strings.Contains(word, "e") && strings.Trim(word, "aefhjlnrsuvwxgm") == "" && spaceBefore(&l):
			return true
		}
	}
	return false
}

// begins reports whether a new command begins between the end of the word before
// and this word.
func (l *line) begins(before int) bool {
	return before == 0 || slices.ContainsFunc(l.text[before:l.at], func(c byte) bool { return shellBytes[c] == endsCommand })
}

// spaceBefore reports whether a space is before the word, which is then not part of a list.
func spaceBefore(l *line) bool {
	at := l.at - len(l.path) - 1
	return at >= 0 && (l.text[at] == ' ' || l.text[at] == 0)
}

// names reports whether b holds word as a whole word.
func names(b []byte, word string) bool {
	for at := 0; ; {
		i := bytes.Index(b[at:], []byte(word))
		if i < 0 {
			return false
		}
		if whole(b, at+i, []byte(word)) {
			return true
		}
		at += i + 1
	}
}

// The parts of OpenClaw's own program that change what the agent runs under, and
// what of each only looks. Its configuration is guarded as a file; here it is
// guarded as a command.
var (
	runtimes = words("openclaw openclaw.mjs openclaw.js openclaw.cmd clawdbot moltbot")
	editing  = words("config configure plugins plugin approvals hooks onboard setup reset uninstall")
	looking  = words("get list ls info inspect show status schema validate file path search help --help -h --version")
	// settings are the runtime's own methods and actions.
	settings = words("config.set config.unset config.patch config.apply plugins.enable plugins.disable plugins.install plugins.uninstall plugins.update exec.approvals.set")
)

// setsRuntime finds an action of OpenClaw's own tools that changes its
// configuration or plugins.
func (t *text) setsRuntime(tool string) bool {
	action := strings.ToLower(t.param(paramAction))
	switch tool {
	case "gateway", "openclaw":
		return settings[action]
	case "plugins":
		return !looking[action] && names(t.lower, "verifier")
	}
	return false
}

// lines are the values of a call as they are, and as a shell leaves them.
func (t *text) lines() [][]byte {
	if t.marks&(hasQuote|hasDollar) == 0 {
		return [][]byte{t.values}
	}
	return [][]byte{t.values, stripped(t.values)}
}

// edits reads a command line, which may be what OpenClaw's own program is given.
func edits(b []byte, program bool) bool {
	if !program && !bytes.Contains(b, []byte("claw")) && !bytes.Contains(b, []byte("moltbot")) {
		return false
	}
	given, part := program, false
	l := lineOf(b)
	for before := 0; l.next(); before = l.at {
		if l.begins(before) {
			if part {
				return true // openclaw configure; …
			}
			program = given
		}
		switch {
		case runtimes[string(l.word)]:
			program, part = true, false
		case part && !looking[string(l.word)], program && settings[string(l.word)]:
			return true
		case part:
			program, part = given, false
		case program && editing[string(l.word)]:
			part = true
		}
	}
	return part
}
