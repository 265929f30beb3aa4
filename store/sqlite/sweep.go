package sqlite

import (
	"database/sql/driver"
	"slices"
	"strings"
	"time"
)

const (
	sweepEvery = 10 * time.Second
	sweepSlice = 4 * groupSize // rows looked at in one transaction
	sweepTurns = 64            // slices in a row while no request waits

	keepConversation = 30 * 24 * time.Hour // untouched; its name stays in known
	keepRun          = 24 * time.Hour      // untouched
	keepQuestion     = 24 * time.Hour      // longer than any window over which they are counted
	keepGrant        = 24 * time.Hour      // after its end: a reader sees that it is over
)

// sweeper forgets what has expired, a slice at a time, so that no request waits for
// it. Expiry itself never depends on it: every read looks at the time.
//
// Requests, conversations and runs change at every call, and an index on when
// they end would cost each call a page. These tables are walked instead, a
// slice a turn. The others are small, and are asked.
type sweeper struct {
	spent    int // operations since the last slice of requests
	requests walk
	others   [2]walk
}

// walk is a way through a table in the order of its key, without end.
type walk struct {
	find  string // the key so many rows after a given one
	clear string // removes what is over between two keys
	last  string // removes what is over after a key, to the end
	keep  time.Duration
	from  []driver.Value // the key where the next slice begins
	width int            // of the key
}

// newWalk prepares to walk a table by its key. A key is a text or two, and no
// key is before the empty one.
func newWalk(table, key string, width int, ends string, keep time.Duration) walk {
	marks := "(" + strings.TrimSuffix(strings.Repeat("?, ", width), ", ") + ")"
	over := "DELETE FROM " + table + " WHERE " + ends + " <= ? AND (" + key + ") > " + marks
	return walk{
		find:  "SELECT " + key + " FROM " + table + " WHERE (" + key + ") > " + marks + " ORDER BY " + key + " LIMIT 1 OFFSET ?",
		clear: over + " AND (" + key + ") <= " + marks, last: over, keep: keep, width: width,
	}
}

func newSweeper() *sweeper {
	return &sweeper{
		requests: newWalk("requests", "request, conversation", 2, "until_ms", 0),
		others: [2]walk{
			newWalk("conversations", "hash", 1, "touched_ms", keepConversation),
			newWalk("runs", "conversation, run", 2, "touched_ms", keepRun),
		},
	}
}

// keepUp walks four rows for each that may have come: however busy the writer
// is, the requests are walked through in a quarter of the time they are kept.
func (w *sweeper) keepUp(b *batcher, operations int) {
	if w == nil {
		return
	}
	if w.spent += operations; w.spent < groupSize {
		return
	}
	w.spent = 0
	// An error here is the next operation's error too, and it will say so.
	_ = b.transaction(w.requests.step)
}

// tidy is the periodic round. The requests are walked while none waits, the
// rest once.
func (w *sweeper) tidy(b *batcher) {
	if w == nil {
		return
	}
	_ = b.transaction(w.round)
	for turn := 0; turn < sweepTurns && len(b.queue) == 0; turn++ {
		if err := b.transaction(w.requests.step); err != nil || w.requests.from == nil {
			return
		}
	}
}

func (w *sweeper) round(t *tx) error {
	if err := t.moreThanAdmits(); err != nil {
		return err
	}
	for i := range w.others {
		if err := w.others[i].step(t); err != nil {
			return err
		}
	}
	return t.expire()
}

// step looks at the next slice and removes what is over. At the end it begins
// again.
func (w *walk) step(t *tx) error {
	from := w.from
	if from == nil {
		from = []driver.Value{"", ""}[:w.width]
	}
	to, err := t.one(w.find, slices.Concat(from, []driver.Value{int64(sweepSlice - 1)})...)
	if err != nil {
		return err
	}
	query, args := w.clear, slices.Concat([]driver.Value{t.now.Add(-w.keep).UnixMilli()}, from, to)
	if to == nil {
		query = w.last
	}
	w.from = to
	_, err = t.exec(query, args...)
	return err
}

// expire removes what has an end from the small tables.
func (t *tx) expire() error {
	for _, e := range []struct {
		sql   string
		grace time.Duration
	}{
		{`DELETE FROM cards WHERE number IN (SELECT number FROM cards WHERE keep_ms <= ? LIMIT ?)`, 0},
		{`DELETE FROM waiting WHERE (conversation, digest) IN
			(SELECT conversation, digest FROM waiting WHERE until_ms <= ? LIMIT ?)`, 0},
		{`DELETE FROM notes WHERE number IN (SELECT number FROM notes WHERE until_ms <= ? LIMIT ?)`, 0},
		{`DELETE FROM misses WHERE person IN (SELECT person FROM misses WHERE until_ms <= ? LIMIT ?)`, 0},
		{`DELETE FROM questions WHERE rowid IN (SELECT rowid FROM questions WHERE asked_ms <= ? LIMIT ?)`, keepQuestion},
		{`DELETE FROM refusals WHERE agent IN (SELECT agent FROM refusals WHERE told_ms <= ? LIMIT ?)`, keepQuestion},
		{`DELETE FROM grants WHERE (conversation, field) IN
			(SELECT conversation, field FROM grants WHERE until_ms <= ? LIMIT ?)`, keepGrant},
	} {
		if _, err := t.exec(e.sql, t.now.Add(-e.grace).UnixMilli(), int64(sweepSlice)); err != nil {
			return err
		}
	}
	return nil
}
