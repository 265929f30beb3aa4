package redis_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/store/redis"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

// What a master confirms and its replica does not have would be gone after a
// failover: it does not count.
func TestH42AWriteThatNoReplicaHasDoesNotCount(t *testing.T) {
	master := startServer(t)
	replica := startServer(t, "--replicaof", "127.0.0.1", strings.Split(master.Addr(), ":")[1], "--repl-diskless-sync-delay", "0")
	redistest.Eventually(t, "the replica follows", func() bool {
		info, err := replica.Admin.Info(t.Context(), "replication").Result()
		return err == nil && strings.Contains(info, "master_link_status:up")
	})
	url, e := master.URL()+"?replicas=1", epoch(t)
	following := open(t, url, redis.Options{Epoch: e, Timeout: patient})
	store := open(t, url, redis.Options{Epoch: e, Timeout: 600 * time.Millisecond})
	all := func(store *redis.Store, round string) (failed []string) {
		for _, o := range ops() {
			if round == "2" && !o.writes {
				continue
			}
			began := time.Now()
			if err := o.do(t.Context(), store, round); err != nil {
				failed = append(failed, o.name+": "+err.Error())
			} else if round == "2" {
				t.Errorf("%s counts without the replica", o.name)
			}
			if took := time.Since(began); round == "2" && took > time.Second {
				t.Errorf("%s took %v", o.name, took)
			}
		}
		return failed
	}
	redistest.Eventually(t, "the master knows it", func() bool { return store.Ready(t.Context()) == nil })
	if failed := all(following, "1"); len(failed) > 0 {
		t.Fatalf("with a replica that follows: %v", failed)
	}
	replica.Signal(syscall.SIGSTOP)
	all(store, "2")
	if err := store.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "replica") {
		t.Errorf("ready without the replica: %v", err)
	}
	replica.Signal(syscall.SIGCONT)
	redistest.Eventually(t, "it recovers", func() bool { return store.Ready(t.Context()) == nil })
	if failed := all(following, "3"); len(failed) > 0 {
		t.Errorf("afterwards: %v", failed)
	}
}
