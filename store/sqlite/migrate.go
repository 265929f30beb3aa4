package sqlite

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store"
	"github.com/openclaw-verifier/verifier/store/state"
	"github.com/openclaw-verifier/verifier/taint"
)

// migrate brings a database to this version of the schema, wholly or not at all.
func migrate(d *db) (err error) {
	r, err := d.one(`PRAGMA user_version`)
	if err != nil {
		return err
	}
	version := int(r.int(0))
	switch {
	case version == len(steps):
		return nil
	case version > len(steps) || version < 0:
		return fmt.Errorf("%w (schema %d, this one knows %d)\nhint: run the newer version", ErrSchema, version, len(steps))
	}
	if _, err := d.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, _ = d.exec("ROLLBACK") // the first error says what happened
		}
	}()
	r, err = d.one(`SELECT count(*) FROM sqlite_master`)
	switch {
	case err != nil:
	case r.int(0) == 0:
		err = d.script(thinning) // a new database needs no tables of earlier versions
	case version == 0:
		err = errors.New("store/sqlite: the database has tables and no version, as one that was made from a dump\nhint: copy the file itself, or move it away to start anew: conversations then count as untrusted until verifier store accept-loss")
	default:
		err = upgrade(d, version)
	}
	if err != nil {
		return err
	}
	if err := d.script(fmt.Sprintf("PRAGMA user_version = %d;", len(steps))); err != nil {
		return err
	}
	_, err = d.exec("COMMIT")
	return err
}

func upgrade(d *db, version int) error {
	if err := d.script(strings.Join(steps[version:], "")); err != nil {
		return err
	}
	if err := carryOver(&tx{db: d}); err != nil {
		return fmt.Errorf("store/sqlite: the database of an earlier version: %w", err)
	}
	return nil
}

// carryOver puts what the tables of earlier versions hold into records, and drops the tables. Questions that waited are over: the
// agent asks again.
func carryOver(t *tx) error {
	for _, carry := range []func(*tx) error{
		carryEpoch, carryConversations, carryRequests, carryPauses, carryAutomations,
	} {
		if err := carry(t); err != nil {
			return err
		}
	}
	return t.script(`
INSERT INTO members (key, member) SELECT substr(conversation, 1, 2) || ':known', conversation FROM known;
INSERT INTO entries (list, entry, until_ms) SELECT substr(list, 1, 2) || ':j:' || list, entry, until_ms FROM notes ORDER BY number;
INSERT INTO records (key, version, data, count, until_ms)
	SELECT substr(conversation, 1, 2) || ':n:' || conversation || ':' || run, x'', x'', calls, touched_ms + 86400000 FROM runs;
DROP TABLE meta; DROP TABLE heads; DROP TABLE known; DROP TABLE conversations; DROP TABLE levels; DROP TABLE requests; DROP TABLE runs;
DROP TABLE grants; DROP TABLE waiting; DROP TABLE cards; DROP TABLE misses; DROP TABLE automations; DROP TABLE leases; DROP TABLE pauses;
DROP TABLE questions; DROP TABLE refusals; DROP TABLE notes; DROP TABLE influences; DROP TABLE journal; DROP TABLE secrets;`)
}

// carry writes a record.
func (t *tx) carry(k store.Key, value any, until time.Time) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return t.putText(k, string(data), until)
}

func carryEpoch(t *tx) error {
	rows, err := t.all(`SELECT name, value FROM meta WHERE name IN ('epoch', 'time')`)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.text(0) == "time" {
			if err := t.putText(store.TimeKey, r.text(1), time.Time{}); err != nil {
				return err
			}
			continue
		}
		for n := range store.Buckets {
			if err := t.putText(store.Key(store.Bucket(n)+":epoch"), "c:"+r.text(1), time.Time{}); err != nil {
				return err
			}
		}
	}
	heads, err := t.all(`SELECT name, head FROM heads`)
	for _, r := range heads {
		if err == nil {
			err = t.carry(store.HeadKey(r.text(0)), r.text(1), time.Time{})
		}
	}
	return err
}

func carryConversations(t *tx) error {
	rows, err := t.all(`SELECT hash, client, session_key, root_client, root_key, worst, generation, version, step, source, source_level, source_step,
		touched_ms, influences FROM conversations`)
	granting := map[string]map[string]int64{} // by bucket
	for n := range store.Buckets {
		granting[store.Bucket(n)] = map[string]int64{}
	}
	for _, r := range rows {
		if err == nil {
			err = t.carryConversation(r, granting)
		}
	}
	for bucket, ends := range granting {
		if err == nil && len(ends) > 0 {
			err = t.carry(store.Key(bucket+":granting"), ends, at(slices.Max(slices.Collect(maps.Values(ends)))))
		}
	}
	return err
}

func (t *tx) carryConversation(r row, granting map[string]map[string]int64) error {
	hash := r.text(0)
	c := state.Conversation{
		Name: session.Conversation{Client: r.text(1), Key: r.text(2)}, Worst: r.level(5), Generation: r.int(6), Version: r.int(7),
		Called: r.int(8) > 0, Source: session.Source{Label: r.text(9), Level: r.level(10), Step: r.int(11)}, Touched: r.int(12), Numbered: r.int(13),
		Levels: map[string]taint.Level{}, Secrets: session.Exposure{}, Grants: map[string]string{}, Life: 1,
	}
	if r[3] != nil {
		c.Root = &session.Conversation{Client: r.text(3), Key: r.text(4)}
	}
	step := r.int(8)
	for _, table := range []struct {
		query string
		take  func(row) error
	}{
		{`SELECT session, level FROM levels WHERE conversation = ?`, func(r row) error { c.Levels[r.text(0)] = r.level(1); return nil }},
		{`SELECT session, what FROM secrets WHERE conversation = ?`, func(r row) error { c.Secrets[r.text(0)] = r.text(1); return nil }},
		{`SELECT field, value FROM grants WHERE conversation = ?`, func(r row) error { c.Grants[r.text(0)] = r.text(1); return nil }},
		{`SELECT step, source_step, touched_ms FROM journal WHERE unposted AND conversation = ?`, func(r row) error {
			step, c.Called = max(step, r.int(0)), true
			c.Source.Step, c.Touched = max(c.Source.Step, r.int(1)), max(c.Touched, r.int(2))
			return nil
		}},
		{`SELECT session, list FROM influences WHERE conversation = ?`, func(r row) error {
			return t.carry(store.SourceKey(hash, r.text(0)), store.SourceList{Life: c.Life, Session: r.text(0), List: r.text(1)}, time.Time{})
		}},
	} {
		rows, err := t.all(table.query, hash)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if err := table.take(r); err != nil {
				return err
			}
		}
	}
	if last := c.LastGrant(); last > 0 {
		granting[hash[:2]][hash] = last
	}
	until := at(c.Touched).Add(30 * 24 * time.Hour)
	if err := t.put(store.Key(hash[:2]+":n:"+hash), nil, nil, step, until); err != nil {
		return err
	}
	return t.carry(store.Key(hash[:2]+":s:"+hash), &c, until)
}

func carryRequests(t *tx) error {
	rows, err := t.all(`SELECT conversation, request, body, mark, until_ms FROM requests
		UNION ALL SELECT conversation, request, body, mark, until_ms FROM journal WHERE unposted`)
	for _, r := range rows {
		if err == nil {
			err = t.putText(store.Key(r.text(0)[:2]+":r:"+r.text(0)+":"+r.text(1)), string(r.bytes(2))+r.text(3), at(r.int(4)))
		}
	}
	return err
}

func carryPauses(t *tx) error {
	rows, err := t.all(`SELECT scope, word FROM pauses`)
	if err != nil || len(rows) == 0 {
		return err
	}
	words := map[string]string{}
	for _, r := range rows {
		words[r.text(0)] = r.text(1)
	}
	for n := range store.Buckets {
		if err := t.carry(store.Key(store.Bucket(n)+":pauses"), words, time.Time{}); err != nil {
			return err
		}
	}
	return nil
}

func carryAutomations(t *tx) error {
	rows, err := t.all(`SELECT client, agent, level FROM automations`)
	for _, r := range rows {
		if err == nil {
			err = t.carry(store.AutomationKey(r.text(0), r.text(1)), r.level(2), time.Time{})
		}
	}
	return err
}
