package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"github.com/openclaw-verifier/verifier/wholefile"
)

// A store that is empty is either new or has lost everything, and the two look
// the same from within. A conversation that was tainted before a loss would be
// born clean after it. So each state directory keeps, outside the store, the
// name of the store it last worked with. An epoch that the store does not know
// means that the store was flushed, deleted or replaced; conversations are then
// born untrusted until the owner accepts the loss. A damaged epoch file is an
// error, not a fresh start.

// Epoch is the local memory of which store this state directory belongs to. It
// is safe for concurrent use.
type Epoch struct {
	path string
	mu   sync.Mutex
	id   string
}

// ErrEpoch says that the epoch file is there but does not hold an epoch.
var ErrEpoch = errors.New("store: the epoch file is damaged")

// epochID is what an epoch looks like; anything else was not written by us.
var epochID = regexp.MustCompile(`^[0-9A-Za-z_-]{8,64}$`)

// NewEpochID makes the name of a new epoch: 128 random bits and no meaning.
func NewEpochID() string { return rand.Text() }

// OpenEpoch reads the epoch file. One that does not exist holds no epoch; one
// that is empty or garbled is ErrEpoch, since to take it for a missing one would
// be to take a loss for a fresh start.
func OpenEpoch(path string) (*Epoch, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Epoch{path: path}, nil
	}
	if err == nil && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" { // there the directory's access list decides
		return nil, fmt.Errorf("store: others can read %s\nhint: chmod 600 %s", path, path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("store: read the epoch: %w", err)
	}
	id := strings.TrimSuffix(string(b), "\n")
	if !epochID.MatchString(id) {
		return nil, fmt.Errorf("%w: %s\nhint: remove it only if you also accept that past taint is forgotten", ErrEpoch, path)
	}
	return &Epoch{path: path, id: id}, nil
}

// ID is the epoch last saved, "" when there is none.
func (e *Epoch) ID() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.id
}

// Save replaces the epoch, in the file and then in memory. A crash leaves the
// old file or the new one, never half of one.
func (e *Epoch) Save(id string) error {
	if !epochID.MatchString(id) {
		return fmt.Errorf("store: %q is no epoch", id)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := replace(e.path, []byte(id+"\n")); err != nil {
		return fmt.Errorf("store: save the epoch: %w", err)
	}
	e.id = id
	return nil
}

// replace writes the file, whole, and makes sure that it is on the disk.
func replace(path string, b []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := wholefile.Replace(path, b, wholefile.Private, nil); err != nil {
		return err
	}
	return wholefile.SyncDir(dir)
}
