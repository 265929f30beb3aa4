package config

import (
	"errors"
	"io/fs"
	"os"
)

const passkeysFile = "passkeys"

// Passkeys is the list of passkeys as it was last kept; empty: there is none.
func (s *State) Passkeys() (string, error) {
	text, err := s.read(passkeysFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return text, err
}

// KeepPasskeys keeps it.
func (s *State) KeepPasskeys(text string) error {
	temp, err := s.temporary(text)
	if err != nil {
		return err
	}
	return errors.Join(os.Rename(temp, s.path(passkeysFile)), syncDir(s.dir))
}

// DamagedPasskeys refuses a list that can't be read.
func (s *State) DamagedPasskeys() error {
	return &StateError{s.path(passkeysFile), "is damaged, or was made with another server key", "bring it back from a backup, or remove it: people then add their passkeys again"}
}
