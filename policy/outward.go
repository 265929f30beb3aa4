package policy

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/command"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// outwardRule is the id of the rule.
const outwardRule = "outward"

// outward says why a command of a coding agent asks at every level, as a sentence; "" where it does not. A coding agent's shell
// may look, build, test, fetch and write in the workspace in its owner's own conversation. What sends something out, publishes,
// deletes elsewhere, shows secrets, writes what other programs run or changes the agent's hooks is asked about there too. So it is for a tool that takes a command and that nothing is known
// of: the agent's next version may bring another shell.
func (p *Policy) outward(pl *Plan, c *toolcall.Call, t *text, does *command.Command) string {
	switch {
	case pl.changesHooks(c, t, does):
		return "This may change which hooks a coding agent runs, and so whether it asks."
	case !codingAgents[c.Agent()]:
		return ""
	case fileWriters[pl.rule.name] && pl.writesObeyed(c, t):
		return "This writes a file outside the workspace that other programs run or obey later."
	case !pl.Shell && pl.rule.known:
		return ""
	case !pl.Shell:
		given := commandsGiven(c)
		does = &given
	}
	switch {
	case does.Sends != "":
		return "`" + does.Sends + "` can send data out or publish something."
	case does.RunsPage:
		return "This runs what it fetches."
	case does.Opaque != "":
		return "This command " + does.Opaque + "."
	case does.Harms != "":
		return "`" + does.Harms + "` changes what is outside the workspace."
	case deletesOutside(pl.inside, does):
		return "This deletes or writes over files outside the workspace."
	case p.secrets.showsSecret(does):
		return "This reads a place where secrets are kept."
	}
	return ""
}

// writesObeyed reports whether a call writes a file outside the workspace that other programs run or obey: what a shell reads when it starts, keys for ssh, services, programs. A shell asks about all
// files there; what agents write beside their work, such as plans and notes, passes here.
func (pl *Plan) writesObeyed(c *toolcall.Call, t *text) bool {
	from := cmp.Or(c.Context.Directory, c.Context.Workspace)
	for at, value := range t.strings {
		if at != value && directoryParams[at] {
			from = value
		}
	}
	return slices.ContainsFunc(filesOf(c.Tool, t.strings), func(name string) bool {
		if isOwnFile(pl.inside, c.Context.Workspace, from, name) {
			return false
		}
		parts := partsOfPath(strings.TrimSpace(name))
		if slices.ContainsFunc(parts, func(part string) bool { return runLater[part] }) {
			return true
		}
		dir := parts[max(0, len(parts)-2)]
		return dir == "bin" || dir == "sbin"
	})
}

// isOwnFile reports whether a file, which may be named from a directory, is surely in the workspace or below /tmp. A path of a drive of Windows is compared without the letter.
func isOwnFile(inside []string, workspace, from, name string) bool {
	clean, ok := cleanPath(name)
	if !ok || strings.Contains(name, "file:") {
		return false
	}
	if relative(clean) && !onDrive(clean) {
		start, ok := cleanPath(from)
		if !ok {
			return false
		}
		clean = path.Join(start, clean)
	}
	place, _ := cleanPath(workspace)
	clean, place = withoutDrive(clean), withoutDrive(place)
	isProject := isWorkspace(place) || strings.Count(place, "/") == 1 && !isHome(place) && !systemDirectories[strings.ToLower(place[1:])]
	return strings.HasPrefix(clean, "/tmp/") || isProject && below(clean, place) || !relative(clean) && within(clean, inside)
}

func withoutDrive(name string) string { return name[len(driveOf.FindString(name)):] }

var driveOf = regexp.MustCompile(`^[A-Za-z]:`)

// deletesOutside reports whether a command deletes something that is not in the workspace, or whose name only the shell knows. What
// is below /tmp counts as the workspace, as for writing.
func deletesOutside(inside []string, does *command.Command) bool {
	outside := func(name string) bool {
		fixed := fixedPart(name)
		return (!strings.HasPrefix(fixed, "/tmp/") || fixed == "/tmp/") && !within(fixed, inside)
	}
	if slices.ContainsFunc(does.Alters, outside) || slices.ContainsFunc(does.Over, outside) {
		return true
	}
	return does.Deletes && len(does.Alters) == 0 && slices.ContainsFunc(does.Reads, func(r command.Read) bool { return outside(r.Path) }) // by code
}

// showsSecret reports whether a command names a place where secrets are kept, or shows the environment. A search, and a pattern that could find such a place among others, are
// reading: what they bring in still counts.
func (s *secretIndex) showsSecret(does *command.Command) bool {
	return does.Environment || does.Stores || does.Settings || does.CodeShows || slices.ContainsFunc(does.Variables, holdsSecret) ||
		slices.ContainsFunc(does.Words, func(word string) bool { return s.placeIn(word) != "" }) ||
		slices.ContainsFunc(does.Reads, func(r command.Read) bool {
			place := s.secretAt(&r)
			return place != "" && place != anyFiles && (place != hiddenFiles || !r.Deep) && !r.Unknown()
		})
}

// tightenOutward asks at every level, but for one of which the owner says something by name.
func (pl planner) tightenOutward() {
	for _, l := range taint.All() {
		if pl.asksOutward(l) {
			pl.Modes[l] = taint.Stricter(pl.Modes[l], confirm)
		}
	}
}

func (r *ruling) asksOutward(l taint.Level) bool {
	return r.outwards != "" && r.rule.table.origin[l] != byOverride
}

// explainOutward adds the rule where it made the mode stricter.
func (r *ruling) explainOutward(v *Verdict, l taint.Level) {
	if r.asksOutward(l) && r.rule.table.modes[l] < confirm {
		v.add(outwardRule, r.outwards, confirm)
	}
}
