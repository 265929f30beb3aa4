package redis_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/redis"
	"github.com/openclaw-verifier/verifier/taint"
)

// process is a store with an epoch file of its own, as one machine has it.
type process struct {
	*redis.Store
	t    *testing.T
	file string
}

func (s *server) process(t *testing.T, file string) process {
	t.Helper()
	return process{open(t, "redis://"+s.Addr(), redis.Options{Epoch: epochAt(t, file), Timeout: patient}), t, file}
}

func (p process) admit(name, id string) session.View {
	p.t.Helper()
	v, err := p.Admit(p.t.Context(), call(conv(name), id))
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

func (p process) ready() {
	p.t.Helper()
	if err := p.Ready(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
}

func (p process) id() string {
	p.t.Helper()
	b, err := os.ReadFile(p.file)
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

func TestManyProcessesFoundOneEpoch(t *testing.T) {
	s := startServer(t)
	var all []process
	for range 16 {
		all = append(all, s.process(t, filepath.Join(t.TempDir(), "epoch")))
	}
	var wg sync.WaitGroup
	for _, p := range all {
		wg.Go(p.ready)
	}
	wg.Wait()
	for i, p := range all {
		if p.id() != all[0].id() {
			t.Fatalf("process %d has epoch %s, the first %s", i, p.id(), all[0].id())
		}
	}
	for n, marker := range s.markers(t) {
		if marker != "c:"+all[0].id() {
			t.Fatalf("bucket %d has %q", n, marker)
		}
	}
}

// markers are those of all buckets.
func (s *server) markers(t *testing.T) []string {
	t.Helper()
	keys, err := s.Admin.Keys(t.Context(), "v3:*:epoch").Result()
	if err != nil || len(keys) != 256 {
		t.Fatalf("%d markers, %v", len(keys), err)
	}
	values, err := s.Admin.MGet(t.Context(), keys...).Result()
	if err != nil {
		t.Fatal(err)
	}
	out := make([]string, len(values))
	for i, v := range values {
		text, _ := v.(string)
		_, out[i], _ = strings.Cut(text[8:], ":") // after the version and the end
	}
	return out
}

func TestH19AProcessThatStartsAfterAFlushNoticesIt(t *testing.T) {
	s := startServer(t)
	file := filepath.Join(t.TempDir(), "epoch")
	s.process(t, file).ready()
	if err := s.Admin.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if v := s.process(t, file).admit("a", "r1"); !v.Lost || v.Level != taint.Untrusted {
		t.Fatalf("%+v", v)
	}
	// A process that never was here before can't know, but believes the marks.
	fresh := s.process(t, filepath.Join(t.TempDir(), "epoch"))
	if v := fresh.admit("b", "r1"); !v.Lost {
		t.Fatalf("%+v", v)
	}
}

func TestH19AnotherRedisIsALoss(t *testing.T) {
	one, two := startServer(t), startServer(t)
	file := filepath.Join(t.TempDir(), "epoch")
	one.process(t, file).ready()
	two.process(t, filepath.Join(t.TempDir(), "epoch")).ready()
	if v := two.process(t, file).admit("a", "r1"); !v.Lost {
		t.Fatalf("%+v", v)
	}
}

func TestH19OneLostBucketIsLostAlone(t *testing.T) {
	s := startServer(t)
	p := s.process(t, filepath.Join(t.TempDir(), "epoch"))
	p.ready()
	if err := s.Admin.Del(t.Context(), redis.EpochKey(conv("a"))).Err(); err != nil {
		t.Fatal(err)
	}
	if v := p.admit("a", "r1"); !v.Lost {
		t.Fatalf("%+v", v)
	}
	if v := p.admit("b", "r1"); v.Lost {
		t.Fatalf("%+v", v)
	}
}

func TestH19MarkersThatMissedTheFoundingAreLost(t *testing.T) {
	s := startServer(t)
	s.process(t, filepath.Join(t.TempDir(), "epoch")).ready()
	if err := s.Admin.Del(t.Context(), redis.EpochKey(conv("a"))).Err(); err != nil {
		t.Fatal(err)
	}
	late := s.process(t, filepath.Join(t.TempDir(), "epoch"))
	if v := late.admit("a", "r1"); !v.Lost {
		t.Fatalf("%+v", v)
	}
	if v := late.admit("b", "r1"); v.Lost {
		t.Fatalf("%+v", v)
	}
}

func TestALossAcceptedInOneProcessIsAcceptedInAll(t *testing.T) {
	s := startServer(t)
	one, two := s.process(t, filepath.Join(t.TempDir(), "epoch")), s.process(t, filepath.Join(t.TempDir(), "epoch"))
	one.ready()
	two.ready()
	if err := s.Admin.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if v := two.admit("a", "r1"); !v.Lost {
		t.Fatalf("%+v", v)
	}
	if err := one.AcceptLoss(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v := two.admit("b", "r1"); v.Lost {
		t.Fatalf("%+v", v)
	}
	if one.id() != two.id() {
		t.Fatalf("epochs %s and %s", one.id(), two.id())
	}
	if v := s.process(t, two.file).admit("c", "r1"); v.Lost { // and after a restart
		t.Fatalf("%+v", v)
	}
}

func TestAnEpochThatCannotBeSavedStopsTheStore(t *testing.T) {
	s := startServer(t)
	dir := filepath.Join(t.TempDir(), "state")
	p := s.process(t, filepath.Join(dir, "epoch"))
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // a file where the directory should be
		t.Fatal(err)
	}
	if _, err := p.Admit(t.Context(), call(conv("a"), "r1")); err == nil {
		t.Fatal("a store that can't remember its epoch admits")
	}
}

func TestADatabaseOfAnEarlierVersionIsRefused(t *testing.T) {
	s := startServer(t)
	must(t, s.Admin.Set(t.Context(), "v2:{00}:epoch", "x", 0).Err())
	if err := open(t, s.URL(), redis.Options{}).Earlier(t.Context()); !errors.Is(err, redis.ErrSchema) {
		t.Errorf("it says %v", err)
	}
}
