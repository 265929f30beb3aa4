package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

const (
	firstSecret  = "3d1f60b4c2a94e8d8c57b0a1f92e6d34"
	secondSecret = "a84c0e7b91d24f6fb3c56e2d07f1984a"
)

// reloading is a gateway that reads its config from a file at each hang-up.
func reloading(t *testing.T, text string) (r *rig, write func(text string)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "verifier.yaml")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	load := func() (*config.Config, policy.Guard, error) {
		c, _, err := config.Load(file, os.LookupEnv, builtin.platforms())
		return c, policy.Guard{}, err
	}
	put(text)
	first, _, err := load()
	if err != nil {
		t.Fatal(err)
	}
	r = newRig(t, func(c *config.Config) { *c = *first })
	signals := make(chan os.Signal)
	go r.g.reloadOn(t.Context(), signals, load)
	return r, func(text string) {
		put(text)
		before := strings.Count(r.log.String(), "reloaded")
		signals <- syscall.SIGHUP
		redistest.Eventually(t, "the reload is told", func() bool { return strings.Count(r.log.String(), "reloaded") > before })
	}
}

func TestAReloadedPolicyHoldsForTheNextCall(t *testing.T) {
	t.Parallel()
	r, write := reloading(t, "webhook: {secret: "+firstSecret+"}\n")
	r.secret = firstSecret
	c := call{tool: "exec", params: `{"command":"ls"}`, context: ownerIn("m")}
	r.allow(c)
	write("webhook: {secret: " + firstSecret + ", path: /other}\ntoolOverrides: {exec: {\"*\": restrict}}\n")
	r.deny(c)
	for _, told := range []string{"changed=[policy]", "keys=[webhook.path]"} {
		if !strings.Contains(r.log.String(), told) {
			t.Errorf("the log does not say %s:\n%s", told, r.log)
		}
	}
}

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
