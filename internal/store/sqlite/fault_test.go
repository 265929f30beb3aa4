package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/internal/store/sqlite"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/test/long"
)

// childDatabase names the database in the environment of a process that a test starts in order to kill it.
const childDatabase = "VERIFIER_TEST_KILL_DATABASE"

func TestMain(m *testing.M) {
	if path := os.Getenv(childDatabase); path != "" {
		child(path)
	}
	os.Exit(m.Run())
}

func database(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "state", "state.db")
}

func open(t *testing.T, path string) (*sqlite.Backend, *store.Store) {
	t.Helper()
	b, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := storeOn(b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return b, s
}

func storeOn(b store.Backend) (*store.Store, error) {
	return store.Open(context.Background(), store.Options{
		Backend: b, Key: hmac.Key("key"), Clients: func() []string { return []string{"laptop"} },
	})
}

// allow allows request i in a conversation that it makes worse, and reports whether it was met.
func allow(s *store.Store, i int) (met bool, err error) {
	err = s.Update(context.Background(), store.Name{Client: "laptop", Key: fmt.Sprint(i % 5)}, func(t *store.Tx) error {
		id := fmt.Sprint("r", i)
		met = t.Request(id) != nil
		t.C.Raise("", taint.Level(i%taint.Levels), "x", t.Now)
		t.Decide(store.Request{ID: id, Allow: true, By: strings.Repeat("x", 200), Keep: time.Hour})
		return nil
	})
	return met, err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// child allows requests for ever, eight at a time, and prints the number of each after its commit.
func child(path string) {
	b, err := sqlite.Open(context.Background(), path, nil)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	s, err := storeOn(b)
	if err != nil {
		os.Exit(1)
	}
	var mu sync.Mutex
	for worker := range 8 {
		go func() {
			for i := worker; ; i += 8 {
				if _, err := allow(s, i); err != nil {
					continue // a busy machine
				}
				mu.Lock()
				if _, err := fmt.Println("allowed", i); err != nil {
					os.Exit(1)
				}
				mu.Unlock()
			}
		}()
	}
	select {}
}

func TestH44EveryAnswerSurvivesKill9(t *testing.T) {
	long.Only(t, "kill -9")
	for round := range 3 {
		path := database(t)
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), childDatabase+"="+path)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		var allowed []int
		for lines := bufio.NewScanner(out); lines.Scan(); {
			i, err := strconv.Atoi(strings.TrimPrefix(lines.Text(), "allowed "))
			must(t, err)
			if allowed = append(allowed, i); len(allowed) == 500*(round+1) {
				must(t, cmd.Process.Kill())
			}
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the child ended by itself")
		}
		_, s := open(t, path)
		for _, i := range allowed {
			if met, err := allow(s, i); err != nil || !met {
				t.Fatalf("request %d was answered before the kill: %v, %v", i, met, err)
			}
		}
		for n := range 5 {
			c, err := s.Look(t.Context(), store.Name{Client: "laptop", Key: fmt.Sprint(n)})
			if err != nil || c.Worst() != taint.Untrusted {
				t.Errorf("conversation %d is %v after the kill, %v", n, c.Worst(), err)
			}
		}
	}
}

func TestOneProcessHasTheDatabase(t *testing.T) {
	path := database(t)
	_, s := open(t, path)
	if _, err := sqlite.Open(t.Context(), path, nil); !errors.Is(err, sqlite.ErrInUse) {
		t.Errorf("opened twice: %v", err)
	}
	_, err := allow(s, 1)
	must(t, err)
	must(t, s.Close())
	_, s = open(t, path)
	if met, err := allow(s, 1); !met || err != nil {
		t.Errorf("after the restart: %v, %v", met, err)
	}
}

func TestOthersCannotReadIt(t *testing.T) {
	path := database(t)
	_, s := open(t, path)
	_, err := allow(s, 1)
	must(t, err)
	for _, p := range []string{path, path + "-wal"} {
		info, err := os.Stat(p)
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", p, info, err)
		}
	}
	must(t, s.Close())
	must(t, os.Chmod(path, 0o644))
	if _, err := sqlite.Open(t.Context(), path, nil); !errors.Is(err, store.ErrExposed) {
		t.Errorf("opened a file that others can read: %v", err)
	}
}

func TestWhatIsNotOursIsRefused(t *testing.T) {
	for what, do := range map[string]func(path string){
		"no database": func(path string) {
			must(t, os.WriteFile(path, []byte(strings.Repeat("no database", 100)),
				0o600))
		},
		"another version": func(path string) {
			b, s := open(t, path)
			must(t, b.Exec(t.Context(), "PRAGMA user_version = 12"))
			must(t, s.Close())
		},
		"a dump": func(path string) {
			b, s := open(t, path)
			must(t, b.Exec(t.Context(), "PRAGMA user_version = 0"))
			must(t, s.Close())
		},
	} {
		path := filepath.Join(t.TempDir(), "state.db")
		do(path)
		if b, err := sqlite.Open(t.Context(), path, nil); err == nil {
			t.Errorf("%s is opened", what)
			must(t, b.Close())
		}
	}
}

func TestReadyNoticesThatTheFileIsGone(t *testing.T) {
	path := database(t)
	_, s := open(t, path)
	must(t, s.Ready(t.Context()))
	must(t, os.Remove(path))
	if err := s.Ready(t.Context()); !errors.Is(err, sqlite.ErrReplaced) {
		t.Errorf("ready without its file: %v", err)
	}
}

func TestH46AFullDiskIsAnErrorThatPasses(t *testing.T) {
	b, s := open(t, database(t))
	_, err := allow(s, 0)
	must(t, err)
	must(t, b.Exec(t.Context(), "PRAGMA max_page_count = 1")) // as many as there are
	refused := 0
	for i := 1; i < 500 && refused == 0; i++ {
		if _, err := allow(s, i); err != nil {
			refused = i
		}
	}
	if refused == 0 {
		t.Fatal("a full disk was never an error")
	}
	must(t, b.Exec(t.Context(), "PRAGMA max_page_count = 100000"))
	if met, err := allow(s, refused); met || err != nil {
		t.Fatalf("something of the refused call was kept: %v, %v", met, err)
	}
}

func TestH42AHungDatabaseIsAnErrorInTime(t *testing.T) {
	var hangs sync.Mutex // each transaction asks what time it is
	var panics atomic.Bool
	b, err := sqlite.Open(t.Context(), database(t), func() time.Time {
		hangs.Lock()
		defer hangs.Unlock()
		if panics.Load() {
			panic("x")
		}
		return time.Now()
	})
	must(t, err)
	s, err := storeOn(b)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	_, err = allow(s, 0)
	must(t, err)
	panics.Store(true)
	if _, err := allow(s, 1); err == nil {
		t.Error("a panic is no error")
	}
	panics.Store(false)
	hangs.Lock()
	began := time.Now()
	var callers sync.WaitGroup
	for i := range 200 { // more than the queue holds
		callers.Go(func() {
			if _, err := allow(s, i); err == nil {
				t.Error("a hung store allowed a call")
			}
		})
	}
	callers.Wait()
	if took := time.Since(began); took > time.Second { // half a second, on a machine that does much else
		t.Errorf("it took %v to fail", took)
	}
	hangs.Unlock()
	for i := range 200 {
		if met, err := allow(s, 1000+i); met || err != nil {
			t.Fatalf("afterwards: %v, %v", met, err)
		}
	}
}

func TestAFailureUndoesItselfAndNobodyElse(t *testing.T) {
	b, s := open(t, database(t))
	_, err := allow(s, 0)
	must(t, err)
	must(t, b.Exec(t.Context(), "PRAGMA max_page_count = 100"))
	var callers sync.WaitGroup
	for i := range 20 { // they share a transaction, or nearly all do
		callers.Go(func() {
			if i%5 == 0 {
				if s.Keep(t.Context(), fmt.Sprint(i), make([]byte, 1<<20)) == nil {
					t.Error("what does not fit is kept")
				}
			} else if err := s.Keep(t.Context(), fmt.Sprint(i), []byte("x")); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
}

func TestCloseAnswersEveryone(t *testing.T) {
	b, s := open(t, database(t))
	watching := make(chan error)
	go func() { watching <- s.Watch(context.Background(), func(string) {}) }()
	var callers sync.WaitGroup
	for i := range 50 {
		callers.Go(func() { _, _ = allow(s, i) })
	}
	must(t, s.Close())
	callers.Wait()
	if err := <-watching; !errors.Is(err, store.ErrClosed) {
		t.Errorf("watching ended with %v", err)
	}
	if _, err := allow(s, 99); !errors.Is(err, store.ErrClosed) {
		t.Errorf("a closed store says %v", err)
	}
	must(t, b.Close())
}
