package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/openclaw-verifier/verifier/crash"
	"github.com/openclaw-verifier/verifier/internal/store"
)

// groupSize is how many commits share a transaction at most: enough to make its price small, few enough that the first
// does not wait long.
const groupSize = 64

// request is a commit on its way.
type request struct {
	ctx    context.Context // of its caller: one that has gone is not done
	commit *store.Commit
	result store.Result
	err    error
	done   chan struct{}
}

// writer is the one connection that writes, and its statements.
type writer struct {
	conn                 *sql.Conn
	now                  func() time.Time
	find, replace, sweep *sql.Stmt
	swept                time.Time
}

func newWriter(ctx context.Context, conn *sql.Conn, now func() time.Time) (*writer, error) {
	w := &writer{conn: conn, now: now}
	for _, s := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&w.find, "SELECT version, data, until_ms FROM documents WHERE key = ?"},
		{&w.replace, "INSERT OR REPLACE INTO documents (key, version, data, until_ms) VALUES (?, ?, ?, ?)"},
		{&w.sweep, "DELETE FROM documents WHERE key IN " +
			"(SELECT key FROM documents WHERE until_ms > 0 AND until_ms <= ? ORDER BY until_ms LIMIT 200)"},
	} {
		var err error
		if *s.stmt, err = conn.PrepareContext(ctx, s.text); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Commit implements store.Backend. A caller that leaves gets an error; what it asked for may happen all the same.
func (b *Backend) Commit(ctx context.Context, c *store.Commit) (store.Result, error) {
	r := &request{ctx: ctx, commit: c, done: make(chan struct{})}
	select {
	case b.queue <- r:
	case <-ctx.Done():
		return store.Result{}, fmt.Errorf("store/sqlite: the database did not answer in time: %w", ctx.Err())
	case <-b.ended:
		return store.Result{}, ErrClosed
	}
	select {
	case <-r.done:
		return r.result, r.err
	case <-ctx.Done():
		return store.Result{}, fmt.Errorf("store/sqlite: the database did not answer in time: %w", ctx.Err())
	case <-b.ended:
		select {
		case <-r.done:
			return r.result, r.err
		default:
			return store.Result{}, ErrClosed
		}
	}
}

// serve makes commits until the backend is closed, and sweeps in between.
func (b *Backend) serve(w *writer) {
	defer close(b.ended)
	defer w.conn.Close() //nolint:errcheck // there is nothing left to be done
	for {
		select {
		case <-b.quit:
			return
		case first := <-b.queue:
			group := []*request{first}
			for more := true; more && len(group) < groupSize; {
				select {
				case r := <-b.queue:
					group = append(group, r)
				default:
					more = false
				}
			}
			b.run(w, group)
		}
	}
}

// run makes commits in one transaction and answers each after it. Where the database fails, those that were not alone run
// again by themselves.
func (b *Backend) run(w *writer, group []*request) {
	err := w.transaction(group)
	for _, r := range group {
		if err != nil && len(group) > 1 {
			b.run(w, []*request{r})
			continue
		}
		if r.err = err; err == nil && len(r.result.Moved) == 0 && !r.result.Late {
			b.heard.tell(r.commit.Publish)
		}
		close(r.done)
	}
}

func (w *writer) transaction(group []*request) (err error) {
	ctx := context.Background() // its callers may leave: the others wait for it too
	defer func() {
		if p := recover(); p != nil {
			err = crash.Recovered(p)
		}
		if err != nil {
			_, _ = w.conn.ExecContext(ctx, "ROLLBACK") // SQLite may have undone it by itself
			err = fmt.Errorf("store/sqlite: %w", err)
		}
	}()
	if _, err := w.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for _, r := range group {
		if err := w.commit(ctx, r); err != nil {
			return err
		}
	}
	if now := w.now(); now.Sub(w.swept).Abs() > time.Second {
		w.swept = now
		if _, err := w.sweep.ExecContext(ctx, now.UnixMilli()); err != nil {
			return err
		}
	}
	_, err = w.conn.ExecContext(ctx, "COMMIT")
	return err
}

// commit looks before it writes: one that finds something moved changes nothing.
func (w *writer) commit(ctx context.Context, r *request) error {
	now := w.now().Truncate(time.Millisecond)
	r.result, r.err = store.Result{Now: now, Late: now.After(r.commit.By)}, nil
	if r.ctx.Err() != nil { // it was told that this failed: better if it has
		r.result.Late = true
		return nil
	}
	for _, read := range r.commit.Read {
		d := store.Doc{Key: read.Key}
		var version []byte
		var until int64
		err := w.find.QueryRowContext(ctx, read.Key).Scan(&version, &d.Data, &until)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if d.Version = string(version); until > 0 && until <= now.UnixMilli() {
			d.Version, d.Data = "", nil
		}
		if d.Version != read.Version {
			r.result.Moved = append(r.result.Moved, d)
		}
	}
	if len(r.result.Moved) > 0 || r.result.Late {
		return nil
	}
	for _, d := range r.commit.Write {
		until := int64(0)
		if d.Keep > 0 {
			until = now.Add(d.Keep).UnixMilli()
		}
		if d.Data == nil {
			d.Data = []byte{}
		}
		if _, err := w.replace.ExecContext(ctx, d.Key, []byte(d.Version), d.Data, until); err != nil {
			return err
		}
	}
	return nil
}
