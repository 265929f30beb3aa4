// Package sqlite keeps a store's documents in one SQLite file in the state directory: no server, no port, and it
// survives kill -9.
//
// One goroutine has the one connection. It does whatever waits in one transaction, and no caller gets a result before
// the commit that holds it has returned. Where the database fails, the transaction is undone, and what was not alone in
// it is done again by itself.
//
// The package refuses to wait beyond its caller's context, to share its file with a second process (SQLite's own lock
// is held as long as it is open) and to open a file that others can read. It decides nothing.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/internal/text"
)

// Errors of this package. Each comes wrapped in what happened and what to do.
var (
	ErrInUse    = errors.New("store/sqlite: another process uses this database")
	ErrReplaced = errors.New("store/sqlite: the database file was removed or replaced while in use")
	ErrSchema   = errors.New("store/sqlite: the database was written by another version of this program")
)

// A commit in WAL mode with synchronous=NORMAL is a write(2): it survives the death of the process, and a power cut
// takes at most the last moments and never consistency. It checkpoints every 16 MB.
const how = "_pragma=locking_mode(EXCLUSIVE)&_pragma=busy_timeout(250)&_pragma=journal_mode(WAL)" +
	"&_pragma=synchronous(NORMAL)&_pragma=wal_autocheckpoint(4000)&_pragma=journal_size_limit(33554432)" +
	"&_pragma=cache_size(-16000)"

// schemaVersion is the database's user_version. Any other is refused.
const schemaVersion = 20

const schema = `
CREATE TABLE documents (
	key TEXT PRIMARY KEY,
	version BLOB NOT NULL,
	data BLOB NOT NULL,
	until_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX documents_until ON documents (until_ms) WHERE until_ms > 0;
PRAGMA user_version = 20;
`

// Backend is an open database. It is safe for concurrent use.
type Backend struct {
	path string
	file os.FileInfo // of the database that was opened, to notice that it was replaced
	now  func() time.Time
	db   *sql.DB
	conn *sql.Conn
	*store.Batch
	close sync.Once

	find, replace, sweep *sql.Stmt
	swept                time.Time

	watching sync.Map // *func(what string)
}

// Open opens the database, or makes one, and holds it for this process alone. Now is the clock; nil: time.Now.
func Open(ctx context.Context, path string, now func() time.Time) (*Backend, error) {
	b := &Backend{now: now}
	if now == nil {
		b.now = time.Now
	}
	if err := b.start(ctx, path); err != nil {
		if e, ok := errors.AsType[*sqlite.Error](err); ok && e.Code()&0xff == sqlite3.SQLITE_BUSY {
			err = fmt.Errorf("%w: %s\nhint: stop the other verifier, or give this one a state directory of its own",
				ErrInUse, path)
		}
		return nil, errors.Join(fmt.Errorf("store/sqlite: open %s: %w", path, err), b.Close())
	}
	b.Batch = store.NewBatch(1, b.commit)
	return b, nil
}

func (b *Backend) start(ctx context.Context, path string) (err error) {
	if b.path, err = filepath.Abs(path); err == nil {
		err = private(b.path)
	}
	if err != nil {
		return err
	}
	b.db, err = sql.Open("sqlite", (&url.URL{Scheme: "file", Path: b.path, RawQuery: how}).String())
	if err == nil {
		b.conn, err = b.db.Conn(ctx)
	}
	if err != nil {
		return err
	}
	if _, err := b.conn.ExecContext(ctx, "BEGIN EXCLUSIVE; COMMIT"); err != nil { // the lock, once and for all
		return err
	}
	if b.file, err = os.Stat(b.path); err == nil {
		err = b.prepare(ctx)
	}
	for stmt, text := range map[**sql.Stmt]string{
		&b.find:    "SELECT version, data, until_ms FROM documents WHERE key = ?",
		&b.replace: "INSERT OR REPLACE INTO documents (key, version, data, until_ms) VALUES (?, ?, ?, ?)",
		&b.sweep: "DELETE FROM documents WHERE key IN " +
			"(SELECT key FROM documents WHERE until_ms > 0 AND until_ms <= ? ORDER BY until_ms LIMIT 200)",
	} {
		if err == nil {
			*stmt, err = b.conn.PrepareContext(ctx, text) //nolint:sqlclosecheck // Close closes them
		}
	}
	return err
}

// private makes the file before SQLite does, which would let the umask decide, and refuses one that others can read.
func private(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return store.Private(path, path+"-wal")
}

// prepare makes the table of a new database, wholly or not at all. One with tables and no version was made from a dump:
// taken for a new one, its levels would be forgotten.
func (b *Backend) prepare(ctx context.Context) error {
	var version, tables int
	if err := b.conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil ||
		version == schemaVersion {
		return err
	}
	if err := b.conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&tables); err != nil {
		return err
	}
	if version != 0 || tables > 0 {
		return fmt.Errorf("%w (schema %d, this one knows %d)\nhint: move it away to start anew; conversations then "+
			"count as untrusted until `verifier serve --accept-loss`", ErrSchema, version, schemaVersion)
	}
	_, err := b.conn.ExecContext(ctx, "BEGIN;"+schema+"COMMIT")
	return err
}

// Watch implements store.Backend. There is one process, so its own commits are all there is to hear.
func (b *Backend) Watch(ctx context.Context, heard func(what string)) error {
	b.watching.Store(&heard, nil)
	defer b.watching.Delete(&heard)
	select {
	case <-ctx.Done():
		return nil
	case <-b.Ended():
		return store.ErrClosed
	}
}

// Ready implements store.Backend: a full disk or a file that may not be written shows when something is.
func (b *Backend) Ready(ctx context.Context) error {
	if fi, err := os.Stat(b.path); err != nil || !os.SameFile(fi, b.file) {
		return fmt.Errorf("%w: %s\nhint: restart; what it held counts as lost", ErrReplaced, b.path)
	}
	probe := store.Doc{Key: "ready", Keep: time.Minute}
	_, err := b.Commit(ctx, &store.Commit{Write: []store.Doc{probe}, By: b.now().Add(time.Minute)})
	return err
}

// Close ends the backend; who still waits gets store.ErrClosed.
func (b *Backend) Close() (err error) {
	b.close.Do(func() {
		if b.Batch != nil {
			b.Batch.Close()
		}
		for _, stmt := range []*sql.Stmt{b.find, b.replace, b.sweep} {
			if stmt != nil {
				err = errors.Join(err, stmt.Close()) // one that is open would keep the lock
			}
		}
		if b.conn != nil {
			err = errors.Join(err, b.conn.Close())
		}
		if b.db != nil {
			err = errors.Join(err, b.db.Close())
		}
	})
	return err
}

// commit does commits in one transaction, and each by itself where that fails.
func (b *Backend) commit(together []*store.Work) {
	err := b.transaction(together)
	for _, w := range together {
		switch {
		case err != nil && len(together) > 1:
			b.commit([]*store.Work{w})
		case err != nil:
			w.Err = fmt.Errorf("store/sqlite: %w", err)
		case w.Publish != "" && len(w.Result.Moved) == 0 && !w.Result.Late:
			b.watching.Range(func(heard, _ any) bool {
				go (*heard.(*func(string)))(w.Publish) //nolint:errcheck,forcetypeassert // it holds nothing else
				return true
			})
		}
	}
}

func (b *Backend) transaction(together []*store.Work) (err error) {
	ctx := context.Background() // callers may leave: the others wait for it too
	defer func() {
		if p := recover(); p != nil {
			err = text.Panic(p)
		}
		if err != nil {
			_, _ = b.conn.ExecContext(ctx, "ROLLBACK") // SQLite may have undone it by itself
		}
	}()
	if _, err := b.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	now := b.now().Truncate(time.Millisecond)
	for _, w := range together {
		if w.IsLate() {
			continue
		}
		if w.Result, err = b.do(ctx, w.Commit, now); err != nil {
			return err
		}
	}
	if now.Sub(b.swept).Abs() > time.Second {
		b.swept = now
		if _, err := b.sweep.ExecContext(ctx, now.UnixMilli()); err != nil {
			return err
		}
	}
	_, err = b.conn.ExecContext(ctx, "COMMIT")
	return err
}

// do looks before it writes: where something moved, nothing changes.
func (b *Backend) do(ctx context.Context, c *store.Commit, now time.Time) (store.Result, error) {
	result := store.Result{Now: now, Late: now.After(c.By)}
	for _, read := range c.Read {
		d, err := b.read(ctx, read.Key, now)
		if err != nil {
			return result, err
		}
		if d.Version != read.Version {
			result.Moved = append(result.Moved, d)
		}
	}
	if len(result.Moved) > 0 || result.Late {
		return result, nil
	}
	for _, d := range c.Write {
		until := int64(0)
		if d.Keep > 0 {
			until = now.Add(d.Keep).UnixMilli()
		}
		_, err := b.replace.ExecContext(ctx, d.Key, []byte(d.Version), append([]byte{}, d.Data...), until)
		if err != nil {
			return result, err
		}
	}
	return result, nil
}

func (b *Backend) read(ctx context.Context, key string, now time.Time) (store.Doc, error) {
	var version, data []byte
	var until int64
	err := b.find.QueryRowContext(ctx, key).Scan(&version, &data, &until)
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && until > 0 && until <= now.UnixMilli():
		return store.Doc{Key: key}, nil
	case err != nil:
		return store.Doc{}, err
	}
	return store.Doc{Key: key, Version: string(version), Data: data}, nil
}
