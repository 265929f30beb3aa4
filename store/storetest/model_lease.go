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

// leases are what processes hold alone.
type leases struct {
	*clocked
	leases map[string]lease
}

// Hold takes or renews a lease.
func (k *leases) Hold(_ context.Context, name, owner string, ttl time.Duration) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l, taken := k.leases[name]; taken && l.owner != owner && k.Now().Before(l.until) {
		return false, nil
	}
	k.leases[name] = lease{owner: owner, until: k.Now().Add(ttl)}
	return true, nil
}

// Release gives a lease up.
func (k *leases) Release(_ context.Context, name, owner string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.leases[name].owner == owner {
		delete(k.leases, name)
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
