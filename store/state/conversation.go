// Package state is what a store's records mean: conversations, cards, limits and how each changes. It holds the rules once, as
// plain functions over values. It does no I/O and has no clock: the caller brings the time, the records and what the counters
// say, and keeps what comes out.
//
// It refuses to make a level better: only the owner's reset does that.
package state

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// Conversation is all that is kept of one conversation, but for its count of calls and its sources, which change more often and are
// kept beside it. Its maps are never written to: a change replaces them, so that a copy of the struct is a snapshot.
type Conversation struct {
	Name       session.Conversation   `json:"name"`
	Root       *session.Conversation  `json:"root,omitzero"` // it shares this one's state
	Levels     map[string]taint.Level `json:"levels"`        // by session id; "" is what came without one
	Worst      taint.Level            `json:"worst"`
	Generation int64                  `json:"generation,omitzero"` // when it was last reset, in Unix milliseconds
	Version    int64                  `json:"version"`             // changes whenever what was judged before no longer holds
	Called     bool                   `json:"called,omitzero"`     // a call was admitted
	Source     session.Source         `json:"source,omitzero"`
	Grants     map[string]string      `json:"grants,omitzero"`
	Waiting    map[string]Waiting     `json:"waiting,omitzero"` // by digest
	Secrets    session.Exposure       `json:"secrets,omitzero"`
	Numbered   int64                  `json:"numbered,omitzero"` // how many sources there ever were
	Life       uint32                 `json:"life"`              // differs after each birth and reset: sources of an earlier life do not count
	Touched    int64                  `json:"touched"`           // Unix milliseconds, at most an hour old

	// Step is how many calls were admitted, and Sources are who had a say. Both come from beside the record.
	Step    int64   `json:"-"`
	Sources Sources `json:"-"`

	changed, stepped bool
}

// Waiting is a card that asks about a call.
type Waiting struct {
	Card  string `json:"card"`
	Until int64  `json:"until"` // Unix milliseconds
}

// Sources reads and replaces those who had a say in a conversation, by session id.
type Sources interface {
	Of(sessionID string) session.Influences
	Put(sessionID string, all session.Influences)
}

// touchEvery is after how long a conversation in use is written again, so that it is kept.
const touchEvery = time.Hour

// Born is a new conversation. One that was lost is as bad as can be: whatever session id comes, what it had read is not known any
// more. Life is a random number.
func Born(name session.Conversation, life uint32, lost bool, sources Sources, now time.Time) *Conversation {
	c := &Conversation{Name: name, Version: 1, Life: life, Touched: now.UnixMilli(), Sources: sources, changed: true}
	if lost {
		c.Levels, c.Worst = map[string]taint.Level{"": taint.Untrusted}, taint.Untrusted
		c.Secrets = session.Exposure{}
		c.Secrets.Add("", session.Forgotten)
		c.influence("", session.Influence{Level: taint.Untrusted}, now)
	}
	return c
}

// Changed reports whether the conversation is to be written, and whether what is written names a step.
func (c *Conversation) Changed() (changed, stepped bool) { return c.changed, c.stepped }

// Kept is what is written of it.
func (c *Conversation) Kept() *Conversation {
	kept := *c
	kept.Step, kept.Sources, kept.changed, kept.stepped = 0, nil, false, false
	return &kept
}

// Touch keeps a conversation that is in use.
func (c *Conversation) Touch(now time.Time) {
	if now.Sub(time.UnixMilli(c.Touched)) >= touchEvery {
		c.Touched, c.changed = now.UnixMilli(), true
	}
}

// Level is what a session id sees: the worse of its own and of what came without one; without a session id, the worst of all.
func (c *Conversation) Level(sessionID string) taint.Level {
	if sessionID == "" {
		return c.Worst
	}
	return taint.Worse(c.Levels[sessionID], c.Levels[""])
}

// View is the conversation as a session id sees it.
func (c *Conversation) View(sessionID string) session.View {
	l := c.Level(sessionID)
	return session.View{Level: l, After: l, Step: c.Step, Version: c.Version, Generation: c.Generation, Worst: c.Source}
}

// set is a copy of a map with one entry more.
func set[M ~map[K]V, K comparable, V any](m M, k K, v V) M {
	out := make(M, len(m)+1)
	maps.Copy(out, m)
	out[k] = v
	return out
}

func (c *Conversation) raise(sessionID string, to taint.Level) (raised bool) {
	had, known := c.Levels[sessionID]
	if known && to <= had {
		return false
	}
	c.Levels = set(c.Levels, sessionID, taint.Worse(had, to))
	c.Worst = taint.Worse(c.Worst, to)
	c.Version++
	c.changed = true
	if len(c.Levels) > mostSessions {
		fold(c)
	}
	return true
}

// mostSessions is how many session ids a conversation tells apart.
const mostSessions = 2048

// fold forgets session ids that nothing worse than the owner has met, and all see what the owner is worth; where that is not enough, all
// are as bad as the worst from here.
func fold(c *Conversation) {
	least := taint.Worse(c.Levels[""], taint.Owner)
	levels := maps.Clone(c.Levels)
	maps.DeleteFunc(levels, func(_ string, l taint.Level) bool { return l <= least })
	levels[""] = least
	if c.Levels = levels; len(levels) <= mostSessions {
		return
	}
	c.Levels = map[string]taint.Level{"": c.Worst}
	if read := c.Secrets.Of(""); read != "" {
		c.Secrets = session.Exposure{"": read, session.AnySession: read}
	}
}

// raiseUnnamed raises a level by what has no name: what its sources do not explain is noted as one without a label.
func (c *Conversation) raiseUnnamed(sessionID string, to taint.Level, now time.Time) {
	if c.raise(sessionID, to) {
		c.explain(sessionID, now)
	}
}

func (c *Conversation) explain(sessionID string, now time.Time) {
	own := c.Levels[sessionID]
	if own < session.Least { // it would not be kept
		return
	}
	if own > c.Sources.Of(sessionID).Worst() {
		c.influence(sessionID, session.Influence{Level: own}, now)
	}
}

// influence notes who had a say. What is better than shared is not kept.
func (c *Conversation) influence(sessionID string, i session.Influence, now time.Time) {
	if i.Level < session.Least {
		return
	}
	all := slices.Clone(c.Sources.Of(sessionID))
	i.Session, i.Last, i.Step = sessionID, now, c.Step
	_ = all.Add(i, func() (int64, error) { // it never fails here
		c.Numbered++
		c.changed = true
		return c.Numbered, nil
	})
	c.stepped = true
	c.Sources.Put(sessionID, all)
}

func (c *Conversation) blame(label string, level taint.Level) {
	c.Source = session.Source{Label: label, Level: level, Step: c.Step}
	c.changed, c.stepped = true, true
}

// bringIn is what an allowed call does to the level.
func (c *Conversation) bringIn(sessionID string, level taint.Level, source string) {
	if level == taint.System {
		return
	}
	if level >= c.Level(sessionID) {
		c.blame(source, level)
	}
	if level > c.Levels[sessionID] {
		c.raise(sessionID, level)
	}
}

// expose notes that a secret was read.
func (c *Conversation) expose(sessionID, secret string) {
	if secret == "" {
		return
	}
	secrets := maps.Clone(c.Secrets)
	if secrets == nil {
		secrets = session.Exposure{}
	}
	if secrets.Add(sessionID, secret) {
		c.Secrets, c.changed = secrets, true
		c.Version++
	}
}

// Expose notes a secret for every session id. It is written also if it was known: the store must be one that takes writes.
func (c *Conversation) Expose(secret string, now time.Time) {
	c.expose("", secret)
	c.Touch(now)
	c.changed = true
}

// RaiseAll makes it at least this bad for every session id, known or not yet known. It is written also if it was as bad: the store must
// be one that takes writes.
func (c *Conversation) RaiseAll(to taint.Level, source string, now time.Time) {
	if to > c.Worst {
		c.blame(source, to)
	}
	c.influence("", session.Influence{Label: source, Level: to}, now)
	c.raise("", to)
	c.Touch(now)
	c.changed = true
}

// Link makes it share another's state from now on.
func (c *Conversation) Link(root session.Conversation, now time.Time) {
	c.Root, c.changed = &root, true
	c.Touch(now)
}

// Unlink gives it a state of its own again: the worst, since what the other had read is not told apart.
func (c *Conversation) Unlink(now time.Time) {
	c.Root, c.changed = nil, true
	c.RaiseAll(taint.Untrusted, "", now)
}

// Reset forgets its level and ends its grants.
func (c *Conversation) Reset(now time.Time) {
	c.Levels, c.Grants, c.Secrets, c.Worst, c.Source = nil, nil, nil, taint.System, session.Source{}
	c.Life++
	c.begin(now)
	c.Touched = now.UnixMilli()
}

// begin begins a new generation: what was seen before no longer counts.
func (c *Conversation) begin(now time.Time) {
	c.Generation = max(now.UnixMilli(), c.Generation+1)
	c.Version++
	c.changed = true
}

// Account is all who had a say in it, by their numbers.
func (c *Conversation) Account() session.Account {
	return session.Account{Conversation: c.Name, Level: c.Worst, Influences: c.all()}
}

func (c *Conversation) all() (all session.Influences) {
	for id := range c.Levels { // what has a source has a level
		all = append(all, c.Sources.Of(id)...)
	}
	slices.SortFunc(all, func(a, b session.Influence) int { return cmp.Compare(a.Number, b.Number) })
	return all
}

// Drop forgets a source that has added nothing since a time. No level changes by that.
func (c *Conversation) Drop(number int64, last time.Time) {
	for id := range c.Levels {
		all := c.Sources.Of(id)
		if i := all.Find(number); i >= 0 && all[i].Last.UnixMilli() == last.UnixMilli() {
			c.Sources.Put(id, slices.Delete(slices.Clone(all), i, i+1))
			c.changed = true
		}
	}
}
