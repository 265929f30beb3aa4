package record

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/files"
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

// private looks at a file that nobody but its owner may read.
func private(path string) (os.FileInfo, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, ErrNoFile
	case info.Mode().Perm()&0o077 != 0:
		return nil, ErrPermissions
	}
	return info, nil
}

// openFile opens a private file, or makes it. Records are appended to, so that a file made append-only (chattr +a)
// works too.
func openFile(path string, flag int) (*os.File, os.FileInfo, error) {
	if _, err := private(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err // before a link could make another file
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|flag, files.Private)
	if err != nil {
		return nil, nil, err
	}
	info, err := private(path)
	if opened, errOpened := f.Stat(); err == nil && (errOpened != nil || !os.SameFile(info, opened)) {
		err = ErrNoFile
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

var errUnfinished = errors.New("ends in the middle: a write was interrupted, or the file was cut here")

const blockSize = 64 << 10

// placed is a line without its newline, and where it begins in its file.
type placed struct {
	raw []byte
	at  int64
}

// block gives the whole lines that begin in a block of a file. Behind them may be a *[BadLine]: one that is too long, or
// what stands behind the file's last newline.
func block(path string, n int64) (all []placed, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()             //nolint:errcheck // it was only read
	at := max(0, n*blockSize-1) // the end of a line that is not of it
	r := bufio.NewReader(io.NewSectionReader(f, at, blockSize+MaxLine+2))
	for at < (n+1)*blockSize {
		raw, err := r.ReadBytes('\n')
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return all, err
		case len(raw) > MaxLine:
			return all, &BadLine{File: path, Err: fmt.Errorf("is longer than %d bytes", MaxLine)}
		case err != nil && len(raw) > 0:
			return all, &BadLine{File: path, Err: errUnfinished}
		case err != nil:
			return all, nil
		case at >= n*blockSize:
			all = append(all, placed{raw[:len(raw)-1], at})
		}
		at += int64(len(raw))
	}
	return all, nil
}

// lines gives the lines of a file from a block on. A *[BadLine] is the last. Or, backward, from the last line to the
// first of the file, without bad ones.
func lines(path string, from int64, backward bool) iter.Seq2[placed, error] {
	return func(yield func(placed, error) bool) {
		info, err := os.Stat(path)
		if err != nil {
			yield(placed{}, err)
			return
		}
		last := info.Size() / blockSize
		for n := from; n <= last; n++ {
			var all []placed
			if !backward {
				all, err = block(path, n)
			} else if all, err = block(path, last-n); isBad(err) {
				err = nil
			}
			if backward {
				slices.Reverse(all)
			}
			for _, l := range all {
				if !yield(l, nil) {
					return
				}
			}
			if err != nil {
				yield(placed{}, err)
				return
			}
		}
	}
}

func isBad(err error) bool {
	_, bad := errors.AsType[*BadLine](err)
	return bad
}

// entries gives those of some lines that want likes, by their bytes; nil likes all. One that can't be decoded is a
// *[BadLine].
func entries(path string, all iter.Seq2[placed, error], want func(raw []byte) bool) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for p, err := range all {
			if err == nil && want != nil && !want(p.raw) {
				continue
			}
			var l Line
			if err == nil {
				if l, err = parse(p.raw); err != nil {
					err = &BadLine{File: path, Err: err}
				}
			}
			if !yield(l, err) {
				return
			}
		}
	}
}

// Backward gives the entries of a record's files that want likes from the last to the first, so that a reader of the
// latest reads no more than that. A line that can't be read is left out: for proof there is [VerifyFiles].
func Backward(files []string, want func(raw []byte) bool) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for _, path := range slices.Backward(files) {
			for l, err := range entries(path, lines(path, 0, true), want) {
				if !isBad(err) && !yield(l, err) {
					return
				}
			}
		}
	}
}

// Since gives the entries of a record's files that want likes and that were written at a time or later, in their
// order. After a line that can't be read, a *[BadLine], there may be more. It finds the place by the times of lines,
// and reads nothing of what is before.
func Since(files []string, at time.Time, want func(raw []byte) bool) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		first := sort.Search(len(files), func(i int) bool { return !startsBefore(files[i], 0, at) })
		for _, path := range files[max(0, first-1):] {
			for l, err := range entries(path, lines(path, blockOf(path, at), false), want) {
				if (err != nil || !l.At.Before(at)) && !yield(l, err) {
					return
				}
			}
		}
	}
}

// blockOf is the last block of a file that begins before a time.
func blockOf(path string, at time.Time) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return int64(sort.Search(int(info.Size()/blockSize), func(i int) bool {
		return !startsBefore(path, int64(i+1), at)
	}))
}

// startsBefore reports whether the first line of a file from a block on is from before a time.
func startsBefore(path string, from int64, at time.Time) bool {
	l, err := parse(firstLine(path, from))
	return err == nil && l.At.Before(at)
}

// firstLine is the first line of a file from a block on; nil: there is none that can be read.
func firstLine(path string, from int64) []byte {
	for p := range lines(path, from, false) {
		return p.raw
	}
	return nil
}
