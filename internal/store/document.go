package store

import (
	"bytes"
	macs "crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/hmac"
)

// known is what this process knows of a document. It is not changed once others may see it.
type known struct {
	version string // in the backend; "": it is not there
	count   uint64 // how often it was written
	until   int64  // Unix milliseconds; 0: for good
	text    []byte // nil: it was read
	value   any    // what it says; nil: it was not read yet
	size    int
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

// A document begins with its version: 8 random bytes, so that one lost and made anew never looks like the one before.
// Then come how often it was written, until when it is kept, what it says, and a MAC over its key and all of this. So
// whoever can write to the backend makes no yes of it, and can't put an older document in the place of one that a
// process has seen.
const (
	versionSize = 8
	headerSize  = versionSize + 16
)

// VersionOf is the version of a document as a backend keeps it; "": it is not there.
func VersionOf(value []byte) string { return string(value[:min(len(value), versionSize)]) }

// newMACs are those of documents, under a key of their own.
func newMACs(key hmac.Key) *sync.Pool {
	own := []byte(key.Seal("documents"))
	return &sync.Pool{New: func() any { return macs.New(sha256.New, own) }}
}

func (e *engine) mac(to, text []byte) []byte {
	m, _ := e.macs.Get().(hash.Hash)
	defer e.macs.Put(m)
	m.Reset()
	_, _ = m.Write(text) // it never fails
	return m.Sum(to)
}

// seal makes a document of what is known of it. Its name, which has no zero byte, is under the MAC too.
func (e *engine) seal(name string, k *known) ([]byte, error) {
	var header [headerSize]byte
	_, _ = rand.Read(header[:versionSize]) // it never fails
	k.version = string(header[:versionSize])
	binary.BigEndian.PutUint64(header[versionSize:], k.count)
	binary.BigEndian.PutUint64(header[versionSize+8:], uint64(k.until)) //nolint:gosec // bits are bits
	text := bytes.NewBuffer(make([]byte, 0, 384))
	text.WriteString(name + "\x00")
	text.Write(header[:])
	if err := json.MarshalWrite(text, k.value); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	k.size = text.Len()
	return e.mac(text.Bytes(), text.Bytes())[len(name)+1:], nil
}

func (e *engine) unseal(name string, value []byte) (*known, error) {
	if len(value) == 0 {
		return absent, nil
	}
	end := len(value) - sha256.Size
	if end < headerSize || !macs.Equal(value[end:], e.mac(nil, append([]byte(name+"\x00"), value[:end]...))) {
		return nil, ErrForged
	}
	return &known{
		version: VersionOf(value),
		count:   binary.BigEndian.Uint64(value[versionSize:]),
		until:   int64(binary.BigEndian.Uint64(value[versionSize+8:])), //nolint:gosec // bits are bits
		text:    value[headerSize:end],
	}, nil
}

// decode gives what a document says; nil where it is not there. Only one goroutine may have k, unless it was decoded.
func decode[T any](k *known) (*T, error) {
	if k.value == nil && k.text != nil {
		value := new(T)
		if err := json.Unmarshal(k.text, value); err != nil {
			return nil, fmt.Errorf("store: a document can't be read: %w", err)
		}
		k.value, k.size, k.text = value, len(k.text), nil
	}
	value, _ := k.value.(*T)
	return value, nil
}

// cache remembers documents: so a change need not read them, and one that the backend has lost is missed.
type cache struct {
	mu    sync.Mutex
	known map[string]*known
	size  int // of all that was put there
}

// Bounds of the cache.
const (
	mostBytes = 64 << 20
	overhead  = 1 << 10 // what a document takes beside its text
)

func (c *cache) get(key string, now time.Time) *known {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.known[key]
	if k != nil && k.until > 0 && k.until <= now.UnixMilli() {
		delete(c.known, key)
		c.size -= k.size + overhead
		return nil
	}
	return k
}

// put remembers a document, unless a later one is remembered. Once there were too many, all are forgotten.
func (c *cache) put(key string, k *known) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.known[key]
	if k.value == nil || was == k || was != nil && was.count > k.count {
		return
	}
	if was != nil {
		c.size -= was.size + overhead
	}
	if c.size += k.size + overhead; c.size > mostBytes || c.known == nil {
		c.known, c.size = map[string]*known{}, k.size+overhead
	}
	c.known[key] = k
}
