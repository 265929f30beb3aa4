package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/session"
)

// The ids are OpenClaw's, and so are the shapes of what follows: a run of a job's
// own session says nothing of who started it, and looks like a webhook's.
const (
	jobA = "18a7477a-ac0e-41ff-a323-ff4b1d6c7855"
	jobB = "916e0fc5-6562-4ff3-8de9-9b602a896594"
	jobC = "4401eadd-025e-4600-bdfc-8caf64a4a621"
)

// runOf is the context of a run in a job's own session.
func runOf(job, run string) map[string]any {
	return map[string]any{"agentId": "main", "sessionKey": "agent:main:cron:" + job + ":run:" + run, "sessionId": run, "runId": "r-" + run}
}

// cronChanged is what the scheduler tells of a job.
func cronChanged(action, job, more string) event {
	return event{name: "cron_changed", about: fmt.Sprintf(`{"action":%q,"jobId":%q%s}`, action, job, more), context: map[string]any{"agentId": "main"}}
}

const isolated = `,"sessionTarget":"isolated"`

// adding is a call that schedules a job.
func adding(name, target, key, toolCall string) call {
	return call{
		tool: "automations", params: fmt.Sprintf(`{"action":"add","job":{"name":%q,"sessionTarget":%q,"payload":{"kind":"agentTurn","message":"x"}}}`, name, target),
		context: with(ownerIn(key), "runId", "r1", "toolCallId", toolCall),
	}
}

// made says which job such a call has made.
func made(c call, job string) event {
	return returned(c.context, "automations", fmt.Sprintf(`,"toolCallId":%q,"jobId":%q`, c.context["toolCallId"], job))
}

// mainIn is a run in the owner's main session that no person started.
func mainIn(trigger string) map[string]any {
	return map[string]any{"sessionKey": "agent:main:main", "trigger": trigger, "inputProvenance": map[string]any{"kind": "internal_system"}}
}

// begins is a run in a job's own session that the scheduler has just started.
func (r *rig) begins(job, run string) map[string]any {
	r.t.Helper()
	r.takes(cronChanged("started", job, isolated))
	return runOf(job, run)
}

func TestH195AStartOfAJobIsGoodForOneRun(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		own := r.begins(jobA, "1")
		r.allow(sh("date", own))
		webhook := runOf(jobA, "2") // its sender chose the session key
		r.mustAsk(sh("date", webhook))
		r.mustAsk(sh("date", with(webhook, "sessionKey", own["sessionKey"])))
		r.mustAsk(sh("date", with(webhook, "runId", "")))
		r.restart()
		r.mustAsk(sh("date", runOf(jobA, "3")))

		r.begins(jobB, "1")
		r.takes(cronChanged("finished", jobB, isolated))
		r.mustAsk(sh("date", runOf(jobB, "1"))) // it came too late

		next := r.begins(jobA, "4")
		r.takes(census(next, `{"kind":"user_message"}`))
		r.mustAsk(sh("date", runOf(jobA, "5")))
		r.allow(sh("date", next))
		r.takes(cronChanged("finished", jobA, isolated))
		r.allow(sh("uptime", next))
		r.mustAsk(sh("date", runOf(jobA, "6")))

		twice := cronChanged("started", jobC, isolated)
		twice.id, twice.at = "start-of-c", time.Now()
		r.takes(twice)
		r.allow(sh("date", runOf(jobC, "1")))
		r.takes(twice) // a report that is sent again
		r.mustAsk(sh("date", runOf(jobC, "2")))
	})
}

func TestH162ATaintedJobIsTaintedAndNothingElse(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		r.allow(sh("date", ownerIn("main")))
		own := adding("mine", "isolated", "main", "call-0")
		r.allow(own)
		r.takes(made(own, jobB))

		r.allow(fetch(ownerIn("m")))
		page := adding("from a page", "isolated", "m", "call-1")
		r.consented(page, 0)
		r.takes(cronChanged("started", jobA, isolated)) // before it is told whose job it is
		r.mustAsk(sh("date", runOf(jobA, "1")))
		r.takes(cronChanged("started", jobB, isolated))
		r.mustAsk(sh("date", runOf(jobB, "0"))) // it may be this one, as long as nothing tells

		r.takes(made(page, jobA))
		r.mustAsk(sh("date", r.begins(jobA, "2")))
		if e := r.last(); e.Level != "untrusted" {
			t.Errorf("the tainted job runs at %s", e.Level)
		}
		r.allow(sh("date", r.begins(jobB, "1")))
		if e := r.last(); e.Level != "owner" && e.Level != "local" {
			t.Errorf("the owner's own job runs at %s", e.Level)
		}
		for _, trigger := range []string{"heartbeat", "system_event", "cron"} { // the tainted job has a session of its own
			r.allow(sh("date", mainIn(trigger)))
		}
		r.allow(sh("date", ownerIn("main")))
		r.restart()
		r.mustAsk(sh("id", r.begins(jobA, "3")))
		r.allow(sh("id", r.begins(jobB, "2")))
	})
}

func TestH163AWebhooksRunIsNoJobsRun(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		r.takes(cronChanged("started", jobA, isolated))
		r.takes(census(runOf(jobA, "1"), `{"kind":"user_message"}`))
		r.allow(sh("date", runOf(jobA, "1")))
		for what, ctx := range map[string]map[string]any{
			"a job that the scheduler did not start": runOf(jobC, "1"),
			"another agent's job":                    with(runOf(jobA, "2"), "agentId", "ops", "sessionKey", "agent:ops:cron:"+jobA+":run:2"),
			"content that the runtime marks":         with(runOf(jobA, "3"), "inputProvenance", map[string]any{"kind": "outside_content"}),
			"a stranger in it":                       with(runOf(jobA, "4"), "senderId", "9"),
			"a webhook's own key":                    {"sessionKey": "hook:" + jobA, "runId": "r"},
		} {
			r.takes(census(ctx, `{"kind":"user_message"}`))
			r.mustAsk(sh("date", ctx))
			if e := r.last(); e.Level != "untrusted" && e.Level != "external" {
				t.Errorf("%s is at %s", what, e.Level)
			}
		}
		r.takes(cronChanged("started", jobB, isolated+`,"outside":true`)) // its text is not its own
		r.mustAsk(sh("date", runOf(jobB, "1")))
		r.takes(cronChanged("finished", jobC, isolated))
		r.mustAsk(sh("date", runOf(jobC, "2")))
	})
}

func TestH164WhatDoesNotTellTheJobLeavesAllOfThemTainted(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		r.takes(cronChanged("started", jobB, isolated))
		r.allow(sh("date", runOf(jobB, "1")))
		r.allow(fetch(ownerIn("m")))
		page := adding("from a page", "isolated", "m", "call-1")
		r.consented(page, 0)
		id := fmt.Sprintf(`,"toolCallId":"call-1","jobId":%q`, jobA)
		for _, e := range []event{
			returned(page.context, "automations", `,"toolCallId":"call-1"`),
			returned(page.context, "automations", `,"toolCallId":"call-1","error":true,"jobId":"`+jobA+`"`),
			returned(page.context, "automations", `,"toolCallId":"call-2","jobId":"`+jobA+`"`),
			returned(page.context, "exec", id),
			returned(with(page.context, "runId", "r2"), "automations", id),
			returned(with(page.context, "sessionKey", "agent:main:other"), "automations", id),
			returned(page.context, "automations", `,"toolCallId":"call-1","jobId":"not an id: x"`),
			cronChanged("added", jobA, isolated), cronChanged("removed", jobA, isolated), cronChanged("updated", jobA, isolated),
		} {
			r.takes(e)
			r.mustAsk(sh("date", runOf(jobB, "1")))
		}
		r.takes(made(page, jobA))
		r.allow(sh("date", r.begins(jobB, "2"))) // a run that began while nothing was told keeps what it got
		r.mustAsk(sh("date", runOf(jobB, "1")))
	})
}

func TestH165ATaintedConversationThatChangesAJobTaintsIt(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		for _, job := range []string{jobA, jobB} {
			r.takes(cronChanged("started", job, isolated))
			r.allow(sh("date", runOf(job, "1")))
		}
		r.allow(fetch(ownerIn("m")))
		r.consented(call{tool: "automations", params: `{"action":"run","jobId":"` + jobB + `"}`, context: ownerIn("m")}, 0)
		r.allow(sh("date", runOf(jobB, "1"))) // it runs as it is
		r.consented(call{tool: "automations", params: `{"action":"update","jobId":"` + strings.ToUpper(jobA) + `","job":{"payload":{"message":"y"}}}`, context: ownerIn("m")}, 0)
		r.mustAsk(sh("date", r.begins(jobA, "2")))
		r.allow(sh("date", r.begins(jobB, "2")))
		r.consented(call{tool: "automations", params: `{"action":"update","jobId":"` + jobB + `","id":"` + jobC + `","job":{}}`, context: ownerIn("m")}, 0)
		r.mustAsk(sh("date", r.begins(jobB, "3"))) // which of the two it changes can't be told
	})
}

func TestH165ARunOfNoJobInParticularLeavesAllOfThemTainted(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		r.takes(cronChanged("started", jobB, isolated))
		r.allow(fetch(ownerIn("m")))
		r.consented(call{tool: "automations", params: `{"action":"run","job":{"id":"` + jobB + `","payload":{"message":"y"}}}`, context: ownerIn("m")}, 0)
		r.mustAsk(sh("date", runOf(jobB, "1")))
	})
}

func TestH166AJobBringsItsTaintIntoTheSessionWhereItRuns(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		main := session.Conversation{Client: "default", Key: "agent:main:main"}.Ref()
		forget := func() {
			t.Helper()
			if v := r.reply(".reset-trust " + main); v.Kind != "told" {
				t.Errorf("reset: %+v", v)
			}
			r.allow(sh("date", ownerIn("main")))
		}
		r.allow(sh("date", ownerIn("main")))
		r.allow(fetch(ownerIn("m")))
		page := adding("from a page", "main", "m", "call-1")
		r.consented(page, 0)
		r.takes(made(page, jobA))
		forget() // it was told when the job was scheduled

		r.allow(sh("date", mainIn("heartbeat")))
		r.mustAsk(sh("date", mainIn("cron"))) // it may be that job
		r.mustAsk(sh("date", ownerIn("main")))
		forget()
		r.takes(cronChanged("started", jobA, `,"sessionTarget":"main"`))
		r.mustAsk(sh("date", ownerIn("main"))) // its text waits there
		forget()
		r.takes(cronChanged("removed", jobA, `,"sessionTarget":"main"`))
		r.mustAsk(sh("date", ownerIn("main"))) // so it may still
		forget()
		r.allow(sh("date", mainIn("cron"))) // the job is gone
		r.allow(sh("date", ownerIn("main")))
	})
}

func TestTheOwnerVouchesForATaintedJob(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		if v := r.reply(".sources"); !strings.Contains(v.Text, "No scheduled job") {
			t.Errorf("without any: %q", v.Text)
		}
		r.allow(fetch(ownerIn("m")))
		for i, job := range []string{jobA, jobB} {
			c := adding(fmt.Sprint("report ", i), "isolated", "m", fmt.Sprint("call-", i))
			r.consented(c, 0)
			r.takes(made(c, job))
			r.takes(cronChanged("started", job, isolated))
			r.mustAsk(sh("date", runOf(job, "1")))
		}
		jobs := session.Jobs("default", "main")
		v := r.reply(".sources")
		if !strings.Contains(v.Text, jobs.Ref()) || !strings.Contains(v.Text, jobA+": report 0") || !strings.Contains(v.Text, jobB+": report 1") || strings.Contains(v.Text, "new job") {
			t.Errorf("the list is %q", v.Text)
		}
		if code, out := atShell(t, "sources", "--json", "--url", r.url, "--state", r.state.Dir()); code != exitOK || !strings.Contains(out, `{"jobs":[{"session":"`+jobs.Ref()+`"`) || !strings.Contains(out, jobA+": report 0") {
			t.Errorf("sources --json (%d): %s", code, out)
		}
		page := r.visit()
		page.enter(r.loginLink())
		for path, want := range map[string]string{"/page/talks": jobA + ": report 0", "/page/talks/" + jobs.Hash(): ">Endorse<"} {
			if _, text := page.load(http.MethodGet, path, nil); !strings.Contains(text, "Scheduled jobs of main") || !strings.Contains(text, want) {
				t.Errorf("%s is\n%s", path, text)
			}
		}
		one := r.source(jobs.Ref(), session.Job{ID: jobA, Name: "report 0"}.Label())
		if v := r.reply(fmt.Sprintf(".endorse %s %d", jobs.Ref(), one.Number)); v.Kind != "told" {
			t.Errorf("endorse: %+v", v)
		}
		r.allow(sh("date", r.begins(jobA, "2")))
		r.mustAsk(sh("date", r.begins(jobB, "2")))
		if v := r.reply(".sources"); strings.Contains(v.Text, jobA) || !strings.Contains(v.Text, jobB) {
			t.Errorf("the list is %q", v.Text)
		}
		r.takes(cronChanged("removed", jobB, isolated))
		if v := r.reply(".sources"); !strings.Contains(v.Text, "No scheduled job") {
			t.Errorf("after all are gone: %q", v.Text)
		}
	})
}
