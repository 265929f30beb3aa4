package redis_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/redis"
	"github.com/openclaw-verifier/verifier/store/redistest"
	"github.com/openclaw-verifier/verifier/taint"
)

// allowed is how long a method may take when Redis is in trouble.
const allowed = 500 * time.Millisecond

// op is one method, called so that a healthy store has no error for it.
type op struct {
	name   string
	writes bool
	do     func(ctx context.Context, s *redis.Store, id string) error
}

func ops() []op {
	c := conv("a")
	draft := func(id string) approval.Draft {
		return approval.Draft{ID: c.Hash()[:2] + id, Conversation: c, Digests: []string{id}, CodeSeal: id, Live: time.Hour, MaxOpen: 1000}
	}
	none := func(err, is error) error {
		if errors.Is(err, is) {
			return nil
		}
		return err
	}
	return []op{
		{"admit", true, func(ctx context.Context, s *redis.Store, id string) error {
			_, err := s.Admit(ctx, call(c, id))
			return err
		}},
		{"settle", true, func(ctx context.Context, s *redis.Store, id string) error {
			st := session.Settlement{Conversation: c, RequestID: "settle" + id, Keep: time.Hour}
			stale, err := s.Settle(ctx, st)
			if err == nil {
				st.Version = stale.View.Version
				_, err = s.Settle(ctx, st)
			}
			return err
		}},
		{"deny", true, func(ctx context.Context, s *redis.Store, id string) error {
			return s.Deny(ctx, session.Denial{Conversation: c, RequestID: "deny" + id, Keep: time.Hour})
		}},
		{"place", true, func(ctx context.Context, s *redis.Store, id string) error {
			_, err := s.Place(ctx, draft(id))
			return none(err, approval.ErrUnknown)
		}},
		{"load", false, func(ctx context.Context, s *redis.Store, id string) error {
			_, _, err := s.Load(ctx, draft(id).ID)
			return err
		}},
		{"swap", false, func(ctx context.Context, s *redis.Store, id string) error {
			return none(s.Swap(ctx, approval.Change{ID: draft("none" + id).ID, Conversation: c}), approval.ErrGone)
		}},
		{"find", false, func(ctx context.Context, s *redis.Store, id string) error {
			_, err := s.Find(ctx, id)
			return err
		}},
		{"open", false, func(ctx context.Context, s *redis.Store, _ string) error {
			_, err := s.Open(ctx)
			return err
		}},
		{"miss", true, func(ctx context.Context, s *redis.Store, id string) error {
			_, err := s.Count(ctx, id, time.Hour, true)
			return err
		}},
		{"reset", false, func(ctx context.Context, s *redis.Store, _ string) error {
			_, err := s.Reset(ctx, conv("none").Ref())
			return none(err, approval.ErrUnknown)
		}},
		{"link", true, func(ctx context.Context, s *redis.Store, id string) error {
			_, _, err := s.Link(ctx, conv(id), c)
			return err
		}},
		{"raise", true, func(ctx context.Context, s *redis.Store, _ string) error {
			return s.Raise(ctx, conv("raised"), taint.Local, "x")
		}},
		{"worst", false, func(ctx context.Context, s *redis.Store, _ string) error {
			_, err := s.Worst(ctx, c)
			return err
		}},
		{"automation floor", false, func(ctx context.Context, s *redis.Store, _ string) error {
			_, err := s.AutomationFloor(ctx, "laptop", "a")
			return err
		}},
		{"raise automation", true, func(ctx context.Context, s *redis.Store, _ string) error {
			return s.RaiseAutomation(ctx, "laptop", "a", taint.Local)
		}},
		{"keep head", true, func(ctx context.Context, s *redis.Store, id string) error { return s.KeepHead(ctx, "x", id) }},
		{"head", false, func(ctx context.Context, s *redis.Store, _ string) error {
			_, err := s.Head(ctx, "x")
			return err
		}},
		{"accept loss", true, func(ctx context.Context, s *redis.Store, _ string) error { return s.AcceptLoss(ctx) }},
		{"ready", false, func(ctx context.Context, s *redis.Store, _ string) error { return s.Ready(ctx) }},
	}
}

// fault is a way for Redis to fail.
type fault struct {
	strike, heal func(s *server)
	readsWork    bool
}

// run lets the fault strike a store at work, and one that never met Redis: each
// method fails in time, and works again once it is over, without reopening.
func (f fault) run(t *testing.T) {
	t.Helper()
	s := startServer(t)
	atWork := open(t, "redis://"+s.Addr(), redis.Options{Epoch: epoch(t)})
	works(t, atWork, "before")
	f.strike(s)
	stores := map[string]*redis.Store{"at work": atWork}
	if !f.readsWork {
		stores["new"] = open(t, "redis://"+s.Addr(), redis.Options{Epoch: epoch(t)})
	}
	for name, store := range stores {
		for _, o := range ops() {
			if f.readsWork && !o.writes {
				continue
			}
			failsInTime(t, name+" "+o.name, func() error { return o.do(t.Context(), store, "struck") })
		}
		var wg sync.WaitGroup
		for i := range 64 {
			wg.Go(func() {
				failsInTime(t, name+" 64 at once", func() error {
					_, err := store.Admit(t.Context(), call(conv("a"), fmt.Sprint("crowd", i)))
					return err
				})
			})
		}
		wg.Wait()
	}
	f.heal(s)
	for _, store := range stores {
		works(t, store, "after")
	}
}

func failsInTime(t *testing.T, what string, do func() error) {
	t.Helper()
	start := time.Now()
	err := do()
	if took := time.Since(start); err == nil || took > allowed {
		t.Errorf("%s took %v: %v", what, took, err)
	}
}

// works waits until every method works.
func works(t *testing.T, store *redis.Store, id string) {
	t.Helper()
	for _, o := range ops() {
		try := 0
		redistest.Eventually(t, o.name+" works "+id, func() bool {
			try++
			return o.do(t.Context(), store, fmt.Sprint(id, try)) == nil
		})
	}
}

func TestH42Refused(t *testing.T) {
	fault{strike: func(s *server) { s.Stop() }, heal: func(s *server) { s.Begin() }}.run(t)
}

func TestH42ReadOnly(t *testing.T) {
	fault{
		strike:    func(s *server) { s.Admin.ReplicaOf(context.Background(), "127.0.0.1", "1") },
		heal:      func(s *server) { s.Admin.ReplicaOf(context.Background(), "NO", "ONE") },
		readsWork: true,
	}.run(t)
}

func TestH42TooFewReplicas(t *testing.T) {
	fault{
		strike:    func(s *server) { s.Config("min-replicas-to-write", "1") },
		heal:      func(s *server) { s.Config("min-replicas-to-write", "0") },
		readsWork: true,
	}.run(t)
}

func TestH42OutOfMemory(t *testing.T) {
	fault{
		strike:    func(s *server) { s.Config("maxmemory-policy", "noeviction", "maxmemory", "1") },
		heal:      func(s *server) { s.Config("maxmemory", "0") },
		readsWork: true,
	}.run(t)
}

func TestH42AScriptThatFailsHalfwayLeavesNothing(t *testing.T) {
	s := startServer(t)
	store := open(t, "redis://"+s.Addr(), redis.Options{Epoch: epoch(t), Timeout: patient})
	if err := store.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Config("maxmemory", "1")
	a := call(conv("a"), "r1")
	a.Raise = taint.Untrusted
	if _, err := store.Admit(t.Context(), a); err == nil {
		t.Fatal("a full Redis admits")
	}
	s.Config("maxmemory", "0")
	v, err := store.Admit(t.Context(), a)
	if err != nil || v.Replayed || v.Lost || v.Step != 1 || v.Level != taint.Owner {
		t.Fatalf("%+v, %v", v, err)
	}
}

func TestH42RestartedEmptyIsLost(t *testing.T) {
	s := startServer(t)
	store := open(t, "redis://"+s.Addr(), redis.Options{Epoch: epoch(t)})
	admit := func(id string) (v session.View) {
		redistest.Eventually(t, "admit works", func() (ok bool) {
			var err error
			v, err = store.Admit(t.Context(), call(conv("a"), id))
			return err == nil
		})
		return v
	}
	if v := admit("r1"); v.Lost {
		t.Fatalf("%+v", v)
	}
	s.Stop()
	s.Begin()
	if v := admit("r2"); !v.Lost || v.Level != taint.Untrusted {
		t.Fatalf("%+v", v)
	}
}

// The poller makes up for what was published while nobody listened; what is
// published afterwards must arrive again.
func TestH47WakesComeBackAfterARestart(t *testing.T) {
	s := startServer(t)
	store := open(t, "redis://"+s.Addr(), redis.Options{Epoch: epoch(t)})
	woken, ended := make(chan string, 1000), make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	go func() { ended <- store.Wakes(ctx, func(id string) { woken <- id }) }()
	heard := func(id string) {
		t.Helper()
		redistest.Eventually(t, id+" is heard", func() bool {
			s.Admin.Publish(ctx, "v3:wake", id)
			select {
			case got := <-woken:
				return got == id
			default:
				return false
			}
		})
	}
	heard("before")
	s.Stop()
	s.Begin()
	heard("after")
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}
