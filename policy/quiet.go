package policy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/command"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// Quiet are reasons for which a call passes unasked although outside content came
// in. None of them rests on what a text means. Each is a consent with a name of
// its own, lets only such calls pass that nothing but the level asks about, and
// holds under no strict profile.
type Quiet struct {
	// Local lets a command pass that only lists and searches files of the workspace,
	// stages, commits and shows changes there, or says which machine or version it is: see [command.PlainLocal].
	Local bool `yaml:"local"`
}

// The names of the reasons, in the record and in explanations.
const (
	localRule = "local"
)

// QuietRules are the ids of the reasons that let a call pass which waits only
// because of what came into the conversation.
func QuietRules() []string {
	return []string{localRule, seenRule, lookRule}
}

// isLocal reports whether the command of a call, which stays inside, only does what can be undone there: its text is in a short table, it starts where the workspace begins,
// a message of the owner's started the run, and the shell looks for programs only in its path.
func (pl *Plan) isLocal(c *toolcall.Call, does *command.Command) bool {
	dir := pl.only.dir
	patterns, ok := command.PlainLocal(pl.only.text)
	return ok && does.Local() && !slices.ContainsFunc(patterns, namesSecret) && (dir == "" || dir == "." || slices.Contains(pl.inside, dir)) && pl.isTyped(c) && isPosix(c)
}

// isTyped reports whether the owner's own message started the run: no schedule, webhook or other run did, whatever the runtime says of the sender. Where the runtime marks
// the input as anything but a message, outside content above all, nothing says that a person typed it: OpenClaw's plugin sends no trigger then.
func (pl *Plan) isTyped(c *toolcall.Call) bool {
	trigger, input, key := c.Context.Trigger, c.Context.InputProvenance.Kind, c.Context.SessionKey
	return c.Context.SenderIsOwner && (trigger == "" || trigger == "user") && (input == "" || input == "external_user") && !pl.Initiator.Spawned && !session.IsHook(key) && !session.IsCron(key)
}

// isPosix reports whether the runtime says that commands run on a system other than Windows: by its name, or else by a path that begins with a slash, and not as
// a drive or a share of Windows is written there: /c/x, /cygdrive/c/x, //server/x.
func isPosix(c *toolcall.Call) bool {
	if name := c.Context.Platform; name != "" {
		return posix[name]
	}
	return strings.HasPrefix(c.Context.Workspace, "/") && !windowsPath.MatchString(c.Context.Workspace)
}

var (
	posix       = words("linux darwin freebsd openbsd")
	windowsPath = regexp.MustCompile(`^/([A-Za-z]|cygdrive)?(/|$)`)
)

// namesSecret reports whether a word finds lines with secrets, or is the name of one with more around it: DB_PASSWORD, accessToken.
func namesSecret(word string) bool { return findsSecret(word) || secretName.MatchString(word) }

var secretName = regexp.MustCompile(`(?i)pass|pwd|secret|token|key|cred|auth|private|bearer|cookie|mnemonic|salt|dsn|jdbc|mongodb|connection_?str|client_?-?id`)

// allowLocal lets a command pass that acts only in the workspace, can be undone there, and waits only because of what came into the conversation.
// Git runs hooks and settings of the workspace, and a link there may lead elsewhere, so a person must have seen all that was written since outside content came in.
// A commit could keep a secret for the next push.
func (j *judgement) allowLocal() {
	if !j.out.LevelAlone || !j.local || j.view.Workspace != session.AllSeen {
		return
	}
	if j.view.Secret != "" || j.view.Secrets == session.Holds || j.view.Bears || j.view.Lost {
		return
	}
	j.out.Mode, j.out.LevelAlone = allow, false
	j.out.add(localRule, "This only lists and searches files of the workspace, stages, commits and shows changes there, or says which machine or version it is, and you have seen all that was written there since outside content came in: allow.", allow)
}

// InWorkspace reports whether it matters for the call that a person has seen what was written into the workspace: see [session.View.Workspace].
func (pl *Plan) InWorkspace() bool { return pl.Workspace || pl.local }

// Clean reports whether no outside content came into a conversation of this level.
func (pl *Plan) Clean(l taint.Level) bool { return l < pl.from }

// Consents says, one sentence each, by which reasons a call of this form may pass
// unasked where it would ask, and what it takes besides its form.
func (pl *Plan) Consents() (out []string) {
	if pl.local {
		out = append(out, localRule+": if you have seen all that was written into the workspace since outside content came in.")
	}
	return out
}
