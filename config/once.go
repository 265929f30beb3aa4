package config

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"strings"
)

// keySize is the bytes of randomness in everything that is made here.
const keySize = 32

// once returns what the file holds, and makes it first if there is none. Two
// processes that start together agree on one: the file appears whole, under its
// name, by a link that fails if another was there before.
func (s *State) once(name string) (string, error) {
	text, err := s.read(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return strings.TrimRight(text, "\r\n"), err
	}
	if !s.make {
		return "", &StateError{s.path(name), "does not exist", "start `verifier serve` once: it makes its secrets"}
	}
	if err := s.create(name); err != nil {
		return "", &StateError{s.path(name), "can't be made: " + cause(err), "is the disk full, or the directory read-only?"}
	}
	text, err = s.read(name)
	return strings.TrimRight(text, "\r\n"), err
}

func (s *State) create(name string) error {
	var key [keySize]byte
	if _, err := rand.Read(key[:]); err != nil {
		return err
	}
	temp, err := s.temporary(hex.EncodeToString(key[:]) + "\n")
	if err != nil {
		return err
	}
	err = os.Link(temp, s.path(name))
	if errors.Is(err, fs.ErrExist) {
		err = nil // another process was first; theirs counts
	}
	return errors.Join(err, os.Remove(temp), syncDir(s.dir))
}

// temporary writes a new file, 0600, and makes sure that it is on the disk.
func (s *State) temporary(text string) (name string, err error) {
	f, err := os.CreateTemp(s.dir, ".new-*")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// read refuses a file that others can read, that belongs to someone else, or
// that is not a plain file: a link could lead anywhere.
func (s *State) read(name string) (string, error) {
	path := s.path(name)
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", &StateError{path, "is not a plain file", "put the file itself there, not a link"}
	case !isOurs(info):
		return "", &StateError{path, "belongs to another user", "run verifier as that user"}
	case othersMay(info):
		return "", &StateError{path, "can be read by others", "chmod 600 " + path + "; if others may have read it, remove it instead, so that serve makes a new one"}
	}
	text, err := readPrivate(path)
	if p, ok := errors.AsType[*problem](err); ok {
		return "", &StateError{path, "can't be used: " + p.text, p.hint}
	}
	return text, err
}
