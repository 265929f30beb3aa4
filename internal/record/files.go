package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Rotation says when the record goes on in a new file. The zero Rotation is never.
type Rotation struct {
	Bytes int64 // once the file is this large; 0: whatever its size
	Keep  int   // how many files stay besides the one that is written; 0: all of them
}

// numbered is a file of a record.
type numbered struct {
	number int
	path   string
}

// leastDigits keeps names in order for people; there may be more.
const leastDigits = 6

// fileName is where the file of a number is, of the record at path: record-000001.jsonl for record.jsonl.
func fileName(path string, number int) string {
	ext := filepath.Ext(path)
	return fmt.Sprintf("%s-%0*d%s", strings.TrimSuffix(path, ext), leastDigits, number, ext)
}

// headName is where the head of the record at path is.
func headName(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) + ".head" }

// Base splits a file's path into the record that it belongs to and its number there; 0 where it is no such file.
func Base(path string) (base string, number int) {
	ext := filepath.Ext(path)
	stem := strings.TrimSuffix(path, ext)
	i := strings.LastIndexByte(stem, '-')
	if i < 0 {
		return path, 0
	}
	n, err := strconv.Atoi(stem[i+1:])
	if base = stem[:i] + ext; err != nil || n < 1 || fileName(base, n) != path {
		return path, 0
	}
	return base, n
}

// list finds the files of the record at path, in their order.
func list(path string) ([]numbered, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var out []numbered
	for _, e := range entries {
		at := filepath.Join(filepath.Dir(path), e.Name())
		if base, n := Base(at); n > 0 && base == filepath.Clean(path) {
			out = append(out, numbered{n, at})
		}
	}
	slices.SortFunc(out, func(a, b numbered) int { return a.number - b.number })
	return out, nil
}

// Files lists the files of the record at path, in the order of its chain. There is an error where there is none.
func Files(path string) ([]string, error) {
	found, err := list(path)
	if err == nil && len(found) == 0 {
		err = &fs.PathError{Op: "open", Path: fileName(path, 1), Err: fs.ErrNotExist}
	}
	var out []string
	for _, f := range found {
		out = append(out, f.path)
	}
	return out, err
}

// createFile makes a new file, for its owner alone.
func createFile(path string) (disk, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	return file{f}, err
}

// openFile opens a file that nobody but its owner may read, or makes it. Records are appended to, so that a file made
// append-only (chattr +a) works too.
func openFile(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|flag, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = errors.New("not a regular file")
	case info.Mode().Perm()&0o077 != 0:
		err = ErrPermissions
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// syncDir makes sure that the names in a directory survive a power cut.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
