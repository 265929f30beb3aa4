package hook

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
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
	c.Workspace, c.Directory = r.workspace(), shownPlace(r.in.CWD)
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
