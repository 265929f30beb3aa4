package policy

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/command"
)

// mostCommands is how much of the commands of a call is read, in bytes. A longer one can do anything, and counts as
// naming a place where secrets are kept and as reaching the network: it asks at every level.
const mostCommands = 64 << 10

// readCommand reads what a call runs. Only a call that says nothing but one command, where it starts and how long it
// may take is known by that; in any other each text may be a command, and it can do anything.
func (s *said) readCommand() (all *command.Line, plain bool) {
	var list []string
	plain, left := true, mostCommands
	for i := range s.args {
		a := &s.args[i]
		isCommand := commandParams[a.name]
		if besideCommand[a.name] {
			plain = plain && a.top
			continue
		}
		text := a.value[:max(0, min(len(a.value), left))]
		left -= len(text) + 1
		whole := isCommand && a.top && a.isText
		plain = plain && whole
		switch {
		case left < 0 && text == "":
		case !whole && (isCommand || a.name == "argv" || a.name == "args" || a.name == "arguments"):
			list = append(list, text)
		default:
			plain, all = plain && all == nil, joined(all, command.Read(text))
		}
	}
	if list != nil || all == nil {
		all = joined(all, command.Argv(list))
	}
	s.long = left < 0
	for _, name := range s.names {
		key := plainKey(name)
		plain = plain && (commandParams[key] || besideCommand[key])
	}
	if plain = plain && !s.long; !plain {
		all.Effect, all.Install, all.Network = command.Anything, false, all.Network || s.long
	}
	s.base = s.start
	s.in(all)
	return all, plain
}

// joined is what lines say together with the next one.
func joined(all, one *command.Line) *command.Line {
	if all == nil {
		return one
	}
	all.Dir, all.Why = one.Dir, cmp.Or(all.Why, one.Why)
	all.Commands, all.Words = append(all.Commands, one.Commands...), append(all.Words, one.Words...)
	all.Paths = append(all.Paths, one.Paths...)
	all.Network, all.Joined = all.Network || one.Network, all.Joined || one.Joined
	return all
}

// knownEffect is the rule for commands, as far as the call itself tells. Where only the conversation's level asks, a
// Look passes, and so does a Local while the client's mark of unseen writes is not set: see [judgement.allowKnown]. For
// that
//   - the runtime says linux or darwin,
//   - the owner or the runtime started the run directly, and not in a group,
//   - params are only the command, its directory, a timeout and a description,
//   - the workspace is fixed, and is no home, no directory above one and not the root of the disk,
//   - the call starts in it, and all paths of the command lie in it,
//   - and the call names no place where secrets are kept.
//
// Anything else can do anything.
func (pl *planner) knownEffect() command.Effect {
	leads := func(name string) bool { return !pl.holds(name) }
	if pl.Line == nil || !pl.onUnix() || !pl.rule.startsHere() || pl.Line.Network || pl.Secret != "" ||
		!pl.Initiator.Owns(pl.Call) || pl.base == "" || leads(pl.base) || pl.start != pl.base && leads(".") ||
		slices.ContainsFunc(pl.Line.Paths, leads) {
		return command.Anything
	}
	return pl.Line.Effect
}

func (s *said) onUnix() bool { return s.Context.Platform == "linux" || s.Context.Platform == "darwin" }

// startsHere reports whether the tool starts a command on this machine. On another machine, or typed into a program
// that runs already, the same words may do anything.
func (r *rule) startsHere() bool { return r.runs && !r.leaves && polling[r.name].actions == nil }

// polling are the calls that only look at what running commands have printed, by their tool: the actions, and what such
// a call may be given. OpenClaw takes the action as it is written.
var polling = map[string]struct{ actions, params map[string]bool }{
	"process":  {setOfWords("list poll log"), setOfWords("action sessionId timeout offset limit")},
	"terminal": {setOfWords("list read"), setOfWords("action sessionId")},
}

func (s *said) polls() bool {
	known, ok := polling[s.Tool]
	return ok && known.actions[s.top("action")] &&
		!slices.ContainsFunc(s.names, func(name string) bool { return !known.params[name] })
}

// codingAgents are those whose shell is the owner's own. The gateway's own hook names them.
var codingAgents = map[string]bool{"claude-code": true, "codex": true, "gemini": true, "opencode": true}

// agentAsks says why a call of a coding agent asks at every level, as a sentence; "" where it does not.
func (pl *planner) agentAsks() string {
	switch {
	case !codingAgents[pl.Agent()], pl.Line == nil && !pl.rule.writes:
	case pl.rule.writes:
		if pl.named.outside {
			return "This writes a file outside the workspace."
		}
	case pl.Secret != "":
		return "This reads a place where secrets are kept."
	case pl.Line.Joined && pl.Line.Network:
		return "This joins what comes from the network with another command."
	case pl.named.asked != "":
		return "`" + pl.named.asked + "` is a command that you are asked about each time."
	case pl.named.away:
		return "This command names files outside the workspace."
	}
	return ""
}

// beginnings are the beginnings of commands, by their programs, with the list that each is on.
type beginnings map[string][]beginning

const askCommands = "ask commands" // a list

type beginning struct {
	words []string
	list  string
}

// mark notes on which lists a command is, and whether it shows the environment: printenv, or env without a command.
func (b beginnings) mark(n *named, words []string) {
	name, does, sets := program(words[0]), false, false
	for _, w := range words[1:] {
		is := !strings.HasPrefix(w, "-")
		does, sets = does || is && !strings.Contains(w, "="), sets || is
	}
	if name == "printenv" || name == "env" && !does {
		n.secret = ofCommands
	}
	all := b[name]
	if at := strings.IndexByte(name, '.'); at > 0 { // mkfs.ext4
		all = slices.Concat(all, b[name[:at]])
	}
	for _, begin := range all {
		if len(words) < len(begin.words) || !slices.Equal(words[1:len(begin.words)], begin.words[1:]) {
			continue
		}
		switch begin.list {
		case askCommands:
			n.asked = cmp.Or(n.asked, strings.Join(begin.words, " "))
		case "deletes":
			n.deletes = true
		case "agents":
			n.agent = true
		case "obeys its input":
			n.obeys = n.obeys || !sets
		}
	}
}

// program is the name of a program, as it is called on all systems.
func program(word string) string {
	if strings.IndexFunc(word, func(c rune) bool { return c < 'a' || c > 'z' }) < 0 {
		return word
	}
	return strings.TrimSuffix(strings.ToLower(path.Base(strings.ReplaceAll(word, `\`, "/"))), ".exe")
}

// turnsOff reports whether a call may turn us off: a tool that writes files, or one that we don't know, and that names
// where an agent reads which hooks it runs; or a command that names such a place, or starts an agent.
func (pl *planner) turnsOff() bool {
	switch {
	case pl.Line != nil:
		return pl.Line.Effect != command.Look && (pl.named.settings || pl.named.agent)
	case pl.rule.writes:
		return pl.named.settings
	case pl.rule.known:
		return false
	}
	return slices.ContainsFunc(pl.args, func(a argument) bool {
		lower := strings.ToLower(a.value)
		if !slices.ContainsFunc(agentNames, func(name string) bool { return strings.Contains(lower, name) }) {
			return false
		}
		if commandParams[a.name] {
			line, at := command.Read(a.value), pl.ground
			at.in(line)
			if n := pl.policy.namedBy(line, &at); n.agent || n.settings {
				return true
			}
		}
		return isSettings(pl.resolve(a.value)) || slices.ContainsFunc(strings.FieldsFunc(a.value, endsWord), isSettings)
	})
}

// agentNames are in all names of such places.
var agentNames = strings.Fields("claude codex gemini opencode .mcp.json verifier")

func endsWord(c rune) bool {
	return c <= ' ' || c < 0x80 && strings.IndexByte("'\"`(){},;=<>|&", byte(c)) >= 0
}

// isSettings reports whether a path is such a file or below such a directory, or is a program of ours.
func isSettings(name string) bool {
	if len(name) > mostPath {
		return false
	}
	above, last := "", ""
	for part := range strings.SplitSeq(strings.ToLower(strings.ReplaceAll(name, `\`, "/")), "/") {
		part = strings.TrimSuffix(strings.TrimRight(part, ". "), ".exe")
		if above, last = last, part; settingsPaths[part] || settingsPaths[above+"/"+part] {
			return true
		}
	}
	return last == "verifier-hook" || last == "verifier" && (above == "bin" || above == "sbin")
}

// isSettingsWord reports whether a word of a command names such a place; OpenClaw's workspace and media are none.
func (p *place) isSettingsWord() bool {
	isSettings := func(part string) bool {
		return settingsInCommand.match(strings.ToLower(part)) &&
			(part != ".openclaw" || !p.home || !p.inside && !isBelowAny(p.rest, noSecrets))
	}
	return settingsInCommand.mayBeIn(strings.ToLower(p.name)) &&
		slices.ContainsFunc(strings.Split(p.name, "/"), isSettings)
}
