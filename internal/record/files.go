package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Rotation says when the record goes on in a new file. The zero Rotation is never.
type Rotation struct {
	Bytes int64 // once the file is this large; 0: whatever its size
	Keep  int   // how many files stay besides the one that is written; 0: all of them
}

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
