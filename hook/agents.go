package hook

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// The agents that have a hook.
const (
	claudeCode = "claude-code"
	codex      = "codex"
	gemini     = "gemini"
	opencode   = "opencode"
)

// kind is what an event is about.
type kind int

const (
	call       kind = iota + 1 // the agent wants to call a tool, and waits
	permission                 // the agent asks its own user beside us, and waits
	returned                   // a tool has returned something
	failed                     // a tool has failed
	prompted                   // something starts a run: the user's words, or what looks like them
	began                      // a session begins or goes on
	ended                      // a session is over
	stopped                    // a run is over
)

// asks reports whether the agent goes on only with an answer.
func (k kind) asks() bool { return k == call || k == permission }

// agent is how one agent speaks.
type agent struct {
	events    map[string]kind
	tools     map[string]string // its own tools, by the names under which the gateway knows them
	timeout   time.Duration     // how long it waits for a hook, where the settings don't say
	edited    func(r *run) any  // the answer that makes it run the input as it is now instead of its own, where it can, see [run.takesEdits]
	keeps     bool              // it takes other values then, but no arguments more or fewer
	asks      bool              // before a call it can be told to ask its user
	asksFor   map[string]bool   // the same for these tools alone, with [Options.Dialogs]; for others it may run the call instead
	plugin    bool              // our own plugin runs the hook. Its events say whether it asks its user, holding the call meanwhile, and whether it runs other arguments
	mcpIDs    bool              // a server of tools gets the id of a call
	resources string            // its own tool that reads what a server has: its arguments are server and uri
	dialogs   bool              // it may ask its user by itself about a call that we let pass
	yes       []byte            // what lets a call pass, where it is always the same
	no        func(r *run, reason string) any
}

var agents = map[string]*agent{
	claudeCode: {
		events: map[string]kind{
			"PreToolUse": call, "PermissionRequest": permission, "PostToolUse": returned, "PostToolUseFailure": failed,
			"UserPromptSubmit": prompted, "SessionStart": began, "SessionEnd": ended, "Stop": stopped,
		},
		tools: map[string]string{
			"Bash": "exec", "Monitor": "exec", "BashOutput": "command_output", "TaskOutput": "command_output", "KillShell": "command_stop", "TaskStop": "command_stop",
			"Read": "read", "Edit": "edit", "MultiEdit": "edit", "Write": "write", "NotebookEdit": "notebook_edit",
			"Glob": "glob", "Grep": "grep", "LS": "ls", "WebFetch": "web_fetch", "WebSearch": "web_search",
			"Task": "task", "Agent": "task", "TodoWrite": "todo", "TaskCreate": "todo", "TaskUpdate": "todo", "TaskList": "todo", "TaskGet": "todo",
			"EnterPlanMode": "plan_mode", "ExitPlanMode": "plan_mode", "AskUserQuestion": "ask_user",
			"Skill": "skill", "SlashCommand": "skill", "ToolSearch": "tool_search", "ListAgents": "agents_list", "ReportFindings": "todo",
		},
		timeout: 600 * time.Second, asks: true, mcpIDs: true, resources: "ReadMcpResourceTool", edited: editedInput,
		yes: []byte(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}` + "\n"), no: denial,
	},
	codex: {
		events: map[string]kind{
			"PreToolUse": call, "PermissionRequest": permission, "PostToolUse": returned, "UserPromptSubmit": prompted,
			"SessionStart": began, "SessionEnd": ended, "Stop": stopped,
		},
		tools: map[string]string{
			"Bash": "exec_open", "shell": "exec_open", "local_shell": "exec_open", "exec_command": "exec_open", "unified_exec": "exec_open",
			"write_stdin": "terminal", "apply_patch": "apply_patch", "view_image": "view_image", "update_plan": "todo",
			"spawn_agent": "task", "request_user_input": "ask_user", "get_goal": "get_goal", "create_goal": "create_goal", "update_goal": "update_goal",
			"web_search": "web_search",
		},
		timeout: 60 * time.Second, dialogs: true, mcpIDs: true, resources: "read_mcp_resource", edited: editedInput, keeps: true, yes: []byte("{}\n"), no: denial,
	},
	gemini: {
		events: map[string]kind{
			"BeforeTool": call, "AfterTool": returned, "BeforeAgent": prompted, "AfterAgent": stopped, "SessionStart": began, "SessionEnd": ended,
		},
		tools: map[string]string{
			"run_shell_command": "exec", "list_background_processes": "command_output", "read_background_output": "command_output",
			"read_file": "read", "read_many_files": "read", "write_file": "write", "replace": "edit",
			"glob": "glob", "grep_search": "grep", "search_file_content": "grep", "list_directory": "ls",
			"web_fetch": "web_fetch", "google_web_search": "web_search", "invoke_agent": "task",
			"write_todos": "todo", "update_topic": "todo", "enter_plan_mode": "plan_mode", "exit_plan_mode": "plan_mode", "ask_user": "ask_user", "activate_skill": "skill",
		},
		asksFor: map[string]bool{"run_shell_command": true},
		timeout: 60 * time.Second, edited: editedToolInput, keeps: true, yes: []byte(`{"decision":"allow"}` + "\n"), no: plainDenial,
	},
	opencode: {
		events: map[string]kind{
			"tool.execute.before": call, "permission.asked": permission, "tool.execute.after": returned, "chat.message": prompted, "session.created": began, "session.deleted": ended,
		},
		tools: map[string]string{
			"bash": "exec", "read": "read", "edit": "edit", "multiedit": "edit", "write": "write", "patch": "apply_patch", "apply_patch": "apply_patch",
			"glob": "glob", "grep": "grep", "list": "ls", "webfetch": "web_fetch", "websearch": "web_search", "codesearch": "web_search",
			"task": "task", "todowrite": "todo", "todoread": "todo", "skill": "skill", "question": "ask_user",
		},
		timeout: 600 * time.Second, plugin: true, edited: editedPlain, yes: []byte(`{"decision":"allow"}` + "\n"), no: plainDenial,
	},
}

// ToolNames are the names under which the gateway judges the agents' own tools.
func ToolNames() (names []string) {
	for _, a := range agents {
		names = slices.AppendSeq(names, maps.Values(a.tools))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// foreign parts the names of an agent's other tools from those that the gateway knows: a server of tools could call one read.
const foreign = "__"

// mcp begins the names of tools that servers offer to Claude Code and Codex.
const mcp = "mcp__"

// toolName is the name under which the gateway judges a tool, and whether it is one of the agent's own that we know.
func (r *run) toolName() (name string, own bool) {
	name, own = r.agent.tools[r.in.Tool]
	switch {
	case name == "task" && member(r.in.Params, "isolation") == "remote": // it runs where no hook of ours does
	case own && !isGiven(r.in.MCPServer) && !isGiven(r.in.MCPContext):
		return name, true
	case r.served() && len(r.in.Tool) > len(mcp) && r.in.Tool[:len(mcp)] == mcp && !strings.Contains(r.in.Tool, "/"): // requests of MCP that are no tools have one in their names
		return r.in.Tool, false
	case !r.served() && isGiven(r.in.MCPContext):
		server, tool := member(r.in.MCPContext, "server_name"), member(r.in.MCPContext, "tool_name")
		if isPlainName(server) && isPlainName(tool) && !strings.Contains(server, foreign) {
			return mcp + server + foreign + tool, false
		}
	}
	return r.Agent + foreign + r.in.Tool, false
}

// isPlainName reports whether a name can be a part of mcp__server__tool as it is.
func isPlainName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// served reports whether the agent calls the tools of servers mcp__server__tool.
func (r *run) served() bool { return r.Agent == claudeCode || r.Agent == codex }

// hookOutput is how Claude Code and Codex take an answer.
type hookOutput struct {
	Output any `json:"hookSpecificOutput"`
}

type callAnswer struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision"`
	Reason   string `json:"permissionDecisionReason,omitzero"`

	Input jsontext.Value `json:"updatedInput,omitzero"` // what runs instead
}

type dialogAnswer struct {
	Event    string         `json:"hookEventName"`
	Decision dialogDecision `json:"decision"`
}

type dialogDecision struct {
	Behavior string `json:"behavior"`
	Message  string `json:"message,omitzero"`

	Input jsontext.Value `json:"updatedInput,omitzero"` // what runs instead
}

type plainDecision struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
}

// plainEdit tells our own plugin for opencode what runs instead.
type plainEdit struct {
	Decision string         `json:"decision"`
	Input    jsontext.Value `json:"input"`
}

// toolEdit tells Gemini CLI.
type toolEdit struct {
	Decision string   `json:"decision"`
	Output   toolData `json:"hookSpecificOutput"`
}

type toolData struct {
	Event string         `json:"hookEventName"`
	Input jsontext.Value `json:"tool_input"`
}

// plainQuestion tells Gemini CLI to ask. Its user reads the message in the dialog.
type plainQuestion struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
	Message  string `json:"systemMessage"`
}

func denial(r *run, reason string) any {
	if r.agent.events[r.in.Event] == permission {
		return hookOutput{dialogAnswer{r.in.Event, dialogDecision{Behavior: "deny", Message: reason}}}
	}
	return hookOutput{callAnswer{Event: r.in.Event, Decision: "deny", Reason: reason}}
}

func editedInput(r *run) any {
	if r.agent.events[r.in.Event] == permission {
		return hookOutput{dialogAnswer{r.in.Event, dialogDecision{Behavior: "allow", Input: r.in.Params}}}
	}
	return hookOutput{callAnswer{Event: r.in.Event, Decision: "allow", Input: r.in.Params}}
}

func editedToolInput(r *run) any { return toolEdit{"allow", toolData{r.in.Event, r.in.Params}} }

func editedPlain(r *run) any { return plainEdit{"allow", r.in.Params} }

func plainDenial(_ *run, reason string) any { return plainDecision{"deny", reason} }
