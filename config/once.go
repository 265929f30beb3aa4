package config

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/openclaw-verifier/verifier/wholefile"
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
	err := wholefile.Create(s.path(name), []byte(hex.EncodeToString(key[:])+"\n"))
	if errors.Is(err, fs.ErrExist) {
		err = nil // another process was first; theirs counts
	}
	return errors.Join(err, wholefile.SyncDir(s.dir))
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
