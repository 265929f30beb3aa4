package sqlite

import (
	"context"
	"time"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store"
	"github.com/openclaw-verifier/verifier/taint"
)

// linkRefresh is how old a child's last use may be before it is noted again: a
// child's calls happen in its root's row, but its own must not be swept while
// they do.
const linkRefresh = 24 * time.Hour

func (t *tx) stillUsed(c *conversation) {
	if t.ms()-c.touched >= linkRefresh.Milliseconds() {
		c.touch(t)
	}
}

// linked is the answer to Link.
type linked struct {
	root   session.Conversation
	before taint.Level
}

// Link implements verifier.Store.
func (s *Store) Link(ctx context.Context, child, parent session.Conversation) (session.Conversation, taint.Level, error) {
	l, err := ask(ctx, s.writer, func(t *tx) (linked, error) { return t.link(child, parent) })
	return l.root, l.before, err
}

func (t *tx) link(child, parent session.Conversation) (linked, error) {
	hash := child.Hash()
	c, at, err := t.rootOf(child)
	if err != nil || at != child {
		return linked{root: at}, err
	}
	_, root, err := t.rootOf(parent)
	if err != nil || root == child {
		return linked{root: child}, err
	}
	if c == nil {
		if c, _, err = t.born(child, hash); err != nil {
			return linked{}, err
		}
	}
	if c.worst > taint.System {
		if err := t.raise(root, c.worst, store.Spawned); err != nil {
			return linked{}, err
		}
	}
	secret, err := t.secret(c, "")
	if err != nil {
		return linked{}, err
	}
	if err := t.exposeRoot(root, secret); err != nil {
		return linked{}, err
	}
	c.root = &root
	c.touch(t)
	_, err = t.exec(`UPDATE conversations SET root_client = ?, root_key = ? WHERE hash = ?`, root.Client, root.Key, hash)
	return linked{root: root, before: c.worst}, err
}

// Raise implements verifier.Store.
func (s *Store) Raise(ctx context.Context, name session.Conversation, to taint.Level, source string) error {
	return s.write(ctx, func(t *tx) error { return t.raise(name, to, source) })
}

// rootOrBorn is the conversation whose state counts, made if there is none.
func (t *tx) rootOrBorn(name session.Conversation) (*conversation, error) {
	c, name, err := t.rootOf(name)
	if err != nil || c != nil {
		return c, err
	}
	c, _, err = t.born(name, name.Hash())
	return c, err
}

func (t *tx) raise(name session.Conversation, to taint.Level, source string) error {
	c, err := t.rootOrBorn(name)
	if err != nil {
		return err
	}
	if to > c.worst {
		c.source = session.Source{Label: source, Level: to, Step: c.step}
	}
	c.raise("", to)
	c.touch(t)
	return t.influence(c, "", session.Influence{Label: source, Level: to, Fixed: true})
}

// rootOf is the conversation whose state a conversation has, and its name; nil
// if it has none. A parent may have been linked after its child.
func (t *tx) rootOf(name session.Conversation) (*conversation, session.Conversation, error) {
	for range store.MaxLine {
		c, err := t.conversation(name.Hash(), "")
		if err != nil || c == nil || c.root == nil {
			return c, name, err
		}
		name = *c.root
	}
	return nil, name, store.ErrLine
}

// Worst implements verifier.Store.
func (s *Store) Worst(ctx context.Context, name session.Conversation) (taint.Level, error) {
	return ask(ctx, s.reader, func(t *tx) (taint.Level, error) {
		c, _, err := t.rootOf(name)
		if err != nil || c == nil {
			return taint.Untrusted, err
		}
		return c.worst, nil
	})
}

// AutomationFloor implements verifier.Store.
func (s *Store) AutomationFloor(ctx context.Context, client, agent string) (taint.Level, error) {
	return ask(ctx, s.reader, func(t *tx) (taint.Level, error) { return t.automation(client, agent) })
}

// RaiseAutomation implements verifier.Store.
func (s *Store) RaiseAutomation(ctx context.Context, client, agent string, to taint.Level) error {
	return s.write(ctx, func(t *tx) error {
		floor, err := t.automation(client, agent)
		if err != nil {
			return err
		}
		_, err = t.exec(`INSERT INTO automations (client, agent, level) VALUES (?, ?, ?)
			ON CONFLICT DO UPDATE SET level = excluded.level`, client, agent, int64(taint.Worse(floor, to)))
		return err
	})
}

// automation is an agent's floor. Where none is noted there is none, unless it
// was lost.
func (t *tx) automation(client, agent string) (taint.Level, error) {
	r, err := t.one(`SELECT level FROM automations WHERE client = ? AND agent = ?`, client, agent)
	switch {
	case err != nil:
		return taint.Untrusted, err
	case r != nil:
		return r.level(0), nil
	}
	if lost, err := t.lost(); lost || err != nil {
		return taint.Untrusted, err
	}
	return taint.System, nil
}
