package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/openclaw-verifier/verifier/store"
)

// ReadOnly looks into a database, also one that a server has open.
type ReadOnly struct {
	mu sync.Mutex
	db *db
}

// OpenReadOnly opens a database to look at it. It takes no lock, makes no file
// and changes nothing.
func OpenReadOnly(path string) (*ReadOnly, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("store/sqlite: %w", err)
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("store/sqlite: %w", err)
	}
	d, err := connect(path, forLooking)
	if err != nil {
		return nil, err
	}
	return &ReadOnly{db: d}, nil
}

// Head is the head last noted under a name; "" if none.
func (r *ReadOnly) Head(ctx context.Context, name string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return "", err
	}
	switch version, err := versionOf(r.db); {
	case err != nil:
		return "", err
	case version != schemaVersion:
		return "", errSchema(version)
	}
	found, err := r.db.one(selectRecord, string(store.HeadKey(name)), int64(0))
	if err != nil || found == nil {
		return "", err
	}
	return store.ReadHead(found.record())
}

// Close ends the look.
func (r *ReadOnly) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.db.close()
}
