package sqlite_test

import (
	"flag"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/sqlite"
	"github.com/openclaw-verifier/verifier/store/storetest"
)

func TestMain(m *testing.M) {
	child() // does not return in a process that was started to be killed
	if os.Getenv("CI") != "" {
		// A database for each history takes its time under the race detector; on a
		// desk, and in make properties, there are more of them.
		_ = flag.Set("rapid.checks", "40") // before the flags are read, so that they count for more
	}
	goleak.VerifyTestMain(m)
}

func TestConformance(t *testing.T) { storetest.Run(t, harness) }

func TestRandomHistories(t *testing.T) { storetest.Compare(t, harness) }

// clock stands still until it is moved.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	passed time.Duration
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.passed = c.now.Add(d), c.passed+d
}

// setBack sets it, while no time passes.
func (c *clock) setBack(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(-d)
}

func (c *clock) Elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.passed
}

// open opens a store for the length of the test. It is patient: the machine may
// be busy with others.
func open(t testing.TB, path string, o sqlite.Options) *sqlite.Store {
	t.Helper()
	o.Timeout = time.Minute
	return impatient(t, path, o)
}

// impatient opens a store as it is.
func impatient(t testing.TB, path string, o sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(path, o)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tables are all that a store holds.
var tables = []string{"records", "members", "entries"}

func harness(t *testing.T) storetest.Harness {
	c := newClock()
	s := open(t, filepath.Join(t.TempDir(), "state.db"), sqlite.Options{Now: c.Now, Elapsed: c.Elapsed})
	return storetest.Harness{
		Store: s, Advance: c.advance, SetBack: c.setBack,
		Forget: func(name session.Conversation) {
			must(t, s.Exec(t.Context(), `DELETE FROM records WHERE key = ?`, name.Hash()[:2]+":s:"+name.Hash()))
		},
		Flush: func() {
			for _, table := range tables {
				must(t, s.Exec(t.Context(), `DELETE FROM `+table))
			}
		},
	}
}
