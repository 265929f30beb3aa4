package record

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
)

func otherKey() ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, ed25519.SeedSize))
}

// smallDisk mounts 64 KiB of real file system that can be filled up.
func smallDisk(t *testing.T) string {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("needs root on Linux to mount a small tmpfs; CI is root on Linux")
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no tmpfs can be mounted here, as in CI it can: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.CommandContext(context.Background(), "umount", "-l", dir).Run() })
	return dir
}

func TestH46FullDisk(t *testing.T) {
	for _, each := range []bool{false, true} {
		t.Run(fmt.Sprintf("syncEach=%v", each), func(t *testing.T) { fullDisk(t, smallDisk(t), each) })
	}
}

func fullDisk(t *testing.T, dir string, each bool) {
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 32<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "audit.jsonl")
	o := testOptions()
	o.SyncEach = each
	l := mustOpen(t, path, o)
	var err error
	written := 0
	for ; err == nil; written++ {
		err = l.Append(Entry{Kind: KindNote, Note: strings.Repeat("x", 700)})
	}
	if !errors.Is(err, syscall.ENOSPC) || !errors.Is(l.Err(), syscall.ENOSPC) {
		t.Fatalf("append: %v; health: %v", err, l.Err())
	}
	head := l.Head()
	if r := verifies(t, path, &head); r.Entries != written-1 {
		t.Errorf("%d entries in the file, %d were accepted", r.Entries, written-1)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, strings.Repeat("y", 5000))
	if l.Err() != nil {
		t.Errorf("health after space is back: %v", l.Err())
	}
	mustClose(t, l)
	head = l.Head()
	if r := verifies(t, path, &head); r.Entries != written || r.Repairs != 0 {
		t.Errorf("report %+v, want %d entries", r, written)
	}
}

// faulty is a disk that fails when told to.
type faulty struct {
	disk
	write, truncate error
	partial         int // bytes that a failing write leaves behind
	truncates       int
	syncs           atomic.Int64
	gate            chan error // not nil: every sync waits for its result here
}

func (f *faulty) Write(p []byte) (int, error) {
	if f.write == nil {
		return f.disk.Write(p)
	}
	n, _ := f.disk.Write(p[:min(f.partial, len(p))])
	return n, f.write
}

func (f *faulty) Truncate(size int64) error {
	f.truncates++
	if f.truncate != nil {
		return f.truncate
	}
	return f.disk.Truncate(size)
}

func (f *faulty) Sync() error {
	f.syncs.Add(1)
	if f.gate == nil {
		return nil
	}
	return <-f.gate
}

func faultyLog(t *testing.T, o Options) (*Log, *faulty, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := mustOpen(t, path, o)
	f := &faulty{disk: l.disk}
	l.disk = f
	return l, f, path
}

func TestH46APartialWriteThatCannotBeCutBackHealsLater(t *testing.T) {
	boom := errors.New("boom")
	l, f, path := faultyLog(t, testOptions())
	mustAppend(t, l, "good")
	before, size := l.Head(), len(contents(t, path))

	f.write, f.truncate, f.partial = boom, boom, 40
	for range 2 {
		if err := l.Append(Entry{Kind: KindNote, Note: "lost"}); !errors.Is(err, boom) {
			t.Fatalf("append: %v", err)
		}
	}
	if got := len(contents(t, path)); got != size+40 || l.Head() != before {
		t.Fatalf("file grew by %d, want 40: a broken log must not write", got-size)
	}
	f.write = nil
	if err := l.Append(Entry{Kind: KindNote}); !errors.Is(err, boom) || !errors.Is(l.Err(), boom) {
		t.Fatalf("append to a torn file: %v", err)
	}
	f.truncate, f.truncates = nil, 0
	mustAppend(t, l, "back", "for good")
	if f.truncates != 1 {
		t.Errorf("cut back %d times", f.truncates)
	}
	mustClose(t, l)
	head := l.Head()
	if r := verifies(t, path, &head); r.Entries != 3 || l.Err() != nil {
		t.Errorf("report %+v, health %v", r, l.Err())
	}
}

func TestH46AFailedCheckpointIsTriedAgainAndIsNotTheEntrysFault(t *testing.T) {
	boom := errors.New("boom")
	l, f, path := faultyLog(t, testOptions())
	mustAppend(t, l, "two", "three")
	l.disk = &failAfter{faulty: f, good: 1, err: boom}
	mustAppend(t, l, "four: its checkpoint fails")
	if !errors.Is(l.Err(), boom) {
		t.Errorf("health %v", l.Err())
	}
	l.disk = f
	mustAppend(t, l, "five")
	if l.Err() != nil {
		t.Errorf("health %v", l.Err())
	}
	if r := verifies(t, path, nil); r.Checkpoints != 1 || r.Unsigned != 1 {
		t.Errorf("report %+v", r)
	}
}

// failAfter lets some writes pass.
type failAfter struct {
	*faulty
	good int
	err  error
}

func (f *failAfter) Write(p []byte) (int, error) {
	if f.good--; f.good >= 0 {
		return f.faulty.Write(p)
	}
	return 0, f.err
}

// startSync leaves one Append inside its sync and others waiting for the next.
func startSync(t *testing.T, l *Log, f *faulty, others int) (errs chan error) {
	t.Helper()
	f.gate = make(chan error)
	errs = make(chan error, others+1)
	for range others + 1 {
		go func() { errs <- l.Append(Entry{Kind: KindNote, Note: "grouped"}) }()
		synctest.Wait()
	}
	return errs
}

func TestAppendersShareASync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions()
		o.SyncEach = true
		l, f, path := faultyLog(t, o)
		before := l.Head()
		errs := startSync(t, l, f, 31)
		if len(errs) != 0 || l.Head() != before {
			t.Fatalf("%d returned before their sync; head %v", len(errs), l.Head())
		}
		close(f.gate)
		synctest.Wait()
		for range 32 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if n := f.syncs.Load(); n != 2 {
			t.Errorf("%d syncs for 32 lines, want 2", n)
		}
		mustClose(t, l)
		head := l.Head()
		if r := verifies(t, path, &head); r.Entries != 32 {
			t.Errorf("report %+v", r)
		}
	})
}

func TestAFailedSyncTakesBackWhatNobodyWasPromised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boom := errors.New("boom")
		o := testOptions()
		o.SyncEach = true
		l, f, path := faultyLog(t, o)
		before := l.Head()
		errs := startSync(t, l, f, 7)
		f.gate <- boom // the first sync; all later ones are fine
		close(f.gate)
		synctest.Wait()
		for range 8 {
			if err := <-errs; !errors.Is(err, boom) {
				t.Errorf("append: %v", err)
			}
		}
		if l.Head() != before || !errors.Is(l.Err(), boom) {
			t.Errorf("head %v, health %v", l.Head(), l.Err())
		}
		if n := f.syncs.Load(); n != 1 {
			t.Errorf("%d syncs: lines that stood upon lost ones were synced", n)
		}
		mustAppend(t, l, "back")
		mustClose(t, l)
		head := l.Head()
		if r := verifies(t, path, &head); r.Entries != 1 || l.Err() != nil {
			t.Errorf("report %+v, health %v", r, l.Err())
		}
	})
}

func TestCloseWaitsForLinesInTheirSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions()
		o.SyncEach = true
		l, f, path := faultyLog(t, o)
		errs := startSync(t, l, f, 3)
		closed := make(chan error, 1)
		go func() { closed <- l.Close() }()
		synctest.Wait()
		if len(closed) != 0 {
			t.Fatal("closed during a sync")
		}
		close(f.gate)
		for range 4 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
		verifies(t, path, nil)
	})
}
