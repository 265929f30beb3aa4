package policy

import "github.com/openclaw-verifier/verifier/taint"

// facts is what is known of a tool before the owner says anything.
type facts struct {
	name     string
	response taint.Level // what its answer brings into the conversation
	traits
	reason string // why it stands where it stands
}

// traits are the columns that are yes or no.
type traits struct {
	safe        bool // may be called at any level: it changes nothing
	dangerous   bool // asks at every level: it could disable the verifier
	sink        bool // acts outside, so that a tainted conversation must not drive it alone
	strictSink  bool // a sink under the profile strict, where the safe list does not exempt it
	destructive bool // can't be undone: no lasting grant covers it
	secret      bool // bears secrets: no lasting grant covers it
	commands    bool // carries commands for a machine, so that they are read for our own name
	runs        bool // runs them now, so that a fetcher among them brings the web in
	wrapper     bool // only wraps another call, which is judged on its own
}

// The kinds of tools there are.
var (
	safe       = traits{safe: true}
	safeLeak   = traits{safe: true, strictSink: true}
	plain      = traits{}
	acts       = traits{sink: true}
	destroys   = traits{sink: true, destructive: true}
	shell      = traits{sink: true, commands: true, runs: true}
	schedules  = traits{sink: true, commands: true}
	dangerous  = traits{sink: true, dangerous: true}
	dangerCmds = traits{sink: true, dangerous: true, commands: true}
	keeper     = traits{sink: true, dangerous: true, secret: true}
	wrapper    = traits{wrapper: true}
)

// unknownTool is any tool that is not in the table: both source and sink.
var unknownTool = facts{
	response: taint.Untrusted,
	traits:   traits{sink: true, commands: true},
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

// shipped is the one table: every tool built into OpenClaw and every tool the
// seeds name. An empty reason means that the kind says it all.
var shipped = []facts{
	// Files.
	{"read", local, safe, "reads a file"},
	{"write", local, acts, "writes a file, which a later run may obey"},
	{"edit", local, acts, "changes a file, which a later run may obey"},
	{"apply_patch", local, acts, "changes files, which a later run may obey"},
	{"ls", local, safe, "lists a directory"},
	{"read_file", external, plain, "reads a file, whoever wrote it (seed 002)"},

	// Machines.
	{"exec", local, shell, "runs any command"},
	{"process", local, shell, "types into running commands"},
	{"terminal", local, shell, "types into a terminal"},
	{"code_execution", local, shell, "runs any code"},
	{"nodes", local, shell, "runs commands on the owner's devices"},
	{"file_fetch", local, plain, "reads a file from a device"},
	{"file_write", local, acts, "writes a file on a device"},
	{"dir_list", local, safe, "lists a directory of a device"},
	{"dir_fetch", local, plain, "reads a directory from a device"},

	// The web.
	{"web_fetch", untrusted, safeLeak, "gets a page: nothing changes, but the address can carry data out"},
	{"web_search", untrusted, safeLeak, "asks a search engine: nothing changes, but the query can carry data out"},
	{"x_search", untrusted, acts, "searches posts by anyone"},
	{"browser", untrusted, acts, "clicks and submits as the owner"},
	{"canvas", untrusted, acts, "shows pages and runs scripts on the owner's screens"},
	{"portal", untrusted, acts, "opens a way in from outside"},
	{"webhook", untrusted, acts, "exchanges payloads with anyone"},

	// People.
	{"message", external, acts, "writes as the owner and reads what others wrote"},
	{"conversations_send", external, acts, "writes as the owner"},
	{"conversations_turn", external, acts, "makes another conversation act"},
	{"conversations_list", shared, safe, "lists conversations"},
	{"email", external, acts, "reads and writes mail"},
	{"send_email", external, acts, "writes mail as the owner"},
	{"slack_post", external, acts, "writes as the owner"},
	{"contacts_lookup", external, plain, "reads what people say of themselves"},
	{"calendar_list", external, plain, "reads what others wrote into invitations"},
	{"calendar_create", external, acts, "invites as the owner"},
	{"calendar_delete", external, destroys, "cancels for everyone invited"},
	{"ask_user", owner, safe, "asks the person who is there"},

	// Other sessions and agents.
	{"sessions_spawn", shared, acts, "starts another agent"},
	{"sessions_send", shared, acts, "makes another session act"},
	{"sessions", shared, acts, "manages sessions"},
	{"sessions_list", shared, safe, "lists sessions"},
	{"sessions_history", shared, safe, "reads another session"},
	{"sessions_search", shared, safe, "reads all sessions"},
	{"sessions_yield", shared, plain, "waits for other agents"},
	{"session_status", local, safe, "shows a session's status"},
	{"subagents", shared, acts, "steers agents it started"},
	{"agents_list", local, safe, "lists agents"},
	{"agents_wait", shared, safe, "waits for other agents"},
	{"transcripts", shared, plain, "reads what was said elsewhere"},
	{"automations", local, schedules, "lets a run start later, with nobody watching"},

	// Memory. Whatever any session wrote comes back.
	{"memory_search", local, safe, "reads the agent's own files; what tainted sessions wrote there is not followed"},
	{"memory_get", local, safe, "reads the agent's own files; what tainted sessions wrote there is not followed"},
	{"vestige_search", shared, safe, "reads memory shared between agents"},
	{"vestige_promote", shared, safeLeak, "ranks a shared memory"},
	{"vestige_demote", shared, safeLeak, "ranks a shared memory"},

	// Media.
	{"image", external, safe, "looks at an image, which may hold text by anyone"},
	{"view_image", external, safe, "looks at an image, which may hold text by anyone"},
	{"image_generate", local, plain, "makes an image"},
	{"pdf", untrusted, plain, "reads a document from any address"},
	{"tts", local, plain, "speaks"},

	// The agent's own foundations.
	{"gateway", system, dangerous, "can disable the verifier"},
	{"plugins", external, dangerous, "installs code into the agent's runtime"},
	{"openclaw", local, dangerCmds, "runs the agent's own administration"},
	{"secrets", local, keeper, "hands out credentials"},
	{"skill_workshop", shared, dangerous, "writes what later runs obey"},
	{"tool_call", system, wrapper, "wraps another call"},
}
