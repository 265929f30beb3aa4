// Package sqlite keeps a store's documents in one SQLite file in the state directory: no server, no port, and it
// survives kill -9.
//
// There is one connection. Whatever waits is done in one transaction, and no caller gets a result before the commit
// that holds it has returned. Where the database fails, the transaction is undone, and what was not alone in it is done
// again by itself.
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
	"&_pragma=cache_size(-16000)&_txlock=immediate"

// schemaVersion is the database's user_version. Any other is refused.
const schemaVersion = 21

const schema = `
CREATE TABLE documents (
	key TEXT PRIMARY KEY,
	value BLOB NOT NULL,
	until_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX documents_until ON documents (until_ms) WHERE until_ms > 0;
PRAGMA user_version = 21;
`

// Backend is an open database. It is safe for concurrent use.
type Backend struct {
	path string
	file os.FileInfo // of the database that was opened, to notice that it was replaced
	now  func() time.Time
	db   *sql.DB
	*store.Batch
	close    sync.Once
	closed   chan struct{}
	watching sync.Map // *func(what string)

	find, replace, sweep *sql.Stmt
	swept                time.Time
}

// Open opens the database, or makes one, and holds it for this process alone. Now is the clock; nil: time.Now.
func Open(ctx context.Context, path string, now func() time.Time) (*Backend, error) {
	b := &Backend{now: now, closed: make(chan struct{})}
	if now == nil {
		b.now = time.Now
	}
	b.Batch = store.NewBatch(1, b.commit)
	err := b.start(ctx, path)
	if err == nil {
		return b, nil
	}
	if e, ok := errors.AsType[*sqlite.Error](err); ok && e.Code()&0xff == sqlite3.SQLITE_BUSY {
		err = fmt.Errorf("%w: %s\nhint: stop the other verifier, or give this one a state directory of its own",
			ErrInUse, path)
	}
	return nil, errors.Join(fmt.Errorf("store/sqlite: open %s: %w", path, err), b.Close())
}

func (b *Backend) start(ctx context.Context, path string) (err error) {
	if b.path, err = filepath.Abs(path); err != nil {
		return err
	}
	if b.file, err = private(b.path); err != nil {
		return err
	}
	b.db, err = sql.Open("sqlite", (&url.URL{Scheme: "file", Path: b.path, RawQuery: how}).String())
	if err != nil {
		return err
	}
	b.db.SetMaxOpenConns(1)
	if err := b.prepare(ctx); err != nil {
		return err
	}
	for stmt, text := range map[**sql.Stmt]string{
		&b.find:    "SELECT value FROM documents WHERE key = ? AND (until_ms = 0 OR until_ms > ?)",
		&b.replace: "INSERT OR REPLACE INTO documents (key, value, until_ms) VALUES (?, ?, ?)",
		&b.sweep: "DELETE FROM documents WHERE key IN " +
			"(SELECT key FROM documents WHERE until_ms > 0 AND until_ms <= ? ORDER BY until_ms LIMIT 200)",
	} {
		if *stmt, err = b.db.PrepareContext(ctx, text); err != nil { //nolint:sqlclosecheck // the database closes them
			return err
		}
	}
	return nil
}

// private makes the file before SQLite does, which would let the umask decide, and refuses one that others can read.
func private(path string) (os.FileInfo, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	return info, errors.Join(err, f.Close(), store.Private(path, path+"-wal"))
}

// prepare takes the lock, once and for all, and makes the table of a new database. One with a table and no version was
// made from a dump: taken for a new one, its levels would be forgotten.
func (b *Backend) prepare(ctx context.Context) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // it is undone, or was committed
	var version, tables int
	const query = "SELECT user_version, (SELECT count(*) FROM sqlite_master) FROM pragma_user_version"
	if err := tx.QueryRowContext(ctx, query).Scan(&version, &tables); err != nil {
		return err
	}
	switch {
	case version == 0 && tables == 0:
		_, err = tx.ExecContext(ctx, schema)
	case version != schemaVersion:
		err = fmt.Errorf("%w (schema %d, this one knows %d)\nhint: move it away to start anew; conversations then "+
			"count as untrusted until `verifier serve --accept-loss`", ErrSchema, version, schemaVersion)
	}
	return errors.Join(err, tx.Commit())
}

// Watch implements store.Backend. There is one process, so its own commits are all there is to hear.
func (b *Backend) Watch(ctx context.Context, heard func(what string)) error {
	b.watching.Store(&heard, nil)
	defer b.watching.Delete(&heard)
	select {
	case <-ctx.Done():
		return nil
	case <-b.closed:
		return store.ErrClosed
	}
}

// Ready implements store.Backend.
func (b *Backend) Ready(context.Context) error {
	if fi, err := os.Stat(b.path); err != nil || !os.SameFile(fi, b.file) {
		return fmt.Errorf("%w: %s\nhint: restart; what it held counts as lost", ErrReplaced, b.path)
	}
	return nil
}

// Close ends the backend once all that wait are answered.
func (b *Backend) Close() (err error) {
	b.close.Do(func() {
		b.Batch.Close()
		close(b.closed)
		if b.db != nil {
			err = b.db.Close()
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
		case w.Err == nil && w.Publish != "" && len(w.Result.Moved) == 0 && !w.Result.Late:
			b.watching.Range(func(heard, _ any) bool {
				go (*heard.(*func(string)))(w.Publish) //nolint:errcheck,forcetypeassert // it holds nothing else
				return true
			})
		}
	}
}

func (b *Backend) transaction(together []*store.Work) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = text.Panic(p)
		}
	}()
	ctx := context.Background() // callers may leave: the others wait for it too
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // it is undone, or was committed
	now := b.now().Truncate(time.Millisecond)
	find, replace := tx.StmtContext(ctx, b.find), tx.StmtContext(ctx, b.replace)
	for _, w := range together {
		if w.IsLate() {
			continue
		}
		if w.Result, err = do(ctx, find, replace, w.Commit, now); err != nil {
			return err
		}
	}
	if now.Sub(b.swept).Abs() > time.Second {
		b.swept = now
		sweep := tx.StmtContext(ctx, b.sweep) //nolint:sqlclosecheck // the transaction closes it
		if _, err := sweep.ExecContext(ctx, now.UnixMilli()); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// do looks before it writes: where something moved, nothing changes.
func do(ctx context.Context, find, replace *sql.Stmt, c *store.Commit, now time.Time) (store.Result, error) {
	r := store.Result{Now: now, Late: now.After(c.By)}
	for i := range c.Docs {
		var value []byte
		err := find.QueryRowContext(ctx, c.Docs[i].Key, now.UnixMilli()).Scan(&value)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return r, err
		}
		if store.VersionOf(value) != c.Docs[i].Was {
			r.Moved = append(r.Moved, store.Doc{Key: c.Docs[i].Key, Value: value})
		}
	}
	if len(r.Moved) > 0 || r.Late {
		return r, nil
	}
	for _, d := range c.Docs {
		if d.Value == nil {
			continue
		}
		until := int64(0)
		if d.Keep > 0 {
			until = now.Add(d.Keep).UnixMilli()
		}
		if _, err := replace.ExecContext(ctx, d.Key, d.Value, until); err != nil {
			return r, err
		}
	}
	return r, nil
}
