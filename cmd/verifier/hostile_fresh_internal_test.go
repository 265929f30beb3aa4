package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/session"
)

// chatty is the owner's own session as OpenClaw describes it.
func chatty(run string) map[string]any {
	return inRun(with(with(ownerIn("main"), "sessionId", "s1"), "messageProvider", "telegram"), run)
}

// runs tells that a run begins, after so many messages.
func (r *rig) runs(m map[string]any, before int) {
	r.t.Helper()
	id, owner := m["senderId"], m["senderIsOwner"]
	r.takes(event{name: "context_assembled", context: m, about: fmt.Sprintf(`{"sources":[{"kind":"user_message","messageIndex":%d,"senderId":%q,"senderIsOwner":%v,"size":2}]}`, before, id, owner)})
}

func (r *rig) wantsNew(m map[string]any) {
	r.t.Helper()
	delete(m, "senderIsOwner") // OpenClaw does not say so of a message
	delete(m, "runId")
	delete(m, "sessionId")
	r.takes(event{name: "reset_requested", context: m, about: `{"command":"new"}`})
}

func (r *rig) ends(reason string) {
	r.t.Helper()
	r.takes(event{name: "session_end", context: map[string]any{"sessionKey": "agent:main:main", "sessionId": "s1"}, about: `{"reason":"` + reason + `","nextSessionId":"s1"}`})
}

// taints lets a run of the owner's read a page.
func (r *rig) taints(run string) {
	r.t.Helper()
	r.runs(chatty(run), 1)
	r.allow(fetch(chatty(run)))
	r.mustAsk(sh("touch "+run, chatty(run)))
}

func TestH173TheOwnersNewStartsAFreshConversation(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"new", "reset"} {
		t.Run(reason, func(t *testing.T) { onBoth(t, nil, func(t *testing.T, r *rig) { r.startsAfresh(reason) }) })
	}
}

func (r *rig) startsAfresh(reason string) {
	r.t.Helper()
	r.taints("run-1")
	r.approve(r.mustAsk(sh("touch kept", chatty("run-1"))).Ref, 0) // a yes that no call has used
	r.wantsNew(chatty(""))
	r.ends(reason)
	r.mustAsk(sh("date", chatty("run-2"))) // nothing was heard of its beginning
	r.runs(chatty("run-3"), 1)
	if e := r.lastEvent(); !strings.Contains(e.Note, "The owner started the conversation anew") {
		r.t.Errorf("the record says %+v", e)
	}
	r.allow(sh("date", chatty("run-3")))
	r.runs(chatty("run-4"), 7)
	r.allow(sh("date", chatty("run-4")))
	r.mustAsk(sh("date", chatty("run-1"))) // older runs keep their level
	r.mustAsk(sh("date", with(chatty("run-4"), "runId", "")))
	r.mustAsk(sh("date", with(chatty("run-4"), "sessionId", "")))

	v := r.reply(".sources " + session.Conversation{Client: "default", Key: "agent:main:main"}.Ref())
	if !strings.Contains(v.Text, "The owner started it anew with /new or /reset at") || !strings.Contains(v.Text, "(before the owner started anew)") {
		r.t.Errorf("sources: %+v", v)
	}

	r.allow(fetch(chatty("run-4"))) // and it is tainted again
	r.runs(chatty("run-5"), 9)
	r.mustAsk(sh("id", chatty("run-5")))
	r.mustAsk(sh("touch kept", chatty("run-5"))) // the yes was for what the conversation was then
	r.soundRecord()
}

func TestH174AfterARestartAFreshConversationIsNoBetterThanItWas(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, restartsAfresh)
}

func restartsAfresh(t *testing.T, r *rig) {
	t.Helper()
	r.runs(chatty("run-1"), 1)
	r.allow(sh("date", chatty("run-1"))) // the first is clean
	r.wantsNew(chatty(""))
	r.ends("new")
	r.taints("run-2") // and the second is not
	r.restart()
	r.mustAsk(sh("date", chatty("run-2")))
	r.allow(sh("date", chatty("run-1")))                      // it began before, and nothing was read then
	r.mustAsk(sh("date", chatty("run-0")))                    // nothing was heard of its beginning
	r.mustAsk(sh("date", with(chatty("run-1"), "runId", ""))) // nor which run it is of
	r.runs(chatty("run-3"), 5)
	r.mustAsk(sh("date", chatty("run-3")))
}

func TestH175NothingElseStartsAFreshConversation(t *testing.T) {
	t.Parallel()
	owners := func(r *rig) { r.wantsNew(chatty("")) }
	for name, c := range map[string]struct {
		asks   func(r *rig)
		ends   func(r *rig)
		before int // messages in the next run
	}{
		"nobody asked: the agent's own sessions_send, an automation, sessions reset": {asks: func(*rig) {}},
		"a stranger in the same session":                                             {asks: func(r *rig) { r.wantsNew(with(chatty(""), "senderId", "222")) }},
		"someone without an id":                                                      {asks: func(r *rig) { r.wantsNew(with(chatty(""), "senderId", "")) }},
		"the owner's id on another platform":                                         {asks: func(r *rig) { r.wantsNew(with(chatty(""), "messageProvider", "discord")) }},
		"a platform where the agent can write as the owner":                          {asks: func(r *rig) { r.wantsNew(with(chatty(""), "messageProvider", "whatsapp")) }},
		"the owner in a group":                                                       {asks: func(r *rig) { r.wantsNew(with(chatty(""), "groupId", "-100333")) }},
		"the owner in another conversation":                                          {asks: func(r *rig) { r.wantsNew(with(chatty(""), "sessionKey", "agent:main:telegram:direct:1")) }},
		"the session only says that it is idle":                                      {asks: owners, ends: func(r *rig) { r.ends("idle") }},
		"the session only says that it is of yesterday":                              {asks: owners, ends: func(r *rig) { r.ends("daily") }},
		"the session goes on after a summary":                                        {asks: owners, ends: func(r *rig) { r.ends("compaction") }},
		"the session does not end: /reset soft":                                      {asks: owners, ends: func(*rig) {}},
		"messages are left in the context":                                           {asks: owners, before: 5},
		"the runtime does not say what is left":                                      {asks: owners, before: 0},
		"one message for two ends": {asks: owners, ends: func(r *rig) {
			r.ends("idle")
			r.ends("new")
		}},
		"another session of the same key ended": {asks: owners, ends: func(r *rig) {
			r.takes(event{name: "session_end", context: map[string]any{"sessionKey": "agent:main:main", "sessionId": "s0"}, about: `{"reason":"new","nextSessionId":"s0"}`})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBoth(t, nil, func(t *testing.T, r *rig) {
				r.taints("run-1")
				c.asks(r)
				if c.ends == nil {
					r.ends("new")
				} else {
					c.ends(r)
				}
				before := 1
				if c.before != 0 || strings.Contains(name, "does not say") {
					before = c.before
				}
				r.runs(chatty("run-2"), before)
				r.mustAsk(sh("date", chatty("run-2")))
			})
		})
	}
}

// TestH175OldRunsAndUnknownOnesDoNotSpoilAFreshConversation: what they see is the worst of all, and that says nothing of the fresh one. What
// they read counts for all.
func TestH175OldRunsAndUnknownOnesDoNotSpoilAFreshConversation(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		r.taints("run-1")
		r.wantsNew(chatty(""))
		r.ends("new")
		r.mustAsk(sh("date", chatty("run-2"))) // between the end and the next beginning
		r.runs(chatty("run-3"), 1)
		r.mustAsk(sh("date", chatty("run-1")))
		r.mustAsk(sh("date", chatty("run-4")))
		r.mustAsk(sh("date", with(chatty("run-3"), "runId", "")))
		r.allow(sh("date", chatty("run-3")))
		r.allow(fetch(chatty("run-1"))) // an old run's page is in the old context
		r.allow(sh("date", chatty("run-3")))
		r.allow(fetch(chatty("run-4"))) // nobody knows in which this one is
		r.mustAsk(sh("date", chatty("run-3")))
	})
}

// TestH173TheOwnersNewCountsAtEveryGatewayThatSharesTheStore whichever of them hears what.
func TestH173TheOwnersNewCountsAtEveryGatewayThatSharesTheStore(t *testing.T) {
	t.Parallel()
	_, both := replicas(t)
	one, other := both[0], both[1]
	one.taints("run-1")
	one.allow(sh("date", inRun(with(ownerIn("else"), "sessionId", "s9"), "run-9")))
	other.mustAsk(sh("date", with(chatty("run-1"), "runId", "")))
	other.wantsNew(chatty(""))
	one.ends("new")
	other.runs(chatty("run-2"), 1)
	one.allow(sh("date", chatty("run-2")))
	other.allow(sh("date", chatty("run-2")))
	one.mustAsk(sh("date", chatty("run-1")))
	other.mustAsk(sh("date", chatty("run-1")))
	one.ends("new") // one message is for one end
	other.runs(chatty("run-3"), 1)
	other.allow(fetch(chatty("run-3")))
	one.mustAsk(sh("touch x", chatty("run-3")))
	one.mustAsk(sh("touch x", with(chatty(""), "runId", "")))
	other.wantsNew(with(chatty(""), "senderId", "222"))
	one.ends("new")
	one.runs(chatty("run-4"), 1)
	other.mustAsk(sh("touch x", chatty("run-4")))
}

// TestH216UnderStrictTheOwnersNewStartsAFreshConversation: nothing lowers a level there, and nothing is lowered. The context is a new one,
// as with another session id.
func TestH216UnderStrictTheOwnersNewStartsAFreshConversation(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) { c.Policy.Profile = "strict" })
	r.taints("run-1")
	r.ends("new") // the owner did not ask for it
	r.runs(chatty("run-2"), 1)
	r.mustAsk(sh("date", chatty("run-2")))
	r.wantsNew(chatty(""))
	r.ends("new")
	r.runs(chatty("run-3"), 1)
	r.allow(sh("date", chatty("run-3")))
	r.mustAsk(sh("date", chatty("run-1")))
}

// TestH200AYesEndsWithItsSession: nobody asked for the end, so the level stays; the yes that no call has used does not.
func TestH200AYesEndsWithItsSession(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		for _, reason := range []string{"new", "reset", "deleted"} {
			kept := sh("touch kept-"+reason, chatty("run-1"))
			r.taints("run-1-" + reason)
			r.approve(r.mustAsk(kept).Ref, 0)
			r.ends(reason)
			r.mustAsk(kept)
			r.approve(r.mustAsk(kept).Ref, 0) // a yes from afterwards counts
			r.allow(kept)
		}
		for _, reason := range []string{"idle", "daily", "compaction", "unknown"} {
			late := sh("touch late-"+reason, chatty("run-2"))
			r.approve(r.mustAsk(late).Ref, 0)
			r.ends(reason)
			r.allow(late)
		}
		other := sh("touch other", inRun(with(ownerIn("other"), "sessionId", "s2"), "run-3"))
		r.allow(fetch(other.context))
		r.approve(r.mustAsk(other).Ref, 0)
		r.ends("reset") // of another session
		r.allow(other)
	})
}

// TestH173ASubagentOfAFreshConversationIsFresh: it shares the level of the run that started it. One from before is as it was, also if it is
// started once more, and so is one of which nothing says who started it.
func TestH173ASubagentOfAFreshConversationIsFresh(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		child := func(name string) map[string]any {
			return map[string]any{"sessionKey": "agent:main:subagent:" + name, "spawnedBy": "agent:main:main", "sessionId": name, "runId": "of-" + name}
		}
		started := func(run, name string, more string) {
			r.takes(event{name: "subagent_spawned", context: map[string]any{"sessionKey": "agent:main:main"}, about: `{"childSessionKey":"agent:main:subagent:` + name + `"}`})
			r.takes(event{name: "after_tool_call", context: chatty(run), about: `{"toolName":"sessions_spawn","toolCallId":"call-` + name + `","childSessionKey":"agent:main:subagent:` + name + `"` + more + `}`})
		}
		r.taints("run-1")
		started("run-1", "before", "")
		r.wantsNew(chatty(""))
		r.ends("new")
		r.runs(chatty("run-2"), 1)
		started("run-2", "fresh", "")
		started("run-2", "failed", `,"error":true`)
		started("run-1", "late", "")   // by a run of before
		started("run-2", "before", "") // it has its old task
		for range 2 {
			r.allow(sh("date", child("fresh")))
			for _, name := range []string{"before", "failed", "late", "unheard"} {
				r.mustAsk(sh("date", child(name)))
				started("run-2", name, "") // too late
			}
			r.allow(sh("date", chatty("run-2"))) // and none of them has spoilt it
			r.restart()
		}
		other := with(child("fresh"), "spawnedBy", "agent:main:other") // it can't be another's
		r.allow(sh("date", other))

		r.allow(fetch(child("fresh")))
		r.mustAsk(sh("date", child("fresh")))
		r.mustAsk(sh("date", chatty("run-2"))) // both ways
		r.wantsNew(chatty(""))
		r.ends("new")
		r.runs(chatty("run-3"), 1)
		r.mustAsk(sh("date", chatty("run-3"))) // it may still report what it has read
		r.soundRecord()
	})
}
