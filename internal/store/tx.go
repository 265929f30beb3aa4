package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/taint"
)

// Tx is what the function of an Update may see and change. It is good until the function returns.
type Tx struct {
	Now    time.Time
	C      *Conversation // the root's, a copy: what changes in it is written with all else, or not at all
	Own    Name          // the conversation that was asked for
	Under  string        // of a child: under which session id of the root's it counts; "" counts for all
	Lost   bool          // the store has lost what it knew of it: it is untrusted
	Unseen *Mark         // files were written unseen; nil: none

	ctx     context.Context
	engine  *engine
	seen    map[string]*known // what earlier runs were told
	entries []entry
	room    [4]entry
	convs   []*Conversation // all that were looked at, Own's first
	client  string
	doc     clientDoc // the client's, a copy
	isLoss  bool      // this change has found out that the store has lost what it knew of the client
	isVoid  bool      // nothing is written
	publish string
	failed  error
	request struct{ id, key string } // the last that was asked for
}

// keyOf is the name of a client's document. What stands in the braces says where a Redis Cluster keeps it.
func keyOf(client string, name ...string) string {
	if strings.ContainsFunc(client, func(r rune) bool { return r == '{' || r == '}' || r < ' ' || r >= 0x7f }) {
		client = hashOf(client)
	}
	text := make([]byte, 0, 256) // on the stack, as long as that is enough
	text = append(append(append(text, '{'), client...), "}:"...)
	for _, part := range name {
		text = append(text, part...)
	}
	return string(text)
}

// hashOf is 32 hex digits of some texts, which have no zero byte.
func hashOf(texts ...string) string {
	text := make([]byte, 0, 256)
	for i, one := range texts {
		if i > 0 {
			text = append(text, 0)
		}
		text = append(text, one...)
	}
	sum := sha256.Sum256(text)
	return string(hex.AppendEncode(text[:0], sum[:16]))
}

// Update runs fn on the conversation as it is, and again on fresh data if another was first; then what an earlier run
// said is forgotten. An error of fn ends it and nothing is written, but counts only if what fn saw is still so. fn does
// no I/O and must not keep t.
func (s *Store) Update(ctx context.Context, n Name, fn func(t *Tx) error) error {
	var answer error
	err := s.change(ctx, n.Client, func(t *Tx) {
		own := conversation(t, n, false)
		t.C, t.Under = rootOf(t, own)
		t.Own, t.Lost, t.Unseen = n, own.lost || t.C.lost, t.doc.Unseen
		answer = fn(t)
		t.isVoid = answer != nil
		finish(t)
	})
	return cmp.Or(err, answer)
}

// Look is the conversation as it is now, or its root where it has one; nothing in it may be changed.
func (s *Store) Look(ctx context.Context, n Name) (c Conversation, err error) {
	err = s.Update(ctx, n, func(t *Tx) error {
		c = *t.C
		return nil
	})
	return c, err
}

// conversation reads one. There says that it must be there, for others have met it.
func conversation(t *Tx, n Name, there bool) *Conversation {
	for _, c := range t.convs {
		if c.Name == n {
			return c
		}
	}
	c, key := &Conversation{}, keyOf(t.client, "conv/", n.Hash())
	found := get[Conversation](t, key)
	if found != nil && !t.entry(key).known.lost && found.Epoch == t.doc.Epoch {
		*c = *found
		c.changed, c.granted = false, false
	} else if c.lost = found != nil || there || t.doc.Lost; c.lost {
		c.Raise("", taint.Untrusted, lostCause, t.Now)
		t.MarkUnseen(lostUnseen)
	}
	if c.Name, c.key = n, key; c.Era != t.doc.Era {
		c.Grants, c.Open = nil, nil
	}
	c.Grants = those(c.Grants, func(g *Grant) bool { return g.Until.After(t.Now) })
	c.Open = those(c.Open, func(o *OpenCard) bool { return o.Until.After(t.Now) })
	if t.convs = append(t.convs, c); n.Client == "" || n.Client != t.client {
		t.fail(errors.New("store: a conversation of no client, or of another one"))
	}
	return c
}

// those leaves out what doesn't count any more, in a copy.
func those[T any](list []T, count func(*T) bool) []T {
	for i := range list {
		if !count(&list[i]) {
			return slices.DeleteFunc(slices.Clone(list), func(one T) bool { return !count(&one) })
		}
	}
	return list
}

// rootOf follows a conversation to the one whose trust it shares. They descend from each other in no circle: Join sees
// to it.
func rootOf(t *Tx, c *Conversation) (root *Conversation, under string) {
	for c.Root != nil {
		under, c = c.Under, conversation(t, *c.Root, true)
	}
	return c, under
}

// Other is another conversation of the client, or its root where it has one. What changes in it is written in the same
// commit. Where it can't be read, Update fails.
func (t *Tx) Other(n Name) *Conversation {
	root, _ := rootOf(t, conversation(t, n, false))
	return root
}

// Join makes Own share the trust of the parent's root, under one of its session ids: both are then as bad as the worse
// of them. It changes nothing where Own has a root, but that a session id becomes known before the first call.
func (t *Tx) Join(parent Name, under string) {
	own := t.convs[0]
	if own.Root != nil {
		if !own.Called && own.Under == "" && under != "" {
			own.Changed()
			own.Under, t.Under = under, under
		}
		return
	}
	root := t.Other(parent)
	if root == own {
		return
	}
	root.Changed() // so that it is there from now on
	if level := own.Worst(); level > root.Level(under) {
		what := "a conversation that it started"
		if cause := own.Cause(""); cause != nil {
			what = cause.What
		}
		root.Raise(under, level, what, t.Now)
	}
	root.Expose(under, own.Secret(""))
	root.Open = append(root.Open, own.Open...)
	own.Changed()
	own.EndGrants(func(*Grant) bool { return true })
	own.Levels, own.Order, own.Causes, own.Secrets, own.Open = nil, nil, nil, nil, nil
	name := root.Name
	own.Root, own.Under = &name, under
	t.C, t.Under = root, under
}

// finish says what is written of the conversations.
func finish(t *Tx) {
	for _, c := range t.convs {
		old := !c.Written.IsZero() && t.Now.Sub(c.Written) > rewriteAfter
		if !c.changed && !old {
			continue
		}
		c.Changed()
		c.Epoch, c.Era, c.Written = t.doc.Epoch, t.doc.Era, t.Now
		put(t, c.key, c, t.Now.Add(keepLong))
		if t.entry(c.key).known.version == "" || old {
			enlist(t, refKey(t.client, c.Ref()), c.Key, t.Now.Add(keepLong))
		}
		if c.granted {
			until := t.Now
			for i := range c.Grants {
				until = later(until, c.Grants[i].Until)
			}
			list(t, ofKey+c.Key, until)
		}
	}
}

func refKey(client, ref string) string { return keyOf(client, "ref/", ref) }

// Find is the conversation with this short name.
func (s *Store) Find(ctx context.Context, ref string) (Name, error) {
	all, _, err := ofAll(ctx, s.engine, func(t *Tx) (all []Name) {
		for _, one := range valueOf[[]indexed](t, refKey(t.client, strings.ToUpper(ref))) {
			all = append(all, Name{t.client, one.Name})
		}
		return all
	})
	switch {
	case err != nil:
		return Name{}, err
	case len(all) == 0:
		return Name{}, ErrUnknown
	case len(all) > 1:
		return Name{}, ErrAmbiguous
	}
	return all[0], nil
}

// tell adds to what watchers hear.
func tell(t *Tx, what string) {
	if !slices.Contains(strings.Split(t.publish, "\n"), what) {
		t.publish = strings.TrimPrefix(t.publish+"\n"+what, "\n")
	}
}

// Request is what was decided about a request; nil: it was not met.
func (t *Tx) Request(id string) *Request {
	found := get[Request](t, t.requestKey(id))
	t.entry(t.requestKey(id)).once = true
	return found
}

// requestKey remembers the last one: it is asked for again where the request is decided.
func (t *Tx) requestKey(id string) string {
	if t.request.id != id || id == "" {
		t.request.id, t.request.key = id, keyOf(t.client, "req/", hashOf(id))
	}
	return t.request.key
}

// Decide remembers what was decided about a request, with this commit.
func (t *Tx) Decide(r Request) { //nolint:gocritic // one of its kind
	key := t.requestKey(r.ID)
	put(t, key, &r, t.Now.Add(r.Keep))
	t.entry(key).once = !r.Waits
	for _, c := range []*Conversation{t.convs[0], t.C} {
		if !c.Called && (r.Allow || r.Denied) { // else it is an event, and no call
			c.Changed()
			c.Called = true
		}
	}
}

// Side is what questions of the conversation need beside it, to be changed and put back. Where it can't be read, Update
// fails.
func (t *Tx) Side() *Side {
	found := valueOf[Side](t, keyOf(t.client, "side/", t.C.Hash()))
	return &Side{slices.Clone(found.Said), slices.Clone(found.Brought)}
}

// PutSide replaces it.
func (t *Tx) PutSide(s *Side) { put(t, keyOf(t.client, "side/", t.C.Hash()), s, t.Now.Add(keepLong)) }
