package policy

import (
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/taint"
)

// Initiator is what the caller attests about who started the run.
type Initiator struct {
	Level   taint.Level // what the start of the run brings into the conversation
	Spawned bool        // the run shares its parent's conversation
	System  bool        // attested automation: never better than the agent's automation floor
	Resumed bool        // the runtime goes on with the conversation: it is what it was, or unknown
	Orphan  bool        // a subagent's run whose parent the client does not name: it may be linked already
	Unknown bool        // the client says nothing of who started it
	Why     string      // the rule that matched, as the end of a sentence
}

// systemTriggers are the runs that no person started.
var systemTriggers = map[string]bool{
	"cron": true, "heartbeat": true, "system": true, "system_event": true, "system-event": true,
}

// Classify says how far the start of a run is trusted; first match wins.
// Missing metadata is never trust: who can't be told is unknown.
func Classify(c *protocol.Call, unknown taint.Level) Initiator {
	ctx := &c.Context
	group := ctx.GroupID != "" || IsGroup(ctx.SessionKey)
	switch {
	case ctx.OddKeys():
		return Initiator{Level: taint.Untrusted, Spawned: ctx.SpawnedBy != "", Why: "the name of the session or the agent could be mistaken for another one"}
	case attestedSystem(ctx):
		return Initiator{Level: taint.System, System: true, Why: "the runtime attests a run that no person started (" + ctx.Trigger + ")"}
	case attestedResume(ctx):
		return Initiator{Level: taint.System, Spawned: ctx.SpawnedBy != "", Resumed: true, Why: "the runtime resumes a run of this conversation"}
	case outside(ctx.InputProvenance.Kind):
		return Initiator{Level: taint.Untrusted, Spawned: ctx.SpawnedBy != "", Why: "the runtime marks what started the run as outside content"}
	case ctx.SpawnedBy != "" && ctx.SenderID != "" && !ctx.SenderIsOwner:
		return Initiator{Level: taint.External, Spawned: true, Why: "someone other than the owner wrote in a spawned session"}
	case ctx.SpawnedBy != "" && group:
		return Initiator{Level: taint.Shared, Spawned: true, Why: "the run was spawned in a group"}
	case ctx.SpawnedBy != "":
		// The parent's conversation holds the level. A parent that was never seen
		// is like an unknown sender.
		return Initiator{Level: taint.System, Spawned: true, Why: "the run was spawned and shares its parent's level"}
	case ctx.SenderIsOwner && IsSubagent(ctx.SessionKey):
		return Initiator{Level: taint.System, Orphan: true, Why: "this client doesn't tell us which session started the subagent"}
	case ctx.SenderIsOwner && !group:
		return Initiator{Level: taint.Owner, Why: "the owner wrote directly"}
	case ctx.SenderIsOwner:
		return Initiator{Level: taint.Shared, Why: "the owner wrote in a group"}
	case ctx.SenderID != "":
		return Initiator{Level: taint.External, Why: "someone other than the owner wrote"}
	default:
		return Initiator{Level: unknown, Unknown: true, Why: "this client doesn't tell us who started the run"}
	}
}

// attestedSystem is true for a run the client says no person started and that
// carries nothing from outside. A webhook looks like cron; its session key or
// its provenance gives it away.
func attestedSystem(ctx *protocol.Context) bool {
	return systemTriggers[ctx.Trigger] && ctx.SenderID == "" && ctx.SpawnedBy == "" &&
		!IsHook(ctx.SessionKey) && internal(ctx.InputProvenance.Kind)
}

// resume is the trigger of a run by which the runtime goes on with what a
// conversation was doing, after a restart for example. It brings nothing in.
const resume = "resume"

func attestedResume(ctx *protocol.Context) bool {
	return ctx.Trigger == resume && ctx.SenderID == "" && !IsHook(ctx.SessionKey) && internal(ctx.InputProvenance.Kind)
}

// IsSubagent reports whether a session key belongs to a run that another session started.
func IsSubagent(key string) bool {
	return strings.HasPrefix(key, "subagent:") || strings.Contains(key, ":subagent:")
}

// internal is what the runtime calls input that it made itself.
func internal(kind string) bool {
	return kind == "" || kind == "internal_system"
}

// outside reads the runtime's own mark on a run's input. A chat message and a
// message from another session are judged by their sender; any kind we do not
// know counts as outside content.
func outside(kind string) bool {
	return !internal(kind) && kind != "external_user" && kind != "inter_session"
}

// Senders are the ids under which the sender who started the run may be known on a
// platform, platform:id, as far as the client attests them. The runtime may name
// the platform at either of two places.
func Senders(ctx *protocol.Context) []string {
	if ctx.SenderID == "" {
		return nil
	}
	var ids []string
	for _, platform := range []string{ctx.MessageProvider, ctx.ChannelID} {
		platform = strings.ToLower(platform)
		id := platform + ":" + strings.TrimPrefix(ctx.SenderID, platform+":")
		if platform != "" && platform != ownToken && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// ownToken is where people are known by a token of ours: it is no platform, and
// no client can attest it.
const ownToken = "token"

// IsGroup reports whether a session key names a group, channel or room.
// Keys look like agent:<id>:<channel>:group:<peer>[:topic:<t>].
func IsGroup(key string) bool {
	for more := true; more; {
		var part string
		switch part, key, more = strings.Cut(key, ":"); part {
		case "group", "channel", "room":
			return true
		}
	}
	return false
}

// IsHook reports whether a session key belongs to a run that an outside
// webhook started.
func IsHook(key string) bool {
	return strings.HasPrefix(key, "hook:") || strings.Contains(key, ":hook:")
}

// JobOf is the job that a session key names, agent:<id>:cron:<job>:run:<id>; empty:
// none. A run that an outside webhook started has such a key as well.
func JobOf(key string) string {
	part := strings.Split(key, ":")
	if len(part) < 4 || part[0] != "agent" || part[2] != "cron" || !isName(part[3]) {
		return ""
	}
	return part[3]
}

// JobID is an id in the one spelling in which ids are compared; empty where it is
// none that a session key could hold.
func JobID(id string) string {
	if id = strings.ToLower(strings.TrimSpace(id)); !isName(id) {
		return ""
	}
	return id
}

func isName(id string) bool {
	return id != "" && len(id) <= 128 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}
