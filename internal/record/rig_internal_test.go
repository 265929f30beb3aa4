package record

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
)

var testKey = hmac.Key("0123456789abcdef0123456789abcdef")

func testOptions() Options {
	return Options{Key: testKey, Now: func() time.Time { return time.Date(2026, 10, 3, 14, 2, 11, 0, time.UTC) }}
}

func rotating(bytes int64) Options {
	o := testOptions()
	o.Rotation = func() (int64, int) { return bytes, 0 }
	return o
}

func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "state", "record.jsonl") }

func mustOpen(t testing.TB, path string, o Options) *Log {
	t.Helper()
	l, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // where the test did not get so far
	return l
}

func mustAppend(t testing.TB, l *Log, notes ...string) {
	t.Helper()
	for _, n := range notes {
		if err := l.Append(Entry{Kind: KindNote, Note: n}); err != nil {
			t.Fatal(err)
		}
	}
}

func mustClose(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// written makes a record of notes and returns its files and its last head.
func written(t testing.TB, path string, o Options, notes ...string) ([]string, Head) {
	t.Helper()
	l := mustOpen(t, path, o)
	mustAppend(t, l, notes...)
	mustClose(t, l)
	return listed(t, path), l.Head()
}

func listed(t testing.TB, path string) []string {
	t.Helper()
	found, err := Files(path)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func contents(t testing.TB, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func put(t testing.TB, path string, raw []byte) {
	t.Helper()
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

func splitLines(raw []byte) [][]byte {
	return slices.DeleteFunc(bytes.SplitAfter(raw, []byte("\n")), func(l []byte) bool { return len(l) == 0 })
}

// verifies proves the whole record and returns its notes, in their order.
func verifies(t testing.TB, path string, head *Head) (Report, []string) {
	t.Helper()
	r, err := VerifyFiles(listed(t, path), VerifyOptions{Key: testKey, Head: head, Whole: true})
	if err != nil || head != nil && !r.HeadChecked {
		t.Fatalf("verify: %v, %+v", err, r)
	}
	return r, notes(t, path)
}

func read(t testing.TB, path string) (all []Line) {
	t.Helper()
	for raw, err := range Since(listed(t, path), time.Time{}) {
		l, bad := raw.Line()
		if err = errors.Join(err, bad); err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	return all
}

func notes(t testing.TB, path string) (out []string) {
	t.Helper()
	for _, l := range read(t, path) {
		if l.Kind == KindNote && l.Removed == 0 {
			out = append(out, l.Note)
		}
	}
	return out
}

// badLine verifies files and returns the line that is named.
func badLine(t testing.TB, paths []string, o VerifyOptions) *BadLine {
	t.Helper()
	o.Key = testKey
	_, err := VerifyFiles(paths, o)
	bad, ok := errors.AsType[*BadLine](err)
	if !ok {
		t.Fatalf("got %v, want a bad line", err)
	}
	return bad
}

func wantBad(t testing.TB, raw []byte, head *Head, line int, reason string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "r.jsonl")
	put(t, path, raw)
	if bad := badLine(t, []string{path}, VerifyOptions{Head: head}); bad.Line != line ||
		!strings.Contains(bad.Error(), reason) {
		t.Errorf("got %v, want line %d: …%s…", bad, line, reason)
	}
}

func numbers(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("%04d", i))
	}
	return out
}

// faulty is a disk that fails when told to.
type faulty struct {
	disk
	write, truncate, sync error
	partial               int // bytes that a failing write leaves behind
	syncs                 int
	began, gate           chan struct{} // not nil: a write says that it began, and waits
}

func (f *faulty) Write(p []byte) (int, error) {
	if f.gate != nil {
		f.began <- struct{}{}
		<-f.gate
	}
	if f.write == nil {
		return f.disk.Write(p)
	}
	n, _ := f.disk.Write(p[:min(f.partial, len(p))])
	return n, f.write
}

func (f *faulty) Truncate(size int64) error {
	if f.truncate != nil {
		return f.truncate
	}
	return f.disk.Truncate(size)
}

func (f *faulty) Sync() error {
	f.syncs++
	return f.sync
}

// faultyLog is a log whose disk, and those of its later files, are at hand. They are not to be changed but while
// nobody appends.
func faultyLog(t *testing.T, o Options) (*Log, *faulty, string) {
	t.Helper()
	path := newPath(t)
	w, err := open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	f := &faulty{disk: w.disk}
	w.disk = f
	go w.run()
	t.Cleanup(func() { _ = w.Close() })
	return w.Log, f, path
}
