package main

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// redisKind is a real Redis that keeps nothing on disk.
var redisKind = kind{title: "Redis", command: func(ctx context.Context, _ *bench, dir, addr string) (*exec.Cmd, error) {
	host, port, err := net.SplitHostPort(addr)
	return exec.CommandContext(ctx, "redis-server", "--port", port, "--bind", host, "--dir", dir, "--save", ""), err
}}

// redisServer is one that runs, and how it is asked about itself.
type redisServer struct {
	*server
	admin *goredis.Client
}

func (b *bench) startRedis(ctx context.Context) error {
	s, err := b.start(ctx, redisKind)
	if err == nil {
		b.redis.server = s
		b.redis.admin = goredis.NewClient(&goredis.Options{Addr: s.address, Protocol: 2, DisableIdentity: true})
	}
	return err
}

// trips is how often Redis has read from a client: once for each round trip, whatever is sent together.
func (r *redisServer) trips(ctx context.Context) (n int64) {
	_, _ = fmt.Sscan(r.info(ctx, "stats", "total_reads_processed:"), &n)
	return n
}

// scriptCost is how long a script keeps Redis busy, by its own account.
func (r *redisServer) scriptCost(ctx context.Context) time.Duration {
	var calls, us int64
	_, _ = fmt.Sscanf(r.info(ctx, "commandstats", "cmdstat_evalsha:"), "calls=%d,usec=%d", &calls, &us)
	return time.Duration(us) * time.Microsecond / time.Duration(max(1, calls))
}

// info is what follows a name in a section of INFO.
func (r *redisServer) info(ctx context.Context, section, name string) string {
	_, rest, _ := strings.Cut(r.admin.Info(ctx, section).Val(), name)
	line, _, _ := strings.Cut(rest, "\r\n")
	return line
}
