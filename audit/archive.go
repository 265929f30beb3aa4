package audit

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

// A record is one chain in one or more files. The last has the name that was
// given; those before it are closed, read-only, and carry their number:
//
//	record-000001.jsonl  record-000002.jsonl  record.jsonl
//
// archive is a closed one.
type archive struct {
	number int
	path   string
}

// archiveDigits keeps names in order for people; there may be more.
const archiveDigits = 6

// archiveName is what the file at path is called once it is closed.
func archiveName(path string, number int) string {
	ext := filepath.Ext(path)
	return fmt.Sprintf("%s-%0*d%s", strings.TrimSuffix(path, ext), archiveDigits, number, ext)
}

// nextName is where a file is made ready that is to take path's place.
func nextName(path string) string { return path + ".next" }

// archives lists the closed files of the record at path, the oldest first.
func archives(path string) ([]archive, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var out []archive
	for _, e := range entries {
		at := filepath.Join(filepath.Dir(path), e.Name())
		if n := archiveNumber(path, at); n > 0 {
			out = append(out, archive{n, at})
		}
	}
	slices.SortFunc(out, func(a, b archive) int { return a.number - b.number })
	return out, nil
}

// archiveNumber is the number in the name of a closed file of the record at
// path; 0 where it is none.
func archiveNumber(path, name string) int {
	ext := filepath.Ext(path)
	digits, ok := strings.CutPrefix(filepath.Base(name), strings.TrimSuffix(filepath.Base(path), ext)+"-")
	if !ok || !strings.HasSuffix(digits, ext) {
		return 0
	}
	digits = strings.TrimSuffix(digits, ext)
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || len(digits) < archiveDigits || filepath.Base(archiveName(path, n)) != filepath.Base(name) {
		return 0
	}
	return n
}

// Files lists the files of the record at path, in the order of its chain. The
// last is path itself, whether it is there or not.
func Files(path string) ([]string, error) {
	closed, err := archives(path)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, a := range closed {
		if !sameFile(a.path, path) { // a rotation that was interrupted
			out = append(out, a.path)
		}
	}
	return append(out, path), nil
}

func sameFile(a, b string) bool {
	first, errA := os.Stat(a)
	second, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(first, second)
}

// tidy finishes or undoes a rotation that was interrupted. Between any two of
// its steps the file at path is whole and the last of the chain, so all there is
// to do is to take away what was made in advance.
func tidy(path string) ([]archive, error) {
	if err := dropNext(nextName(path)); err != nil {
		return nil, err
	}
	closed, err := archives(path)
	if err != nil {
		return nil, err
	}
	if n := len(closed); n > 0 && sameFile(closed[n-1].path, path) {
		if err := os.Remove(closed[n-1].path); err != nil {
			return nil, err
		}
		closed = closed[:n-1]
	}
	for _, a := range closed {
		if err := seal(a.path); err != nil {
			return nil, err
		}
	}
	return closed, nil
}

// dropNext removes a file that was made ready and never used: it holds one line
// at most.
func dropNext(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular() || info.Size() > maxBegin:
		return fmt.Errorf("%w: %s is in the way, and is not what a rotation leaves behind", ErrDamaged, path)
	}
	return os.Remove(path)
}

// seal makes a closed file read-only.
func seal(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() == readOnly {
		return err
	}
	return os.Chmod(path, readOnly)
}

const readOnly = 0o400
