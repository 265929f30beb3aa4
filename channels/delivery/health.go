package delivery

import (
	"errors"
	"fmt"
	"slices"
	"strings"
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
	clean := text
	for _, s := range secrets {
		if s != "" {
			clean = strings.ReplaceAll(clean, s, "[secret]")
		}
	}
	if clean == text {
		return err
	}
	return &scrubbed{text: clean, err: err}
}

// scrubbed says something else than the error it stands for, and is the same.
type scrubbed struct {
	text string
	err  error
}

func (s *scrubbed) Error() string { return s.text }
func (s *scrubbed) Unwrap() error { return s.err }
