package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// Records is a store that knows nothing of what it keeps: records with a version, counters, sets and lists. Redis and SQLite have
// one each; [Store] is what they mean. Every method takes at most a few hundred milliseconds, and returns an error rather than a
// guess.
type Records interface {
	// Now is the earliest that it can be, by the clock that ends records. It asks no one.
	Now() time.Time

	// Load reads records and counters, and says when. What is absent or over is the zero Record.
	Load(ctx context.Context, keys ...Key) ([]Record, time.Time, error)

	// Commit does each commit on its own, wholly or not at all, and fills in its Result.
	Commit(ctx context.Context, commits ...*Commit) error

	// Members are the members of sets.
	Members(ctx context.Context, sets ...Key) ([]string, error)

	// Append adds to lists, each on its own. Entries reads one, oldest first.
	Append(ctx context.Context, lists ...List) error
	Entries(ctx context.Context, list Key) ([][]byte, error)

	// Each calls do with every record that has not ended. What is written meanwhile may be left out.
	Each(ctx context.Context, do func(Key, Record) error) error

	// Listen calls heard with what commits announce, in any process, until ctx ends. It is a hint: calls may be lost.
	Listen(ctx context.Context, heard func(string)) error

	// Ready says why the store can't be used now, if it can't.
	Ready(ctx context.Context) error

	Close() error
}

// Key names a record, a counter, a set or a list: two hex digits that say in which of 256 buckets it is, a colon, and a name. All
// keys of a commit are of one bucket.
type Key string

// Buckets is how many there are.
const Buckets = 256

// Bucket names the n-th.
func Bucket(n int) string { return hex.EncodeToString([]byte{byte(n)}) } //nolint:gosec // below Buckets

// Bucket is where a key is.
func (k Key) Bucket() string { return string(k[:2]) }

// Name is the key without its bucket.
func (k Key) Name() string { return string(k[3:]) }

// IsCounter reports whether the key names a counter.
func (k Key) IsCounter() bool { return len(k) > 5 && k[3:5] == "n:" }

// Member is the set and the member that a key asks for: such a key can be loaded and nothing else.
func (k Key) Member() (set Key, member string, is bool) {
	member, is = strings.CutPrefix(k.Name(), "known ")
	return key(k.Bucket(), "known"), member, is
}

// kind is what a record is, without whose: the name of one may be a secret.
func (k Key) kind() string {
	kind, _, _ := strings.Cut(k.Name(), ":")
	return kind
}

func (k Key) isRecord() bool {
	_, _, isMember := k.Member()
	return !isMember && !k.IsCounter()
}

// key is one in a known bucket; scattered is one whose bucket follows from its name.
func key(bucket, name string) Key { return Key(bucket + ":" + name) }

func scattered(name string) Key {
	sum := sha256.Sum256([]byte(name))
	return key(hex.EncodeToString(sum[:1]), name)
}

// Version is of a record as it was written. It is random, so that a record that was lost and made anew never looks like the one
// before. The zero Version is that of no record.
type Version [8]byte

func newVersion() (v Version) {
	_, _ = rand.Read(v[:]) // it never fails
	v[0] |= 1              // and is not zero
	return v
}

// Record is what a key holds.
type Record struct {
	Version Version
	Data    string
	Until   time.Time // it is over then; zero: never
	Count   int64     // of a counter
}

// Commit is a change of one bucket. It happens if all records are as they were read, no counter passes its cap, and it is not too
// late.
type Commit struct {
	Reads    []Read
	Writes   []Write
	Counts   []Count
	Joins    []Join
	NotAfter time.Time // by the store's clock
	Announce string    // what listeners hear once it is done; empty: nothing

	Result Result
}

// Read is a record that a commit rests on.
type Read struct {
	Key     Key
	Version Version
}

// Write replaces a record; one without data removes it.
type Write struct {
	Key Key
	Record
}

// Count adds to a counter, which nothing rests on but its cap and, where Exact, that it was Had before.
type Count struct {
	Key   Key
	By    int64
	Set   bool // to By, instead of adding
	Exact bool
	Had   int64
	Cap   int64 // 0: none
	Keep  time.Duration

	cached bool // what it is now is worth remembering
}

// Join adds a member to a set, for good.
type Join struct {
	Set    Key
	Member string
}

// Result is what became of a commit.
type Result struct {
	Done   bool
	Late   bool
	Now    time.Time      // by the store's clock
	Counts []int64        // of the counters: after it where Done, else as they are
	Moved  map[Key]Record // records that are not as they were read
}

// List adds entries to a list.
type List struct {
	Key     Key
	Entries [][]byte
	Most    int // the oldest beyond it fall out
	Keep    time.Duration
}
