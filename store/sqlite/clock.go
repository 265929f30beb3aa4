package sqlite

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/openclaw-verifier/verifier/store"
)

// now is the time by which everything here ends: see store.Clock.
func (s *Store) now() time.Time { return s.clock.Now(s.wall()).UTC().Truncate(time.Millisecond) }

// keepTime keeps with the data what time it is. Everything that people give for a
// while is written together with it, so that none of that is later than what is
// kept. For the rest the sweeper does it, every few seconds.
func keepTime(d *db, now time.Time) error {
	_, err := d.exec(`INSERT INTO meta (name, value) VALUES ('time', ?) ON CONFLICT DO UPDATE SET value = excluded.value`,
		strconv.FormatInt(now.UnixMilli(), 10))
	return err
}

// KeepTime has nothing to do: every change keeps the time, and the sweeper does.
func (*Store) KeepTime(context.Context) error { return nil }

// goOn begins where the store's time ended. If the clock is behind that, it was
// set back while the store was closed, or it was ahead before: either way it is
// unknown how much time has passed, so all that a person gave for a while is over.
// The rest keeps the time it has left, and from here the clock counts again.
func (s *Store) goOn(d *db, told func(store.SetBack)) error {
	r, err := d.one(`SELECT value FROM meta WHERE name = 'time'`)
	if err != nil || r == nil {
		return err
	}
	kept, err := strconv.ParseInt(r.text(0), 10, 64)
	if err != nil {
		return fmt.Errorf("store/sqlite: the time in the table meta is no time: %w\nhint: sqlite3 %s \"DELETE FROM meta WHERE name = 'time'\"", err, s.path)
	}
	now := s.wall()
	by := at(kept).Sub(now)
	if by <= store.Slack {
		s.clock.Saw(at(kept))
		return nil
	}
	b := store.SetBack{By: by, Start: true}
	if err := rewind(d, &b, now); err != nil {
		return err
	}
	told(b)
	return nil
}

// timesKept are the columns that hold a time, besides those of what is ended.
var timesKept = []struct{ table, column string }{
	{"requests", "until_ms"}, {"journal", "until_ms"}, {"journal", "touched_ms"}, {"conversations", "touched_ms"}, {"runs", "touched_ms"},
	{"misses", "until_ms"}, {"leases", "until_ms"}, {"notes", "until_ms"}, {"questions", "asked_ms"}, {"refusals", "told_ms"},
}

// rewind ends what people gave for a while and moves all other times back, whole
// or not at all.
func rewind(d *db, b *store.SetBack, now time.Time) (err error) {
	if _, err := d.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, _ = d.exec("ROLLBACK") // the first error says what happened
		}
	}()
	for table, ended := range map[string]*int{"grants": &b.Grants, "cards": &b.Questions, "waiting": new(int)} {
		n, err := d.exec("DELETE FROM " + table)
		if err != nil {
			return err
		}
		*ended = int(n)
	}
	for _, t := range timesKept {
		if _, err := d.exec("UPDATE "+t.table+" SET "+t.column+" = "+t.column+" - ?", b.By.Milliseconds()); err != nil {
			return err
		}
	}
	if err := keepTime(d, now); err != nil {
		return err
	}
	_, err = d.exec("COMMIT")
	return err
}
