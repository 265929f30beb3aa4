//go:build unix

package redis_test

import (
	"syscall"
	"testing"
)

func TestH42Hung(t *testing.T) {
	fault{
		strike: func(s *server) { s.Signal(syscall.SIGSTOP) },
		heal:   func(s *server) { s.Signal(syscall.SIGCONT) },
	}.run(t)
}
