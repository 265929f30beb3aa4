package hook

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// verdict is the gateway's answer to a call.
type verdict struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
	Ref      string `json:"ref"`      // a person was asked
	Question string `json:"question"` // the question is still open

	Params jsontext.Value `json:"params"` // what the owner lets run instead; nil: the call as it was asked about
}

// beforeCall asks about a call. At a terminal it does not wait for a phone: the agent asks its user, and permission waits
// beside that.
func (r *run) beforeCall(ctx context.Context) ([]byte, error) {
	atOnce := r.who.attended && (r.agent.asks || r.Dialogs && r.agent.asksFor[r.in.Tool] || r.agent.plugin && r.in.Dialog)
	v, err := r.ask(ctx, atOnce)
	if err == nil && (v.Decision == "allow" || atOnce && v.Question != "") && !r.forUser() { // the user's answer is added to its input
		err = r.keepJudged()
	}
	if err == nil && v.Decision == "allow" {
		r.notes.pass(r.gated())
	}
	switch {
	case err != nil:
		return nil, err
	case v.Decision == "allow" && r.agent.asks && atOnce && r.forUser():
		return []byte("{}\n"), nil
	case v.Decision == "allow":
		return r.pass(&v)
	case atOnce && v.Question != "":
		return r.toUser(&v)
	}
	return marshal(r.agent.no(r, v.reason()))
}

// pass lets the call run, or what the owner made of it.
func (r *run) pass(v *verdict) ([]byte, error) {
	if r.agent.dialogs {
		if err := r.notes.put(r.who.key, filepath.Base(r.passedNote())); err != nil {
			return nil, err
		}
	}
	if v.Params != nil {
		return marshal(r.agent.edited(r))
	}
	return r.agent.yes, nil
}

// toUser tells the agent to ask its user, and notes which question is open meanwhile.
func (r *run) toUser(v *verdict) ([]byte, error) {
	if err := r.notes.opened(r.who.key, question{r.in.CallID, r.in.about()}, v.Question, r.gated()); err != nil {
		return nil, err
	}
	if r.agent.asks {
		return marshal(hookOutput{callAnswer{Event: r.in.Event, Decision: "ask", Reason: v.Reason}})
	}
	return marshal(plainQuestion{"ask", v.Reason, "The verifier asks you before this runs. Answer here."})
}

// gated names this very call for the gate before a server of tools, where it passes once; "" for any other.
func (r *run) gated() string {
	name, _ := r.toolName()
	switch {
	case r.in.Tool == r.agent.resources && !isGiven(r.in.MCPServer) && !isGiven(r.in.MCPContext):
		return r.gatedResource()
	case !strings.HasPrefix(name, mcp) || r.agent.mcpIDs && (r.noID || r.in.CallID == ""):
		return ""
	case r.agent.mcpIDs:
		return r.gateway.decided(r.in.CallID, name, r.in.Params)
	}
	return r.gateway.decided(inSession+r.who.key, name, r.in.Params)
}

// gatedResource names the request that the agent's own tool for resources makes. Servers get no id of it.
func (r *run) gatedResource() string {
	server := member(r.in.Params, "server")
	uri, err := json.Marshal(map[string]string{"uri": member(r.in.Params, "uri")})
	if err != nil || !isPlainName(server) || strings.Contains(server, foreign) {
		return ""
	}
	return r.gateway.decided(inSession+r.who.key, mcp+server+foreign+"resources/read", uri)
}

// forUser reports whether the tool itself asks the user, who must not be answered for: about a plan, or a question.
func (r *run) forUser() bool {
	name, _ := r.toolName()
	return name == "plan_mode" || name == "ask_user"
}

// permission answers a dialog of the agent's own that its user sees. It says yes only where a person has said yes to us;
// what the policy allows by itself the agent wants to be asked about all the same, so that its user answers. Where there
// is no answer of ours the dialog stays. Of a call that the gateway has let pass, its user is asked and we are not.
func (r *run) permission(ctx context.Context) ([]byte, error) {
	if r.agent.dialogs && r.hasPassed() {
		return []byte("{}\n"), nil
	}
	v, err := r.ask(ctx, false)
	if errors.Is(ctx.Err(), context.Canceled) && r.who.attended { // the agent ends us where its user says no
		r.close(ctx, question{about: r.in.about()}, false)
	}
	switch {
	case err != nil && r.who.attended && v.Params == nil:
		return []byte("{}\n"), nil
	case err != nil:
		return nil, err
	case v.Decision == "deny" && (v.Question == "" || !r.who.attended):
		return marshal(r.agent.no(r, v.reason()))
	case v.Decision == "allow" && v.Params != nil: // a person has changed it, and the dialog would run it as it was
		return marshal(r.agent.edited(r))
	case v.Decision == "allow" && v.Ref != "" && r.agent.plugin:
		return r.agent.yes, nil
	case v.Decision == "allow" && v.Ref != "" && r.agent.asks:
		return marshal(hookOutput{dialogAnswer{r.in.Event, dialogDecision{Behavior: "allow"}}})
	}
	return []byte("{}\n"), nil
}

func (v *verdict) reason() string { return cmp.Or(v.Reason, "Denied by the verifier.") }

// ask sends the call and returns what the gateway has signed.
func (r *run) ask(ctx context.Context, atOnce bool) (v verdict, err error) {
	name, own := r.toolName()
	switch {
	case r.in.Tool == "":
		return v, failure("The agent did not tell the verifier's hook which tool it wants to call. Nothing was run.")
	case r.in.SessionID == "":
		return v, failure("The agent did not tell the verifier's hook which session it is in. Nothing was run.")
	case !isObject(r.in.Params):
		return v, failure("The agent did not tell the verifier's hook what it wants to call the tool with. Nothing was run.")
	}
	if !own && !strings.HasPrefix(name, mcp) { // it may put words into the user's mouth later
		if err := r.notes.doubt(r.who.key); err != nil {
			return v, err
		}
	}
	params, err := r.in.params(name)
	if err != nil {
		return v, failure("What the agent wants to call the tool with is no valid JSON. Nothing was run.")
	}
	told := r.notes.owed(r.who.key)
	c := r.context()
	c.InputProvenance, c.SecretsRead = told.outside(), told.secret()
	c.Workspace, c.Directory, c.Platform = r.workspace(), shownPlace(r.in.CWD), runtime.GOOS
	if c.WaitMs = time.Until(r.until).Milliseconds(); atOnce || c.WaitMs < 1 {
		c.WaitMs = 1
	}
	if r.who.owner {
		c.UserMessages = r.notes.words(r.who.key)
	}
	c.Edits = r.takesEdits(name)
	v, err = r.gateway.ask(ctx, tool{Name: name, Params: params}, c)
	if err == nil && v.Params != nil {
		err = r.edit(&v, c.Edits, params)
	}
	if err == nil && v.Decision == "allow" {
		told.settled()
	}
	return v, err
}

// workspace is where the session was started, or "" where that is the user's home directory, one above, or a link to one.
func (r *run) workspace() string {
	dir := r.notes.workspace(r.key(r.in.SessionID))
	if dir == "" {
		return ""
	}
	for _, home := range []string{homeOf(r.Env), accountHome()} {
		if home == "" {
			continue
		}
		for _, place := range []string{filepath.Clean(dir), unlinked(dir)} {
			if isBelow(filepath.Clean(home), place) || isBelow(unlinked(home), place) {
				return ""
			}
		}
	}
	return dir
}

// unlinked is a path without links, or as it is where that can't be told.
func unlinked(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return filepath.Clean(path)
}

// isBelow reports whether a path is a directory or below it.
func isBelow(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// params are the arguments as they are asked about.
func (in *input) params(name string) (jsontext.Value, error) {
	if in.CWD == "" || name != "exec" && name != "exec_open" && name != "apply_patch" {
		return in.Params, nil
	}
	return inDirectory(in.Params, in.CWD)
}

// context says in which conversation this happens, and on whose behalf.
func (r *run) context() callContext {
	return callContext{
		AgentID: r.Agent, SessionKey: r.who.key, SessionID: cmp.Or(r.in.AgentID, r.in.SessionID), RunID: cmp.Or(r.in.TurnID, r.in.PromptID), ToolCallID: r.in.CallID,
		SpawnedBy: r.who.parent, SenderIsOwner: r.who.owner,
	}
}

func marshal(v any) ([]byte, error) {
	text, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, errors.New("write the answer")
	}
	return append(text, '\n'), nil
}

// The owner may let a call run with other arguments. The agent is handed these, and what is noted of the call is about them. What the agent can't run that way is refused.

// takesEdits reports whether the agent runs other arguments of this call than its own. Older versions of it, or of our plugin, run their own instead.
// A plan or a question for the user has none; in its dialog, the gate before a server of tools expects the call as it was. Codex takes none beside its dialog.
func (r *run) takesEdits(name string) bool {
	can := r.Edits
	if r.agent.plugin {
		can = r.in.Edits
	}
	if !can || r.forUser() {
		return false
	}
	return r.agent.events[r.in.Event] == call || !r.agent.dialogs && !strings.HasPrefix(name, mcp)
}

// edit makes the call the one that the owner lets run instead. Asked are the arguments that were asked about.
func (r *run) edit(v *verdict, takes bool, asked jsontext.Value) error {
	if !takes {
		return failure("The verifier answered with other arguments, which this agent can't run. Nothing was run.")
	}
	before := r.in.about()
	params, err := r.in.withoutDirectory(v.Params, asked)
	if err != nil {
		return err
	}
	if r.agent.keeps && !sameNames(params, r.in.Params) {
		return failure("The owner added an argument or left one out, which this agent can't do. Nothing was run.")
	}
	r.in.Params = params
	if r.agent.events[r.in.Event] == permission {
		return r.keepEdited(question{about: before})
	}
	return nil
}

// withoutDirectory takes out the directory that was added to what was asked about: the agent does not know that argument, so it can't be changed.
func (in *input) withoutDirectory(params, asked jsontext.Value) (jsontext.Value, error) {
	if member(in.Params, addedDirectory) != "" || member(asked, addedDirectory) != in.CWD || in.CWD == "" {
		return params, nil
	}
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(params, &members); err != nil {
		return nil, failure("The verifier's answer can't be understood. Nothing was run.")
	}
	if member(params, addedDirectory) != in.CWD {
		return nil, failure("The owner changed the directory in which the command runs, which this agent can't do. Nothing was run.")
	}
	delete(members, addedDirectory)
	text, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		return nil, failure("The verifier's answer can't be understood. Nothing was run.")
	}
	return text, nil
}

// sameNames reports whether two objects have members of the same names.
func sameNames(a, b jsontext.Value) bool {
	var one, other map[string]jsontext.Value
	if json.Unmarshal(a, &one) != nil || json.Unmarshal(b, &other) != nil {
		return false
	}
	return maps.EqualFunc(one, other, func(_, _ jsontext.Value) bool { return true })
}

// keepEdited notes the call as the owner changed it, under the id that the question was opened with: the agent's dialog does not know it.
func (r *run) keepEdited(q question) error {
	entries, _ := os.ReadDir(r.notes.session(r.who.key)) // then there is no note to compare with
	_, end := r.judged()
	for _, e := range entries {
		if !q.fits(e.Name()) {
			continue
		}
		id, _, _ := strings.Cut(strings.TrimPrefix(e.Name(), openQuestion), "-")
		if err := r.notes.put(r.who.key, judgedCall+id+"-"+end); err != nil {
			return err
		}
	}
	return nil
}

// Another hook or plugin of the agent may change a call after the gateway has judged it. Nothing can stop that from here, but what
// the agent says of the call afterwards shows it.

// judgedCall begins the names of notes about calls that the gateway let pass, or left to the agent's user.
const judgedCall = "judged-"

// judged is the beginning of the names of notes about this call, and the end of the one about it as it is now. An agent that has no ids
// for its calls has one beginning for all of them.
func (r *run) judged() (begin, end string) {
	exact := r.in.Params.Clone()
	if exact.Canonicalize(jsontext.AllowInvalidUTF8(true)) != nil {
		exact = r.in.Params
	}
	id := r.in.CallID
	if r.noID {
		id = ""
	}
	return judgedCall + shortHash(id) + "-", shortHash(r.in.Tool+"\x00"+string(exact)) + r.in.judgedFrame()
}

// editable are the arguments of Claude Code's tools for files that its user can change in the dialog: the text.
var editable = []string{"content", "old_string", "new_string", "edits", "replace_all"}

// judgedFrame is the end of a note's name about all of a call but the text that the user can change.
func (in *input) judgedFrame() string {
	members := map[string]jsontext.Value{}
	if json.Unmarshal(in.Params, &members, jsontext.AllowInvalidUTF8(true)) != nil {
		return "-"
	}
	for _, name := range editable {
		delete(members, name)
	}
	frame, err := json.Marshal(members, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return "-"
	}
	return "-" + shortHash(in.Tool+"\x00"+string(frame))
}

// keepJudged notes the call as it was judged.
func (r *run) keepJudged() error {
	begin, end := r.judged()
	return r.notes.put(r.who.key, begin+end)
}

// wasChanged reports whether what ran is something else than was judged, and forgets what was judged. Of a call that was judged before
// this hook was there, nothing is known. Where the user changed the text, the text can't be compared, and the rest is: another hook's change of the text
// is not seen then, but the user has seen what was written.
func (r *run) wasChanged() bool {
	begin, end := r.judged()
	dir := r.notes.session(r.who.key)
	entries, _ := os.ReadDir(dir) // then nothing is known
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), begin) {
			names = append(names, e.Name())
		}
	}
	same := slices.Contains(names, begin+end)
	if frame := r.in.judgedFrame(); !same && frame != "-" && r.userEdited() {
		same = slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, frame) })
	}
	for _, name := range names {
		if name == begin+end || !r.noID {
			os.Remove(filepath.Join(dir, name)) //nolint:errcheck // then it is compared with the next call of this id, which there is none of
		}
	}
	return len(names) > 0 && !same
}

// userEdited reports whether Claude Code says that its user changed the text in the dialog or in an editor before it was written. It says so only of its
// own tools for files, never of what a hook has changed, and the user has seen what was written.
func (r *run) userEdited() bool {
	name, own := r.toolName()
	var response struct {
		UserModified bool `json:"userModified"`
	}
	return r.Agent == claudeCode && r.who.attended && own && (name == "edit" || name == "write") &&
		isObject(r.in.Response) && json.Unmarshal(r.in.Response, &response, jsontext.AllowInvalidUTF8(true)) == nil && response.UserModified
}
