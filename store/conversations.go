package store

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/state"
	"github.com/openclaw-verifier/verifier/taint"
)

// request reads a request, and takes one that is not known to be new.
func (t *tx) request(k Key) *state.Request { return asRequest(t.guess(k)) }

func asRequest(r *known) *state.Request {
	if len(r.Data) < 32 {
		return nil
	}
	return &state.Request{Body: [32]byte([]byte(r.Data[:32])), Mark: r.Data[32:]}
}

func (t *tx) remember(k Key, body [32]byte, mark string, keep time.Duration) {
	var value any
	if mark == session.MarkPending { // it will be asked for
		value = mark
	}
	t.set(k, string(body[:])+mark, value, t.now.Add(max(keep, time.Millisecond)))
}

// pausing is what is known of the pauses in a bucket; mostly there are none.
func (t *tx) pausing(p place) map[string]string {
	if words := decode[map[string]string](t, p.pauses(), t.guess(p.pauses())); words != nil {
		return *words
	}
	return nil
}

// Admit implements verifier.Store.
func (s *conversations) Admit(ctx context.Context, a session.Admission) (session.View, error) {
	p := placeAt(a.At())
	var v session.View
	step := -1
	t, err := s.change(ctx, "admit", func(t *tx) (err error) {
		v, step, err = t.admit(s.core, p, &a)
		return err
	})
	if err != nil {
		return session.View{}, err
	}
	v.Now = t.at()
	if v.Entry == session.PauseChanged {
		v.Now = time.Time{}
	}
	if step >= 0 {
		v.Step = t.commit.Result.Counts[step]
	}
	return v, nil
}

// admit gives the view, and where among the commit's counts the conversation's steps are.
func (t *tx) admit(s *core, p place, a *session.Admission) (v session.View, step int, err error) {
	if stand, differ := state.PausesDiffer(t.pausing(p), &a.Pauses); differ {
		return session.View{Entry: session.PauseChanged, Paused: stand}, -1, nil
	}
	c := t.conversation(p)
	if c != nil && c.Root != nil {
		c.Touch(t.now)
		t.save(p, c)
		return session.View{Entry: session.Moved, Root: *c.Root}, -1, nil
	}
	at := p.request(a.RequestID)
	r := t.request(at)
	if r != nil {
		v := c.Again(r, a, t.calls(p, a, 0))
		if c == nil || v.Entry == session.Conflict {
			return v, -1, nil
		}
		t.holds(c, a, &v)
		step = t.steps(p, 0)
		return v, step, nil
	}
	lost := false
	if c == nil {
		if c, lost, err = t.born(s, a.Conversation, p); err != nil {
			return v, -1, err
		}
	}
	calls := t.calls(p, a, 1)
	step = t.steps(p, 1)
	v, mark := c.Admit(a, calls, lost, t.now)
	t.holds(c, a, &v)
	t.remember(at, a.Body, mark, a.Keep)
	t.save(p, c)
	return v, step, nil
}

// holds adds what could still let a held call pass.
func (t *tx) holds(c *state.Conversation, a *session.Admission, v *session.View) {
	if v.Entry == session.Held {
		v.Grants, v.Waiting = c.Consents(a, t.isBefore)
		v.Secret = c.Secrets.Of(a.Session)
	}
}

// calls counts a call of a run, and says how many there are with it. Where that is not known it is taken to be within the cap.
func (t *tx) calls(p place, a *session.Admission, by int64) int64 {
	if a.RunCap <= 0 || a.Run == "" {
		return 0
	}
	c := Count{Key: p.run(a.Run), By: by, Keep: keepRun, Cap: int64(a.RunCap)}
	if r, found := t.find(c.Key); found && r.Count+by > c.Cap {
		if c.Cap = session.HaltedCalls - 1; r.Count+by > c.Cap {
			c.Cap = 0
		}
	}
	had, _ := t.count(c)
	return had + by
}

// Settle implements verifier.Store.
func (s *conversations) Settle(ctx context.Context, st session.Settlement) (session.Settled, error) {
	p := placeOf(st.Conversation)
	var out session.Settled
	step := -1
	t, err := s.change(ctx, "settle", func(t *tx) error {
		out, step = t.settle(p, &st)
		return nil
	})
	if err != nil {
		return session.Settled{}, err
	}
	if out.View.Now = t.at(); out.State == session.PausedMeanwhile {
		out.View.Now = time.Time{}
	}
	if step >= 0 {
		out.View.Step = t.commit.Result.Counts[step]
	}
	return out, nil
}

func (t *tx) settle(p place, st *session.Settlement) (out session.Settled, step int) {
	if stand, differ := state.PausesDiffer(t.pausing(p), &st.Pauses); differ {
		return session.Settled{State: session.PausedMeanwhile, View: session.View{Paused: stand}}, -1
	}
	c, at := t.conversation(p), p.request(st.RequestID)
	out = c.Settle(st, t.request(at))
	if c == nil || c.Root != nil {
		return out, -1
	}
	step = t.steps(p, 0)
	if out.State != session.Done {
		return out, step
	}
	if st.Claim != nil && !t.claim(p, st.Claim) {
		out.State = session.Taken
		return out, step
	}
	c.Commit(st, &out.View, t.now)
	t.remember(at, st.Body, st.Decision, st.Keep)
	t.save(p, c)
	return out, step
}

// claim uses up a yes in the same step as the allow.
func (t *tx) claim(p place, cl *session.Claim) bool {
	k := t.card(p.card(cl.Card))
	if k == nil || k.Version != cl.Version {
		return false
	}
	k.Version++
	t.putCard(p, cl.Card, k, cl.Blob)
	return true
}

// Deny implements verifier.Store.
func (s *conversations) Deny(ctx context.Context, d session.Denial) error {
	at := placeOf(d.Conversation).request(d.RequestID)
	_, err := s.change(ctx, "deny", func(t *tx) error {
		t.deny(at, &d)
		return nil
	})
	return err
}

func (t *tx) deny(at Key, d *session.Denial) {
	r := asRequest(t.read(at)) // it was admitted: mostly it is there
	open := r == nil || r.Mark == session.MarkPending && r.Body == d.Body
	if open && t.read(placeOf(d.Conversation).state()).Version != (Version{}) {
		t.remember(at, d.Body, session.MarkDenied, d.Keep)
	}
}

// Hear implements verifier.Store.
func (s *conversations) Hear(ctx context.Context, r session.Report) (session.Heard, error) {
	p := placeOf(r.Conversation)
	var h session.Heard
	step := -1
	t, err := s.change(ctx, "hear", func(t *tx) (err error) {
		h, step, err = t.hear(s.core, p, &r)
		return err
	})
	if err != nil {
		return session.Heard{}, err
	}
	h.Now = t.at()
	if step >= 0 {
		h.Step = t.commit.Result.Counts[step]
	}
	return h, nil
}

func (t *tx) hear(s *core, p place, r *session.Report) (h session.Heard, step int, err error) {
	c, at := t.conversation(p), p.request(r.RequestID)
	if c != nil && c.Root != nil {
		return session.Heard{Moved: true, Root: *c.Root}, -1, nil
	}
	before := t.request(at)
	if before != nil && before.Body != r.Body {
		return session.Heard{Conflict: true}, -1, nil
	}
	h.Replayed = before != nil
	if !h.Replayed {
		t.remember(at, r.Body, session.MarkDenied, r.Keep)
		if r.Halted != "" {
			t.count(Count{Key: p.run(r.Halted), By: session.HaltedCalls, Set: true, Keep: keepRun})
		}
	}
	if c != nil {
		h.Known = c.Met(r.Session)
	} else {
		born, lost, err := t.born(s, r.Conversation, p)
		if err != nil {
			return h, -1, err
		}
		if h.Lost = lost; h.Replayed || !r.Brings() { // it does not come into being
			t.commit.Joins = nil
			t.unborn(p)
			if lost {
				h.Before, h.Level = taint.Untrusted, taint.Untrusted
			}
			return h, -1, nil
		}
		c = born
	}
	h.Before = c.Level(r.Session)
	step = t.steps(p, 0)
	if !h.Replayed {
		c.Hear(r, h.Known, t.now)
		t.save(p, c)
	}
	h.Level, h.Version, h.Generation, h.Worst = c.Level(r.Session), c.Version, c.Generation, c.Source
	return h, step, nil
}

// unborn forgets what birth has noted.
func (t *tx) unborn(p place) { delete(t.writes, p.source("")) }

// rootOf is the conversation whose state this one shares: itself if none. A parent may have been linked after its child.
func (s *conversations) rootOf(ctx context.Context, c session.Conversation) (root session.Conversation, err error) {
	for range MaxLine {
		next := c
		err := s.look(ctx, func(t *tx) error {
			if found := t.conversation(placeOf(c)); found != nil && found.Root != nil {
				next = *found.Root
			}
			return nil
		})
		if err != nil || next == c {
			return c, err
		}
		c = next
	}
	return c, ErrLine
}

// Link implements verifier.Store. Parent and child may be in two buckets. The root is raised first, and the link holds only for a
// child that has not become worse meanwhile, nor read a secret: whatever dies in between, nothing is washed out.
func (s *conversations) Link(ctx context.Context, child, parent session.Conversation) (session.Conversation, taint.Level, error) {
	ctx, cancel, err := s.begin(ctx, "link")
	if err != nil {
		return session.Conversation{}, taint.Untrusted, err
	}
	defer cancel()
	root, before, err := s.link(ctx, child, parent)
	if err != nil {
		return session.Conversation{}, taint.Untrusted, wrap("link", err)
	}
	return root, before, nil
}

func (s *conversations) link(ctx context.Context, child, parent session.Conversation) (session.Conversation, taint.Level, error) {
	if at, err := s.rootOf(ctx, child); err != nil || at != child {
		return at, taint.System, err
	}
	root, err := s.rootOf(ctx, parent)
	if err != nil || root == child {
		return child, taint.System, err
	}
	before, secret := taint.System, ""
	for range taint.Levels + 2 {
		at, worst, read, err := s.linkAt(ctx, child, root, before, secret)
		if err != nil {
			return child, taint.Untrusted, err
		}
		if worst == before && read == secret {
			return at, before, s.uncycle(ctx, child, at)
		}
		if worst != before {
			err = s.Raise(ctx, root, worst, Spawned)
		}
		if err == nil && read != secret {
			err = s.Expose(ctx, root, read)
		}
		if err != nil {
			return child, taint.Untrusted, err
		}
		before, secret = worst, read
	}
	return child, taint.Untrusted, errContended
}

// uncycle undoes a link that makes a circle: the root may have been linked to the child at the same moment.
func (s *conversations) uncycle(ctx context.Context, child, root session.Conversation) error {
	_, err := s.rootOf(ctx, root)
	if !errors.Is(err, ErrLine) {
		return err
	}
	p := placeOf(child)
	_, undone := s.change(ctx, "link", func(t *tx) error {
		if c := t.conversation(p); c != nil && c.Root != nil && *c.Root == root {
			c.Unlink(t.now)
			t.save(p, c)
		}
		return nil
	})
	return errors.Join(err, undone)
}

// linkAt links a child that is as bad as we think and has read the secret that we think; otherwise it only says how bad the child
// is, and what it has read.
func (s *conversations) linkAt(ctx context.Context, child, root session.Conversation, before taint.Level, secret string) (at session.Conversation, worst taint.Level, read string, err error) {
	p := placeOf(child)
	_, err = s.change(ctx, "link", func(t *tx) (err error) {
		at, worst, read = root, before, secret
		c := t.conversation(p)
		if c != nil && c.Root != nil {
			at = *c.Root
			return nil
		}
		if c == nil {
			if c, _, err = t.born(s.core, child, p); err != nil {
				return err
			}
		}
		t.steps(p, 0)
		if worst, read = c.Worst, c.Secrets.Of(""); worst == before && read == secret {
			c.Link(root, t.now)
		}
		t.save(p, c)
		return nil
	})
	return at, worst, read, err
}

// changeRoot changes the conversation that a conversation shares its state with, and brings it into being if need be.
func (s *conversations) changeRoot(ctx context.Context, what string, name session.Conversation, run func(*state.Conversation, time.Time)) error {
	ctx, cancel, err := s.begin(ctx, what)
	if err != nil {
		return err
	}
	defer cancel()
	for range MaxLine {
		moved := name
		_, err := s.change(ctx, what, func(t *tx) (err error) {
			p := placeOf(name)
			c := t.conversation(p)
			if c != nil && c.Root != nil {
				moved = *c.Root
				return nil
			}
			moved = name
			if c == nil {
				if c, _, err = t.born(s.core, name, p); err != nil {
					return err
				}
			}
			t.steps(p, 0)
			run(c, t.now)
			t.save(p, c)
			return nil
		})
		if err != nil || moved == name {
			return err
		}
		name = moved
	}
	return wrap(what, ErrLine)
}

// Raise implements verifier.Store.
func (s *conversations) Raise(ctx context.Context, c session.Conversation, to taint.Level, source string) error {
	return s.changeRoot(ctx, "raise", c, func(c *state.Conversation, now time.Time) { c.RaiseAll(to, source, now) })
}

// Expose implements verifier.Store.
func (s *conversations) Expose(ctx context.Context, c session.Conversation, secret string) error {
	if secret == "" {
		return nil
	}
	return s.changeRoot(ctx, "expose", c, func(c *state.Conversation, now time.Time) { c.Expose(secret, now) })
}

// root reads the conversation whose state another shares; nil if it is not there.
func (s *conversations) root(ctx context.Context, what string, c session.Conversation) (found *state.Conversation, err error) {
	ctx, cancel, err := s.begin(ctx, what)
	if err != nil {
		return nil, err
	}
	defer cancel()
	root, err := s.rootOf(ctx, c)
	if err == nil {
		err = s.look(ctx, func(t *tx) error { found = t.conversation(placeOf(root)); return nil })
	}
	return found, wrap(what, err)
}

// Worst implements verifier.Store.
func (s *conversations) Worst(ctx context.Context, c session.Conversation) (taint.Level, error) {
	found, err := s.root(ctx, "worst", c)
	if err != nil || found == nil {
		return taint.Untrusted, err
	}
	return found.Worst, nil
}

// Exposed implements verifier.Store.
func (s *conversations) Exposed(ctx context.Context, c session.Conversation) (string, error) {
	found, err := s.root(ctx, "exposed", c)
	if err != nil || found == nil {
		return "", err
	}
	return found.Secrets.Of(""), nil
}

// named is the conversation whose state the one with this reference has.
func (s *conversations) named(ctx context.Context, ref string) (session.Conversation, error) {
	ref = strings.ToLower(ref)
	var sets []Key
	for n := range Buckets {
		if b := Bucket(n); strings.HasPrefix(b, ref) || strings.HasPrefix(ref, b) {
			sets = append(sets, key(b, "known"))
		}
	}
	hashes, err := s.records.Members(ctx, sets...)
	if err != nil {
		return session.Conversation{}, err
	}
	var found []session.Conversation
	err = s.look(ctx, func(t *tx) error {
		found = nil
		for _, hash := range hashes {
			if !strings.HasPrefix(hash, ref) || len(hash) < 2 {
				continue
			}
			if c := get[state.Conversation](t, place{hash[:2], hash}.state()); c != nil {
				found = append(found, c.Name)
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return session.Conversation{}, err
	case len(found) == 0:
		return session.Conversation{}, approval.ErrUnknown
	case len(found) > 1:
		return session.Conversation{}, approval.ErrAmbiguous
	}
	return s.rootOf(ctx, found[0])
}

// changeNamed changes the conversation that a reference names.
func (s *conversations) changeNamed(ctx context.Context, what, ref string, run func(t *tx, c *state.Conversation) error) error {
	ctx, cancel, err := s.begin(ctx, what)
	if err != nil {
		return err
	}
	defer cancel()
	name, err := s.named(ctx, ref)
	if err != nil {
		return wrap(what, err)
	}
	p := placeOf(name)
	_, err = s.change(ctx, what, func(t *tx) error {
		c := t.conversation(p)
		if c == nil {
			return approval.ErrUnknown
		}
		t.steps(p, 0)
		if err := run(t, c); err != nil {
			return err
		}
		t.save(p, c)
		return nil
	})
	return err
}

// Reset implements approval.Store.
func (s *conversations) Reset(ctx context.Context, ref string) (name session.Conversation, err error) {
	err = s.changeNamed(ctx, "reset", ref, func(t *tx, c *state.Conversation) error {
		c.Reset(t.now)
		name = c.Name
		return nil
	})
	if err != nil {
		return session.Conversation{}, err
	}
	return name, nil
}

// Influences implements approval.Store.
func (s *conversations) Influences(ctx context.Context, ref string) (a session.Account, err error) {
	ctx, cancel, err := s.begin(ctx, "influences")
	if err != nil {
		return session.Account{}, err
	}
	defer cancel()
	name, err := s.named(ctx, ref)
	if err == nil {
		err = s.look(ctx, func(t *tx) error {
			c := t.conversation(placeOf(name))
			if c == nil {
				return approval.ErrUnknown
			}
			a = c.Account()
			return nil
		})
	}
	if err != nil {
		return session.Account{}, wrap("influences", err)
	}
	return a, nil
}

// DropSource implements verifier.Store.
func (s *conversations) DropSource(ctx context.Context, c session.Conversation, number int64, last time.Time) error {
	return s.changeNamed(ctx, "drop source", c.Hash(), func(_ *tx, c *state.Conversation) error {
		c.Drop(number, last)
		return nil
	})
}

// AutomationKey is where an agent's floor is kept.
func AutomationKey(client, agent string) Key {
	return scattered("auto:" + session.Conversation{Client: client, Key: agent}.Hash())
}

// AutomationFloor implements verifier.Store.
func (s *conversations) AutomationFloor(ctx context.Context, client, agent string) (taint.Level, error) {
	return s.automation(ctx, client, agent, taint.System, true)
}

// RaiseAutomation implements verifier.Store.
func (s *conversations) RaiseAutomation(ctx context.Context, client, agent string, to taint.Level) error {
	_, err := s.automation(ctx, client, agent, to, false)
	return err
}

func (s *conversations) automation(ctx context.Context, client, agent string, to taint.Level, looks bool) (level taint.Level, err error) {
	at := AutomationKey(client, agent)
	_, err = s.change(ctx, "automation floor", func(t *tx) error {
		kept, marker := get[taint.Level](t, at), t.read(markerKey(at.Bucket()))
		switch flushed, known := s.epochs.judge(marker.Data); {
		case kept != nil:
			level = *kept
		case flushed:
			level = taint.Untrusted
		case !known && len(t.missing) == 0:
			return &epochError{at.Bucket()}
		default:
			level = taint.System
		}
		level = taint.Worse(level, to)
		if !looks {
			t.put(at, &level, time.Time{})
		}
		return nil
	})
	if err != nil {
		return taint.Untrusted, err
	}
	return level, nil
}
