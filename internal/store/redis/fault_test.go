package redis_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/internal/store/redis"
	"github.com/openclaw-verifier/verifier/internal/store/redistest"
	"github.com/openclaw-verifier/verifier/internal/store/storetest"
	"github.com/openclaw-verifier/verifier/taint"
)

// allowed is how long an update may take when Redis is in trouble: half a second, and as much again for a busy machine.
const allowed = time.Second

var main = store.Name{Client: "laptop", Key: "main"}

// process opens a store as a gateway does; the timeouts are those of production where patient is false.
func process(t *testing.T, url string, isPatient bool) *store.Store {
	t.Helper()
	o, so := redis.Options{}, store.Options{Key: hmac.Key("key"),
		Clients: func() []string { return []string{"laptop"} }}
	if isPatient {
		o.Timeout, so.Wait = patient, patient
	}
	var err error
	if so.Backend, err = redis.Open(url, o); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), so)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func allow(s *store.Store, id string) error {
	return s.Update(context.Background(), main, func(t *store.Tx) error {
		t.Decide(store.Request{ID: id, Allow: true, Keep: time.Minute})
		return nil
	})
}

func works(t *testing.T, s *store.Store, when string) {
	t.Helper()
	n := 0
	redistest.Eventually(t, "it works "+when, func() bool {
		n++
		return allow(s, fmt.Sprint(when, n)) == nil
	})
}

// Each fault strikes a store at work, and one that never met Redis: each update fails in time, and works again once it
// is over, without reopening.
func TestH42EachFaultOfRedisDeniesInTime(t *testing.T) {
	for name, fault := range map[string]struct{ strike, heal func(s *redistest.Server) }{
		"refused": {func(s *redistest.Server) { s.Stop() }, func(s *redistest.Server) { s.Begin() }},
		"hung":    {hang, goOn},
		"read-only": {
			func(s *redistest.Server) { s.Admin.ReplicaOf(context.Background(), "127.0.0.1", "1") },
			func(s *redistest.Server) { s.Admin.ReplicaOf(context.Background(), "NO", "ONE") },
		},
		"min-replicas": {
			func(s *redistest.Server) { s.Config("min-replicas-to-write", "1") },
			func(s *redistest.Server) { s.Config("min-replicas-to-write", "0") },
		},
		"out of memory": {
			func(s *redistest.Server) { s.Config("maxmemory-policy", "noeviction", "maxmemory", "1") },
			func(s *redistest.Server) { s.Config("maxmemory", "0") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := redistest.Start(t)
			atWork := process(t, server.URL(), false)
			works(t, atWork, "before")
			fault.strike(server)
			stores := map[string]*store.Store{"at work": atWork, "new": process(t, server.URL(), false)}
			for what, s := range stores {
				var all sync.WaitGroup
				for i := range 64 {
					all.Go(func() {
						began := time.Now()
						err := allow(s, fmt.Sprint("struck", i))
						if took := time.Since(began); err == nil || took > allowed {
							t.Errorf("%s took %v: %v", what, took, err)
						}
					})
				}
				all.Wait()
				if err := s.Ready(t.Context()); err == nil {
					t.Errorf("%s is ready", what)
				}
			}
			fault.heal(server)
			for _, s := range stores {
				works(t, s, "after")
			}
		})
	}
}

func TestH42AWriteThatNoReplicaHasDoesNotCount(t *testing.T) {
	master := redistest.Start(t)
	replica := redistest.Start(t, "--replicaof", "127.0.0.1", strconv.Itoa(master.Port), "--repl-diskless-sync-delay",
		"0")
	redistest.Eventually(t, "the replica follows", func() bool {
		info, err := replica.Admin.Info(t.Context(), "replication").Result()
		return err == nil && strings.Contains(info, "master_link_status:up")
	})
	s := process(t, master.URL()+"?replicas=1", false)
	works(t, s, "with its replica")
	hang(replica)
	if err := allow(s, "without"); err == nil || !strings.Contains(err.Error(), "replica") {
		t.Errorf("without the replica: %v", err)
	}
	if err := s.Ready(t.Context()); err == nil {
		t.Error("ready without the replica")
	}
	goOn(replica)
	works(t, s, "again")
}

func TestH19ARestartThatLosesEverythingIsALoss(t *testing.T) {
	server := redistest.Start(t)
	s := process(t, server.URL(), false)
	works(t, s, "before")
	server.Stop()
	server.Begin()
	redistest.Eventually(t, "it is untrusted", func() bool {
		c, err := s.Look(t.Context(), main)
		return err == nil && c.Worst() == taint.Untrusted
	})
}

func TestH47WakesComeBackAfterARestart(t *testing.T) {
	server := redistest.Start(t)
	s, other := process(t, server.URL(), false), process(t, server.URL(), false)
	woken, ended := make(chan string, 1000), make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	go func() { ended <- s.Watch(ctx, func(what string) { woken <- what }) }()
	heard := func() {
		t.Helper()
		redistest.Eventually(t, "it is heard", func() bool {
			_ = other.Pause(ctx, store.Pause{Agent: "x", On: true})
			select {
			case what := <-woken:
				return what == "pause"
			default:
				return false
			}
		})
	}
	heard()
	server.Stop()
	server.Begin()
	for len(woken) > 0 {
		<-woken
	}
	heard()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestReadyRefusesEviction(t *testing.T) {
	server := redistest.Start(t)
	s := process(t, server.URL(), true)
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	server.Config("maxmemory", "100mb", "maxmemory-policy", "allkeys-lru")
	if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "noeviction") {
		t.Errorf("ready: %v", err)
	}
}

// The suite's clients have their documents on different nodes, and everything of one client is on one.
func TestSuiteOnACluster(t *testing.T) {
	var addrs []string
	var nodes []*redistest.Server
	for range 3 {
		s := redistest.Start(t, "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(redistest.FreePort(t)),
			"--databases", "1")
		nodes, addrs = append(nodes, s), append(addrs, s.Addr())
	}
	for i, s := range nodes {
		if err := s.Admin.ClusterAddSlotsRange(t.Context(), i*16384/3, (i+1)*16384/3-1).Err(); err != nil {
			t.Fatal(err)
		}
		if err := s.Admin.Do(t.Context(), "cluster", "meet", "127.0.0.1", nodes[0].Port,
			nodes[0].Args[3]).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range nodes {
		redistest.Eventually(t, "the cluster is complete", func() bool {
			info, err := s.Admin.ClusterInfo(t.Context()).Result()
			return err == nil && strings.Contains(info, "cluster_state:ok") && strings.Contains(info,
				"cluster_known_nodes:3")
		})
	}
	storetest.Run(t, func(t *testing.T) store.Backend {
		for _, s := range nodes {
			if err := s.Admin.FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
		}
		return open(t, "redis://"+strings.Join(addrs, ","))
	})
	used := 0
	for _, s := range nodes {
		if keys, err := s.Admin.Keys(t.Context(), "v4:*").Result(); err == nil && len(keys) > 0 {
			used++
		}
	}
	if used < 2 {
		t.Errorf("%d nodes are used", used)
	}
}
