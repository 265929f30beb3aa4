package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/internal/record"
)

// found is a record and what is known around it.
type found struct {
	files   []string // in the order of the chain
	whole   bool     // they are meant to be all of it
	config  *config.Config
	state   *config.State // nil when there is none here
	current bool          // the last is the one that the server writes
}

// path is a file as the reader would find it.
func (f *found) path(name string) string {
	for _, p := range f.files {
		if filepath.Base(p) == name {
			return p
		}
	}
	return name
}

// find looks for the record: the files that were named, those in the directory
// that was named, else the server's.
func (f *recordFlags) find(a *app, named []string) (*found, error) {
	cfg, err := f.quietConfig(a)
	if err != nil {
		return nil, err
	}
	state, why := config.FindState(f.State)
	r := &found{config: cfg, state: state}
	switch {
	case len(named) == 1 && isDir(named[0]):
		r.whole = true
		r.files, err = recordsIn(named[0])
	case len(named) > 0:
		r.files = inOrder(named)
	case state == nil && cfg.Audit.Path == "":
		return nil, &failure{fmt.Sprintf("there is no record here: %v", why), "name its files, or the server's --state"}
	default:
		r.whole = true
		r.files, err = record.Files(recordPath(cfg, state))
	}
	if err != nil {
		return nil, unreadable(err)
	}
	last := r.files[len(r.files)-1]
	r.current = state != nil && same(last, recordPath(cfg, state))
	return r, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func same(a, b string) bool {
	first, errA := os.Stat(a)
	second, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(first, second)
}

func unreadable(err error) error {
	hint := "name the record's files, or the server's --state"
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return &failure{fmt.Sprintf("%s can't be read: %v", p.Path, p.Err), hint}
	}
	return &failure{err.Error(), hint}
}

// closedFile is the name of one that the record does not go on in any more.
var closedFile = regexp.MustCompile(`^(.*)-([0-9]{6,9})(\.[^.]*)?$`)

// inOrder sorts closed files by their number; the others stay as they were
// named, after them.
func inOrder(files []string) []string {
	number := func(path string) int {
		m := closedFile.FindStringSubmatch(filepath.Base(path))
		if m == nil {
			return 1 << 30
		}
		n, _ := strconv.Atoi(m[2]) // nine digits at most
		return n
	}
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b string) int { return number(a) - number(b) })
	return files
}

// recordsIn lists the files of the one record in a directory.
func recordsIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	bases := map[string]bool{}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.Type().IsRegular() && beginsAsRecord(path) {
			bases[closedFile.ReplaceAllString(path, "$1$3")] = true
		}
	}
	names := slices.Sorted(maps.Keys(bases))
	switch len(names) {
	case 0:
		return nil, &failure{dir + " holds no record", ""}
	case 1:
		return present(names[0])
	}
	return nil, &failure{fmt.Sprintf("%s holds several records: %s", dir, strings.Join(names, ", ")), "name the files of one"}
}

// present are the files of a record, without the one that is written to where
// only closed ones were copied.
func present(path string) ([]string, error) {
	files, err := record.Files(path)
	if n := len(files); err == nil && n > 1 {
		if _, gone := os.Stat(path); errors.Is(gone, fs.ErrNotExist) {
			files = files[:n-1]
		}
	}
	return files, err
}

func beginsAsRecord(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // it was only read
	start := make([]byte, len(`{"seq":`))
	_, err = io.ReadFull(f, start)
	return err == nil && bytes.Equal(start, []byte(`{"seq":`))
}
