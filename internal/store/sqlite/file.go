package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// claim makes the database's directory and file where there are none, and takes
// them for this process: the kernel lets go of the lock when the process dies,
// however it dies.
func claim(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("store/sqlite: %w", err)
	}
	lock, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("store/sqlite: %w", err)
	}
	if err := exclusive(lock); err != nil {
		return nil, errors.Join(inUse(path, err), lock.Close())
	}
	if err := private(path); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

func inUse(path string, err error) error {
	if !errors.Is(err, errHeld) {
		return fmt.Errorf("store/sqlite: lock %s: %w", path, err)
	}
	return fmt.Errorf("%w: %s\nhint: stop the other verifier, or give this one a state directory of its own", ErrInUse, path)
}

// private makes the file before SQLite does, which would let the umask decide,
// and refuses one that others can read. SQLite gives its side files the mode of
// the main one; they are looked at too, since they hold the same things.
func private(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("store/sqlite: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("store/sqlite: %w", err)
	}
	for _, p := range []string{path, path + "-wal", path + "-shm"} {
		if err := unexposed(p); err != nil {
			return err
		}
	}
	return nil
}

func unexposed(path string) error {
	fi, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("store/sqlite: %w", err)
	}
	// Windows has no such bits; there the directory's access list decides.
	if perm := fi.Mode().Perm(); perm&0o077 != 0 && runtime.GOOS != "windows" {
		return fmt.Errorf("%w: %s has mode %04o\nhint: chmod 600 %s", ErrExposed, path, perm, path)
	}
	return nil
}
