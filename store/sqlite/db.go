package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"

	"modernc.org/sqlite"
)

// db is one connection and its prepared statements, for one goroutine. It talks
// to the driver and not through database/sql: a pool, its locks and its
// conversions have nothing to do where one goroutine owns one connection.
type db struct {
	conn  driver.Conn
	stmts map[string]driver.Stmt
	args  []driver.NamedValue // reused by every statement
}

// row is one result row, nil when there was none.
type row []driver.Value

// fault says that the database failed, as opposed to an operation's refusal:
// what was done in the transaction is undone.
type fault struct{ cause error }

func (f *fault) Error() string { return "store/sqlite: " + f.cause.Error() }
func (f *fault) Unwrap() error { return f.cause }

// How a connection is opened. A commit in WAL mode with synchronous=NORMAL is a
// write(2): it survives the death of the process, and a power cut takes at most
// the last moments but never consistency. The wait for a foreign lock stays
// below the time we have to answer. The writer checkpoints every 16 MB.
const (
	forWriting = "_pragma=busy_timeout(250)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)" +
		"&_pragma=wal_autocheckpoint(4000)&_pragma=journal_size_limit(33554432)&_pragma=cache_size(-16000)"
	forReading = "_pragma=busy_timeout(250)&_pragma=query_only(1)&_pragma=cache_size(-8000)"
	forLooking = "mode=ro&_pragma=busy_timeout(250)"
)

func connect(path, how string) (*db, error) {
	u := url.URL{Scheme: "file", Path: path, RawQuery: how}
	conn, err := new(sqlite.Driver).Open(u.String())
	if err != nil {
		return nil, fmt.Errorf("store/sqlite: open %s: %w", path, err)
	}
	return &db{conn: conn, stmts: map[string]driver.Stmt{}}, nil
}

func (d *db) close() error {
	var errs []error
	for _, s := range d.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, d.conn.Close())...)
}

// exec runs a statement and says how many rows it changed.
func (d *db) exec(query string, args ...driver.Value) (int64, error) {
	s, err := d.prepared(query)
	if err != nil {
		return 0, err
	}
	res, err := s.(driver.StmtExecContext).ExecContext(context.Background(), d.bind(args)) //nolint:errcheck // the driver's statements are
	if err != nil {
		return 0, &fault{err}
	}
	return res.RowsAffected()
}

// one is the first row of a query.
func (d *db) one(query string, args ...driver.Value) (row, error) {
	var first row
	err := d.each(query, args, func(r row) bool { first = r; return false })
	return first, err
}

// all is every row of a query.
func (d *db) all(query string, args ...driver.Value) ([]row, error) {
	var rows []row
	err := d.each(query, args, func(r row) bool { rows = append(rows, r); return true })
	return rows, err
}

func (d *db) each(query string, args []driver.Value, more func(row) bool) (err error) {
	s, err := d.prepared(query)
	if err != nil {
		return err
	}
	rows, err := s.(driver.StmtQueryContext).QueryContext(context.Background(), d.bind(args)) //nolint:errcheck // the driver's statements are
	if err != nil {
		return &fault{err}
	}
	defer func() {
		if e := rows.Close(); e != nil && err == nil {
			err = &fault{e}
		}
	}()
	for {
		r := make(row, len(rows.Columns()))
		switch err := rows.Next(r); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return &fault{err}
		case !more(r):
			return nil
		}
	}
}

// script runs several statements that take no arguments.
func (d *db) script(text string) error {
	s, err := d.conn.Prepare(text)
	if err != nil {
		return &fault{err}
	}
	_, err = s.(driver.StmtExecContext).ExecContext(context.Background(), nil) //nolint:errcheck // the driver's statements are
	if err = errors.Join(err, s.Close()); err != nil {
		return &fault{err}
	}
	return nil
}

func (d *db) prepared(query string) (driver.Stmt, error) {
	if s := d.stmts[query]; s != nil {
		return s, nil
	}
	s, err := d.conn.Prepare(query)
	if err != nil {
		return nil, &fault{err}
	}
	d.stmts[query] = s
	return s, nil
}

func (d *db) bind(args []driver.Value) []driver.NamedValue {
	d.args = d.args[:0]
	for i, v := range args {
		d.args = append(d.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return d.args
}

// int, text and bytes read a column; NULL and a missing row are the zero value.
func (r row) int(i int) int64 {
	if r == nil {
		return 0
	}
	n, _ := r[i].(int64)
	return n
}

func (r row) text(i int) string {
	if r == nil {
		return ""
	}
	s, _ := r[i].(string)
	return s
}

func (r row) bytes(i int) []byte {
	if r == nil {
		return nil
	}
	b, _ := r[i].([]byte)
	return b
}
