package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
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

// node is a redis-server that keeps everything it has confirmed, and the way to it.
type node struct {
	*process
	port, bus int
	way       int // the port by which others know it
	admin     *goredis.Client
}

// redis is where the gateways keep their state.
type redis struct {
	dir, kind string
	tools     tools
	nodes     []*node
	sentinels []*process
	watchers  []string  // their addresses
	urls      [2]string // for each gateway
	ways      []*proxy
	knobs     *knobs
}

func openRedis(ctx context.Context, dir, kind string, t tools, toxi *toxiproxy) (*redis, error) {
	r := &redis{dir: dir, kind: kind, tools: t, knobs: &knobs{path: filepath.Join(dir, "knobs")}}
	if err := r.knobs.set(0, 0); err != nil {
		return r, err
	}
	for i := range map[string]int{single: 1, sentinel: 3, cluster: 3}[kind] {
		n, err := r.openNode(ctx, i)
		if err != nil {
			return r, err
		}
		r.nodes = append(r.nodes, n)
		ports := []int{n.way}
		if kind == single { // a way for each gateway
			other, err := freePort()
			if err != nil {
				return r, err
			}
			ports = append(ports, other)
		}
		for j, port := range ports {
			way, err := toxi.between(fmt.Sprintf("redis-%d-%d", i, j), port, local(n.port))
			if err != nil {
				return r, err
			}
			r.ways = append(r.ways, way)
		}
	}
	// Both replicas, for Sentinel promotes either: after a partition the old master and the replica that still follows
	// it would confirm what the new one never sees.
	switch kind {
	case sentinel:
		err := r.watch(ctx)
		url := "redis+sentinel://" + strings.Join(r.watchers, ",") + "/" + masterName + "?replicas=2"
		r.urls = [2]string{url, url}
		return r, err
	case cluster:
		url := "redis://" + local(r.nodes[0].way) + "," + local(r.nodes[1].way) + "," + local(r.nodes[2].way)
		r.urls = [2]string{url, url}
		return r, r.meet(ctx)
	}
	r.urls = [2]string{"redis://" + r.ways[0].addr + "/0", "redis://" + r.ways[1].addr + "/0"}
	return r, nil
}

// server starts a redis-server with a config, or a sentinel.
func (r *redis) server(name, conf string, args ...string) (*process, error) {
	home := filepath.Join(r.dir, name)
	file := filepath.Join(home, "redis.conf")
	conf = fmt.Sprintf("bind 127.0.0.1\ndir %s\n%s", home, conf)
	if err := errors.Join(os.MkdirAll(home, 0o700), os.WriteFile(file, []byte(conf), 0o600)); err != nil {
		return nil, err
	}
	p := &process{name: name, log: home + "/log", make: func() *exec.Cmd {
		cmd := exec.Command(r.tools.redis, append([]string{file}, args...)...) //nolint:noctx // see end
		cmd.Env = os.Environ()
		if r.tools.shim != "" && len(args) == 0 {
			cmd.Env = append(cmd.Env, "LD_PRELOAD="+r.tools.shim, "CHAOS_SHIM="+r.knobs.path)
		}
		return cmd
	}}
	return p, p.start()
}

func (r *redis) openNode(ctx context.Context, i int) (n *node, err error) {
	n = &node{}
	for _, p := range []*int{&n.port, &n.bus, &n.way} {
		if *p, err = freePort(); err != nil {
			return nil, err
		}
	}
	conf := fmt.Sprintf("port %d\nsave \"\"\nappendonly yes\nappendfsync always\nmaxmemory-policy noeviction\n"+
		"repl-diskless-sync-delay 0\n", n.port)
	switch r.kind {
	case sentinel:
		conf += fmt.Sprintf("replica-announce-ip 127.0.0.1\nreplica-announce-port %d\n", n.way)
	case cluster:
		conf += fmt.Sprintf("cluster-enabled yes\ncluster-port %d\ncluster-node-timeout 1500\n"+
			"cluster-require-full-coverage no\ncluster-announce-ip 127.0.0.1\ncluster-announce-port %d\n"+
			"cluster-announce-bus-port %d\n", n.bus, n.way, n.bus)
	}
	n.admin = goredis.NewClient(options(local(n.port)))
	if n.process, err = r.server(fmt.Sprint("redis-", i), conf); err != nil {
		return nil, err
	}
	return n, eventually(ctx, 10*time.Second, n.name+" answers", func() error { return n.admin.Ping(ctx).Err() })
}

func options(addr string) *goredis.Options {
	return &goredis.Options{
		Addr: addr, Protocol: 2, DisableIdentity: true, MaxRetries: -1,
		DialTimeout: time.Second, ReadTimeout: time.Second,
	}
}

// meet makes a cluster of the nodes.
func (r *redis) meet(ctx context.Context) error {
	for i, n := range r.nodes {
		first, last := i*16384/len(r.nodes), (i+1)*16384/len(r.nodes)-1
		if err := n.admin.ClusterAddSlotsRange(ctx, first, last).Err(); err != nil {
			return err
		}
		if err := n.admin.Do(ctx, "cluster", "meet", "127.0.0.1", r.nodes[0].port, r.nodes[0].bus).Err(); err != nil {
			return err
		}
	}
	known := fmt.Sprint("cluster_known_nodes:", len(r.nodes))
	return eventually(ctx, time.Minute, "the cluster is complete", func() error {
		for _, n := range r.nodes {
			info := n.admin.ClusterInfo(ctx).Val()
			if !strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, known) {
				return fmt.Errorf("%s does not know the others yet", n.name)
			}
		}
		return nil
	})
}

// watch makes the other nodes replicas of the first, and lets three sentinels watch them.
func (r *redis) watch(ctx context.Context) error {
	for _, n := range r.nodes[1:] {
		err := n.admin.ReplicaOf(ctx, "127.0.0.1", fmt.Sprint(r.nodes[0].way)).Err()
		if err = errors.Join(err, n.admin.ConfigRewrite(ctx).Err()); err != nil {
			return err
		}
	}
	for i := range 3 {
		port, err := freePort()
		if err != nil {
			return err
		}
		s, err := r.server(fmt.Sprint("sentinel-", i), fmt.Sprintf("port %d\n"+
			"sentinel monitor %[2]s 127.0.0.1 %[3]d 2\nsentinel down-after-milliseconds %[2]s 800\n"+
			"sentinel failover-timeout %[2]s 3000\n"+
			"sentinel parallel-syncs %[2]s 1\n", port, masterName, r.nodes[0].way), "--sentinel")
		if err != nil {
			return err
		}
		r.watchers, r.sentinels = append(r.watchers, local(port)), append(r.sentinels, s)
	}
	return eventually(ctx, time.Minute, "the sentinels know the replicas and each other", func() error {
		m := r.asked(ctx, r.watchers[0])
		if m["num-slaves"] != "2" || m["num-other-sentinels"] != "2" {
			return fmt.Errorf("one knows %q replicas and %q sentinels", m["num-slaves"], m["num-other-sentinels"])
		}
		return nil
	})
}

// asked is what a sentinel says of the master; nothing if it does not answer.
func (*redis) asked(ctx context.Context, addr string) map[string]string {
	s := goredis.NewSentinelClient(options(addr))
	defer s.Close() //nolint:errcheck // it was only asked
	return s.Master(ctx, masterName).Val()
}

// master is the node that the sentinels send gateways to; nil if none of them answers.
func (r *redis) master(ctx context.Context) *node {
	for _, addr := range r.watchers {
		port := r.asked(ctx, addr)["port"]
		if i := slices.IndexFunc(r.nodes, func(n *node) bool { return port == fmt.Sprint(n.way) }); i >= 0 {
			return r.nodes[i]
		}
	}
	return nil
}

// whole waits until the sentinels' master has both replicas: without them no write counts, and one fault after the
// other would leave nothing to look at. A master of before comes back as a master. Sentinel may take twenty seconds to
// make a replica of it; after three the run does so, like an operator.
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
		online := strings.Count(info, "state=online")
		if err != nil || !strings.Contains(info, "role:master") || online != len(r.nodes)-1 {
			return errors.Join(err, fmt.Errorf("%s lacks a replica", m.name))
		}
		return nil
	}
	if eventually(ctx, 3*time.Second, "by itself", replicas) == nil {
		return nil
	}
	return eventually(ctx, time.Minute, "the master has its replicas", func() error {
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
		n.signal(syscall.SIGCONT) // it may be stopped
		_ = n.kill()
		_ = n.admin.Close()
	}
}

// knobs is the file that the shim in Redis reads: how far its clock is off, and how slow its disk is. Only one fault at
// a time sets them.
type knobs struct {
	path  string
	moves history
}

func (k *knobs) set(clock, disk time.Duration) error {
	b := binary.NativeEndian.AppendUint64(nil, uint64(clock.Milliseconds()))
	b = binary.NativeEndian.AppendUint64(b, uint64(disk.Milliseconds()))
	began := time.Now()
	f, err := os.OpenFile(k.path, os.O_CREATE|os.O_WRONLY, 0o600) // not truncated: it is mapped
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, 0)
	k.moves = append(k.moves, move{began, time.Now(), clock})
	return errors.Join(err, f.Close())
}
