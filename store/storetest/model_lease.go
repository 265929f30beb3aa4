package storetest

import (
	"context"
	"time"

	"pgregory.net/rapid"
)

type lease struct {
	owner string
	until time.Time
}

// Hold takes or renews a lease.
func (m *Model) Hold(_ context.Context, name, owner string, ttl time.Duration) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l, taken := m.leases[name]; taken && l.owner != owner && m.Now().Before(l.until) {
		return false, nil
	}
	m.leases[name] = lease{owner: owner, until: m.Now().Add(ttl)}
	return true, nil
}

// Release gives a lease up.
func (m *Model) Release(_ context.Context, name, owner string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.leases[name].owner == owner {
		delete(m.leases, name)
	}
	return nil
}

// lease compares what becomes of one.
func (m *machine) lease(t *rapid.T) {
	name := rapid.SampledFrom([]string{"telegram", "slack"}).Draw(t, "lease")
	owner := rapid.SampledFrom([]string{"one", "two"}).Draw(t, "owner")
	if rapid.Bool().Draw(t, "release") {
		m.same(t, "release", nil, nil, m.Store.Release(m.ctx, name, owner), m.model.Release(m.ctx, name, owner))
		return
	}
	ttl := drawLife(t, "ttl")
	got, errGot := m.Store.Hold(m.ctx, name, owner, ttl)
	want, errWant := m.model.Hold(m.ctx, name, owner, ttl)
	m.same(t, "hold", got, want, errGot, errWant)
}
