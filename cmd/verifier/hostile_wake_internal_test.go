package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/hmac"
)

// noLateAnswer is all that is told where there is nothing to tell.
const noLateAnswer = `{"answered":[]}`

// pollBody asks about questions, and can wait so long.
func pollBody(wait time.Duration, questions ...string) []byte {
	list, _ := json.Marshal(questions)
	if questions == nil {
		list = []byte("[]")
	}
	return fmt.Appendf(nil, `{"version":1,"timestamp":%q,"requestId":"poll-%d","questions":%s,"context":{"waitMs":%d}}`,
		time.Now().UTC().Format(time.RFC3339Nano), requests.Add(1), list, wait.Milliseconds())
}

// poll asks whether questions were answered. The answer is always signed.
func (r *rig) poll(wait time.Duration, questions ...string) string {
	r.t.Helper()
	var status int
	var signed bool
	text := r.exchange("/answered", pollBody(wait, questions...), &status, &signed)
	if status != http.StatusOK || !signed {
		r.t.Errorf("a poll got %d, signed: %v: %s", status, signed, text)
	}
	return string(text)
}

// answeredAre is the answer that names questions.
func answeredAre(questions ...string) string {
	list, _ := json.Marshal(questions)
	return `{"answered":` + string(list) + `}`
}

// unanswered sends a call that nobody has answered when its time is over.
func (r *rig) unanswered(c call) answer {
	r.t.Helper()
	a := r.mustAsk(c)
	if a.Question == "" {
		r.t.Errorf("an open question has no name: %s", a.raw)
	}
	return a
}

func TestH190ALateYesIsToldToTheOneWhoAskedAndNothingElseIs(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		m := ownerIn("m")
		r.allow(fetch(m))
		a, other := r.unanswered(sh("uname late", m)), r.unanswered(sh("uname other", m))
		if got := r.poll(0, a.Question, other.Question); got != noLateAnswer {
			t.Errorf("before the answer: %s", got)
		}
		told := make(chan string, 1)
		go func() { told <- r.poll(40*time.Second, a.Question, other.Question) }()
		r.approve(a.Ref, 0)
		if got := <-told; got != answeredAre(a.Question) {
			t.Errorf("after the answer: %s", got)
		}
		for _, c := range []string{"uname", "late", "exec", "agent:main", a.Ref} { // what it was about is not in it, nor is a code
			if strings.Contains(a.Question, c) {
				t.Errorf("the question's name %s holds %q", a.Question, c)
			}
		}
		r.allow(sh("uname late", m))
		r.mustAsk(sh("uname late", m)) // once
		if got := r.poll(0, a.Question); got != noLateAnswer {
			t.Errorf("after the yes was used: %s", got)
		}
		r.refuse(other.Ref, "")
		ended := with(ownerIn("ended"), "sessionId", "s1")
		r.allow(fetch(ended))
		withdrawn := r.unanswered(sh("uname withdrawn", ended))
		r.takes(event{name: "session_end", context: ended, about: `{"reason":"new","nextSessionId":"s1"}`})
		if got := r.poll(0, other.Question, withdrawn.Question); got != noLateAnswer {
			t.Errorf("after a no and a withdrawal: %s", got)
		}
		paused := r.unanswered(sh("uname paused", m))
		r.reply(".pause")
		r.approve(paused.Ref, 0)
		if got := r.poll(0, paused.Question); got != noLateAnswer {
			t.Errorf("while the agent is paused: %s", got)
		}
		r.reply(".resume")
		if got := r.poll(0, paused.Question); got != answeredAre(paused.Question) {
			t.Errorf("after the pause: %s", got)
		}
		if d := r.deny(call{tool: "exec", params: `{}`, id: "same", context: with(m, "waitMs", 1)}); d.Question == "" {
			t.Errorf("got %s", d.raw)
		}
		r.soundRecord()
	})
}

func TestH191WhatIsNotTheClientsOwnQuestionIsNeverAnswered(t *testing.T) {
	t.Parallel()
	onBoth(t, clients, func(t *testing.T, r *rig) {
		r, phone := r.by(laptopSecret), r.by(phoneSecret)
		m := ownerIn("m")
		r.allow(fetch(m))
		a := r.unanswered(sh("uname mine", m))
		r.approve(a.Ref, 0)
		card, rest, _ := strings.Cut(a.Question, ".")
		digest, seal, _ := strings.Cut(rest, ".")
		for name, question := range map[string]string{
			"another digest": card + "." + strings.Repeat("0", len(digest)) + "." + seal,
			"another card":   strings.Repeat("0", len(card)) + "." + digest + "." + seal,
			"no seal":        card + "." + digest + ".",
			"a made-up seal": card + "." + digest + "." + hex.EncodeToString(make([]byte, 16)),
			"parts moved":    card + digest + ".." + seal,
			"only the ref":   a.Ref,
			"the card":       card,
			"nothing":        "",
			"a longer one":   a.Question + "0",
			"the secret's":   card + "." + digest + "." + hmac.Sign([]byte(laptopSecret), []byte(card+digest))[:32],
		} {
			if got := r.poll(0, question); got != noLateAnswer {
				t.Errorf("%s: %s", name, got)
			}
		}
		if got := phone.poll(0, a.Question); got != noLateAnswer {
			t.Errorf("another client: %s", got)
		}
		head := fmt.Sprintf(`{"version":1,"timestamp":%q,"requestId":"p",`, time.Now().UTC().Format(time.RFC3339))
		quoted, _ := json.Marshal(a.Question)
		for name, body := range map[string]string{
			"yesterday":        `{"version":1,"timestamp":"2026-01-01T00:00:00Z","requestId":"p","questions":[` + string(quoted) + `]}`,
			"another version":  strings.Replace(head, `"version":1`, `"version":2`, 1) + `"questions":[` + string(quoted) + `]}`,
			"twice":            head + `"questions":[],"questions":[` + string(quoted) + `]}`,
			"capitals":         head + `"Questions":[` + string(quoted) + `]}`,
			"no list":          head + `"questions":` + string(quoted) + `}`,
			"a list of lists":  head + `"questions":[[` + string(quoted) + `]]}`,
			"too many":         head + `"questions":[` + strings.Repeat(string(quoted)+",", 32) + string(quoted) + `]}`,
			"one too long":     head + `"questions":["` + strings.Repeat("0", 300) + `",` + string(quoted) + `]}`,
			"something beside": head + `"questions":[` + string(quoted) + `],"code":"bf619df9"}`,
			"a tool":           head + `"questions":[` + string(quoted) + `],"tool":{"name":"exec","params":{}}}`,
			"too large":        head + `"questions":["` + strings.Repeat("x", 20<<10) + `"]}`,
			"nothing":          ``,
		} {
			var status int
			var signed bool
			if got := r.exchange("/answered", []byte(body), &status, &signed); status != http.StatusOK || string(got) != noLateAnswer {
				t.Errorf("%s: %d %s", name, status, got)
			}
		}
		body := pollBody(0, a.Question)
		for name, signature := range map[string]string{"unsigned": "", "wrong": hmac.Sign([]byte("wrong"), body)} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/answered", bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set(hmac.RequestHeader, signature)
			if got := exchange(t, r.http(), req); got.status != http.StatusUnauthorized {
				t.Errorf("%s: got %d %s", name, got.status, got.body)
			}
		}
		if got := r.poll(0, a.Question); got != answeredAre(a.Question) {
			t.Errorf("the client's own: %s", got)
		}
		r.allow(sh("uname mine", m))
	})
}

// The run that a late yes wakes is one of the runtime's own. OpenClaw marks it as a
// heartbeat.
func TestH192ARunThatALateYesWakesHasTheConversationsLevelAndNoMore(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		m := with(ownerIn("m"), "sessionId", "s1", "runId", "r1", "userMessages", []map[string]any{{"text": "Look at the page.", "senderId": "1", "senderIsOwner": true}})
		woken := map[string]any{
			"sessionKey": "agent:main:m", "sessionId": "s1", "runId": "r2", "trigger": "heartbeat",
			"inputProvenance": map[string]any{"kind": "internal_system"},
		}
		wake := event{name: "context_assembled", context: woken, about: `{"sources":[{"kind":"user_message","size":90}]}`}
		r.allow(fetch(m))
		a := r.unanswered(sh("git push", m))
		r.approve(a.Ref, 0)
		next, other := with(woken, "sessionId", "s2"), with(woken, "sessionKey", "agent:main:other")
		r.allow(fetch(next))
		r.allow(fetch(other))
		r.takes(wake)
		r.mustAsk(sh("git push --force", woken)) // not the call that was shown
		r.mustAsk(call{tool: "message", params: `{"action":"send","to":"1","message":"git push"}`, context: woken})
		r.mustAsk(sh("git push", next)) // nor in another context
		r.mustAsk(sh("git push", other))
		r.allow(sh("git push", woken))
		r.mustAsk(sh("git push", woken)) // once
		made := r.entries()
		if e := made[len(made)-1]; e.Level != "untrusted" || e.Run != "r2" {
			t.Errorf("after the wake: %+v", e)
		}
		r.mustAsk(sh("id", with(m, "runId", "r3")))                   // the owner's next run finds it as it was
		for _, key := range []string{"hook:1", "agent:main:hook:1"} { // a webhook that claims to be such a run
			r.mustAsk(sh("git push", with(woken, "sessionKey", key)))
		}
		r.soundRecord()
	})
}

func TestH194PollsAreBoundedAndHoldNothingUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	m := ownerIn("m")
	r.allow(fetch(m))
	a := r.unanswered(sh("uname late", m))
	const waiting = 8 // as many as a client may have
	told := make(chan string, waiting+1)
	for range waiting + 1 {
		go func() { told <- r.poll(25*time.Second, a.Question) }()
	}
	began := time.Now()
	if got := <-told; got != noLateAnswer || time.Since(began) > 10*time.Second { // there is no room for one of them
		t.Errorf("got %s after %v", got, time.Since(began))
	}
	began = time.Now()
	r.quit()
	for range waiting {
		if got := <-told; got != noLateAnswer {
			t.Errorf("at a stop: %s", got)
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the stop took %v", took)
	}
	r.start() // the name of a question outlives a restart
	r.approve(a.Ref, 0)
	if got := r.poll(20*time.Second, a.Question); got != answeredAre(a.Question) {
		t.Errorf("after a restart: %s", got)
	}
}

// Two gateways share a store: the answer that one takes wakes who waits at the
// other.
func TestH194APollHearsOfAYesThatAnotherGatewayTook(t *testing.T) {
	t.Parallel()
	chat, both := replicas(t)
	a := both[0].unanswered(sh("echo elsewhere", unvouched("m")))
	told := make(chan string, 1)
	go func() { told <- both[1].poll(40*time.Second, a.Question) }()
	tapOn(t, chat, cardAbout(t, chat, "echo elsewhere"), "Allow once")
	if got := <-told; got != answeredAre(a.Question) {
		t.Errorf("got %s", got)
	}
	both[1].allow(sh("echo elsewhere", unvouched("m")))
}

// A yes that the end of its session took is no longer a yes: no client learns of it.
func TestH210ALateYesThatTheSessionsEndTookIsNotTold(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		m := with(ownerIn("m"), "sessionId", "s1")
		r.allow(fetch(m))
		for _, reason := range []string{"new", "reset", "deleted"} {
			c := sh("uname "+reason, m)
			a := r.unanswered(c)
			r.approve(a.Ref, 0)
			if got := r.poll(0, a.Question); got != answeredAre(a.Question) {
				t.Errorf("%s: before the end: %s", reason, got)
			}
			r.takes(event{name: "session_end", context: m, about: `{"reason":"` + reason + `","nextSessionId":"s1"}`})
			if got := r.poll(0, a.Question); got != noLateAnswer {
				t.Errorf("%s: after the end: %s", reason, got)
			}
			r.mustAsk(c)
		}
	})
}
