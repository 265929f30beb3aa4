package delivery

import (
	"errors"
	"fmt"
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
	var parts []string
	for part := range h.faults {
		parts = append(parts, part)
	}
	slices.Sort(parts)
	var errs []error
	for _, part := range parts {
		errs = append(errs, fmt.Errorf("%s: %w", part, h.faults[part]))
	}
	return errors.Join(errs...)
}

// Scrub takes secrets out of what an error says. Libraries put the address that
// they called into it, and with some platforms the token is a part of that.
func Scrub(err error, secrets ...string) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if clean := hidden(text, secrets); clean != text {
		return &failure{text: clean, err: err}
	}
	return err
}
