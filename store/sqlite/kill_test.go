package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/sqlite"
	"github.com/openclaw-verifier/verifier/taint"
)

// childDatabase names the database in the environment of a process that this
// test starts in order to kill it.
const childDatabase = "VERIFIER_TEST_KILL_DATABASE"

// child admits calls for ever, eight at a time, and prints the number of each
// after its commit.
func child() {
	path := os.Getenv(childDatabase)
	if path == "" {
		return
	}
	s, err := sqlite.Open(path, sqlite.Options{Timeout: time.Minute})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	var mu sync.Mutex
	for worker := range 8 {
		go func() {
			for i := worker; ; i += 8 {
				a := admission(i%5, i)
				a.Raise = taint.Level(i % taint.Levels)
				_, err := s.Admit(context.Background(), a)
				mu.Lock()
				if err == nil {
					_, err = fmt.Println("admitted", i)
				}
				if err != nil {
					os.Exit(1)
				}
				mu.Unlock()
			}
		}()
	}
	select {}
}

func TestH44EveryAnswerSurvivesKill9(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	for round := range 3 {
		admitted := killed(t, path, 200*(round+1))
		s := open(t, path, sqlite.Options{})
		for _, i := range admitted {
			v, err := s.Admit(t.Context(), admission(i%5, i))
			if err != nil || !v.Replayed || v.Entry != session.Passed {
				t.Fatalf("round %d: request %d was answered before the kill, and now: %+v, %v", round, i, v, err)
			}
			if v.Level != taint.Untrusted {
				t.Fatalf("round %d: conversation %d is %v after a restart", round, i%5, v.Level)
			}
		}
		// A new child numbers its requests from 0 again: these are known by now.
		must(t, s.Exec(t.Context(), `DELETE FROM records WHERE key GLOB '??:r:*'`))
		must(t, s.Close())
	}
}

// killed runs a child on the database until it has printed n answers, kills it
// with SIGKILL in the middle of its work, and gives what it had printed.
func killed(t *testing.T, path string, n int) (admitted []int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childDatabase+"="+path)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		number, found := strings.CutPrefix(lines.Text(), "admitted ")
		i, err := strconv.Atoi(number)
		if !found || err != nil {
			t.Fatalf("the child says %q", lines.Text())
		}
		if admitted = append(admitted, i); len(admitted) == n {
			must(t, cmd.Process.Kill())
		}
	}
	if err := cmd.Wait(); err == nil || len(admitted) < n {
		t.Fatalf("the child ended by itself after %d answers: %v", len(admitted), err)
	}
	return admitted
}
