package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql/driver"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/store"
)

// tx is a transaction under way.
type tx struct {
	*db
	records   *records
	now       time.Time
	announces []string // what to announce once committed
}

func (t *tx) ms() int64 { return t.now.UnixMilli() }

func at(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func milli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// Now implements store.Records.
func (r *records) Now() time.Time { return r.clock.Now(r.wall()).UTC().Truncate(time.Millisecond) }

// Load implements store.Records.
func (r *records) Load(ctx context.Context, keys ...store.Key) ([]store.Record, time.Time, error) {
	type answer struct {
		found []store.Record
		now   time.Time
	}
	a, err := ask(ctx, r.reader, func(t *tx) (a answer, err error) {
		a = answer{make([]store.Record, 0, len(keys)), t.now}
		for some := range slices.Chunk(keys, loadTogether) {
			if a.found, err = t.loadAll(a.found, some); err != nil {
				return a, err
			}
		}
		return a, nil
	})
	return a.found, a.now, err
}

// loadTogether is how many records one statement finds: the lists of all buckets are read with a few.
const loadTogether = 64

var selectRecords = `SELECT version, data, count, until_ms, key FROM records WHERE key IN (?` + strings.Repeat(", ?", loadTogether-1) + `) AND (until_ms = 0 OR until_ms > ?)`

// loadAll appends what each of some keys holds.
func (t *tx) loadAll(found []store.Record, keys []store.Key) ([]store.Record, error) {
	isMember := func(k store.Key) bool { _, _, is := k.Member(); return is }
	if len(keys) < loadTogether || slices.ContainsFunc(keys, isMember) {
		for _, k := range keys {
			r, err := t.load(k)
			if err != nil {
				return nil, err
			}
			found = append(found, r)
		}
		return found, nil
	}
	args := make([]driver.Value, 0, loadTogether+1)
	for _, k := range keys {
		args = append(args, string(k))
	}
	rows, err := t.all(selectRecords, append(args, t.ms())...)
	if err != nil {
		return nil, err
	}
	held := make(map[store.Key]store.Record, len(rows))
	for _, r := range rows {
		held[store.Key(r.text(4))] = r.record()
	}
	for _, k := range keys {
		found = append(found, held[k])
	}
	return found, nil
}

const selectRecord = `SELECT version, data, count, until_ms FROM records WHERE key = ? AND (until_ms = 0 OR until_ms > ?)`

func (t *tx) load(k store.Key) (store.Record, error) {
	if set, member, is := k.Member(); is {
		r, err := t.one(`SELECT 1 FROM members WHERE key = ? AND member = ?`, string(set), member)
		if r == nil {
			return store.Record{}, err
		}
		return store.Record{Data: member}, err
	}
	r, err := t.one(selectRecord, string(k), t.ms())
	return r.record(), err
}

func (r row) record() (out store.Record) {
	if r == nil {
		return out
	}
	copy(out.Version[:], r.bytes(0))
	out.Data, out.Count, out.Until = string(r.bytes(1)), r.int(2), at(r.int(3))
	return out
}

// Commit implements store.Records.
func (r *records) Commit(ctx context.Context, commits ...*store.Commit) error {
	results, err := ask(ctx, r.writer, func(t *tx) (results []store.Result, err error) {
		results = make([]store.Result, len(commits))
		for i, c := range commits {
			if results[i], err = t.commit(c); err != nil {
				return nil, err
			}
		}
		return results, nil
	})
	if err != nil {
		return err
	}
	for i, c := range commits {
		c.Result = results[i]
	}
	return nil
}

// commit looks before it writes: what it refuses it refuses without having changed anything.
func (t *tx) commit(c *store.Commit) (store.Result, error) {
	out, after, err := t.check(c)
	if err != nil || !out.Done {
		return out, err
	}
	for i, n := range c.Counts {
		if out.Counts[i] = after[i]; n.By == 0 && !n.Set {
			continue
		}
		if err := t.put(n.Key, nil, nil, after[i], t.now.Add(n.Keep)); err != nil {
			return out, err
		}
	}
	for _, j := range c.Joins {
		if _, err := t.exec(`INSERT INTO members (key, member) VALUES (?, ?) ON CONFLICT DO NOTHING`, string(j.Set), j.Member); err != nil {
			return out, err
		}
	}
	for i := range c.Writes {
		if err := t.write(&c.Writes[i]); err != nil {
			return out, err
		}
	}
	if c.Announce != "" {
		t.announces = append(t.announces, c.Announce)
	}
	return out, nil
}

// check says whether a commit may be done, and what its counters would be after it.
func (t *tx) check(c *store.Commit) (out store.Result, after []int64, err error) {
	out = store.Result{Done: true, Now: t.now}
	if out.Counts, after, out.Done, err = t.counts(c.Counts); err != nil {
		return out, nil, err
	}
	if out.Late = t.now.After(c.NotAfter); out.Late {
		out.Done = false
		return out, nil, nil
	}
	for _, read := range c.Reads {
		r, err := t.one(`SELECT version FROM records WHERE key = ? AND (until_ms = 0 OR until_ms > ?)`, string(read.Key), t.ms())
		if err != nil {
			return out, nil, err
		}
		if string(r.bytes(0)) == string(read.Version[:]) || r == nil && read.Version == (store.Version{}) {
			continue
		}
		if out.Moved == nil {
			out.Done, out.Moved = false, map[store.Key]store.Record{}
		}
		if out.Moved[read.Key], err = t.load(read.Key); err != nil {
			return out, nil, err
		}
	}
	return out, after, nil
}

// counts are what counters are, and would be; ok says that none is another than it must be, or passes its cap.
func (t *tx) counts(counts []store.Count) (now, after []int64, ok bool, err error) {
	now, after, ok = make([]int64, len(counts)), make([]int64, len(counts)), true
	for i, n := range counts {
		r, err := t.load(n.Key)
		if err != nil {
			return nil, nil, false, err
		}
		now[i], after[i] = r.Count, r.Count+n.By
		if n.Set {
			after[i] = n.By
		}
		if n.Exact && r.Count != n.Had || n.Cap > 0 && after[i] > n.Cap {
			ok = false
		}
	}
	return now, after, ok, nil
}

func (t *tx) write(w *store.Write) error {
	if w.Version == (store.Version{}) {
		_, err := t.exec(`DELETE FROM records WHERE key = ?`, string(w.Key))
		return err
	}
	return t.put(w.Key, w.Version[:], []byte(w.Data), 0, w.Until)
}

func (t *tx) put(k store.Key, version, data []byte, count int64, until time.Time) error {
	_, err := t.exec(`INSERT INTO records (key, version, data, count, until_ms) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET version = excluded.version, data = excluded.data, count = excluded.count, until_ms = excluded.until_ms`,
		string(k), solid(version), solid(data), count, milli(until))
	return err
}

func (t *tx) putText(k store.Key, data string, until time.Time) error {
	w := store.Write{Key: k, Record: store.Record{Data: data, Until: until}}
	_, _ = rand.Read(w.Version[:]) // it never fails
	return t.write(&w)
}

// solid makes an empty blob of no blob: the column is never NULL.
func solid(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Members implements store.Records.
func (r *records) Members(ctx context.Context, sets ...store.Key) ([]string, error) {
	return ask(ctx, r.reader, func(t *tx) (members []string, err error) {
		for _, set := range sets {
			rows, err := t.all(`SELECT member FROM members WHERE key = ?`, string(set))
			if err != nil {
				return nil, err
			}
			for _, row := range rows {
				members = append(members, row.text(0))
			}
		}
		return members, nil
	})
}

// Append implements store.Records.
func (r *records) Append(ctx context.Context, lists ...store.List) error {
	return r.writer.ask(ctx, func(t *tx) error {
		for i := range lists {
			if err := t.add(&lists[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *tx) add(l *store.List) error {
	for _, e := range l.Entries {
		if _, err := t.exec(`INSERT INTO entries (list, entry, until_ms) VALUES (?, ?, ?)`, string(l.Key), solid(e), t.now.Add(l.Keep).UnixMilli()); err != nil {
			return err
		}
	}
	_, err := t.exec(`DELETE FROM entries WHERE list = ?1 AND number <=
		(SELECT number FROM entries WHERE list = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)`, string(l.Key), int64(l.Most))
	return err
}

// Entries implements store.Records.
func (r *records) Entries(ctx context.Context, list store.Key) ([][]byte, error) {
	return ask(ctx, r.reader, func(t *tx) (entries [][]byte, err error) {
		rows, err := t.all(`SELECT entry FROM entries WHERE list = ? AND until_ms > ? ORDER BY number`, string(list), t.ms())
		for _, row := range rows {
			entries = append(entries, solid(row.bytes(0)))
		}
		return entries, err
	})
}

// Each implements store.Records.
func (r *records) Each(ctx context.Context, do func(store.Key, store.Record) error) error {
	rows, err := ask(ctx, r.reader, func(t *tx) ([]row, error) {
		return t.all(`SELECT version, data, count, until_ms, key FROM records WHERE until_ms = 0 OR until_ms > ?`, t.ms())
	})
	for _, row := range rows {
		if k := store.Key(row.text(4)); err == nil && !k.IsCounter() {
			err = do(k, row.record())
		}
	}
	return err
}

// Listen implements store.Records. It also ends, with ErrClosed, when the store is closed.
func (r *records) Listen(ctx context.Context, heard func(string)) error {
	return r.wakes.listen(ctx, heard)
}

// keepTime keeps with the records what time it is, each second in which something is written.
func (t *tx) keepTime() error {
	r := t.records
	if !r.met.Load() || t.now.Sub(r.kept) < time.Second {
		return nil
	}
	r.kept = t.now
	return t.putText(store.TimeKey, strconv.FormatInt(t.ms(), 10), time.Time{})
}

// sweeper forgets what has expired, a slice at a time, so that no request waits for it. Expiry itself never depends on it: every
// read looks at the time. An index on when records end would cost each call a page; the table is walked instead.
type sweeper struct {
	spent int    // operations since the last slice
	from  string // the key where the next slice begins
}

const (
	sweepEvery = 10 * time.Second
	sweepSlice = 4 * groupSize // records looked at in one transaction
	sweepTurns = 64            // slices in a row while no request waits
)

// keepUp walks four records for each that may have come: however busy the writer is, all are walked through in a quarter of the time
// that requests are kept.
func (w *sweeper) keepUp(b *batcher, operations int) {
	if w == nil {
		return
	}
	if w.spent += operations; w.spent < groupSize {
		return
	}
	w.spent = 0
	_ = b.transaction(w.step) // an error here is the next operation's error too, and it will say so
}

// tidy is the periodic round.
func (w *sweeper) tidy(b *batcher) {
	if w == nil {
		return
	}
	for turn := 0; turn < sweepTurns && len(b.queue) == 0; turn++ {
		if err := b.transaction(w.step); err != nil || w.from == "" {
			return
		}
	}
}

// step looks at the next slice and removes what is over. At the end it begins again.
func (w *sweeper) step(t *tx) error {
	to, err := t.one(`SELECT key FROM records WHERE key > ? ORDER BY key LIMIT 1 OFFSET ?`, w.from, int64(sweepSlice-1))
	if err != nil {
		return err
	}
	query, args := `DELETE FROM records WHERE until_ms > 0 AND until_ms <= ? AND key > ?`, []driver.Value{t.ms(), w.from}
	if to != nil {
		query, args = query+` AND key <= ?`, append(args, to.text(0))
	}
	w.from = to.text(0)
	if _, err := t.exec(query, args...); err != nil || w.from != "" {
		return err
	}
	_, err = t.exec(`DELETE FROM entries WHERE number IN (SELECT number FROM entries WHERE until_ms <= ? LIMIT ?)`, t.ms(), int64(sweepSlice))
	return err
}

// Ready implements store.Records: it says whether the store can still commit to the file it was opened on.
func (r *records) Ready(ctx context.Context) error {
	if err := r.replaced(); err != nil {
		return err
	}
	return r.writer.ask(ctx, func(t *tx) error {
		return t.putText("00:ready", strconv.FormatInt(t.ms(), 10), t.now.Add(time.Hour))
	})
}
