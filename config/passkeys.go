package config

import (
	"errors"
	"io/fs"

	"github.com/openclaw-verifier/verifier/wholefile"
)

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
	return errors.Join(s.replace(name, text), wholefile.SyncDir(s.dir))
}
