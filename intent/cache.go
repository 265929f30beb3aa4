package intent

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"time"
)

const (
	cacheSize = 1024
	cacheLife = 10 * time.Minute
)

// cache keeps the opinions of running turns: of a call's digest, in a turn,
// after just these messages. It holds hashes, and no question.
type cache struct {
	mu      sync.Mutex
	entries map[[32]byte]cached
}

type cached struct {
	opinion Opinion
	until   time.Time
}

func (c *cache) get(k [32]byte, now time.Time) (Opinion, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[k]
	return e.opinion, ok && now.Before(e.until)
}

// put keeps an opinion. A full cache forgets what is over, and if that is not
// enough, everything: it is only asked again.
func (c *cache) put(k [32]byte, o Opinion, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) >= cacheSize {
		for key, e := range c.entries {
			if !now.Before(e.until) {
				delete(c.entries, key)
			}
		}
	}
	if c.entries == nil || len(c.entries) >= cacheSize {
		c.entries = make(map[[32]byte]cached)
	}
	c.entries[k] = cached{o, now.Add(cacheLife)}
}

// key is what an opinion is bound to.
func key(turn Turn, digest string, q *Question) (sum [32]byte) {
	h := sha256.New()
	count := func(n int) {
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], uint64(n)) //nolint:gosec // a length
		h.Write(b[:])
	}
	list := func(all []string) {
		count(len(all))
		for _, s := range all {
			count(len(s))
			h.Write([]byte(s))
		}
	}
	list([]string{turn.Conversation, turn.Run, digest, q.Tool, string(q.Params)})
	list(q.Messages)
	list(q.Sources)
	h.Sum(sum[:0])
	return sum
}
