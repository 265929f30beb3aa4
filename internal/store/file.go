package store

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/internal/files"
)

// file remembers outside the store, on this machine, what a store must not lose. An empty store is either new or has
// lost everything, and the two look the same from within.
type file struct {
	path  string // "": this process remembers
	mu    sync.Mutex
	known atomic.Pointer[map[string]remains]
}

// remains is what is remembered of a client.
type remains struct {
	Epoch  string  `json:"epoch"`
	Pauses []Pause `json:"pauses,omitzero"` // those that are on
}

// ErrExposed says that others can read what is ours.
var ErrExposed = errors.New("store: others can read a file")

// Private fails where one of the files is there and others can read it.
func Private(paths ...string) error {
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return fmt.Errorf("store: %w", err)
		case info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows": // there the directory's access list decides
			return fmt.Errorf("%w: %s\nhint: chmod 600 %s", ErrExposed, path, path)
		}
	}
	return nil
}

// openFile reads the file. A damaged one is an error: to take it for a missing one would be to take a loss for a start.
func openFile(path string) (*file, error) {
	f, known := &file{path: path}, map[string]remains{}
	f.known.Store(&known)
	if path == "" {
		return f, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err = errors.Join(err, Private(path)); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if err := json.Unmarshal(text, &known); err != nil || len(known) == 0 {
		return nil, fmt.Errorf("store: %s is damaged\nhint: remove it only if the agents' sessions were restarted: "+
			"what they have read is forgotten then", path)
	}
	return f, nil
}

// of is what is remembered of a client; without an epoch, nothing is.
func (f *file) of(client string) remains { return (*f.known.Load())[client] }

// remember keeps it, on the disk first: a process that could not would take the next loss for a new store.
func (f *file) remember(client, epoch string, pauses []Pause) error {
	if was := f.of(client); was.Epoch == epoch && slices.Equal(was.Pauses, pauses) {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	known := maps.Clone(*f.known.Load())
	known[client] = remains{epoch, pauses}
	if f.path != "" {
		text, err := json.Marshal(known, json.Deterministic(true))
		if err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(f.path), 0o700),
				files.Replace(f.path, append(text, '\n'), files.Private, nil), files.SyncDir(filepath.Dir(f.path)))
		}
		if err != nil {
			return fmt.Errorf("store: the epoch could not be kept: %w", err)
		}
	}
	f.known.Store(&known)
	return nil
}
