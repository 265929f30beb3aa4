package config

import (
	"errors"
	"io/fs"
	"os"
)

const (
	passkeysFile = "passkeys"
	devicesFile  = "devices"
)

// Passkeys is the list of passkeys as it was last kept; empty: there is none.
func (s *State) Passkeys() (string, error) { return s.list(passkeysFile) }

// KeepPasskeys keeps it.
func (s *State) KeepPasskeys(text string) error { return s.keepList(passkeysFile, text) }

// DamagedPasskeys refuses a list that can't be read.
func (s *State) DamagedPasskeys() error {
	return &StateError{s.path(passkeysFile), "is damaged, or was made with another server key", "bring it back from a backup, or remove it: people then add their passkeys again"}
}

// Devices is the list of devices that get notifications, as it was last kept; empty:
// there is none.
func (s *State) Devices() (string, error) { return s.list(devicesFile) }

// KeepDevices keeps it.
func (s *State) KeepDevices(text string) error { return s.keepList(devicesFile, text) }

// DamagedDevices refuses a list that can't be read.
func (s *State) DamagedDevices() error {
	return &StateError{s.path(devicesFile), "is damaged, or was made with another server key", "bring it back from a backup, or remove it: people then turn notifications on again"}
}

func (s *State) list(name string) (string, error) {
	text, err := s.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return text, err
}

func (s *State) keepList(name, text string) error {
	temp, err := s.temporary(text)
	if err != nil {
		return err
	}
	return errors.Join(os.Rename(temp, s.path(name)), syncDir(s.dir))
}
