package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/internal/record"
)

// recordFlags say whose record is meant.
type recordFlags struct {
	configFlag
	State string `help:"The server's state directory." env:"VERIFIER_STATE" placeholder:"DIR"`
}

// found are records and what is known around them.
type found struct {
	books  []book
	config *config.Config
	state  *config.State // nil when there is none here
}

// book is one record.
type book struct {
	path    string   // of the record: its files have numbers
	files   []string // in the order of the chain
	whole   bool     // they are meant to be all of it
	current bool     // it is the one that the server writes
}

// find looks for records: the files that were named, those in the directories that were named, else the server's.
func (f *recordFlags) find(a *app, named []string) (*found, error) {
	cfg, err := f.quietConfig(a)
	if err != nil {
		return nil, err
	}
	state, why := config.FindState(f.State)
	r := &found{config: cfg, state: state}
	own := ""
	if state != nil || cfg.Audit.Path != "" {
		own = filepath.Clean(recordPath(cfg, state))
	}
	switch {
	case len(named) > 0:
		err = r.add(named)
	case own == "":
		return nil, &failure{fmt.Sprintf("there is no record here: %v", why), "name its files, or the server's --state"}
	default:
		var files []string
		files, err = record.Files(own)
		r.books = []book{{path: own, files: files, whole: true}}
	}
	if err != nil {
		return nil, unreadable(err)
	}
	for i := range r.books {
		b := &r.books[i]
		b.current = state != nil && filepath.Base(b.path) == filepath.Base(own) &&
			same(filepath.Dir(b.path), filepath.Dir(own))
	}
	return r, nil
}

// add takes the files that were named, each to its record, and all records of directories.
func (r *found) add(named []string) error {
	for _, name := range named {
		info, err := os.Stat(name)
		switch {
		case err != nil:
			return err
		case !info.IsDir():
			r.put(name, false)
			continue
		}
		entries, err := os.ReadDir(name)
		if err != nil {
			return err
		}
		before := len(r.books)
		for _, e := range entries {
			path := filepath.Join(name, e.Name())
			if _, number := record.Base(path); number > 0 && e.Type().IsRegular() {
				r.put(path, true)
			}
		}
		if len(r.books) == before {
			return &failure{name + " holds no record", ""}
		}
	}
	return nil
}

// put takes one file.
func (r *found) put(path string, whole bool) {
	path = filepath.Clean(path)
	base, _ := record.Base(path)
	i := slices.IndexFunc(r.books, func(b book) bool { return b.path == base })
	if i < 0 {
		i = len(r.books)
		r.books = append(r.books, book{path: base, whole: whole})
	}
	b := &r.books[i]
	if slices.Contains(b.files, path) {
		return
	}
	b.files = append(b.files, path)
	slices.SortStableFunc(b.files, func(x, y string) int {
		_, m := record.Base(x)
		_, n := record.Base(y)
		return cmp.Compare(m, n)
	})
}

func same(a, b string) bool {
	first, errA := os.Stat(a)
	second, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(first, second)
}

func unreadable(err error) error {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	hint := "name the record's files, or the server's --state"
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return &failure{fmt.Sprintf("%s can't be read: %v", p.Path, p.Err), hint}
	}
	return &failure{err.Error(), hint}
}
