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

// Start says what the start of a run brings in, and what a conversation is worth at its first call. A spawned run whose
// parent was never seen, or a resumed one whose conversation was not, is like an unknown sender.
func (p *Policy) Start(c *protocol.Call) (in Initiator, birth taint.Level) {
	in = Classify(c, p.UnknownSender)
	if in.Spawned || in.Orphan || in.Resumed {
		return in, taint.Worse(in.Level, p.UnknownSender)
	}
	return in, in.Level
}

// systemTriggers are the runs that no person started. By resume the runtime goes on with what a conversation was doing,
// after a restart for example: it brings nothing in.
var systemTriggers = setOfWords("cron heartbeat system system_event system-event")

const resume = "resume"

// Classify says how far the start of a run is trusted; first match wins. Missing metadata is never trust: who can't be
// told is unknown. A webhook looks like cron; its session key or its provenance gives it away.
func Classify(c *protocol.Call, unknown taint.Level) Initiator {
	ctx := &c.Context
	group, kind := ctx.GroupID != "" || IsGroup(ctx.SessionKey), ctx.InputProvenance.Kind
	ours := kind == "" || kind == "internal_system" // the runtime made the input itself
	alone := ctx.SenderID == "" && !IsHook(ctx.SessionKey) && ours
	in := Initiator{Spawned: ctx.SpawnedBy != ""}
	switch {
	case ctx.OddKeys():
		in.Level, in.Why = untrusted, "the name of the session or the agent could be mistaken for another one"
	case systemTriggers[ctx.Trigger] && alone && !in.Spawned:
		in.System, in.Why = true, "the runtime attests a run that no person started ("+ctx.Trigger+")"
	case ctx.Trigger == resume && alone:
		in.Resumed, in.Why = true, "the runtime resumes a run of this conversation"
	case !ours && kind != "external_user" && kind != "inter_session": // a message is judged by its sender
		in.Level, in.Why = untrusted, "the runtime marks what started the run as outside content"
	case in.Spawned && ctx.SenderID != "" && !ctx.SenderIsOwner:
		in.Level, in.Why = external, "someone other than the owner wrote in a spawned session"
	case in.Spawned && group:
		in.Level, in.Why = shared, "the run was spawned in a group"
	case in.Spawned: // the parent's conversation holds the level
		in.Why = "the run was spawned and shares its parent's level"
	case ctx.SenderIsOwner && IsSubagent(ctx.SessionKey):
		in.Orphan, in.Why = true, "this client doesn't tell us which session started the subagent"
	case ctx.SenderIsOwner && group:
		in.Level, in.Why = shared, "the owner wrote in a group"
	case ctx.SenderIsOwner:
		in.Level, in.Why = owner, "the owner wrote directly"
	case ctx.SenderID != "":
		in.Level, in.Why = external, "someone other than the owner wrote"
	default:
		in.Level, in.Unknown, in.Why = unknown, true, "this client doesn't tell us who started the run"
	}
	return in
}

// Owns reports whether the owner or the runtime started the run of a call, and no one else speaks there. The owner's
// message may hold outside content all the same.
func (in *Initiator) Owns(c *protocol.Call) bool {
	group := c.Context.GroupID != "" || IsGroup(c.Context.SessionKey)
	return !group && !in.Orphan && (c.Context.SenderIsOwner || in.System)
}

// IsSubagent reports whether a session key belongs to a run that another session started.
func IsSubagent(key string) bool { return strings.Contains(":"+key, ":subagent:") }

// IsHook reports whether a session key belongs to a run that an outside webhook started.
func IsHook(key string) bool { return strings.Contains(":"+key, ":hook:") }

// IsGroup reports whether a key is of a group, channel or room: agent:<id>:<channel>:group:<peer>[:topic:<t>].
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

// Senders are the ids under which the sender who started the run may be known on a platform, platform:id, as far as the
// client attests them. The runtime may name the platform at either of two places. A token of ours is no platform, and
// no client can attest it.
func Senders(ctx *protocol.Context) (ids []string) {
	for _, platform := range []string{ctx.MessageProvider, ctx.ChannelID} {
		platform = strings.ToLower(platform)
		id := platform + ":" + strings.TrimPrefix(ctx.SenderID, platform+":")
		if ctx.SenderID != "" && platform != "" && platform != "token" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// JobOf is the job that a key names, agent:<id>:cron:<job>:run:<id>; "": none. A webhook's run may have such a key.
func JobOf(key string) string {
	part := strings.Split(key, ":")
	if len(part) < 4 || part[0] != "agent" || part[2] != "cron" {
		return ""
	}
	return JobID(part[3])
}

// JobID is an id in the one spelling in which ids are compared; empty where it is none that a session key could hold.
func JobID(id string) string {
	id = strings.ToLower(strings.TrimSpace(id))
	if len(id) > 128 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		return ""
	}
	return id
}
