package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// MaxLine is the longest line, in bytes, that is written or read.
const MaxLine = 4 << 20

// fileName is where the file of a number is, of the record at path: record-000001.jsonl for record.jsonl.
func fileName(path string, number int) string {
	ext := filepath.Ext(path)
	return fmt.Sprintf("%s-%06d%s", strings.TrimSuffix(path, ext), number, ext)
}

// headName is where the head of the record at path is.
func headName(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) + ".head" }

// Base splits a file's path into the record that it belongs to and its number there; 0 where it is no such file.
func Base(path string) (base string, number int) {
	ext := filepath.Ext(path)
	stem := strings.TrimSuffix(path, ext)
	i := strings.LastIndexByte(stem, '-')
	n, err := strconv.Atoi(stem[i+1:])
	if i < 0 || err != nil || n < 1 || fileName(stem[:i]+ext, n) != path {
		return path, 0
	}
	return stem[:i] + ext, n
}

// Files lists the files of the record at path, in the order of its chain, which is that of their names. There is an
// error where there is none.
func Files(path string) ([]string, error) {
	dir, path := filepath.Dir(path), filepath.Clean(path)
	entries, err := os.ReadDir(dir)
	var out []string
	for _, e := range entries {
		at := filepath.Join(dir, e.Name())
		if base, n := Base(at); n > 0 && base == path {
			out = append(out, at)
		}
	}
	if err == nil && len(out) == 0 {
		err = &fs.PathError{Op: "open", Path: fileName(path, 1), Err: fs.ErrNotExist}
	}
	return out, err
}

// openFile opens a file that nobody but its owner may read, or makes it. Records are appended to, so that a file made
// append-only (chattr +a) works too.
func openFile(path string, flag int) (*os.File, os.FileInfo, error) {
	if at, err := os.Lstat(path); err == nil && !at.Mode().IsRegular() {
		return nil, nil, ErrNoFile // before a link could make another file
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|flag, 0o600)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	at, errAt := os.Lstat(path)
	switch {
	case err != nil || errAt != nil:
		err = errors.Join(err, errAt)
	case !os.SameFile(info, at) || !info.Mode().IsRegular():
		err = ErrNoFile
	case info.Mode().Perm()&0o077 != 0:
		err = ErrPermissions
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// BadLine is a line that is not as it was written.
type BadLine struct {
	File string
	Line int // its number; 0 where lines are not counted
	Err  error
}

func (b *BadLine) Error() string { return fmt.Sprintf("line %d: %v", b.Line, b.Err) }

// Unwrap gives what is wrong with it.
func (b *BadLine) Unwrap() error { return b.Err }

var (
	errUnfinished = errors.New("ends in the middle: a write was interrupted, or the file was cut here")
	errTooLong    = fmt.Errorf("is longer than %d bytes", MaxLine)
)

const blockSize = 64 << 10

// placed is a line without its newline, and where it begins in its file.
type placed struct {
	raw []byte
	at  int64
}

// lines are those of a file that begin at an offset or later. What stands behind the last newline is a *[BadLine].
func lines(path string, from int64) iter.Seq2[placed, error] {
	split := func(data []byte, atEOF bool) (int, []byte, error) {
		i := bytes.IndexByte(data, '\n')
		switch {
		case i >= 0:
			return i + 1, data[:i], nil
		case len(data) >= MaxLine:
			return 0, nil, &BadLine{File: path, Err: errTooLong}
		case atEOF && len(data) > 0:
			return 0, nil, &BadLine{File: path, Err: errUnfinished}
		}
		return 0, nil, nil
	}
	return func(yield func(placed, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(placed{}, err)
			return
		}
		defer f.Close() //nolint:errcheck // it was only read
		at := max(0, from-1)
		s := bufio.NewScanner(io.NewSectionReader(f, at, math.MaxInt64-at))
		s.Buffer(nil, MaxLine+1)
		s.Split(split)
		for s.Scan() {
			if at >= from && !yield(placed{s.Bytes(), at}, nil) { // one that began before is not of it
				return
			}
			at += int64(len(s.Bytes())) + 1
		}
		if s.Err() != nil {
			yield(placed{}, s.Err())
		}
	}
}

// backward gives the whole lines of a file from the last to the first.
func backward(path string) iter.Seq2[placed, error] {
	return func(yield func(placed, error) bool) {
		info, err := os.Stat(path)
		if err != nil {
			yield(placed{}, err)
			return
		}
		for from := info.Size() / blockSize * blockSize; from >= 0; from -= blockSize {
			var block []placed
			for l, err := range lines(path, from) {
				if _, bad := errors.AsType[*BadLine](err); err != nil && !bad {
					yield(placed{}, err)
					return
				}
				if err != nil || l.at >= from+blockSize {
					break
				}
				block = append(block, placed{bytes.Clone(l.raw), l.at})
			}
			for _, l := range slices.Backward(block) {
				if !yield(l, nil) {
					return
				}
			}
		}
	}
}

// Backward gives the entries of a record's files from the last to the first, so that a reader of the latest reads no
// more than that. Only lines that want likes, by their bytes, are decoded; nil likes all. One that can't be is left
// out: for proof there is [VerifyFiles].
func Backward(files []string, want func(raw []byte) bool) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for _, path := range slices.Backward(files) {
			for p, err := range backward(path) {
				if err != nil {
					yield(Line{}, err)
					return
				}
				if want != nil && !want(p.raw) {
					continue
				}
				if l, err := parse(p.raw); err == nil && !yield(l, nil) {
					return
				}
			}
		}
	}
}

// Since gives the entries of a record's files that were written at a time or later, in their order. A line that can't
// be read is a *[BadLine], after which there may be more; any other error is the last. It finds the place by the times
// of lines, and reads nothing of what is before.
func Since(files []string, at time.Time, want func(raw []byte) bool) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		first := sort.Search(len(files), func(i int) bool { return !startsBefore(files[i], 0, at) })
		for _, path := range files[max(0, first-1):] {
			blocks := 0
			if info, err := os.Stat(path); err == nil {
				blocks = int(info.Size() / blockSize)
			}
			block := sort.Search(blocks, func(i int) bool { return !startsBefore(path, int64(i)*blockSize, at) })
			for p, err := range lines(path, int64(max(0, block-1))*blockSize) {
				if err == nil && want != nil && !want(p.raw) {
					continue
				}
				var l Line
				if err == nil {
					if l, err = parse(p.raw); err != nil {
						err = &BadLine{File: path, Err: err}
					}
				}
				if err == nil && l.At.Before(at) {
					continue
				}
				if _, bad := errors.AsType[*BadLine](err); !yield(l, err) || err != nil && !bad {
					return
				}
			}
		}
	}
}

// startsBefore reports whether the first line of a file that begins at an offset or later is from before a time.
func startsBefore(path string, offset int64, at time.Time) (before bool) {
	lines(path, offset)(func(p placed, err error) bool {
		var l struct {
			At time.Time `json:"at"`
		}
		before = err == nil && json.Unmarshal(p.raw, &l) == nil && l.At.Before(at)
		return false
	})
	return before
}
