package hmac

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"hash"
	"maps"
	"sync"
	"sync/atomic"
)

// state is one HMAC under one key. Setting it up costs more than a short
// message, so it is used again.
type state struct {
	hash.Hash
	home *sync.Pool
	text []byte // to put a message together in
	sum  [sha256.Size]byte
}

// under returns a state for key with nothing written. It must be released.
func under(key []byte) *state {
	return poolFor(key).Get().(*state) //nolint:errcheck // nothing else is put in
}

// maxText is how much memory a state keeps for messages.
const maxText = 4 << 10

func (s *state) release() {
	if cap(s.text) > maxText {
		s.text = nil
	}
	s.Reset()
	s.home.Put(s)
}

// finish returns the MAC of what was written, valid until the release.
func (s *state) finish() []byte { return s.Sum(s.sum[:0]) }

// maxKeys is how many keys have states at a time. A process has a few; those
// who use more of them pay for each as if it were new.
const maxKeys = 64

// pools are the states by key. The map is replaced, never changed, so that
// reading it takes no lock.
var (
	pools   atomic.Pointer[map[string]*sync.Pool]
	poolsMu sync.Mutex
)

func poolFor(key []byte) *sync.Pool {
	if known := pools.Load(); known != nil {
		if p := (*known)[string(key)]; p != nil {
			return p
		}
	}
	return addPool(bytes.Clone(key))
}

func addPool(key []byte) *sync.Pool {
	pool := &sync.Pool{}
	pool.New = func() any { return &state{Hash: hmac.New(sha256.New, key), home: pool} }
	poolsMu.Lock()
	defer poolsMu.Unlock()
	next := map[string]*sync.Pool{}
	if known := pools.Load(); known != nil && len(*known) < maxKeys {
		next = maps.Clone(*known)
	}
	next[string(key)] = pool
	pools.Store(&next)
	return pool
}
