package verifier

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/openclaw-verifier/verifier/recent"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// admit lets the call enter its conversation: one trip to the store, and one
// more for a run that nobody started or a session seen for the first time as a
// child.
func (v *Verifier) admit(ctx context.Context, t *evaluation) error {
	if s := &t.plan.Standing; s.Spawned || s.System || s.Unknown && session.JobOf(t.call.Context.SessionKey) != "" { // several trips share one budget
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, v.o.StoreWait)
		defer cancel()
	}
	initial, err := v.arrive(ctx, t)
	if err != nil {
		return err
	}
	v.besideParent(ctx, t)
	return v.enter(ctx, t, initial)
}

// arrive finds the conversation, and what the start of the run brings into it.
func (v *Verifier) arrive(ctx context.Context, t *evaluation) (taint.Level, error) {
	c := t.call
	t.in(session.Conversation{Client: c.Client, Key: c.Context.SessionKey})
	if t.session = c.Context.SessionID; t.plan.Standing.Resumed {
		t.session = "" // what was resumed may be in a context with another id: the worst of all counts
	}
	initial := t.plan.Standing.Level
	before, err := v.resolve(ctx, t)
	if err != nil {
		return taint.Untrusted, err
	}
	if c.Context.SecretsRead {
		if err := v.o.Store.Expose(ctx, t.conv, returnedSecret); err != nil {
			return taint.Untrusted, err
		}
	}
	if s := &t.plan.Standing; s.System || s.Unknown {
		if initial, err = v.scheduled(ctx, t); err != nil {
			return taint.Untrusted, err
		}
	}
	return taint.Worse(initial, before), nil
}

// resolve finds the conversation whose state counts. A spawned session shares
// its root's, both ways; what it was before it was known as a child comes along.
func (v *Verifier) resolve(ctx context.Context, t *evaluation) (before taint.Level, err error) {
	if root, known := v.roots.of(t.conv); known {
		t.move(root)
		return taint.System, nil
	}
	if !t.plan.Standing.Spawned {
		return taint.System, nil
	}
	parent := session.Conversation{Client: t.conv.Client, Key: t.call.Context.SpawnedBy}
	if !t.conv.Lasting() || parent == t.conv {
		t.move(parent)
		return taint.System, nil
	}
	root, before, err := v.o.Store.Link(ctx, t.conv, parent)
	if err != nil {
		return taint.Untrusted, err
	}
	v.joined(t.conv, root, before)
	t.move(root)
	return before, nil
}

// joined notes whose state a child shares from now on. What it had read before it
// was known as a child, if it had met anything, comes along.
func (v *Verifier) joined(child, root session.Conversation, before taint.Level) {
	v.roots.note(child, root)
	if before > taint.System || v.exposure.knows(child) {
		v.exposure.hand(child, root, true)
	}
}

// orphan reports whether a subagent runs whose parent is not known, neither from the
// call nor from an event before. What the parent has read may be in its task.
func (t *evaluation) orphan() bool {
	s, key := &t.plan.Standing, t.call.Context.SessionKey
	return (s.Orphan || s.Unknown && session.IsSubagent(key)) && t.conv.Key == key
}

// parentsSecrets is what such a subagent counts as having read.
const parentsSecrets = "what the session that started it may have read"

// errMoved says that a chain of spawned sessions did not end.
const maxLine = 32 // of parents

var errMoved = errors.New("verifier: the conversation's root was not found")

func (v *Verifier) enter(ctx context.Context, t *evaluation, initial taint.Level) error {
	own := t.conv
	t.initial = initial
	for range maxLine {
		a := v.admission(t, initial)
		view, err := v.admitBraked(ctx, t, &a)
		if err == nil && view.Entry == session.Held && a.Digest == "" {
			view, err = v.admitAgain(ctx, t, &a, view)
		}
		if err != nil {
			return err
		}
		if view.Entry == session.Moved {
			v.roots.note(own, view.Root)
			t.move(view.Root)
			v.besideParent(ctx, t)
			continue
		}
		if a.Note && view.Entry == session.Passed {
			v.reportedInfluences.tell(t, initial, view.Generation)
		}
		v.secretsOf(t, &view)
		t.see(view)
		if view.Entry == session.Passed {
			t.brings = taint.Worse(t.brings, t.plan.Raise)
		}
		v.saw(t)
		return nil
	}
	return errMoved
}

// secretsOf says what the conversation has read.
func (v *Verifier) secretsOf(t *evaluation, view *session.View) {
	if view.Version > 0 {
		if view.Secrets = v.exposure.saw(t, view); view.Secret != "" {
			view.Secrets = session.Holds
		}
	}
	if view.Secret == "" && t.orphan() {
		view.Secret, view.Secrets = parentsSecrets, session.Holds
	}
}

// admitBraked admits a call under the pauses that stand in the store. Nearly
// always that is what this process knows, and one trip.
func (v *Verifier) admitBraked(ctx context.Context, t *evaluation, a *session.Admission) (view session.View, err error) {
	for range settleTries {
		a.Brake = v.brake(t)
		t.brake = a.Brake
		view, err = v.o.Store.Admit(ctx, *a)
		if err != nil || view.Entry != session.Braked {
			return view, err
		}
		if err := v.o.Desk.Braked(ctx, a.Brake, view.Paused); err != nil {
			return view, err
		}
	}
	return view, nil
}

// brake is what binds the call. What is harmless passes all the same.
func (v *Verifier) brake(t *evaluation) session.Brake {
	b := v.o.Desk.Brake(t.call.Agent())
	b.On = b.On && !t.plan.Harmless
	return b
}

// admitAgain finds what could let a held call pass, where the first trip did
// not expect that anything would have to.
func (v *Verifier) admitAgain(ctx context.Context, t *evaluation, a *session.Admission, first session.View) (session.View, error) {
	t.seekConsent(a)
	second, err := v.admitBraked(ctx, t, a)
	if err != nil {
		return first, err
	}
	// It was held a moment ago: whoever decided it since, it was not this trip.
	decided := second.Entry == session.Passed || second.Entry == session.Refused
	second.Replayed, second.Lost = first.Replayed || decided, first.Lost || second.Lost
	second.Capped = first.Capped || second.Capped
	return second, nil
}

// grantedNow looks again at what is granted, where something was and the
// conversation has moved since: that may be what has changed.
func (v *Verifier) grantedNow(ctx context.Context, t *evaluation) *denial {
	if len(t.view.Grants) == 0 {
		return nil
	}
	a := v.admission(t, t.initial)
	if a.Digest == "" {
		t.seekConsent(&a)
	}
	ctx, cancel := context.WithTimeout(ctx, v.budget(t))
	defer cancel()
	view, err := v.admitBraked(ctx, t, &a)
	if err != nil {
		return v.storeFault(ctx, "admit", err)
	}
	t.view.Grants = nil
	if view.Entry == session.Held {
		t.view.Grants = view.Grants
	}
	return nil
}

// seekConsent asks for the grants and the open question that the call could
// have.
func (t *evaluation) seekConsent(a *session.Admission) {
	a.Digest = t.sum()
	for _, g := range t.grants() {
		a.Grants = append(a.Grants, g.Field())
	}
}

// calmRun ends the name under which a run's calm calls are counted, see [policy.Plan].
const calmRun = " calm"

func (v *Verifier) admission(t *evaluation, initial taint.Level) session.Admission {
	c, p := t.call, &t.plan
	floor := v.floor.At(t.convID, t.session)
	a := session.Admission{
		Conversation: t.conv, ID: t.convID, Session: t.session, RequestID: c.RequestID, Body: c.Body,
		Initial: initial, Sender: p.Standing.Why, Birth: taint.Worse(initial, p.Birth), Floor: floor,
		Modes: t.row(), Raise: p.Raise, Final: p.Final && (!p.Leaves || !t.orphan()), Leaves: p.Leaves, Source: p.Source,
		Run: c.Context.RunID, RunCap: p.RunCap,
		Standing: passedMark, Keep: t.settings.Keep,
	}
	if p.Calm {
		a.Run += calmRun
	}
	a.Note = v.reportedInfluences.untold(t, initial, floor.Generation)
	if expected := a.Modes[taint.Worse(initial, floor.Level)]; expected != taint.Allow || !a.Final {
		t.seekConsent(&a)
	}
	return a
}

// reach carries the level over to other conversations that the call touches,
// before it is allowed, and gives what the call brings in.
func (v *Verifier) reach(ctx context.Context, t *evaluation) (taint.Level, error) {
	raise, r := t.plan.Brings(&t.view), t.plan.Reach
	for _, key := range r.Reads {
		source := session.Conversation{Client: t.call.Client, Key: key}
		level, err := v.o.Store.Worst(ctx, source)
		if err != nil {
			return taint.Untrusted, err
		}
		raise = taint.Worse(raise, level)
		secret, err := v.o.Store.Exposed(ctx, source)
		if err != nil {
			return taint.Untrusted, err
		}
		t.plan.Secret = cmp.Or(t.plan.Secret, secret)
	}
	for _, key := range r.Sends {
		target := session.Conversation{Client: t.call.Client, Key: key}
		if err := v.o.Store.Raise(ctx, target, t.view.Level, "a message from another session"); err != nil {
			return taint.Untrusted, err
		}
		if err := v.o.Store.Expose(ctx, target, t.view.Secret); err != nil {
			return taint.Untrusted, err
		}
	}
	if r.Schedules {
		if err := v.schedule(ctx, t); err != nil {
			return taint.Untrusted, err
		}
	}
	return raise, nil
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

// roots remembers which conversations share another's state, so that a child
// costs no second trip. The store is the truth: it answers Moved.
type roots struct {
	mu    sync.Mutex
	known recent.Map[session.Conversation, session.Conversation]
}

const rootsSize = 20_000

func (r *roots) of(c session.Conversation) (session.Conversation, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known.Get(c)
}

// at is where a conversation's state is, as far as that is known.
func (r *roots) at(c session.Conversation) session.Conversation {
	if root, known := r.of(c); known {
		return root
	}
	return c
}

func (r *roots) note(child, root session.Conversation) {
	if child == root {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known.Put(child.Clone(), root.Clone(), rootsSize)
}
