package record

import (
	"bufio"
	"bytes"
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

// Raw is a line as it is in a file, without its newline.
type Raw struct {
	Text []byte
	file string
	at   int64 // where it begins there
	bad  error // it is no whole line
}

// Line decodes it. An error is a *[BadLine].
func (r Raw) Line() (Line, error) {
	l, err := parse(r.Text)
	if r.bad != nil {
		err = r.bad
	}
	if err != nil {
		err = &BadLine{File: r.file, Err: err}
	}
	return l, err
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

// What is no whole line.
var (
	errUnfinished = errors.New("ends in the middle: a write was interrupted, or the file was cut here")
	errLong       = fmt.Errorf("is longer than %d bytes", MaxLine)
)

const blockSize = 64 << 10

// block gives the lines that begin in a block of a file of some size, and where it stopped to read.
func block(f *os.File, size, n int64) (all []Raw, at int64, err error) {
	at = max(0, n*blockSize-1) // in the last line that is not of it
	r := bufio.NewReader(io.NewSectionReader(f, at, min(blockSize+MaxLine+2, size-at)))
	for at < (n+1)*blockSize {
		text, err := r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return all, at, err
		}
		line := Raw{file: f.Name(), at: at}
		switch {
		case len(text) == 0:
			return all, at, nil
		case len(text) > MaxLine:
			line.bad = errLong
		case err != nil:
			line.bad = errUnfinished
		default:
			line.Text = text[:len(text)-1]
		}
		if at >= n*blockSize {
			all = append(all, line)
		}
		at += int64(len(text))
	}
	return all, at, nil
}

// lines gives the lines of a file from a block on; or, backward, from the last line to the first. What is written
// meanwhile is left out.
func lines(path string, from int64, backward bool) iter.Seq2[Raw, error] {
	return func(yield func(Raw, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(Raw{}, err)
			return
		}
		defer f.Close() //nolint:errcheck // it was only read
		size, err := f.Seek(0, io.SeekEnd)
		for i := from; err == nil && i <= size/blockSize; i++ {
			var all []Raw
			var end int64
			if backward {
				all, _, err = block(f, size, size/blockSize-i)
				slices.Reverse(all)
			} else {
				all, end, err = block(f, size, i)
				i = max(i, end/blockSize-1) // past a long line
			}
			for _, l := range all {
				if !yield(l, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(Raw{}, err)
		}
	}
}

// Backward gives the lines of a record's files from the last to the first, so that a reader of the latest reads no more
// than that; with a number, those before the one that has it. For proof there is [VerifyFiles].
func Backward(files []string, before uint64) iter.Seq2[Raw, error] {
	return func(yield func(Raw, error) bool) {
		for _, path := range slices.Backward(files) {
			if before > 0 && (Raw{Text: firstLine(path, 0)}).seq() >= before {
				continue
			}
			for l, err := range lines(path, 0, true) {
				if (before == 0 || err != nil || l.seq() < before) && !yield(l, err) {
					return
				}
			}
		}
	}
}

// seq is the number that a line opens with, without decoding it; 0: there is none.
func (r Raw) seq() uint64 {
	text, _ := bytes.CutPrefix(r.Text, []byte(`{"seq":`))
	n, _ := strconv.ParseUint(string(text[:max(0, bytes.IndexByte(text, ','))]), 10, 64)
	return n
}

// Since gives the lines of a record's files from the first that was written at a time or later. It finds the place by
// the times of lines, and reads nothing of what is before; where the clock was set back, that may be too far on.
func Since(files []string, at time.Time) iter.Seq2[Raw, error] {
	return func(yield func(Raw, error) bool) {
		first := sort.Search(len(files), func(i int) bool { return !startsBefore(files[i], 0, at) })
		begun := at.IsZero()
		for _, path := range files[max(0, first-1):] {
			for raw, err := range lines(path, blockOf(path, at), false) {
				if !begun && err == nil {
					l, bad := raw.Line()
					begun = bad == nil && !l.At.Before(at)
				}
				if (begun || err != nil) && !yield(raw, err) {
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
	for l := range lines(path, from, false) {
		return l.Text
	}
	return nil
}
