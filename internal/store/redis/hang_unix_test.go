//go:build unix

package redis_test

import (
	"syscall"

	"github.com/openclaw-verifier/verifier/internal/store/redistest"
)

func hang(s *redistest.Server) { s.Signal(syscall.SIGSTOP) }
func goOn(s *redistest.Server) { s.Signal(syscall.SIGCONT) }
