package policy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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
	// Completes lets a one-time code be entered for what a person approved in
	// this turn, or the policy allowed before outside content came in.
	Completes bool `yaml:"completes"`
	// Local lets a command pass that only lists and searches files of the workspace,
	// stages, commits and shows changes there, or says which machine or version it is: see [command.PlainLocal].
	Local bool `yaml:"local"`
	// Site lets a page be fetched whose address the user typed in this turn, or that a
	// page of a host links to which the user typed or a person approved in this turn.
	Site bool `yaml:"site"`
}

// The names of the reasons, in the record and in explanations.
const (
	CompletesRule = "completes"
	localRule     = "local"
	SiteRule      = "site"
)

// QuietRules are the ids of the reasons that let a call pass which waits only
// because of what came into the conversation.
func QuietRules() []string {
	return []string{CompletesRule, localRule, SiteRule, seenRule, lookRule}
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

// quieting says which of the reasons not to ask a call has the form of.
func (p *Policy) quieting(pl *Plan, c *toolcall.Call) {
	p.completing(pl, c)
	p.page(pl, c)
}

// completing says whether a call acts, on what, and whether it could be one that
// completes another: its tool is labelled so, and all it says is a code.
func (p *Policy) completing(pl *Plan, c *toolcall.Call) {
	if !p.quiet.Completes || pl.strict {
		return
	}
	r := pl.rule
	pl.Acts = pl.sink || pl.Anything || pl.Writes != WritesNothing || !pl.Reach.empty()
	pl.Service = r.serviceOf(c.Tool)
	pl.Completes = r.completes && pl.Service != "" && pl.Grantable && !c.Hints.Destroys() && saysOnlyACode(c.Params) && isOwners(c, &pl.Initiator)
}

// Service is what a tool belongs to, for an agent; "" where that is not known.
func (p *Policy) Service(agent, tool string) string {
	return p.rulesFor(agent).find(tool).serviceOf(tool)
}

// serviceOf is what a tool belongs to: what the owner says, or the server in its
// name. Labels of one tool do not speak for others.
func (f *facts) serviceOf(tool string) string {
	if f.service != "" {
		return strings.ToLower(f.service)
	}
	if server, ok := serverOf(tool); ok {
		return server
	}
	return ""
}

// The shortest and the longest one-time code, in digits. A longer number could be
// an account, or carry something out.
const shortestCode, longestCode = 4, 8

// codeNames are names of an argument that holds a one-time code, without separators.
// A number under any other name may be an amount or an account.
var codeNames = map[string]bool{
	"code": true, "passcode": true, "verificationcode": true, "confirmationcode": true, "onetimecode": true, "authcode": true, "authenticationcode": true,
	"securitycode": true, "smscode": true, "mfacode": true, "twofactorcode": true, "otp": true,
}

// saysOnlyACode reports whether params have one member, which is named like a
// one-time code and whose value is a number as long as one.
func saysOnlyACode(params jsontext.Value) bool {
	var members map[string]jsontext.Value
	if json.Unmarshal(params, &members) != nil || len(members) != 1 {
		return false
	}
	for name, value := range members {
		code := string(value)
		if !codeNames[strings.ToLower(separators.Replace(name))] || value.Kind() == jsontext.KindString && json.Unmarshal(value, &code) != nil {
			return false
		}
		return len(code) >= shortestCode && len(code) <= longestCode && strings.Trim(code, "0123456789") == ""
	}
	return false
}

// Clean reports whether no outside content came into a conversation of this level.
func (pl *Plan) Clean(l taint.Level) bool { return l < pl.from }

// Judged reports whether the policy looked at what the call does: it was in scope,
// and no rule closed it.
func (pl *Plan) Judged() bool { return pl.InScope && pl.gate == (gate{}) }

// checkCompletes finds labels that contradict each other.
func (w *problems) checkCompletes(path string, f *facts) {
	if f.completes && (f.safe || !f.sink || f.dangerous || f.destructive || f.money || f.secret || f.runs) {
		w.fail(path+".completes", "only a tool with sink: true that pays, destroys and runs nothing and bears no secrets may complete what another began")
	}
}

// Consents says, one sentence each, by which reasons a call of this form may pass
// unasked where it would ask, and what it takes besides its form.
func (pl *Plan) Consents() (out []string) {
	if pl.Completes {
		out = append(out, CompletesRule+": once, after a call on "+strings.Trim(strings.TrimPrefix(pl.Service, serverPrefix), "_")+" that you approved in the same turn, or that was allowed before outside content came in.")
	}
	if pl.local {
		out = append(out, localRule+": if you have seen all that was written into the workspace since outside content came in.")
	}
	if site := pl.sites(); site != "" {
		out = append(out, site)
	}
	return out
}
