package policy

import (
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/command"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// Writing is what a call writes into files.
type Writing uint8

// What a call may write.
const (
	WritesNothing Writing = iota
	WritesShown           // files, and the call says what is in them
	WritesModules         // go.mod and go.sum, by go get: builds run what these name, and git does not
	WritesUnseen          // files of which it doesn't, or we can't tell
)

// writing says what a call of a tool writes. A tool that acts and is not in our table may write anything.
func (r *rule) writing(does *command.Command, c *toolcall.Call, only onlyCommand) Writing {
	writes, shown := false, true
	switch {
	case fileWriters[r.name]:
		return WritesShown
	case r.runs && only.ok && command.AddsModules(only.text):
		return WritesModules
	case savers[r.name] && savesFile(c):
		return WritesUnseen
	case r.runs:
		writes, shown = does.Writing()
	case r.sink && !isShipped[r.name], unseenWriters[r.name]:
		return WritesUnseen
	}
	switch {
	case !writes:
		return WritesNothing
	case shown:
		return WritesShown
	}
	return WritesUnseen
}

// savers are shipped tools that may put what they get into a file of a name that they are given.
var savers = words("browser canvas nodes transcripts image_generate video_generate music_generate tts " +
	"mcp__playwright__browser_snapshot mcp__playwright__browser_take_screenshot mcp__playwright__browser_console_messages mcp__playwright__browser_network_requests")

// save makes a call of a server's tool that looks one that acts, where it puts what it sees into a file: a page could write what is obeyed later.
func (pl planner) save(c *toolcall.Call) {
	if name := pl.rule.name; !pl.sink && savers[name] && strings.HasPrefix(name, serverPrefix) && savesFile(c) {
		pl.actsBy("the file that it writes")
	}
}

// savesFile reports whether a call names a file in which its tool puts what it gets: browser download path=Makefile.
func savesFile(c *toolcall.Call) bool {
	for path, value := range c.Strings {
		if path != value && value != "" && savingParams[strings.ToLower(separators.Replace(strings.TrimRight(path[strings.LastIndexByte(path, '.')+1:], "[]0123456789")))] {
			return true
		}
	}
	return false
}

var savingParams = words("path outpath outputpath savepath saveto downloadpath downloaddir filepath filename file out output outfile destination dest")

// unseenWriters are shipped tools that may write into the workspace what no card shows as it will be.
var unseenWriters = words("file_write computer dir_fetch plugins openclaw skill_workshop")

var isShipped = func() map[string]bool {
	out := make(map[string]bool, len(shipped))
	for i := range shipped {
		out[shipped[i].name] = true
	}
	return out
}()

// runsSeen reports whether a command only runs what is in the workspace, and a person has seen what was written there
// since outside content came in.
func (pl *Plan) runsSeen(v *session.View) bool { return pl.Workspace && v.Workspace == session.AllSeen }

// RunsModules reports whether the command may run modules that the workspace uses: a build does, and so may a hook of git commit.
func (pl *Plan) RunsModules() bool {
	return pl.parsed == nil || slices.ContainsFunc(pl.parsed.Runs, func(what string) bool { return !hookless[what] })
}

// hookless are the commands of git that run filters and settings of the workspace, and no hook.
var hookless = map[string]bool{
	"git status": true, "git diff": true, "git log": true, "git add": true, "git show": true, "git blame": true, "git ls-files": true, "git ls-tree": true, "git rev-parse": true, "git rev-list": true,
	"git merge-base": true, "git describe": true, "git shortlog": true, "git remote": true,
}

// buildsSeen reports whether a call of a run that the owner or the runtime started only builds, tests or commits in the workspace, and a
// person has seen all that outside content could have put there. Where secrets were read as well, or the call holds one, a commit
// could keep them for the next push.
func (pl *Plan) buildsSeen(v *session.View) bool {
	return pl.builds && pl.runsSeen(v) && !pl.strict && pl.Secret == "" && pl.Gives == "" && v.Secret == "" && v.Secrets != session.Holds && !v.Bears
}

// seenRule is the id of the rule.
const seenRule = "seen"

// allowSeen lets a build pass that waits only because of what came into the conversation.
func (j *judgement) allowSeen() {
	if !j.out.LevelAlone || !j.buildsSeen(j.view) {
		return
	}
	j.out.Mode, j.out.LevelAlone = allow, false
	j.out.add(seenRule, "This builds, tests, commits or shows what is in the workspace, and you have seen all that was written there since outside content came in, so it may run.", allow)
}

// codingAgents are those whose shell is how they look at files. The gateway's own hook names them.
var codingAgents = words("claude-code codex gemini opencode")

// lookRule is the id of the rule.
const lookRule = "look"

// allowLook lets a command of a coding agent pass that only looks at files of the workspace, where nothing but the level asks: ls, cat main.go,
// rg foo; also of its sub-agents. It is known by its programs and options, writes nothing, runs nothing from the workspace and reaches nothing beyond the machine. The
// agent's own tools for the same, read, grep and ls, are asked about at no level. What could hold a secret asks.
func (j *judgement) allowLook() {
	if !j.out.LevelAlone || !j.onlyLooks || j.strict || j.Secret != "" || j.Gives != "" {
		return
	}
	j.out.Mode, j.out.LevelAlone = allow, false
	j.out.add(lookRule, "This only looks at files in the workspace, as read does, so it may run.", allow)
}

// buildParams are what a build may be called with: the command, where it starts and how long it may take. Others can say
// on which machine it runs, and as whom. With pty it has a terminal, in which git waits in a pager that runs what is typed into it.
var buildParams = words("command cmd commandline argv workdir cwd workingdirectory directory dir description timeout timeoutms timeoutseconds yieldms background runinbackground title maxoutputtokens dirpath yieldtimems isbackground delayms waitforprevious")

// isOwners reports whether the owner or the runtime started the run, and no one else speaks there. What the owner's message holds may be
// outside content all the same.
func isOwners(c *toolcall.Call, s *session.Initiator) bool {
	if c.Context.GroupID != "" || session.IsGroup(c.Context.SessionKey) || s.Orphan {
		return false
	}
	return c.Context.SenderIsOwner || s.System
}

// isSubagents reports whether another run of the same runtime started this one, and nothing from outside did.
func isSubagents(c *toolcall.Call, s *session.Initiator) bool {
	return s.Spawned && !s.Resumed && s.Level == system && c.Context.GroupID == "" && c.Context.SenderID == ""
}

// Owners reports whether the owner or the runtime started the run of a call, and no one else speaks there.
func (pl *Plan) Owners(c *toolcall.Call) bool { return isOwners(c, &pl.Initiator) }

// onlyCommand is the command of a call that says nothing else but where it starts and how long it may take.
type onlyCommand struct {
	text, dir string
	ok        bool // the call is such a one
}

// onlyCommandOf reads it from the params of a call.
func onlyCommandOf(c *toolcall.Call, params map[string]any) (only onlyCommand) {
	commands, directories := 0, 0
	for name, value := range params {
		key := strings.ToLower(separators.Replace(name))
		text, isText := value.(string)
		isText = isText || value == nil
		_, isObject := value.(map[string]any)
		_, isList := value.([]any)
		switch {
		case !buildParams[key], isObject, isList: // some runtime may find more in it
			return onlyCommand{}
		case commandParams[key] && isText:
			only.text = text
			commands++
		case directoryParams[key] && isText:
			only.dir = text
			directories++
		case commandParams[key], directoryParams[key]:
			return onlyCommand{}
		}
	}
	if commands != 1 || directories > 1 || !isPlainLine(c, only.text) || strings.Trim(only.dir, plainPath) != "" {
		return onlyCommand{}
	}
	only.ok = true
	return only
}

// isPlainLine reports whether a command is a plain line in the shell that runs it. Which shell that is no runtime says. A coding agent's hook says where the agent
// was started: a path that begins with a slash is none of Windows, and no agent uses cmd elsewhere.
func isPlainLine(c *toolcall.Call, text string) bool {
	if strings.HasPrefix(c.Context.Workspace, "/") {
		return command.IsPlain(text)
	}
	return command.IsPlainAnywhere(text)
}

// plainPath are the characters of a directory that every program reads alike.
const plainPath = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./~-"

// command says what the call's command can do in a conversation; "" where that is harmless.
func (j *judgement) command() string {
	switch {
	case j.runsSeen(j.view):
		return ""
	case j.Workspace && j.does != "" && j.view.Workspace != "":
		return j.does + " Files were written there that you have not seen. Look at them, then `.reset-trust " + j.view.Workspace + "` lets builds run unasked again."
	}
	return j.does
}
