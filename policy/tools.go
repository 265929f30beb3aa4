package policy

import "github.com/openclaw-verifier/verifier/taint"

// facts is what is known of a tool before the owner says anything.
type facts struct {
	name     string
	response taint.Level // what its answer brings into the conversation
	traits
	reason string // why it is in this group
}

// traits are the columns that are yes or no.
type traits struct {
	safe        bool // may be called at any level: it changes nothing
	dangerous   bool // asks at every level: it could disable the verifier
	sink        bool // acts outside, so that a tainted conversation must not drive it alone
	strictSink  bool // a sink under the profile strict, where the safe list does not exempt it
	destructive bool // can't be undone: no lasting grant covers it
	secret      bool // bears secrets: no lasting grant covers it
	money       bool // pays or orders: no lasting grant covers it
	commands    bool // carries commands for a machine, so that they are read for our own name
	runs        bool // runs them now, so that a fetcher among them brings the web in
	wrapper     bool // only wraps another call, which is judged on its own
	leaves      bool // sends what it is given off the machine
	opens       bool // fetches what it is given the address of, and shows what it is given to a model
	shows       bool // a file of the workspace that it shows is worth what any other file there is
	looks       bool // some of its actions only look: as web_fetch does, or at what a command printed
	open        bool // what it runs can be typed into later, and that is not asked about: see [openShell]

}

// The kinds of tools there are.
var (
	safe       = traits{safe: true}
	safeLeak   = traits{safe: true, strictSink: true}
	fetches    = traits{safe: true, strictSink: true, leaves: true}
	opens      = traits{safe: true, opens: true}
	shows      = traits{safe: true, opens: true, shows: true}
	browses    = traits{sink: true, leaves: true, looks: true}
	plain      = traits{}
	tells      = traits{leaves: true}
	makes      = traits{opens: true, leaves: true}
	acts       = traits{sink: true}
	sends      = traits{sink: true, leaves: true}
	destroys   = traits{sink: true, destructive: true, leaves: true}
	shell      = traits{sink: true, commands: true, runs: true}
	openExec   = traits{sink: true, commands: true, runs: true, open: true}
	dangerRuns = traits{sink: true, dangerous: true, commands: true, runs: true}
	remote     = traits{sink: true, commands: true, runs: true, leaves: true}
	controls   = traits{sink: true, commands: true, runs: true, looks: true}
	schedules  = traits{sink: true, commands: true}
	dangerous  = traits{sink: true, dangerous: true}
	dangerCmds = traits{sink: true, dangerous: true, commands: true}
	keeper     = traits{sink: true, dangerous: true, secret: true}
	wrapper    = traits{wrapper: true}
)

// unknownTool is any tool that is not in the table: both source and sink.
var unknownTool = facts{
	response: taint.Untrusted,
	traits:   traits{sink: true, commands: true, leaves: true},
	reason:   "nothing is known of it",
}

const (
	system    = taint.System
	owner     = taint.Owner
	local     = taint.Local
	shared    = taint.Shared
	external  = taint.External
	untrusted = taint.Untrusted
)

// openShell is what a command of exec_open counts as that runs what comes in as its input. Codex types into it
// without asking.
const openShell = "open_shell"

// shipped is the one table: every tool built into OpenClaw, every tool the seeds
// name, and every tool of the coding agents under the name that their hook gives
// it. testdata/openclaw-tools.json has OpenClaw's own list. An empty reason means
// that the kind says it all.
var shipped = []facts{
	// Files.
	{"read", local, safe, "reads a file"},
	{"write", local, acts, "writes a file, which a later run may obey"},
	{"edit", local, acts, "changes a file, which a later run may obey"},
	{"apply_patch", local, acts, "changes files, which a later run may obey"},
	{"notebook_edit", local, acts, "changes a notebook, which a later run may obey"},
	{"ls", local, safe, "lists a directory"},
	{"glob", local, safe, "looks for files by their names"},
	{"grep", local, safe, "looks for text in files"},
	{"read_file", external, plain, "reads a file that anyone may have written (seed 002)"},

	// Machines.
	{"exec", local, shell, "runs any command"},
	{"exec_open", local, openExec, "runs any command; its input stays open"},
	{openShell, local, dangerRuns, "runs what is typed into it later, which is not asked about"},
	{"command_output", local, safe, "reads what a running command has printed"},
	{"command_stop", local, plain, "stops a command that it started"},
	{"process", local, controls, "types into running commands"},
	{"terminal", local, controls, "types into a terminal"},
	{"code_execution", local, remote, "runs any code on a service's machine"},
	{"nodes", local, remote, "runs commands on the owner's devices"},
	{"computer", untrusted, sends, "clicks and types on the owner's desktop"},
	{"mobile_ui", untrusted, sends, "taps and types on the owner's phone"},
	{"node_inference", local, tells, "asks a model on one of the owner's devices"},
	{"file_fetch", local, plain, "reads a file from a device"},
	{"file_write", local, sends, "writes a file on a device"},
	{"dir_list", local, safe, "lists a directory of a device"},
	{"dir_fetch", local, plain, "reads a directory from a device"},

	// The web.
	{"web_fetch", untrusted, fetches, "gets a page: nothing changes, but the address can carry data out"},
	{"web_search", untrusted, fetches, "asks a search engine: nothing changes, but the query can carry data out"},
	{"x_search", untrusted, sends, "searches posts by anyone"},
	{"browser", untrusted, browses, "clicks and submits as the owner"},
	{"canvas", untrusted, sends, "shows pages and runs scripts on the owner's screens"},
	{"portal", untrusted, sends, "opens a way in from outside"},
	{"webhook", untrusted, sends, "exchanges payloads with anyone"},
	{"show_widget", local, sends, "shows a page whose scripts can reach the web"},
	{"github_publish", local, sends, "publishes the session's changes as a pull request"},
	{"github_identity_status", local, safe, "shows which GitHub account is connected"},

	// People.
	{"message", external, sends, "writes as the owner and reads what others wrote"},
	{"conversations_send", external, sends, "writes as the owner"},
	{"conversations_turn", external, sends, "writes as the owner and reads the answer"},
	{"conversations_list", shared, safe, "lists conversations"},
	{"email", external, sends, "reads and writes mail"},
	{"send_email", external, sends, "writes mail as the owner"},
	{"slack_post", external, sends, "writes as the owner"},
	{"contacts_lookup", external, plain, "reads what people wrote about themselves"},
	{"calendar_list", external, plain, "reads what others wrote into invitations"},
	{"calendar_create", external, sends, "invites as the owner"},
	{"calendar_delete", external, destroys, "cancels for everyone invited"},
	{"transcripts", external, acts, "records meetings and reads what was said there"},
	{"ask_user", owner, safe, "asks the person who is there"},
	{"heartbeat_respond", system, tells, "says whether the owner should get a message"},
	{"suggest_task", system, plain, "proposes a task, which a person has to accept"},
	{"dismiss_task", system, plain, "withdraws a task that it proposed"},

	// The screen of the owner.
	{"progress_card", system, opens, "shows how far the work is; a picture in it is fetched"},
	{"dashboard", local, plain, "arranges the session's dashboard"},
	{"screen", system, plain, "arranges the owner's windows"},
	{"theme", local, plain, "changes colours and fonts"},
	{"talk_voice", local, plain, "changes the voice of a call"},

	// Other sessions and agents.
	{"sessions_spawn", system, acts, "starts another agent, which shares the conversation's level"},
	{"task", system, plain, "starts a sub-agent, whose calls are all asked about"},
	{"sessions_send", shared, acts, "makes another session act"},
	{"sessions", shared, acts, "manages sessions"},
	{"sessions_list", local, safe, "lists sessions; their messages are read where it asks for them"},
	{"sessions_history", shared, safe, "reads another session"},
	{"sessions_search", shared, safe, "reads all sessions"},
	{"sessions_yield", system, plain, "ends the turn, until the agents it started report"},
	{"session_status", local, safe, "shows a session's status"},
	{"subagents", shared, acts, "steers agents it started"},
	{"agents_list", local, safe, "lists agents"},
	{"agents_wait", shared, safe, "waits for other agents"},
	{"structured_output", system, safe, "hands its result to the agent that started it"},
	{"get_goal", local, safe, "reads the session's goal"},
	{"create_goal", local, acts, "sets the goal of later turns"},
	{"update_goal", local, plain, "says whether the goal is reached"},
	{"intent", local, schedules, "sets a reminder, which a later run may follow"},
	{"automations", local, schedules, "starts a run later, when no person is watching"},

	// Memory. Whatever any session wrote comes back.
	{"memory_search", local, safe, "reads the agent's own files; what tainted sessions wrote there is not followed"},
	{"memory_get", local, safe, "reads the agent's own files; what tainted sessions wrote there is not followed"},
	{"vestige_search", shared, safe, "reads memory shared between agents"},
	{"vestige_promote", shared, safeLeak, "ranks a shared memory"},
	{"vestige_demote", shared, safeLeak, "ranks a shared memory"},

	// Media: from a file, or from any address.
	{"image", external, shows, "looks at an image, which may hold text by anyone (seed 000)"},
	{"view_image", local, opens, "looks at an image"},
	{"pdf", local, opens, "reads a document"},
	{"image_generate", local, makes, "makes an image"},
	{"music_generate", local, makes, "makes music"},
	{"video_generate", local, makes, "makes a video"},
	{"tts", local, tells, "speaks, by a service that gets the text"},

	// The agent's own foundations.
	{"gateway", system, dangerous, "can disable the verifier"},
	{"plugins", external, dangerous, "installs code into the agent's runtime"},
	{"openclaw", local, dangerCmds, "runs the agent's own administration"},
	{"secrets", local, keeper, "hands out credentials"},
	{"skill_workshop", shared, dangerous, "writes instructions for later runs"},
	{"skill", local, plain, "reads instructions from the owner's files"},
	{"todo", system, safe, "keeps the agent's list of what to do"},
	{"plan_mode", system, safe, "lets the agent plan, or go on from its plan"},
	{"tool_search", system, safe, "looks for a tool"},
	{"tool_describe", system, safe, "shows what a tool takes"},
	{"tool_call", system, wrapper, "wraps another call"},
	{"tool_search_code", system, wrapper, "wraps other calls in a script that can do nothing else"},
}
