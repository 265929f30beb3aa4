package verifier_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/verifier"
)

// Sixty-four calls of one conversation at once, at four processes: none is denied because of the others, and none
// passes that comes after the fetch which taints the conversation.
func TestH17SixtyFourCallsAtOnceAtFourProcesses(t *testing.T) {
	onLabs(t, func(t *testing.T, l *lab) {
		var all []*process
		for range 4 {
			all = append(all, l.start(t, nil))
		}
		for round := range 4 {
			where := owner(fmt.Sprint("parallel", round))
			var fetched atomic.Bool
			var wg sync.WaitGroup
			for i := range 64 {
				wg.Go(func() {
					if i == 20 {
						if d := all[i%4].verify(call(t, "web_fetch", page, where)); !d.Allow {
							t.Errorf("the fetch: %+v", d)
						}
						fetched.Store(true)
						return
					}
					after := fetched.Load()
					d := all[i%4].verify(call(t, "exec", fmt.Sprintf(`{"command":"touch %d"}`, i), where))
					if d.Allow && after || !d.Allow && !strings.HasPrefix(d.Reason, "Owner approval required") &&
						!strings.HasPrefix(d.Reason, "Too many questions") {
						t.Errorf("after the fetch: %v, %+v", after, d)
					}
				})
			}
			wg.Wait()
		}
	})
}

// Two processes share a store and take turns, call by call: what one hears or is told counts at the other.
func TestTwoProcessesAreOne(t *testing.T) {
	onLabs(t, func(t *testing.T, l *lab) {
		all, n := []*process{l.start(t, nil), l.start(t, nil)}, 0
		next := func() *rig { n++; return &rig{l, all[n%2], t} }
		sh := func(command, where string) *protocol.Call { return call(t, "exec", `{"command":"`+command+`"}`, where) }

		next().allow(sh("touch a", owner("m")))
		next().allow(call(t, "web_fetch", page, owner("m")))
		ref := next().asked("after the page", sh("touch a", owner("m")))
		next().approve(ref, approval.Scope{})
		next().allow(sh("touch a", owner("m")))
		next().asked("once is once", sh("touch a", owner("m")))

		ref = next().asked("with minutes", call(t, "tts", `{"text":"a"}`, owner("m")))
		next().approve(ref, approval.Scope{Target: approval.Exactly, Minutes: 30})
		for range 4 {
			next().allow(call(t, "tts", `{"text":"a"}`, owner("m")))
		}
		twice := call(t, "read", `{"path":"x"}`, owner("twice"))
		next().allow(twice)
		next().allow(twice)
		other := *twice
		other.Body[0]++
		next().deny("the same id with another body", &other)

		spawned := `"sessionKey":"agent:main:subagent:1","spawnedBy":"agent:main:m","waitMs":1`
		next().asked("of a child", sh("touch b", spawned))
		next().allow(call(t, "sessions_send", `{"sessionKey":"agent:main:clean","message":"hi"}`, owner("sender")))
		next().allow(sh("touch c", owner("clean")))
		next().hear(protocol.AfterToolCall, `{"toolName":"browser","marked":true}`, owner("sender"))
		next().asked("after what came in", sh("touch d", owner("sender")))

		if _, err := next().desk.Answer(t.Context(), approval.Answer{ID: ownerID, Via: "terminal",
			Text: ".pause"}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if d := next().deny("paused", sh("touch e", owner("new"))); !strings.Contains(d.Reason, "paused") {
				t.Errorf("%+v", d)
			}
		}
	})
}

// What the runtime reports of calls that were not released: it may say that one ran, or that it stopped it.
func TestTheRecordSaysThatACallRanOnlyAfterAResultWithoutAnError(t *testing.T) {
	r := newRig(t, nil)
	about := func(id string) string { return stranger("m") + `,"toolCallId":"` + id + `"` }
	for i, row := range []struct {
		result string
		answer string // what a person says first, and the same call comes again
		says   string
	}{
		{`"error":true`, "", ""},
		{`"error":true`, "no", ""},
		{`"size":1`, "", "ran before you answered"},
		{`"size":1`, "no", "may have run all the same"},
		{`"size":1`, "yes", ""},
	} {
		id := fmt.Sprint("call", i)
		asks := call(t, "exec", fmt.Sprintf(`{"command":"touch %d"}`, i), about(id))
		ref := r.asked("a stranger's", asks)
		if row.answer != "" {
			if _, err := r.answer(ref, row.answer == "yes", approval.Scope{}); err != nil {
				t.Fatal(err)
			}
			if d := r.verify(call(t, "exec", string(asks.Params), about(id))); d.Allow != (row.answer == "yes") {
				t.Errorf("after a %s: %+v", row.answer, d)
			}
		}
		entries := len(r.record.entries)
		r.hear(protocol.AfterToolCall, `{"toolName":"exec","toolCallId":"`+id+`",`+row.result+`}`, stranger("m"))
		note := ""
		for _, e := range r.record.entries[entries:] {
			if e.Kind == record.KindEvent {
				note = e.Note
			}
		}
		if row.says == "" && strings.Contains(note, "ran") || !strings.Contains(note, row.says) {
			t.Errorf("%s after a %q: the record says %q, want %q", row.result, row.answer, note, row.says)
		}
	}
}

func TestAPolicyTellsTheAgentOnlyItsReason(t *testing.T) {
	var log strings.Builder
	rules, _, err := policy.New(policy.Config{Policies: []policy.Declared{
		{Name: "secret-name", Action: policy.Action{
			BlockTools: []string{"tts", "AccessKey:Delete"}, Reason: "No speech here.",
		}},
		{Name: "silent-name", Action: policy.Action{RemoveTools: []string{"pdf"}, Reason: "Never told."}},
		{Name: "audit", Action: policy.Action{LogFullContext: true}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(o *verifier.Options) {
		o.Terms = terms(func(t *verifier.Terms) { t.Policy = rules })
		o.Desk, o.Log = deskFunc(saysYes), logTo(&log)
	})
	d := r.deny("blocked", call(t, "tts", `{}`, owner("policies")))
	if !strings.HasSuffix(d.Reason, "): No speech here.") || strings.Contains(d.Reason, "secret-name") {
		t.Errorf("the agent reads %q", d.Reason)
	}
	r.deny("its name looks like a secret", call(t, "AccessKey:Delete", `{}`, owner("policies")))
	d = r.deny("removed", call(t, "pdf", `{}`, owner("policies")))
	if strings.Contains(d.Reason, "told") || strings.Contains(d.Reason, "silent") {
		t.Errorf("the agent reads %q", d.Reason)
	}
	const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	r.allow(call(t, "exec", `{"command":"deploy --token `+token+`"}`, owner("log")+
		`,"userMessages":[{"text":"Deploy with `+token+`","senderIsOwner":true}]`))
	text := log.String()
	if !strings.Contains(text, "the full context of a call") || !strings.Contains(text, "Deploy with") ||
		strings.Contains(text, token) {
		t.Errorf("the log says %s", text)
	}
}

// An agent's run is held to its cap by this process, and a person's word counts for the rest of it.
func TestARunThatGoesOnIsAskedAbout(t *testing.T) {
	r := newRig(t, nil)
	run := func(iteration int) string {
		return owner("loop") + fmt.Sprintf(`,"runId":"r","iteration":%d`, iteration)
	}
	r.allow(call(t, "tts", `{"text":"a"}`, run(9)))
	ref := r.asked("at the cap", call(t, "tts", `{"text":"b"}`, run(10)))
	r.asked("one that reports less", call(t, "tts", `{"text":"c"}`, run(0)))
	r.approve(ref, approval.Scope{})
	r.allow(call(t, "tts", `{"text":"b"}`, run(10)))
	r.allow(call(t, "tts", `{"text":"d"}`, run(19)))
	r.asked("at twice the cap", call(t, "tts", `{"text":"e"}`, run(20)))
}

// The owner's /new: only runs that begin after it are fresh.
func TestTheOwnersNewBeginsAnew(t *testing.T) {
	r := newRig(t, nil)
	in := func(run string) string {
		return owner("m") + `,"sessionId":"s","messageProvider":"telegram","runId":"` + run + `"`
	}
	begins := func(run string, index int) {
		r.hear(protocol.ContextAssembled, fmt.Sprintf(
			`{"sources":[{"kind":"user_message","senderId":"1","senderIsOwner":true,"messageIndex":%d}]}`, index),
			in(run))
	}
	act := func(run string) *protocol.Call { return call(t, "exec", `{"command":"touch x"}`, in(run)) }
	begins("r1", 1)
	r.allow(call(t, "web_fetch", page, in("r1")))
	r.asked("after the page", act("r1"))
	end := `{"reason":"new","nextSessionId":"s"}`
	r.hear(protocol.SessionEnd, end, in(""))
	begins("r2", 1)
	r.asked("nobody asked for a new beginning", act("r2"))

	r.hear(protocol.ResetRequested, `{"command":"new"}`, strings.Replace(in(""), `"senderId":"1"`, `"senderId":"9"`, 1))
	r.hear(protocol.SessionEnd, end, in(""))
	begins("r3", 1)
	r.asked("a stranger asked for it", act("r3"))

	r.hear(protocol.ResetRequested, `{"command":"new"}`, in(""))
	r.hear(protocol.SessionEnd, end, in(""))
	begins("r4", 1)
	r.allow(act("r4"))
	r.asked("a run of before", act("r1"))
	r.asked("a run that nobody heard begin", act("r9"))
	r.allow(call(t, "web_fetch", page, in("r4")))
	r.asked("what the new one has read", act("r4"))
}

// What goes to too much to be compared is like no other call, so no always grant is for it and another such.
func TestNoAlwaysGrantIsForWhatCanNotBeCompared(t *testing.T) {
	var put []approval.Ask
	r := newRig(t, func(o *verifier.Options) {
		o.Desk = deskFunc(func(q *approval.Request) (approval.Ruling, error) {
			put = append(put, q.Ask)
			return approval.Ruling{}, nil
		})
	})
	r.allow(call(t, "web_fetch", page, owner("m")))
	for _, to := range []string{"bob", strings.Repeat("b", 900)} {
		r.deny("a message", call(t, "message", `{"action":"send","target":"`+to+`","message":"hi"}`,
			owner("m")+`,"directory":"/`+strings.Repeat("d", 200)+`"`))
	}
	if len(put) != 2 || !strings.HasPrefix(put[0].Always, "same {") || put[1].Same == "" || put[1].Always != "" {
		t.Errorf("%+v", put)
	}
}

// The owner hides more while people are asked: what is recorded then is hidden by what holds at the end.
func TestTheRecordIsHiddenByTheTermsOfTheDecision(t *testing.T) {
	stricter, err := redact.New(redact.Config{Fields: []string{"note"}})
	if err != nil {
		t.Fatal(err)
	}
	before := terms(nil)()
	after := *before
	after.Redactor = stricter
	var now atomic.Pointer[verifier.Terms]
	now.Store(before)
	r := newRig(t, func(o *verifier.Options) {
		o.Terms = now.Load
		o.Desk = deskFunc(func(q *approval.Request) (approval.Ruling, error) {
			now.Store(&after)
			return saysYes(q)
		})
	})
	r.allow(call(t, "tts", `{"text":"a","note":"plain words"}`, stranger("m")))
	if got := string(r.record.decided().Params); strings.Contains(got, "plain words") || !strings.Contains(got, `"a"`) {
		t.Errorf("the record holds %s", got)
	}
}

// A tool whose name is a secret is known by it, and shown by a mask: no card and no sentence has the name, in any case.
// The record hides it in an entry's Tool and Sent by itself.
func TestASecretInAToolsNameIsNeverKept(t *testing.T) {
	var put []approval.Ask
	r := newRig(t, func(o *verifier.Options) {
		o.Desk = deskFunc(func(q *approval.Request) (approval.Ruling, error) {
			put = append(put, q.Ask)
			return saysYes(q)
		})
	})
	const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	for _, tool := range []string{token, "x-" + token, token[:39] + "6"} {
		r.allow(call(t, tool, `{}`, stranger("m")+`,"toolCallId":"c","agentId":"main"`))
		r.hear(protocol.AfterToolCall, `{"toolName":"`+tool+`","toolCallId":"c"}`, stranger("m"))
	}
	for _, a := range put {
		if !redact.HasMask(a.Tool) || a.Hidden == 0 || a.Sent != "" {
			t.Errorf("a card says %+v", a)
		}
	}
	if len(put) != 3 || put[0].Digest == put[2].Digest {
		t.Errorf("%d questions, or two tools that are taken for one", len(put))
	}
	for i := range r.record.entries {
		r.record.entries[i].Tool, r.record.entries[i].Sent = "", ""
	}
	for _, said := range []string{fmt.Sprintf("%+v", put), fmt.Sprintf("%+v", r.record.entries)} {
		if strings.Contains(strings.ToLower(said), "abcdefghij") {
			t.Errorf("the name is in %s", said)
		}
	}
}
