package main

import (
	"slices"
	"strings"
	"testing"
)

// OpenClaw ends the run first, so that no call could use the yes any more.
func TestH170ASessionThatEndsTakesItsOpenQuestionBack(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		for _, reason := range []string{"new", "reset", "deleted"} {
			m := with(ownerIn(reason), "sessionId", "s1")
			r.allow(fetch(m))
			held := r.hold(sh("touch "+reason, m))
			ref := r.waits().Ref
			other := r.mustAsk(sh("ls", unvouched("other than "+reason))).Ref
			r.takes(event{name: "session_end", context: with(m, "sessionId", "s0"), about: `{"reason":"` + reason + `"}`}) // an older one
			if cards := r.waiting(2); !slices.ContainsFunc(cards, func(c shown) bool { return c.Ref == ref }) {
				t.Errorf("%s: the end of an older session left %v, want %s", reason, cards, ref)
			}
			r.takes(event{name: "session_end", context: m, about: `{"reason":"` + reason + `","nextSessionId":"s1"}`})
			if a := <-held; a.allowed() {
				t.Errorf("%s: the held call got %s", reason, a.raw)
			}
			if v := r.approve(ref, 0); v.Kind != "too late" || !strings.Contains(v.Text, "withdrawn: the conversation was ended") {
				t.Errorf("%s: a late yes is told %+v", reason, v)
			}
			if v := r.refuse(other, ""); v.Kind != "counted" { // another conversation's question stays
				t.Errorf("%s: the other question is told %+v", reason, v)
			}
			r.mustAsk(sh("touch "+reason, m))
			r.refuse(r.waits().Ref, "")
		}
		m := with(ownerIn("idle"), "sessionId", "s1")
		r.allow(fetch(m))
		ref := r.mustAsk(sh("touch idle", m)).Ref
		r.takes(event{name: "session_end", context: m, about: `{"reason":"idle","nextSessionId":"s1"}`})
		if v := r.approve(ref, 0); v.Kind != "counted" {
			t.Errorf("idle: the owner is told %+v", v)
		}
		r.allow(sh("touch idle", m))
		r.soundRecord()
	})
}

func TestH171AnIdleOrDailySessionKeepsItsLevel(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		for _, reason := range []string{"idle", "daily"} {
			m := with(ownerIn(reason), "sessionId", "s1")
			r.allow(fetch(m))
			r.takes(event{name: "session_end", context: m, about: `{"reason":"` + reason + `","nextSessionId":"s2"}`})
			r.mustAsk(sh("touch x", with(m, "sessionId", "s2"))) // the last messages are in it
		}
	})
}

// One gateway is killed while it holds a call, and the agent asks again at the
// other: the yes was kept for a request that is gone.
func TestH172AKill9DoesNotMakeTheRetryFail(t *testing.T) {
	t.Parallel()
	chat, both := replicas(t)
	held := both[1].hold(sh("echo retried", unvouched("m")))
	m := cardAbout(t, chat, "echo retried")
	_ = both[1].background.Process.Kill()
	_ = both[1].background.Wait()
	both[1].background = nil
	if a := <-held; a.allowed() {
		t.Errorf("the call that was held got %s", a.raw)
	}
	tapOn(t, chat, m, "Allow once")
	both[0].allow(sh("echo retried", unvouched("m")))
	both[0].mustAsk(sh("echo retried", unvouched("m"))) // once is once
}
