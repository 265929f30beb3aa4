// Package files writes files that are there whole or not at all: a reader, a crash and a full disk never see half of
// one.
//
// A new file is written beside the old one, is on the disk before it takes its name (but see [Put]), and is removed
// where anything fails. A link at the name is replaced, not followed; a caller that wants its target resolves it first.
// The package reads nothing and makes no directories.
package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Private is the mode of a file that only its owner reads and writes.
const Private fs.FileMode = 0o600

// ErrLocked says that another process has locked a file.
var ErrLocked = errors.New("another process has the file locked")

// Replace puts a file at a path, in the place of one that may be there. It belongs to the owner of as; nil: to the
// user that we run as.
func Replace(path string, text []byte, mode fs.FileMode, as fs.FileInfo) error {
	return write(path, text, os.Rename, func(f *os.File) (err error) {
		if as != nil {
			err = Give(f, as)
		}
		if err == nil && mode != Private {
			err = f.Chmod(mode)
		}
		if err == nil {
			err = f.Sync()
		}
		return err
	})
}

// Create makes a private file. It fails with [fs.ErrExist] where something is at the path.
func Create(path string, text []byte) error {
	return write(path, text, os.Link, (*os.File).Sync)
}

// Put replaces a private file and does not wait for the disk: after a power cut the file may be the old one, or empty.
func Put(path string, text []byte) error {
	return write(path, text, os.Rename, func(*os.File) error { return nil })
}

func write(path string, text []byte, place func(from, to string) error, prepare func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // private
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it is gone after a rename
	if _, err = f.Write(text); err == nil {
		err = prepare(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return place(f.Name(), path)
}

// SyncDir makes sure that the names in a directory are on the disk: without it a power cut can bring the old file back.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
