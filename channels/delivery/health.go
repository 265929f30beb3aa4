package delivery

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Health is how a channel does, part by part. The zero Health, and a nil one,
// knows of no fault.
type Health struct {
	mu     sync.Mutex
	faults map[string]error
}

// Note tells how a part does; no error is that it is well.
func (h *Health) Note(part string, err error) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		delete(h.faults, part)
		return
	}
	if h.faults == nil {
		h.faults = make(map[string]error)
	}
	h.faults[part] = err
}

// Err is what is wrong now; nil if nothing is.
func (h *Health) Err() error {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var errs []error
	for _, part := range slices.Sorted(maps.Keys(h.faults)) {
		errs = append(errs, fmt.Errorf("%s: %w", part, h.faults[part]))
	}
	return errors.Join(errs...)
}
