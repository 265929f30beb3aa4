package config

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/files"
)

// State is the directory where one instance keeps what it must not lose: its
// secrets, its database, its record. Only its own user can read it.
type State struct {
	dir  string
	make bool // missing secrets are made
}

// StateError is a refusal to use a state directory or a file in it.
type StateError struct {
	Path string
	Text string
	Hint string
}

func (e *StateError) Error() string { return e.Path + " " + e.Text }

// OpenState opens the state directory, and makes it where there is none. An
// empty dir means $VERIFIER_STATE, else $STATE_DIRECTORY (systemd), else
// $XDG_STATE_HOME/verifier, else ~/.local/state/verifier. It refuses one that
// others can read or that belongs to someone else.
func OpenState(dir string) (*State, error) {
	dir, err := stateDir(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, &StateError{dir, "can't be made: " + cause(err), "name another with --state or VERIFIER_STATE"}
	}
	return openState(dir, true)
}

// FindState opens a state directory that is there already, and makes nothing:
// for commands that talk to a server and must not invent its secrets.
func FindState(dir string) (*State, error) {
	dir, err := stateDir(dir)
	if err != nil {
		return nil, err
	}
	return openState(dir, false)
}

func openState(dir string, create bool) (*State, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &StateError{dir, "does not exist", "start `verifier serve` once, or name its state directory with --state or VERIFIER_STATE"}
	case err != nil:
		return nil, &StateError{dir, "can't be used: " + cause(err), "name another with --state or VERIFIER_STATE"}
	case !info.IsDir():
		return nil, &StateError{dir, "is not a directory", "name another with --state or VERIFIER_STATE"}
	case !isOurs(info):
		return nil, &StateError{dir, "belongs to another user", "run verifier as that user, or name another with --state or VERIFIER_STATE"}
	case othersMay(info):
		return nil, &StateError{dir, "can be read by others", "chmod 700 " + dir + " (in a systemd unit: StateDirectoryMode=0700)"}
	}
	return &State{dir: dir, make: create}, nil
}

func stateDir(dir string) (string, error) {
	systemd, _, _ := strings.Cut(os.Getenv("STATE_DIRECTORY"), ":") // it lists several
	dir = cmp.Or(dir, os.Getenv("VERIFIER_STATE"), systemd)
	if home := os.Getenv("XDG_STATE_HOME"); dir == "" && filepath.IsAbs(home) {
		dir = filepath.Join(home, "verifier")
	}
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", &StateError{"the state directory", "is not known: " + err.Error(), "name one with --state or VERIFIER_STATE"}
		}
		dir = filepath.Join(home, ".local", "state", "verifier")
	}
	return filepath.Abs(dir)
}

// Dir is the directory itself.
func (s *State) Dir() string { return s.dir }

// DB is the path of the embedded store.
func (s *State) DB() string { return s.path("verifier.db") }

// Epoch is the path of the local memory of which store this is.
func (s *State) Epoch() string { return s.path("epoch") }

// Record is the path of the record.
func (s *State) Record() string { return s.path("record.jsonl") }

// Files are the paths of everything in the directory that an agent must not
// name: a program that reads or writes one of them could approve.
func (s *State) Files() []string {
	return []string{
		s.DB(), s.Epoch(), s.Record(), s.path("webhook.secret"), s.path("owner.token"), s.path("server.key"),
		s.path("address"), s.path(configPath), s.path(passkeysFile), s.path(devicesFile),
	}
}

func (s *State) path(name string) string { return filepath.Join(s.dir, name) }

// WebhookSecret signs calls where the config has no secret.
func (s *State) WebhookSecret() (Secret, error) { return s.secret("webhook.secret", leastSecret) }

// OwnerToken is the owner's where the config has none.
func (s *State) OwnerToken() (Secret, error) { return s.secret("owner.token", leastToken) }

// ServerKey is 32 bytes that only the server has: codes, seals and the MACs of the record come from it.
func (s *State) ServerKey() ([]byte, error) { return s.key("server.key") }

// exists reports whether there is anything at a path, or may be.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// Secrets are the texts of all secrets that are kept here.
func (s *State) Secrets() ([]string, error) {
	if _, err := s.ServerKey(); err != nil { // it is made where it is not there yet
		return nil, err
	}
	var out []string
	for _, name := range []string{"webhook.secret", "owner.token", "server.key"} {
		text, err := s.read(name)
		switch {
		case err == nil:
			out = append(out, strings.TrimRight(text, "\r\n"))
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return out, nil
}

// Address is where the server that uses this directory listens, as it last
// said: host:port, with https:// before it where it speaks TLS; empty when it
// never did.
func (s *State) Address() (string, error) {
	text, err := s.optional("address")
	return strings.TrimSpace(text), err
}

// SetAddress leaves word of where the server listens.
func (s *State) SetAddress(address string) error { return s.replace("address", address+"\n") }

// Config is the config that the server which uses this directory was started
// with; empty when it had none, or the file is gone.
func (s *State) Config() string {
	text, err := s.read(configPath)
	path := strings.TrimSpace(text)
	if err != nil || !filepath.IsAbs(path) || !exists(path) {
		return ""
	}
	return path
}

// SetConfig leaves word of the server's config, so that commands find it from any
// directory.
func (s *State) SetConfig(path string) error { return s.replace(configPath, path+"\n") }

const configPath = "config"

// Certificate is what the server that uses this directory shows, in PEM, as it
// last said; empty when it never did.
func (s *State) Certificate() (string, error) { return s.optional(certificate) }

// SetCertificate leaves word of what the server shows, so that commands on this
// machine know it by itself, no matter who signed it.
func (s *State) SetCertificate(pem string) error { return s.replace(certificate, pem) }

const certificate = "tls.pem"

// replace puts a file in place of another, whole.
func (s *State) replace(name, text string) error {
	return files.Replace(s.path(name), []byte(text), files.Private, nil)
}

func (s *State) secret(name string, least int) (Secret, error) {
	text, err := s.once(name)
	if err != nil {
		return Secret{}, err
	}
	secret := NewSecret(text)
	if weak := secret.weakness(least); weak != "" {
		return Secret{}, s.damaged(name, "holds no good secret: it "+weak)
	}
	return secret, nil
}

func (s *State) key(name string) ([]byte, error) {
	text, err := s.once(name)
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(text)
	if err != nil || len(key) != keySize {
		return nil, s.damaged(name, fmt.Sprintf("does not hold a key of %d hex digits", 2*keySize))
	}
	return key, nil
}

func (s *State) damaged(name, text string) error {
	return &StateError{s.path(name), text, "bring it back from a backup, or remove it so that serve makes a new one; what was sealed with the old one is then void"}
}

// cause is the reason without the path, which the message has already.
func cause(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

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
	err := files.Create(s.path(name), []byte(hex.EncodeToString(key[:])+"\n"))
	if errors.Is(err, fs.ErrExist) {
		err = nil // another process was first; theirs counts
	}
	return errors.Join(err, files.SyncDir(s.dir))
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

const (
	passkeysFile = "passkeys"
	devicesFile  = "devices"
)

// Passkeys is the list of passkeys as it was last kept; empty: there is none.
func (s *State) Passkeys() (string, error) { return s.optional(passkeysFile) }

// KeepPasskeys keeps it.
func (s *State) KeepPasskeys(text string) error { return s.keep(passkeysFile, text) }

// DamagedPasskeys refuses a list that can't be read.
func (s *State) DamagedPasskeys() error {
	return &StateError{s.path(passkeysFile), "is damaged, or was made with another server key", "bring it back from a backup, or remove it: people then add their passkeys again"}
}

// Devices is the list of devices that get notifications, as it was last kept; empty:
// there is none.
func (s *State) Devices() (string, error) { return s.optional(devicesFile) }

// KeepDevices keeps it.
func (s *State) KeepDevices(text string) error { return s.keep(devicesFile, text) }

// DamagedDevices refuses a list that can't be read.
func (s *State) DamagedDevices() error {
	return &StateError{s.path(devicesFile), "is damaged, or was made with another server key", "bring it back from a backup, or remove it: people then turn notifications on again"}
}

// optional reads a file that need not be there; "": it is not.
func (s *State) optional(name string) (string, error) {
	text, err := s.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return text, err
}

// keep replaces a file whole, and makes sure that it is on the disk.
func (s *State) keep(name, text string) error {
	return errors.Join(s.replace(name, text), files.SyncDir(s.dir))
}
