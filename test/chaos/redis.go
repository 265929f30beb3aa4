package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// The kinds of Redis.
const (
	single   = "single"
	sentinel = "sentinel"
	cluster  = "cluster"
)

var kinds = []string{single, sentinel, cluster}

// masterName is what the sentinels call what they watch.
const masterName = "chaos"

// node is a redis-server that keeps everything it has confirmed, and the way to
// it.
type node struct {
	*process
	port, bus int
	way       int // the port by which others know it
	admin     *goredis.Client
}

// redis is where the gateways keep their state.
type redis struct {
	kind      string
	nodes     []*node
	sentinels []*process
	watchers  []string  // their addresses
	urls      [2]string // for each gateway
	ways      []*proxy
	knobs     *knobs
}

func openRedis(ctx context.Context, dir, kind string, t tools, toxi *toxiproxy) (*redis, error) {
	r := &redis{kind: kind}
	var err error
	if r.knobs, err = openKnobs(filepath.Join(dir, "knobs")); err != nil {
		return r, err
	}
	count := map[string]int{single: 1, sentinel: 3, cluster: 3}[kind]
	for i := range count {
		n, err := r.openNode(ctx, dir, i, t)
		if err != nil {
			return r, err
		}
		r.nodes = append(r.nodes, n)
		ways := 1
		if kind == single {
			ways = 2 // one for each gateway
		}
		for j := range ways {
			port := n.way
			if j > 0 {
				if port, err = freePort(); err != nil {
					return r, err
				}
			}
			way, err := toxi.between(fmt.Sprintf("redis-%d-%d", i, j), port, local(n.port))
			if err != nil {
				return r, err
			}
			r.ways = append(r.ways, way)
		}
	}
	return r, r.join(ctx, dir, t)
}

func (r *redis) openNode(ctx context.Context, dir string, i int, t tools) (*node, error) {
	n := &node{}
	var err error
	for _, p := range []*int{&n.port, &n.bus, &n.way} {
		if *p, err = freePort(); err != nil {
			return nil, err
		}
	}
	home := filepath.Join(dir, fmt.Sprint("redis-", i))
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	conf := fmt.Sprintf("port %d\nbind 127.0.0.1\ndir %s\nsave \"\"\nappendonly yes\nappendfsync always\nmaxmemory-policy noeviction\nrepl-diskless-sync-delay 0\n", n.port, home)
	if r.kind == sentinel {
		conf += fmt.Sprintf("replica-announce-ip 127.0.0.1\nreplica-announce-port %d\n", n.way)
	}
	if r.kind == cluster {
		conf += fmt.Sprintf("cluster-enabled yes\ncluster-port %d\ncluster-node-timeout 1500\ncluster-require-full-coverage no\n"+
			"cluster-announce-ip 127.0.0.1\ncluster-announce-port %d\ncluster-announce-bus-port %d\n", n.bus, n.way, n.bus)
	}
	file := filepath.Join(home, "redis.conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		return nil, err
	}
	n.process = &process{name: fmt.Sprint("redis ", i), log: home + "/log", make: func() *exec.Cmd {
		cmd := exec.Command(t.redis, file) //nolint:gosec,noctx // ended by its owner
		cmd.Env = os.Environ()
		if t.shim != "" {
			cmd.Env = append(cmd.Env, "LD_PRELOAD="+t.shim, "CHAOS_SHIM="+r.knobs.path)
		}
		return cmd
	}}
	n.admin = goredis.NewClient(&goredis.Options{Addr: local(n.port), Protocol: 2, DisableIdentity: true, MaxRetries: -1, DialTimeout: time.Second, ReadTimeout: time.Second})
	if err := n.start(); err != nil {
		return nil, err
	}
	return n, eventually(ctx, 10*time.Second, n.name+" answers", func() error { return n.admin.Ping(ctx).Err() })
}

// join makes one Redis of the nodes, and says where the gateways find it.
func (r *redis) join(ctx context.Context, dir string, t tools) error {
	switch r.kind {
	case sentinel:
		return r.watch(ctx, dir, t)
	case cluster:
		return r.meet(ctx)
	}
	for i, w := range r.ways {
		r.urls[i] = "redis://" + w.addr + "/0"
	}
	return nil
}

func (r *redis) meet(ctx context.Context) error {
	var addrs []string
	for i, n := range r.nodes {
		addrs = append(addrs, local(n.way))
		first, last := i*16384/len(r.nodes), (i+1)*16384/len(r.nodes)-1
		if err := n.admin.ClusterAddSlotsRange(ctx, first, last).Err(); err != nil {
			return err
		}
		if err := n.admin.Do(ctx, "cluster", "meet", "127.0.0.1", r.nodes[0].port, r.nodes[0].bus).Err(); err != nil {
			return err
		}
	}
	url := "redis://" + strings.Join(addrs, ",")
	r.urls = [2]string{url, url}
	return eventually(ctx, 20*time.Second, "the cluster is complete", func() error {
		for _, n := range r.nodes {
			info, err := n.admin.ClusterInfo(ctx).Result()
			if err != nil || !strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, fmt.Sprint("cluster_known_nodes:", len(r.nodes))) {
				return fmt.Errorf("%s: %w", n.name, errors.Join(err, errors.New("it does not know the others yet")))
			}
		}
		return nil
	})
}

// watch makes the other nodes replicas of the first, and lets three sentinels
// watch them.
func (r *redis) watch(ctx context.Context, dir string, t tools) error {
	for _, n := range r.nodes[1:] {
		if err := n.admin.ReplicaOf(ctx, "127.0.0.1", fmt.Sprint(r.nodes[0].way)).Err(); err != nil {
			return err
		}
		if err := n.admin.ConfigRewrite(ctx).Err(); err != nil {
			return err
		}
	}
	for i := range 3 {
		port, err := freePort()
		if err != nil {
			return err
		}
		r.watchers = append(r.watchers, local(port))
		home := filepath.Join(dir, fmt.Sprint("sentinel-", i))
		if err := os.MkdirAll(home, 0o700); err != nil {
			return err
		}
		conf := fmt.Sprintf("port %d\nbind 127.0.0.1\ndir %s\nsentinel monitor %[3]s 127.0.0.1 %[4]d 2\nsentinel down-after-milliseconds %[3]s 800\n"+
			"sentinel failover-timeout %[3]s 3000\nsentinel parallel-syncs %[3]s 1\n", port, home, masterName, r.nodes[0].way)
		file := filepath.Join(home, "sentinel.conf")
		if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
			return err
		}
		s := &process{name: fmt.Sprint("sentinel ", i), log: home + "/log", make: func() *exec.Cmd {
			return exec.Command(t.redis, file, "--sentinel") //nolint:gosec,noctx // ended by its owner
		}}
		r.sentinels = append(r.sentinels, s)
		if err := s.start(); err != nil {
			return err
		}
	}
	// Both replicas, for Sentinel promotes either: after a partition the old master
	// and the replica that still follows it would confirm what the new one never sees.
	url := "redis+sentinel://" + strings.Join(r.watchers, ",") + "/" + masterName + "?replicas=2"
	r.urls = [2]string{url, url}
	return eventually(ctx, 20*time.Second, "the sentinels know the replicas and each other", func() error { return sees(ctx, r.watchers[0]) })
}

func sees(ctx context.Context, addr string) error {
	s := goredis.NewSentinelClient(&goredis.Options{Addr: addr, Protocol: 2, DisableIdentity: true})
	defer s.Close() //nolint:errcheck // it was only asked
	m, err := s.Master(ctx, masterName).Result()
	if err != nil {
		return err
	}
	if m["num-slaves"] != "2" || m["num-other-sentinels"] != "2" {
		return fmt.Errorf("it knows %s replicas and %s sentinels", m["num-slaves"], m["num-other-sentinels"])
	}
	return nil
}

// master is the node that the sentinels send gateways to; nil if none of them answers.
func (r *redis) master(ctx context.Context) *node {
	for _, addr := range r.watchers {
		s := goredis.NewSentinelClient(&goredis.Options{Addr: addr, Protocol: 2, DisableIdentity: true, MaxRetries: -1, ReadTimeout: time.Second})
		at, err := s.GetMasterAddrByName(ctx, masterName).Result()
		_ = s.Close()
		for _, n := range r.nodes {
			if err == nil && len(at) == 2 && at[1] == fmt.Sprint(n.way) {
				return n
			}
		}
	}
	return nil
}

// whole waits until the sentinels' master has both replicas: without them no write counts, and one fault after the other would leave nothing
// to look at. A master of before comes back as a master. Sentinel may take twenty seconds to make a replica of it; after three the run does
// so, like an operator.
func (r *redis) whole() error {
	if r.kind != sentinel {
		return nil
	}
	ctx := context.Background()
	replicas := func() error {
		m := r.master(ctx)
		if m == nil {
			return errors.New("no sentinel answers")
		}
		info, err := m.admin.Info(ctx, "replication").Result()
		if err != nil || !strings.Contains(info, "role:master") || strings.Count(info, "state=online") != len(r.nodes)-1 {
			return errors.Join(err, fmt.Errorf("%s lacks a replica", m.name))
		}
		return nil
	}
	if eventually(ctx, 3*time.Second, "by itself", replicas) == nil {
		return nil
	}
	return eventually(ctx, 20*time.Second, "the master has its replicas", func() error {
		m := r.master(ctx)
		for _, n := range r.nodes {
			role, err := n.admin.Do(ctx, "role").Slice()
			if m != nil && n != m && err == nil && len(role) > 0 && role[0] == "master" {
				_ = n.admin.ReplicaOf(ctx, "127.0.0.1", fmt.Sprint(m.way)).Err()
			}
		}
		return replicas()
	})
}

func (r *redis) close() {
	for _, s := range r.sentinels {
		_ = s.kill()
	}
	for _, n := range r.nodes {
		n.signal(18) // SIGCONT: it may be stopped
		_ = n.kill()
		_ = n.admin.Close()
	}
}

// knobs is the file that the shim in Redis reads.
type knobs struct {
	path  string
	mu    sync.Mutex
	shift time.Duration
	moves history
	disk  time.Duration
}

func openKnobs(path string) (*knobs, error) {
	k := &knobs{path: path}
	return k, k.write()
}

func (k *knobs) write() error {
	var b [16]byte
	binary.NativeEndian.PutUint64(b[:8], uint64(k.shift.Milliseconds())) //nolint:gosec // read as signed again
	binary.NativeEndian.PutUint64(b[8:], uint64(k.disk.Milliseconds()))  //nolint:gosec // read as signed again
	f, err := os.OpenFile(k.path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b[:], 0)
	return errors.Join(err, f.Close())
}

// setClock moves the store's clock, setDisk slows its disk.
func (k *knobs) setClock(d time.Duration) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.shift = d
	began := time.Now()
	err := k.write()
	k.moves = append(k.moves, move{began, time.Now(), d})
	return err
}

func (k *knobs) setDisk(d time.Duration) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.disk = d
	return k.write()
}
