package verifier

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// Bounds of what is remembered of jobs.
const (
	keepStarted = 24 * time.Hour // longer than a run takes
	mostStarted = 256
	longestName = 60 // characters of a job's name
	mostAgents  = 256
	keepAgents  = 10 * 365 * 24 * time.Hour
)

// jobs knows what an agent's scheduled jobs are worth: as little as the conversation that made or changed them. It refuses to take a run
// for the owner's unless the scheduler has reported that it started the job.
type jobs struct {
	o    *Options
	hide *hiding
}

// startedList names the list of what an agent's scheduler has said of its jobs
// lately, and of the runs that came of it. If it is lost, we don't know who started
// a run.
func startedList(jobs session.Conversation) string { return jobs.Hash() + ":started" }

// The words of that list, before the job's id.
const (
	startWord  = "start "
	finishWord = "finish "
	runWord    = "run "
)

// startedRun reports whether the scheduler has started this run. A start is good
// for one run, the first that comes, and only until the job has finished. The order
// of the list decides which run was first, for all instances alike.
func (j *jobs) startedRun(ctx context.Context, jobs session.Conversation, job, run string) (bool, error) {
	if run == "" {
		return false, nil
	}
	list := startedList(jobs)
	ours, open, err := j.startOf(ctx, list, job, run)
	if err != nil || !open {
		return ours, err
	}
	if err := j.o.Store.Note(ctx, session.SealNote(j.o.Key, list, mostStarted, keepStarted, []byte(runWord+job+" "+run))); err != nil {
		return false, err
	}
	ours, _, err = j.startOf(ctx, list, job, run)
	return ours, err
}

// startOf reads the list: whether a start belongs to the run, and, if none does,
// whether one is still open.
func (j *jobs) startOf(ctx context.Context, list, job, run string) (ours, open bool, err error) {
	entries, err := session.ReadNotes(ctx, j.o.Store, j.o.Key, list)
	if err != nil {
		return false, false, err
	}
	heard := map[string]bool{}
	for _, e := range entries {
		switch entry := string(e); {
		case strings.HasPrefix(entry, startWord+job+" "):
			open = open || !heard[entry] // a report that came twice tells of one start
			heard[entry] = true
		case entry == finishWord+job:
			open = false
		case open && strings.HasPrefix(entry, runWord+job+" "):
			open = false
			ours = ours || entry == runWord+job+" "+run
		}
	}
	return ours, open && !ours, nil
}

// scheduled is what a run that no person started brings in: what its job is worth.
// A run of a job's own session counts as the owner's where the scheduler has told
// that it started the job, and for this run: a webhook's run has such a session too.
func (j *jobs) scheduled(ctx context.Context, t *evaluation) (taint.Level, error) {
	jobs, job := session.Jobs(t.call.Client, t.call.Agent()), session.JobOf(t.call.Context.SessionKey)
	s := &t.plan.Initiator
	if s.Unknown && job != "" {
		started, err := j.startedRun(ctx, jobs, job, t.call.Context.RunID)
		if err != nil {
			return taint.Untrusted, err
		}
		if started {
			*s = session.Initiator{Level: taint.Owner, System: true, Why: "the runtime's scheduler started the run"}
			t.plan.Birth = taint.Owner
		}
	}
	if !s.System {
		return s.Level, nil
	}
	floor, worst, err := j.level(ctx, t, jobs, job)
	if err == nil && floor >= session.Least && worst.Name != "" {
		s.Why = "the scheduled job \u201c" + worst.Name + "\u201d comes from a conversation with outside content in it"
	}
	return taint.Worse(s.Level, floor), err
}

// level is the worst level of the agent's jobs that the run may be of. The
// agent's floor says whether there are any; it only ever gets worse, and counts
// as it is where nothing says which job it is about.
func (j *jobs) level(ctx context.Context, t *evaluation, jobs session.Conversation, job string) (taint.Level, session.Job, error) {
	c := t.call
	floor, err := j.o.Store.AutomationFloor(ctx, c.Client, c.Agent())
	if err != nil || floor < session.Least {
		return floor, session.Job{}, err
	}
	account, err := j.o.Store.Influences(ctx, jobs.Hash())
	if errors.Is(err, approval.ErrUnknown) {
		old := session.Job{Call: "unknown", Into: true, Name: "what was scheduled earlier"}
		return floor, old, j.raise(ctx, t, jobs, floor, old)
	}
	if err != nil {
		return taint.Untrusted, session.Job{}, err
	}
	level, worst := min(floor, session.Least-1), session.Job{}
	for i := range account.Influences {
		one := &account.Influences[i]
		by := session.ParseJob(one.Label)
		mayBe := by.ID == "" || by.ID == job || job == "" && by.Into && c.Context.Trigger == "cron"
		if mayBe && one.Level > level {
			level, worst = one.Level, by
		}
	}
	return level, worst, nil
}

// schedule notes that a call of a tainted conversation schedules or changes a job.
func (j *jobs) schedule(ctx context.Context, t *evaluation) error {
	r := &t.plan.Reach
	if r.Unchanged { // it starts as what the job is worth
		return nil
	}
	for _, agent := range scheduledFor(t.call) {
		if err := j.o.Store.RaiseAutomation(ctx, t.call.Client, agent, t.view.Level); err != nil {
			return err
		}
		if t.view.Level < session.Least {
			continue
		}
		job := session.Job{ID: r.Job, Call: callName(&t.call.Context, t.call.Context.ToolCallID), Into: r.Into, Name: r.JobName}
		if err := j.raise(ctx, t, session.Jobs(t.call.Client, agent), t.view.Level, job); err != nil {
			return err
		}
	}
	return nil
}

// callName names a call, so that what it returned finds it again.
func callName(c *toolcall.Context, toolCallID string) string {
	if toolCallID == "" {
		return "unknown"
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{c.SessionKey, c.RunID, toolCallID}, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// raise makes a job at least this bad, and puts that into the record.
func (j *jobs) raise(ctx context.Context, t *evaluation, jobs session.Conversation, level taint.Level, job session.Job) error {
	name := []rune(strings.Join(strings.Fields(job.Name), " "))
	job.Name = string(name[:min(len(name), longestName)])
	j.hide.redactor().Lines(&job.Name)
	label := job.Label()
	heard, err := j.o.Store.Hear(ctx, session.Report{
		Conversation: jobs, RequestID: "job " + level.String() + " " + t.call.RequestID, Body: sha256.Sum256([]byte(label)), // no call can have an id with a space
		Keep: t.settings.Keep, Raise: level, Source: label,
	})
	switch {
	case err != nil:
		return err
	case heard.Conflict || heard.Moved:
		return errJobs
	case heard.Replayed:
		return nil
	case !heard.Known:
		if err := j.o.Store.Note(ctx, session.Note{List: session.JobsList, Entries: [][]byte{jobs.Pack()}, Most: mostAgents, Keep: keepAgents}); err != nil {
			return err
		}
	}
	return j.o.Record.Append(record.Entry{
		Kind: record.KindEvent, Client: jobs.Client, Session: jobs.Key, Agent: t.call.Agent(), Run: t.call.Context.RunID, Tool: "automations",
		By: "job", Level: heard.Before.String(), RaisedTo: heard.Level.String(), Source: label, Note: "The job runs at " + level.String() + " from now on.",
	})
}

var errJobs = errors.New("verifier: what is known of an agent's jobs could not be changed")

// made takes in which job a call of automations has made: from then on the job
// itself counts, and no longer all of the agent's.
func (j *jobs) made(ctx context.Context, h *eventEvaluation) error {
	r, id := &h.event.Returned, session.JobID(h.event.Returned.Job)
	if h.event.Name != loop.AfterToolCall || r.Tool != "automations" || id == "" || r.Error {
		return nil
	}
	jobs, call := session.Jobs(h.call.Client, h.call.Agent()), callName(&h.call.Context, r.ToolCallID)
	return j.each(ctx, jobs, func(one *session.Influence, by session.Job) (drop bool, err error) {
		if by.ID != "" || by.Call != call || call == "unknown" {
			return false, nil
		}
		by.ID = id
		return true, j.raise(ctx, h.evaluation, jobs, one.Level, by)
	})
}

// changed takes in what the scheduler tells of a job: that it has started it, so
// that we know who started its run, or removed it. The text of a tainted job comes into
// the session in which it runs: that is as bad from then on, before the job is
// forgotten.
func (j *jobs) changed(ctx context.Context, h *eventEvaluation) error {
	job, id := &h.event.Job, session.JobID(h.event.Job.ID)
	if h.event.Name != loop.CronChanged || id == "" || !slices.Contains([]string{"started", "finished", "removed"}, job.Action) {
		return nil
	}
	jobs := session.Jobs(h.call.Client, h.call.Agent())
	entry := finishWord + id
	if job.Action == "started" && !job.Outside { // a job whose text comes from outside starts nothing of the owner's
		entry = startWord + id + " " + h.call.RequestID
	}
	if err := j.o.Store.Note(ctx, session.SealNote(j.o.Key, startedList(jobs), mostStarted, keepStarted, []byte(entry))); err != nil {
		return err
	}
	return j.each(ctx, jobs, func(one *session.Influence, by session.Job) (drop bool, err error) {
		if by.ID != id {
			return false, nil
		}
		if by.Into && job.Target != "isolated" {
			target := session.Conversation{Client: h.call.Client, Key: "agent:" + h.call.Agent() + ":main"}
			if key, ok := strings.CutPrefix(job.Target, "session:"); ok {
				target.Key = toolcall.CanonicalKey(key)
			}
			if err := j.o.Store.Raise(ctx, target, one.Level, "the scheduled job "+by.Name); err != nil {
				return false, err
			}
		}
		return job.Action == "removed", nil
	})
}

// each goes through the agent's tainted jobs, and drops those that do not count
// any more.
func (j *jobs) each(ctx context.Context, jobs session.Conversation, look func(*session.Influence, session.Job) (drop bool, err error)) error {
	account, err := j.o.Store.Influences(ctx, jobs.Hash())
	if errors.Is(err, approval.ErrUnknown) {
		return nil
	}
	if err != nil {
		return err
	}
	for i := range account.Influences {
		one := &account.Influences[i]
		drop, err := look(one, session.ParseJob(one.Label))
		if err != nil {
			return err
		}
		if !drop {
			continue
		}
		if err := j.o.Store.DropSource(ctx, jobs, one.Number, one.Last); err != nil {
			return err
		}
	}
	return nil
}

// scheduledFor names the agents whose automations the call may change.
func scheduledFor(c *toolcall.Call) []string {
	agents := []string{c.Agent()}
	for path, value := range c.Strings {
		name := path[strings.LastIndexByte(path, '.')+1:]
		if (name == "agentId" || name == "agent") && value != name && !slices.Contains(agents, value) {
			agents = append(agents, value)
		}
	}
	return agents
}
