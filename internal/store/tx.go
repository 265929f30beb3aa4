package store

import (
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
	IsNew  bool          // no call was decided here before
	Lost   bool          // the store has lost what it knew of it: it is untrusted
	Unseen *Mark         // files were written unseen; nil: none
	Era    int64         // cards and grants count in the era in which they were given: a clock set back begins another

	ctx     context.Context
	engine  *engine
	seen    map[string]*known // what earlier runs were told
	entries []*entry
	convs   []*Conversation // all that were looked at, Own's first
	of      string          // the client
	client  *clientDoc
	publish string
	done    func() error // after a commit that wrote
	failed  error        // this can't be committed, whatever the function says
}

// keyOf is the name of a client's document. What stands in the braces says where a Redis Cluster keeps it.
func keyOf(client, name string) string {
	for i := range len(client) {
		if c := client[i]; c == '{' || c == '}' || c < ' ' || c >= 0x7f {
			return "{" + hash(client) + "}:" + name
		}
	}
	return "{" + client + "}:" + name
}

// kindOf is what a document is, without whose: names may be secrets.
func kindOf(key string) string {
	_, name, _ := strings.Cut(key, "}:")
	kind, _, _ := strings.Cut(name, "/")
	return kind
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// entry is a document that the change rests on. One that is not remembered is taken to be absent: the commit finds out.
func (t *Tx) entry(key string) *entry {
	for _, e := range t.entries {
		if e.key == key {
			return e
		}
	}
	k := t.seen[key]
	if later := t.engine.cache.get(key, t.Now); k == nil || later != nil && later.count > k.count {
		k = later // others of this process have been here meanwhile
	}
	if k == nil {
		k = absent
	}
	e := &entry{key: key, known: k}
	t.entries = append(t.entries, e)
	return e
}

// named is the kind of what is kept by its name: it is put back where the store has lost it.
const named = "n"

// get is what a document says, or what it is to say; nil: it is not there.
func get[T any](t *Tx, key string) (*T, error) {
	e := t.entry(key)
	if e.write != nil {
		value, _ := e.write.(*T)
		return value, nil
	}
	value, err := decode[T](e.known)
	if err != nil {
		t.failed = err
	}
	if e.known.lost && kindOf(key) == named {
		put(t, key, value, e.known.ends())
	}
	return value, err
}

// put says what a document is to say, and until when it is kept; zero: for good. The value is not to be changed after
// it.
func put(t *Tx, key string, value any, until time.Time) {
	e := t.entry(key)
	e.write, e.until = value, until
}

// tell adds to what watchers hear.
func tell(t *Tx, what string) {
	if !slices.Contains(strings.Split(t.publish, "\n"), what) {
		t.publish = strings.TrimPrefix(t.publish+"\n"+what, "\n")
	}
}

// Update runs fn on the conversation as it is, and again on fresh data if another was first; then what an earlier run
// said is forgotten. An error of fn ends it and nothing is written, but counts only if what fn saw is still so. fn does
// no I/O and must not keep t.
func (s *Store) Update(ctx context.Context, n Name, fn func(t *Tx) error) error {
	return s.engine.change(ctx, func(t *Tx) error {
		if err := t.begin(n); err != nil {
			return err
		}
		if err := fn(t); err != nil {
			return err
		}
		return t.finish()
	})
}

// Look is the conversation as it is now, or its root where it has one; nothing in it may be changed.
func (s *Store) Look(ctx context.Context, n Name) (c Conversation, err error) {
	err = s.Update(ctx, n, func(t *Tx) error {
		c = *t.C
		return nil
	})
	return c, err
}

func (t *Tx) begin(n Name) error {
	if err := t.enter(n.Client); err != nil {
		return err
	}
	own, err := t.conversation(n, false)
	if err != nil {
		return err
	}
	t.Own, t.IsNew = n, !own.Called
	if t.C, t.Under, err = t.rootOf(own); err == nil {
		t.Lost = own.lost || t.C.lost
	}
	return err
}

// rootOf follows a conversation to the one whose trust it shares.
func (t *Tx) rootOf(c *Conversation) (root *Conversation, under string, err error) {
	for range mostLinks {
		if c.Root == nil {
			return c, under, nil
		}
		under = c.Under
		if c, err = t.conversation(*c.Root, true); err != nil {
			return nil, "", err
		}
	}
	return nil, "", errors.New("store: conversations descend from each other in a circle")
}

const mostLinks = 16

func conversationKey(n Name) string { return keyOf(n.Client, "conv/"+n.Hash()) }

// conversation reads one. There says that it must be there, for others have met it.
func (t *Tx) conversation(n Name, there bool) (*Conversation, error) {
	if n.Client != t.of {
		return nil, errors.New("store: a conversation of another client")
	}
	for _, c := range t.convs {
		if c.Name == n {
			return c, nil
		}
	}
	key := conversationKey(n)
	found, err := get[Conversation](t, key)
	if err != nil {
		return nil, err
	}
	k := t.entry(key).known
	c := &Conversation{Name: n}
	if found != nil && !k.lost && found.Epoch == t.client.Epoch {
		*c = *found
		c.changed, c.granted = false, false
	} else if c.lost = found != nil || there || t.client.Lost; c.lost {
		c.Raise("", taint.Untrusted, lostCause, t.Now)
		t.MarkUnseen(lostUnseen)
	}
	c.era, c.key = t.Era, key
	c.Grants = those(c.Grants, t.counts)
	c.Open = those(c.Open, func(o *OpenCard) bool { return o.Era == t.Era && o.Until.After(t.Now) })
	t.convs = append(t.convs, c)
	return c, nil
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

// Other is another conversation of the client, or its root where it has one. What changes in it is written in the same
// commit. Where it can't be read, Update fails.
func (t *Tx) Other(n Name) *Conversation {
	c, err := t.conversation(n, false)
	if err == nil {
		c, _, err = t.rootOf(c)
	}
	if err != nil {
		t.failed = err
		return &Conversation{Name: n}
	}
	return c
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
func (t *Tx) finish() error {
	for _, c := range t.convs {
		old := !c.Written.IsZero() && t.Now.Sub(c.Written) > rewriteAfter
		if !c.changed && !old {
			continue
		}
		c.Changed()
		c.Epoch, c.Written = t.client.Epoch, t.Now
		put(t, c.key, c, t.Now.Add(keepLong))
		if t.entry(c.key).known.version == "" || old {
			if err := enlist(t, refKey(c.Client, c.Ref()), c.Key, t.Now.Add(keepLong)); err != nil {
				return err
			}
		}
		if c.granted {
			name := ofKey + c.Key
			if err := enlist(t, spreadKey(t.of, granted, name), name, longest(t, c.Grants)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Find is the conversation with this short name.
func (s *Store) Find(ctx context.Context, ref string) (Name, error) {
	all, _, err := ofAll(ctx, s.engine, func(t *Tx) (all []Name, err error) {
		found, err := get[index](t, refKey(t.of, strings.ToUpper(ref)))
		if found != nil {
			for _, one := range found.Of {
				all = append(all, Name{t.of, one.Name})
			}
		}
		return all, err
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

func requestKey(client, id string) string { return keyOf(client, "req/"+hash(id)) }

// Request is what was decided about a request; nil: it was not met.
func (t *Tx) Request(id string) *Request {
	key := requestKey(t.of, id)
	found, _ := get[Request](t, key)
	t.entry(key).once = true
	if found == nil {
		return nil
	}
	r := *found
	r.ID = id
	return &r
}

// Decide remembers what was decided about a request, with this commit.
func (t *Tx) Decide(r Request) { //nolint:gocritic // one of its kind
	key := requestKey(t.of, r.ID)
	put(t, key, &r, t.Now.Add(r.Keep))
	t.entry(key).once = !r.Waits
	for _, c := range []*Conversation{t.convs[0], t.C} {
		if !c.Called && (r.Allow || r.Denied) { // else it is an event, and no call
			c.Changed()
			c.Called = true
		}
	}
}

// asked is when an agent asked, in Unix milliseconds.
type asked struct {
	At []int64 `json:"at,omitzero"`
}

const askedWindow = time.Hour

func askedKey(client, agent string) string {
	return keyOf(client, "n/"+hash("asked "+strings.ToLower(agent)))
}

// Prompted counts one more question of the agent in this hour, if there is room for it. Where most is negative it takes
// the last one back.
func (t *Tx) Prompted(agent string, most int) (ok bool, err error) {
	key := askedKey(t.of, agent)
	found, err := get[asked](t, key)
	if err != nil {
		return false, err
	}
	var now asked
	if found != nil {
		for _, at := range found.At {
			if t.Era > 0 && at > t.Now.Add(slack).UnixMilli() { // before the clock was set back, which began this era
				at = min(at, t.Era)
			}
			if at > t.Now.Add(-askedWindow).UnixMilli() && at > t.client.Forgiven.UnixMilli() {
				now.At = append(now.At, at)
			}
		}
	}
	switch n := len(now.At); {
	case most < 0:
		now.At = now.At[:max(0, n-1)]
	case n >= most:
		return false, nil
	default:
		now.At = append(now.At, t.Now.UnixMilli())
	}
	put(t, key, &now, t.Now.Add(askedWindow))
	return true, nil
}

// Side is what questions of the conversation need beside it, to be changed and put back. Where it can't be read, Update
// fails.
func (t *Tx) Side() *Side {
	found, _ := get[Side](t, sideKey(t.C.Name))
	if found == nil {
		return &Side{}
	}
	return &Side{slices.Clone(found.Said), slices.Clone(found.Brought)}
}

// PutSide replaces it.
func (t *Tx) PutSide(s *Side) { put(t, sideKey(t.C.Name), s, t.Now.Add(keepLong)) }

func sideKey(n Name) string { return keyOf(n.Client, "side/"+n.Hash()) }
