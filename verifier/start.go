package verifier

import (
	"cmp"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// start is who started a run, and where it counts.
type start struct {
	policy.Initiator
	conversation store.Name  // whose level counts: the root's, for a spawned session
	birth        taint.Level // what a conversation is worth at least in which no call was made before
	sees         string      // the session id whose level counts; empty: the worst of all
	raises       string      // the session id for which what it brings in counts; empty: for all
	window       string      // what a grant is bound to besides the agent
	secret       string      // what it counts as having read, whatever the conversation has
}

// nameOf is the conversation of a call. A spawned session without a key of its own is its parent's.
func nameOf(c *protocol.Call) store.Name {
	return store.Name{Client: c.Client, Key: cmp.Or(c.Context.SessionKey, c.Context.SpawnedBy)}
}

// enter finds where a call or an event of a run counts, and what the start of the run is worth: a person who wrote, the
// session that spawned it, the job that it is of.
func enter(t *store.Tx, c *protocol.Call, by policy.Initiator, birth taint.Level) start {
	s, x := start{Initiator: by, birth: birth}, &c.Context
	if s.Spawned && x.SpawnedBy != t.Own.Key {
		t.Join(store.Name{Client: c.Client, Key: x.SpawnedBy}, "")
	}
	s.conversation = t.C.Name
	subagent := policy.IsSubagent(x.SessionKey)
	if t.C.Key != x.SessionKey { // it shares another conversation's level
		s.window = x.SessionKey + "\n" + x.SessionID
		if subagent { // after the owner's /new it belongs to where its parent's run does
			s.sees = t.Under
		}
	} else {
		s.window = countsAs(&t.C.Fresh, c)
		forgotten := !t.C.Met(s.window) && len(t.C.Order) >= store.MostSessions
		if !forgotten && !s.Resumed { // what was resumed may be in a context with another id
			s.sees, s.raises = s.window, s.window
		}
		if s.Orphan || s.Unknown && subagent {
			s.secret = "what the session that started it may have read"
		}
	}
	if x.SecretsRead {
		t.C.Expose("", returnedSecret)
	}
	scheduled(t, c, &s)
	return s
}

// arrive raises the conversation to what the start of a run brings in.
func (s *start) arrive(t *store.Tx) {
	level := s.Level
	if !t.C.Called {
		level = taint.Worse(level, s.birth)
	}
	t.C.Raise(s.raises, level, s.Why, t.Now)
}

// returnedSecret is what a conversation counts as having read that is known of no call.
const returnedSecret = "a password or a key that a tool returned"

// scheduled says what a run is worth that no person started: as much as the agent's jobs, which are worth as little as
// the conversations that made or changed them. A run in a job's own session counts as the owner's where the scheduler
// has reported that it started the job, and for the first run after that: a webhook's run has such a session too.
func scheduled(t *store.Tx, c *protocol.Call, s *start) {
	job := policy.JobOf(c.Context.SessionKey)
	if !s.System && (!s.Unknown || job == "" || c.Context.RunID == "") || c.Context.Trigger == "heartbeat" {
		return
	}
	jobs := t.Other(store.Jobs(c.Client, c.Agent()))
	if run, started := "run\n"+c.Agent()+"\n"+c.Context.RunID, "job\n"+c.Agent()+"\n"+job; !s.System {
		if !t.Noted(run) {
			if !t.Noted(started) {
				return
			}
			t.Note(started, false) // a start is good for one run
			t.Note(run, true)
		}
		s.Initiator = policy.Initiator{Level: taint.Owner, System: true, Why: "the runtime's scheduler started the run"}
		s.birth = taint.Owner
	}
	if floor := jobs.Worst(); floor > s.Level {
		if s.Level = floor; floor >= taint.Shared {
			s.Why = "a scheduled job comes from a conversation with outside content in it (ref " + jobs.Ref() + ")"
		}
	}
}

// reach carries a call's level to the other conversations that it touches, in the commit that allows it, and gives what
// it brings in itself.
func (e *evaluation) reach(t *store.Tx) (raise taint.Level, secret string) {
	raise = e.plan.Raise
	r, c := &e.plan.Reach, e.call
	for _, key := range r.Reads {
		from := t.Other(store.Name{Client: c.Client, Key: key})
		level := from.Worst()
		if !from.Called && len(from.Levels) == 0 { // one that was never seen may hold anything
			level = taint.Untrusted
		}
		raise = taint.Worse(raise, level)
		secret = cmp.Or(secret, from.Secret(""))
		for _, tool := range from.Caution {
			t.C.NeedsCaution(tool)
		}
	}
	for _, key := range r.Sends {
		to := t.Other(store.Name{Client: c.Client, Key: key})
		handOn(to, t, e.view.Level, e.view.Secret, "a message from another session")
	}
	for _, agent := range r.Schedules {
		jobs := t.Other(store.Jobs(c.Client, agent))
		jobs.Raise("", e.view.Level, "a conversation that scheduled or changed a job", t.Now)
	}
	return raise, secret
}

// handOn makes a conversation that t.C writes to at least as bad, for all of its session ids.
func handOn(to *store.Conversation, t *store.Tx, level taint.Level, secret, what string) {
	if to == t.C {
		return
	}
	to.Raise("", level, what, t.Now)
	to.Expose("", secret)
	for _, tool := range t.C.Caution {
		to.NeedsCaution(tool)
	}
}

// jobChanged takes in what the scheduler tells of a job: that it has started it, so that the first run after that is
// known as the job's. The text of a tainted job comes into the session to which it is delivered: that is as bad before
// the run.
func jobChanged(t *store.Tx, e *protocol.Event) {
	job, id := &e.Job, policy.JobID(e.Job.ID)
	if id == "" || job.Action != "started" && job.Action != "finished" && job.Action != "removed" {
		return
	}
	agent := e.Call.Agent()
	jobs := t.Other(store.Jobs(e.Call.Client, agent))
	// One whose text comes from outside starts nothing of the owner's.
	if t.Note("job\n"+agent+"\n"+id, job.Action == "started" && !job.Outside); job.Action != "started" {
		return
	}
	if job.Target == "isolated" {
		return
	}
	target := store.Name{Client: e.Call.Client, Key: "agent:" + agent + ":main"}
	if key, ok := strings.CutPrefix(job.Target, "session:"); ok {
		target.Key = protocol.CanonicalKey(key)
	}
	if floor := jobs.Worst(); floor >= taint.Shared {
		t.Other(target).Raise("", floor, "a scheduled job that comes from a conversation with outside content", t.Now)
	}
}
