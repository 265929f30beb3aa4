package store

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/openclaw-verifier/verifier/hmac"
)

// Doc is a document as a backend keeps it.
type Doc struct {
	Key string
	// 8 random bytes, so that one lost and made anew never looks like the one before; "": it is not there
	Version string
	Data    []byte
	Keep    time.Duration // from the commit on; 0: for good
}

// Ref is a document that a commit rests on.
type Ref struct{ Key, Version string }

// Commit is a change of documents of one client.
type Commit struct {
	Read    []Ref
	Write   []Doc     // what is not read too is replaced, whatever it is
	By      time.Time // after this it is too late
	Publish string    // what watchers hear; "": nothing
}

// Result is what became of a commit.
type Result struct {
	Moved []Doc // those that have another version: nothing was written
	Late  bool  // nothing was written
	Now   time.Time
}

// known is what this process knows of a document. It is not changed once others may see it.
type known struct {
	version string // in the backend; "": it is not there
	count   uint64 // how often it was written
	until   int64  // Unix milliseconds; 0: for good
	data    []byte // nil: it was read
	size    int
	value   any    // what it says; nil: it was not read yet
	lost    bool   // the backend has an older one, or none: count and value are those that were seen
	older   []byte // what it has instead
}

var absent = &known{}

// ends is until when a document is kept; zero: for good.
func (k *known) ends() time.Time {
	if k.until == 0 {
		return time.Time{}
	}
	return time.UnixMilli(k.until)
}

// A document is sealed: a MAC over its key, its version and the rest; how often it was written; until when it is kept;
// what it says. So whoever can write to the backend makes no yes of it, and can't put an older document in the place of
// one that a process has seen.
const (
	sealSize   = 32
	headerSize = sealSize + 16
)

func seal(key hmac.Key, name, version string, count uint64, until int64, value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	data := make([]byte, headerSize, headerSize+len(text))
	binary.BigEndian.PutUint64(data[sealSize:], count)
	binary.BigEndian.PutUint64(data[sealSize+8:], uint64(until)) //nolint:gosec // bits are bits
	data = append(data, text...)
	copy(data, key.Seal("document", name, version, string(data[sealSize:])))
	return data, nil
}

func unseal(key hmac.Key, d *Doc) (*known, error) {
	if d.Version == "" {
		return absent, nil
	}
	if len(d.Data) < headerSize || !key.Check(string(d.Data[:sealSize]), "document", d.Key, d.Version,
		string(d.Data[sealSize:])) {
		return nil, ErrForged
	}
	return &known{
		version: d.Version,
		count:   binary.BigEndian.Uint64(d.Data[sealSize:]),
		until:   int64(binary.BigEndian.Uint64(d.Data[sealSize+8:])), //nolint:gosec // bits are bits
		data:    d.Data[headerSize:],
	}, nil
}

func newVersion() string {
	var v [8]byte
	_, _ = rand.Read(v[:]) // it never fails
	return string(v[:])
}

// decode gives what a document says; nil where it is not there. Only one goroutine may have k, unless it was decoded.
func decode[T any](k *known) (*T, error) {
	if k.value == nil && k.data != nil {
		value := new(T)
		if err := json.Unmarshal(k.data, value); err != nil {
			return nil, fmt.Errorf("store: a document can't be read: %w", err)
		}
		k.value, k.size, k.data = value, len(k.data), nil
	}
	value, _ := k.value.(*T)
	return value, nil
}

// cache remembers the documents that were used last: so a change need not read them, and one that the backend has lost
// is missed.
type cache struct {
	mu    sync.Mutex
	known *simplelru.LRU[string, *known]
	size  int
}

// Bounds of the cache.
const (
	mostDocuments = 20_000
	mostBytes     = 64 << 20
)

func newCache() *cache {
	c := &cache{}
	c.known, _ = simplelru.NewLRU(mostDocuments, func(_ string, k *known) { c.size -= k.size }) // it has a size
	return c
}

func (c *cache) get(key string, now time.Time) *known {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, _ := c.known.Get(key)
	if k != nil && k.until > 0 && k.until <= now.UnixMilli() {
		c.known.Remove(key)
		return nil
	}
	return k
}

// put remembers a document, unless a later one is remembered.
func (c *cache) put(key string, k *known) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was, _ := c.known.Peek(key)
	if k.value == nil || was == k || was != nil && was.count > k.count {
		return
	}
	c.known.Remove(key)
	c.known.Add(key, k)
	for c.size += k.size; c.size > mostBytes && c.known.Len() > 1; {
		c.known.RemoveOldest()
	}
}
