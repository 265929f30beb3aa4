package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/pprof"
	"slices"
)

// How the program tells a server what it is to be.
const (
	roleVariable    = "BENCH_ROLE"
	dirVariable     = "BENCH_DIR"
	redisVariable   = "BENCH_REDIS"
	othersVariable  = "BENCH_OTHERS"
	profileVariable = "BENCH_CPUPROFILE"
)

// What a server is asked on its stdin.
const (
	askUsed   = "used"   // CPU time and trips to the store
	askMemory = "memory" // see memory
	askAsked  = "asked"  // how many questions were put to people
)

// serveRole is a server's life: it says where it listens, answers each line on
// its stdin, and ends when stdin does, and so with its parent.
func serveRole(name string) (err error) {
	r, ok := findRole(name)
	if !ok {
		return fmt.Errorf("there is no role %q", name)
	}
	p := place{dir: os.Getenv(dirVariable), redis: os.Getenv(redisVariable), others: os.Getenv(othersVariable), count: &trips{}}
	s, err := r.open(p)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if s.address == "" {
		if err := s.here(ctx); err != nil {
			return errors.Join(err, s.close())
		}
	}
	stopProfile, err := profile(os.Getenv(profileVariable))
	if err != nil {
		return errors.Join(err, s.close())
	}
	fmt.Println(s.address)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		switch lines.Text() {
		case askUsed:
			fmt.Println(s.cpu().Nanoseconds(), p.count.n.Load())
		case askMemory:
			fmt.Println(takeMemory())
		case askAsked:
			fmt.Println(s.asked())
		}
	}
	cancel()
	return errors.Join(stopProfile(), s.close())
}

// here serves in this process.
func (s *running) here(ctx context.Context) error {
	l, err := listen(ctx)
	if err != nil {
		return err
	}
	s.address, s.cpu = l.Addr().String(), cpuTime
	if s.tend != nil {
		go s.tend(ctx)
	}
	go func() { _ = s.serve(l) }() // ends when it is closed
	return nil
}

// listen takes any free port of the loopback.
func listen(ctx context.Context) (net.Listener, error) {
	var c net.ListenConfig
	return c.Listen(ctx, "tcp", "127.0.0.1:0")
}

func findRole(name string) (role, bool) {
	all := slices.Clone(roles)
	all = append(append(all, heldRoles...), againRoles...)
	for _, r := range all {
		if r.name == name {
			return r, true
		}
	}
	return role{}, false
}

func profile(path string) (stop func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error { pprof.StopCPUProfile(); return f.Close() }, nil
}
