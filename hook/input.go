package hook

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// input is what an agent says of an event: the members that we use, of all agents.
type input struct {
	Event      string         `json:"hook_event_name"`
	SessionID  string         `json:"session_id"`
	ParentID   string         `json:"parent_id"` // opencode: the session that started this one
	AgentID    string         `json:"agent_id"`  // a sub-agent of the session
	PromptID   string         `json:"prompt_id"`
	TurnID     string         `json:"turn_id"`
	CWD        string         `json:"cwd"`
	Mode       string         `json:"permission_mode"`
	Source     string         `json:"source"` // what began a session
	Reason     string         `json:"reason"` // what ended it
	Prompt     string         `json:"prompt"`
	Tool       string         `json:"tool_name"`
	Params     jsontext.Value `json:"tool_input"`
	CallID     string         `json:"tool_use_id"`
	Response   jsontext.Value `json:"tool_response"`
	Error      jsontext.Value `json:"error"`
	DurationMs jsontext.Value `json:"duration_ms"`
	MCPServer  jsontext.Value `json:"mcp_server"`
	MCPContext jsontext.Value `json:"mcp_context"`
	Dialog     bool           `json:"dialog"` // opencode: our plugin can ask the user at the terminal
	// opencode: our plugin runs the input of an answer instead of the call's own
	Edits bool `json:"edits"`

	cut bool // the event can't be read: only its head is known
}

// decode reads an event. Names that stand there twice are refused: two readers could understand them differently. Text
// that is not valid UTF-8 passes here, since a tool may return it; in a call the gateway refuses it.
func (in *input) decode(text []byte) error {
	if err := json.Unmarshal(text, in, jsontext.AllowInvalidUTF8(true)); err != nil {
		return failure("What the agent sent to the verifier's hook is not the JSON of an event. Nothing was run.")
	}
	if in.Event == "" {
		return failure("The agent did not tell the verifier's hook which event it is about. Nothing was run.")
	}
	return nil
}

// headWithin is where every agent has said what the event is and whose: before anything that may be long.
const headWithin = 1 << 20

// decodeHead reads what stands before the place that can't be read. The rest, which may be long, costs no time.
func (in *input) decodeHead(text []byte) {
	text = text[:min(len(text), headWithin)]
	head := map[string]*string{
		"hook_event_name": &in.Event, "session_id": &in.SessionID, "agent_id": &in.AgentID, "cwd": &in.CWD,
		"tool_name": &in.Tool,
	}
	dec := jsontext.NewDecoder(
		bytes.NewReader(text),
		jsontext.AllowInvalidUTF8(true),
		jsontext.AllowDuplicateNames(true),
	)
	if token, err := dec.ReadToken(); err != nil || token.Kind() != jsontext.KindBeginObject {
		return
	}
	for {
		name, err := dec.ReadToken()
		if err != nil || name.Kind() != jsontext.KindString {
			return
		}
		to := head[name.String()]
		value, err := dec.ReadValue()
		if err != nil {
			return
		}
		if to != nil && *to == "" && json.Unmarshal(value, to, jsontext.AllowInvalidUTF8(true)) != nil {
			return
		}
	}
}

// isObject reports whether a value is an object.
func isObject(v jsontext.Value) bool { return v.Kind() == jsontext.KindBeginObject }

// isGiven reports whether a member is there and not null.
func isGiven(v jsontext.Value) bool { return len(v) > 0 && v.Kind() != jsontext.KindNull }

// member is a member of an object that is a string, or "".
func member(object jsontext.Value, names ...string) string {
	members := map[string]jsontext.Value{}
	if json.Unmarshal(object, &members, jsontext.AllowInvalidUTF8(true)) != nil {
		return ""
	}
	for _, name := range names {
		var s string
		if v, ok := members[name]; ok && json.Unmarshal(v, &s, jsontext.AllowInvalidUTF8(true)) == nil && s != "" {
			return s
		}
	}
	return ""
}

// directories are the arguments of commands that say where they run, as the policy reads them.
var directories = map[string]bool{
	"workdir":          true,
	"cwd":              true,
	"workingdirectory": true,
	"directory":        true,
	"dir":              true,
	"dirpath":          true,
}

// addedDirectory is the argument that says it where the agent's own don't.
const addedDirectory = "workdir"

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// inDirectory are the params of a call with the directory in which it runs, where they don't say it: the owner is shown
// it, and a yes is for a command in that directory alone.
func inDirectory(params jsontext.Value, dir string) (jsontext.Value, error) {
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(params, &members); err != nil {
		return nil, err
	}
	for name := range members {
		if directories[strings.ToLower(separators.Replace(name))] {
			return params, nil
		}
	}
	quoted, err := jsontext.AppendQuote(nil, dir)
	if err != nil {
		return nil, err
	}
	out := bytes.TrimSpace(params)
	out = append([]byte(nil), out[:len(out)-1]...)
	if len(members) > 0 {
		out = append(out, ',')
	}
	out = append(out, `"`+addedDirectory+`":`...)
	return append(append(out, quoted...), '}'), nil
}
