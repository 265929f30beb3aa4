// Package sqlite keeps a store's documents in one SQLite file in the state directory: no server, no port, and it survives
// kill -9.
//
// There is one writer: a goroutine commits whatever waits in one transaction, and no caller gets a result before the
// commit that holds it has returned. A commit that rests on what is no longer so changes nothing. Where the database
// fails, the transaction is undone and its commits run again, each by itself.
//
// The package refuses to wait beyond its caller's context, to share its file with a second process and to open a file
// that others can read. It decides nothing.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/openclaw-verifier/verifier/internal/store"
)

// Errors of this package. Each comes wrapped in what happened and what to do.
var (
	ErrInUse    = errors.New("store/sqlite: another process uses this database")
	ErrExposed  = errors.New("store/sqlite: others can read the database")
	ErrClosed   = errors.New("store/sqlite: the store is closed")
	ErrReplaced = errors.New("store/sqlite: the database file was removed or replaced while in use")
	ErrSchema   = errors.New("store/sqlite: the database was written by another version of this program")
)

// A commit in WAL mode with synchronous=NORMAL is a write(2): it survives the death of the process, and a power cut takes
// at most the last moments and never consistency. The writer checkpoints every 16 MB.
const (
	forWriting = "_pragma=busy_timeout(250)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)" +
		"&_pragma=wal_autocheckpoint(4000)&_pragma=journal_size_limit(33554432)&_pragma=cache_size(-16000)"
	forReading = "_pragma=busy_timeout(250)&_pragma=query_only(1)&_pragma=cache_size(-8000)"
)

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
	path   string
	file   os.FileInfo // of the database that was opened, to notice that it was replaced
	now    func() time.Time
	lock   *os.File
	writer *sql.DB
	reader *sql.DB
	queue  chan *request
	quit   chan struct{}
	ended  chan struct{} // closed when no commit will be answered any more
	close  sync.Once
	heard  listeners
}

// Open opens the database, or makes one, and holds it for this process alone. Now is the clock; nil: time.Now.
func Open(ctx context.Context, path string, now func() time.Time) (*Backend, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("store/sqlite: %w", err)
	}
	if now == nil {
		now = time.Now
	}
	lock, err := claim(path)
	if err != nil {
		return nil, err
	}
	b := &Backend{
		path: path, now: now, lock: lock,
		queue: make(chan *request, groupSize), quit: make(chan struct{}), ended: make(chan struct{}),
	}
	w, err := b.start(ctx)
	if err != nil {
		close(b.ended)
		return nil, errors.Join(err, b.Close())
	}
	go b.serve(w)
	return b, nil
}

func (b *Backend) start(ctx context.Context) (w *writer, err error) {
	dsn := func(how string) string { return (&url.URL{Scheme: "file", Path: b.path, RawQuery: how}).String() }
	if b.writer, err = sql.Open("sqlite", dsn(forWriting)); err != nil {
		return nil, fmt.Errorf("store/sqlite: open %s: %w", b.path, err)
	}
	if b.reader, err = sql.Open("sqlite", dsn(forReading)); err != nil {
		return nil, fmt.Errorf("store/sqlite: open %s: %w", b.path, err)
	}
	b.reader.SetMaxOpenConns(2)
	conn, err := b.writer.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("store/sqlite: open %s: %w", b.path, err)
	}
	if b.file, err = os.Stat(b.path); err == nil {
		err = migrate(ctx, conn)
	}
	if err == nil {
		w, err = newWriter(ctx, conn, b.now)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("store/sqlite: open %s: %w", b.path, err), conn.Close())
	}
	return w, nil
}

// migrate makes the table of a new database, wholly or not at all. One with tables and no version was made from a dump:
// taken for a new one, its levels would be forgotten.
func migrate(ctx context.Context, conn *sql.Conn) error {
	var version, tables int
	if err := conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil || version == schemaVersion {
		return err
	}
	if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&tables); err != nil {
		return err
	}
	if version != 0 || tables > 0 {
		return fmt.Errorf("%w (schema %d, this one knows %d)\nhint: move it away to start anew; conversations then count as "+
			"untrusted until `verifier serve --accept-loss`", ErrSchema, version, schemaVersion)
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// Get implements store.Backend.
func (b *Backend) Get(ctx context.Context, keys ...string) ([]store.Doc, time.Time, error) {
	now := b.now()
	docs, place := make([]store.Doc, len(keys)), make(map[string][]int, len(keys))
	args := make([]any, 0, len(keys)+1)
	args = append(args, now.UnixMilli())
	for i, key := range keys {
		docs[i].Key = key
		if place[key] = append(place[key], i); len(place[key]) == 1 {
			args = append(args, key)
		}
	}
	query := "SELECT key, version, data FROM documents WHERE (until_ms = 0 OR until_ms > ?) AND key IN (?" +
		strings.Repeat(",?", len(args)-2) + ")"
	rows, err := b.reader.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, now, fmt.Errorf("store/sqlite: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		var version, data []byte
		if err := rows.Scan(&key, &version, &data); err != nil {
			return nil, now, fmt.Errorf("store/sqlite: %w", err)
		}
		for _, i := range place[key] {
			docs[i].Version, docs[i].Data = string(version), data
		}
	}
	if err := rows.Err(); err != nil {
		return nil, now, fmt.Errorf("store/sqlite: %w", err)
	}
	return docs, now, nil
}

// Watch implements store.Backend.
func (b *Backend) Watch(ctx context.Context, heard func(what string)) error {
	return b.heard.listen(ctx, b.ended, heard)
}

// Ready implements store.Backend: a full disk or a file that may not be written shows in the commit of nothing.
func (b *Backend) Ready(ctx context.Context) error {
	if fi, err := os.Stat(b.path); err != nil || !os.SameFile(fi, b.file) {
		return fmt.Errorf("%w: %s\nhint: restart; what it held counts as lost", ErrReplaced, b.path)
	}
	probe := store.Doc{Key: "ready", Version: "ready", Keep: time.Minute}
	_, err := b.Commit(ctx, &store.Commit{Write: []store.Doc{probe}, By: b.now().Add(time.Minute)})
	return err
}

// Close ends the backend; who still waits gets ErrClosed. The lock goes last.
func (b *Backend) Close() (err error) {
	b.close.Do(func() {
		close(b.quit)
		<-b.ended
		for _, db := range []*sql.DB{b.reader, b.writer} {
			if db != nil {
				err = errors.Join(err, db.Close())
			}
		}
		err = errors.Join(err, release(b.lock))
	})
	return err
}
