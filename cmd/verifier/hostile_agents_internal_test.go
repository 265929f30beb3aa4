package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

// The user of a coding agent answers at the agent's own terminal, and the card on the phone is tapped afterwards.
func TestH240AQuestionAnsweredAtTheTerminalIsClosed(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		m := with(with(ownerIn("terminal"), "sessionId", "s1"), "agentId", "claude-code")
		m["sessionKey"] = "agent:claude-code:s1"
		r.allow(fetch(m))
		push := sh("git push origin main", m)
		for _, c := range []struct{ more, why string }{{`,"ran":true`, "it was allowed at the agent's own terminal"}, {"", "it was answered at the agent's own terminal"}} {
			a := r.mustAsk(push)
			beside := r.hold(push) // the hook beside the dialog
			forged := a.Question[:len(a.Question)-4] + "AAAA"
			r.takes(event{name: "question_answered", context: m, about: `{"question":"` + forged + `"` + c.more + `}`})
			if cards := r.waiting(1); cards[0].Ref != a.Ref {
				t.Errorf("a forged name of the question closed it: %v", cards)
			}
			r.takes(event{name: "question_answered", context: m, about: `{"question":"` + a.Question + `"` + c.more + `}`})
			if got := <-beside; got.allowed() {
				t.Errorf("the hook beside the dialog got %s", got.raw)
			}
			if v := r.approve(a.Ref, 0); v.Kind != "too late" || !strings.Contains(v.Text, "withdrawn: "+c.why) {
				t.Errorf("a late yes is told %+v", v)
			}
			noted := false
			for _, e := range r.entries() {
				noted = noted || e.Ref == a.Ref && e.Note == "withdrawn: "+c.why
			}
			if !noted {
				t.Errorf("the record does not say that %s", c.why)
			}
		}
		ref := r.mustAsk(push).Ref // neither answer let a second one through
		if v := r.approve(ref, 0); v.Kind != "counted" {
			t.Errorf("a new question: %+v", v)
		}
		r.allow(push)
		r.soundRecord()
	})
}

// A coding agent makes hundreds of calls in one turn. Those that look, build and test are counted apart; those that act have
// the limit that they had, wherever they hide, and a no at the limit ends them all.
func TestH241ActsHiddenAmongReadsMeetTheLimitOfARun(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		m := inRun(ownerIn("coding"), "turn-1")
		calm := []call{
			{tool: "read", params: `{"file_path":"main.go"}`, context: m}, {tool: "grep", params: `{"pattern":"TODO"}`, context: m},
			sh("ls -la src", m), sh("go test ./...", m), sh("git status", m), sh("git diff HEAD~1", m),
		}
		for i := range 100 {
			r.allow(calm[i%len(calm)])
			r.allow(calm[(i+1)%len(calm)])
			r.allow(sh(fmt.Sprintf("touch made-%d", i), m))
		}
		r.mustAsk(sh("touch one-too-many", m)) // the hundred-and-first that acts
		for _, act := range []call{
			sh("rm -rf build", m), sh("git push", m), sh("cat ~/.ssh/id_ed25519", m), {tool: "write", params: `{"file_path":"a.go","content":"x"}`, context: m},
		} { // no more than cards may be open
			r.mustAsk(act)
		}
		r.allow(calm[0])
		for _, c := range r.pending() {
			r.refuse(c.Ref, "")
		}
		other := inRun(ownerIn("other"), "turn-1")
		for i := range 100 {
			r.allow(sh(fmt.Sprintf("touch made-%d", i), other))
		}
		held := r.hold(sh("touch the-last", other))
		r.refuse(r.waits().Ref, "")
		if a := <-held; a.allowed() {
			t.Errorf("a call that was refused got %s", a.raw)
		}
		r.deny(call{tool: "read", params: `{"file_path":"main.go"}`, context: other}) // the run makes no more calls
		r.allow(call{tool: "read", params: `{"file_path":"main.go"}`, context: inRun(ownerIn("other"), "turn-2")})
	})
}

// A run that reads for ever is asked about as well.
func TestH241ReadsAloneMeetALimitToo(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) { c.Policy.MaxCalls = 3 })
	m := inRun(ownerIn("coding"), "turn-1")
	for range 30 {
		r.allow(sh("ls", m))
	}
	r.mustAsk(sh("ls", m))
}

// In a tainted conversation, looking at a terminal passes, and counts as reading what it shows. Typing into it asks.
func TestH242LookingAtATerminalIsNotTypingIntoIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	own := ownerIn("own")
	r.allow(call{tool: "terminal", params: `{"action":"read","sessionId":"t1"}`, context: own})
	if why := r.asks(post("hello", own)); !strings.Contains(why, "what stands in a terminal") {
		t.Errorf("what a terminal shows was not counted: %s", why)
	}
	for _, c := range r.pending() {
		r.refuse(c.Ref, "")
	}
	m := ownerIn("terminal")
	r.allow(fetch(m))
	for _, params := range []string{`{"action":"list"}`, `{"action":"read","sessionId":"t1"}`} {
		r.allow(call{tool: "terminal", params: params, context: m})
	}
	for _, params := range []string{
		`{"action":"input","sessionId":"t1","data":"ls\n"}`, `{"action":"close","sessionId":"t1"}`, `{"action":"read","sessionId":"t1","data":"ls\n"}`, `{"action":"READ","sessionId":"t1"}`,
		`{"action":"resize","sessionId":"t1","cols":80,"rows":24}`, `{"sessionId":"t1"}`, `{"action":["read"],"sessionId":"t1"}`, `{"chars":"","session_id":1}`,
	} {
		r.mustAsk(call{tool: "terminal", params: params, context: m})
	}
}

// Another hook of the agent changes a call after it was judged.
func TestH249ACallThatRanOtherwiseTaintsItsConversation(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		m := with(with(ownerIn("x"), "sessionId", "s1"), "agentId", "claude-code")
		m["sessionKey"] = "agent:claude-code:s1"
		in := with(m, "workspace", "/home/me/app")
		script := call{tool: "exec", params: `{"command":"python3 x.py","workdir":"/home/me/app"}`, context: in}
		r.allow(script)
		r.takes(event{name: "after_tool_call", context: m, about: `{"toolName":"exec","toolCallId":"c0","size":1}`})
		r.allow(script) // what ran was what was judged
		for _, id := range []string{"c1", "c2"} {
			r.takes(event{name: "after_tool_call", context: m, about: `{"toolName":"exec","toolCallId":"` + id + `","size":1,"changed":true}`})
		}
		r.mustAsk(script)
		const told = "ran something else than it asked about"
		redistest.Eventually(t, "the owner is told", func() bool { return strings.Contains(r.screen.String(), told) })
		if n := strings.Count(r.screen.String(), told+": another hook"); n != 1 {
			t.Errorf("the owner is told %d times", n)
		}
		noted := 0
		for _, e := range r.entries() {
			if strings.Contains(e.Note, told) {
				noted++
			}
		}
		if noted != 2 {
			t.Errorf("the record says it %d times", noted)
		}
		r.soundRecord()
	})
}
