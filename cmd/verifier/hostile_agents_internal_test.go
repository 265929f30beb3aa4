package main

import (
	"strings"
	"testing"
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
