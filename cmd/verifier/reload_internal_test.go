package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/internal/store/redistest"
)

const (
	firstSecret  = "3d1f60b4c2a94e8d8c57b0a1f92e6d34"
	secondSecret = "a84c0e7b91d24f6fb3c56e2d07f1984a"
)

func TestAChangedFileAsksForAReload(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "verifier.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := "a"
	write(text)
	wanted := make(chan os.Signal, 1)
	go stamps{}.watch(t.Context(), func() []string { return []string{file} }, func() bool { return false }, time.Millisecond, wanted)
	redistest.Eventually(t, "the change is noticed", func() bool {
		text += "a"
		write(text)
		select {
		case <-wanted:
			return true
		default:
			return false
		}
	})
}
