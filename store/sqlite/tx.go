package sqlite

import (
	"time"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// tx is a transaction under way. It remembers the conversations it has read:
// many calls of one conversation in one group read its row once.
type tx struct {
	*db
	memory
	store      *Store
	now        time.Time
	used       []*conversation // some of them more than once
	woken      []string        // cards to announce once committed
	admitsOnly bool            // so far
	unposted   bool            // the journal may hold something
}

// ms is the transaction's time as the database keeps it.
func (t *tx) ms() int64 { return t.now.UnixMilli() }

func at(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// conversation reads a conversation and what it knows of a session id; nil if
// there is none.
func (t *tx) conversation(hash, sessionID string) (*conversation, error) {
	c := t.seen[hash]
	if c != nil {
		t.used = append(t.used, c)
		return c, t.readLevel(c, sessionID)
	}
	r, err := t.one(`SELECT worst, generation, version, step, source, source_level, source_step, touched_ms,
		root_client IS NOT NULL,
		(SELECT level FROM levels WHERE conversation = hash AND session = ''),
		(SELECT level FROM levels WHERE conversation = hash AND session = ?)
		FROM conversations WHERE hash = ?`, sessionID, hash)
	if err != nil || r == nil {
		return nil, err
	}
	c = &conversation{
		hash: hash, worst: r.level(0), generation: r.int(1), version: r.int(2), step: r.int(3),
		source:  session.Source{Label: r.text(4), Level: r.level(5), Step: r.int(6)},
		touched: r.int(7), levels: map[string]known{},
	}
	c.learn("", r, 9)
	c.learn(sessionID, r, 10)
	if r.int(8) != 0 {
		err = t.readRoot(c)
	}
	t.remember(c)
	return c, err
}

// exists reports whether there is a conversation.
func (t *tx) exists(hash string) (bool, error) {
	if t.seen[hash] != nil {
		return true, nil
	}
	r, err := t.one(`SELECT 1 FROM conversations WHERE hash = ?`, hash)
	return r != nil, err
}

func (t *tx) remember(c *conversation) {
	if t.seen == nil {
		t.seen = map[string]*conversation{}
	}
	t.seen[c.hash] = c
	t.used = append(t.used, c)
}

func (t *tx) readLevel(c *conversation, sessionID string) error {
	if _, read := c.levels[sessionID]; read {
		return nil
	}
	r, err := t.one(`SELECT level FROM levels WHERE conversation = ? AND session = ?`, c.hash, sessionID)
	if err == nil {
		c.learn(sessionID, r, 0)
	}
	return err
}

func (t *tx) readRoot(c *conversation) error {
	r, err := t.one(`SELECT root_client, root_key FROM conversations WHERE hash = ?`, c.hash)
	c.root = &session.Conversation{Client: r.text(0), Key: r.text(1)}
	return err
}

// birth is how a conversation came to be.
type birth struct {
	known bool // it was there before, and its state is gone
	lost  bool // so is everything that was there before
}

// bad says that the conversation is as bad as can be.
func (b birth) bad() bool { return b.known || b.lost }

// born makes a conversation.
func (t *tx) born(name session.Conversation, hash string) (c *conversation, b birth, err error) {
	if b.lost, err = t.lost(); err != nil {
		return nil, b, err
	}
	added, err := t.exec(`INSERT INTO known (conversation) VALUES (?) ON CONFLICT DO NOTHING`, hash)
	if err != nil {
		return nil, b, err
	}
	b.known = added == 0
	c = &conversation{hash: hash, version: 1, touched: t.ms(), levels: map[string]known{}, secrets: session.Exposure{}}
	_, err = t.exec(`INSERT INTO conversations
		(hash, client, session_key, worst, generation, version, step, source, source_level, source_step, touched_ms)
		VALUES (?, ?, ?, 0, 0, 1, 0, '', 0, 0, ?)`, hash, name.Client, name.Key, t.ms())
	t.remember(c)
	if b.bad() { // whatever session id comes: what it had read is not known any more
		c.raise("", taint.Untrusted)
		if err == nil {
			err = t.expose(c, "", session.Forgotten)
		}
		c.version = 1
		c.touch(t)
		if err == nil {
			err = t.influence(c, "", session.Influence{Level: taint.Untrusted, Fixed: true})
		}
	}
	return c, b, err
}

// flush writes the conversations that changed in more than the journal says.
func (t *tx) flush() error {
	for _, c := range t.used {
		if !c.changed {
			continue
		}
		c.changed = false
		_, err := t.exec(`UPDATE conversations SET worst = ?, generation = ?, version = ?, step = ?,
			source = ?, source_level = ?, source_step = ?, touched_ms = ? WHERE hash = ?`,
			int64(c.worst), c.generation, c.version, c.step,
			c.source.Label, int64(c.source.Level), c.source.Step, c.touched, c.hash)
		if err != nil {
			return err
		}
		if err := t.flushLevels(c); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) flushLevels(c *conversation) error {
	for sessionID := range c.raised {
		_, err := t.exec(`INSERT INTO levels (conversation, session, level) VALUES (?, ?, ?)
			ON CONFLICT DO UPDATE SET level = excluded.level`, c.hash, sessionID, int64(c.levels[sessionID].level))
		if err != nil {
			return err
		}
	}
	c.raised = nil
	return nil
}

// announce tells who waits, now that it is true.
func (t *tx) announce() {
	for _, id := range t.woken {
		t.store.wakes.announce(id)
	}
}

// conversation is a row of conversations and those of its levels that were
// read.
type conversation struct {
	hash       string
	root       *session.Conversation
	levels     map[string]known
	worst      taint.Level
	generation int64
	version    int64
	step       int64
	source     session.Source
	touched    int64

	secrets session.Exposure // nil: not read yet
	counted int              // of levels
	changed bool
	raised  map[string]bool // session ids whose level is to be written
}

// known is a level, or that there is none yet.
type known struct {
	level taint.Level
	is    bool
}

func (c *conversation) learn(sessionID string, r row, column int) {
	if r == nil || r[column] == nil {
		c.levels[sessionID] = known{}
		return
	}
	c.levels[sessionID] = known{level: r.level(column), is: true}
}

// touch notes that the conversation is in use.
func (c *conversation) touch(t *tx) { c.touched, c.changed = t.ms(), true }

// level is what a session id sees: the worse of its own and of what came
// without one; without a session id, the worst of all.
func (c *conversation) level(sessionID string) taint.Level {
	return c.levelWith(sessionID, c.levels[sessionID].level)
}

// levelWith is what a session id would see if its own level were this one.
func (c *conversation) levelWith(sessionID string, own taint.Level) taint.Level {
	if sessionID == "" {
		return taint.Worse(c.worst, own)
	}
	return taint.Worse(own, c.levels[""].level)
}

func (c *conversation) raise(sessionID string, to taint.Level) {
	had := c.levels[sessionID]
	if had.is && to <= had.level {
		return
	}
	c.setLevel(sessionID, taint.Worse(had.level, to))
	c.worst = taint.Worse(c.worst, to)
	c.version++
	c.changed = true
}

func (c *conversation) setLevel(sessionID string, to taint.Level) {
	c.levels[sessionID] = known{level: to, is: true}
	if c.raised == nil {
		c.raised = map[string]bool{}
	}
	c.raised[sessionID] = true
}

// leads reports that what a call brings in is as bad as what its session id sees,
// so that the call is the source of it.
func leads(brings, sees taint.Level) bool { return brings != taint.System && brings >= sees }

// bringIn is what an allowed call does to the level.
func (c *conversation) bringIn(sessionID string, level taint.Level, source string) {
	if leads(level, c.level(sessionID)) {
		now := session.Source{Label: source, Level: level, Step: c.step}
		c.changed = c.changed || now.Label != c.source.Label || now.Level != c.source.Level
		c.source = now
	}
	if level > c.levels[sessionID].level {
		c.raise(sessionID, level)
	}
}

func (c *conversation) view(sessionID string, now time.Time) session.View {
	l := c.level(sessionID)
	return session.View{
		Level: l, After: l, Step: c.step, Version: c.version, Generation: c.generation, Worst: c.source, Now: now,
	}
}
