package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// trouble fails one operation of a rotation with no space left, or ends the
// process before or after it.
type trouble struct {
	realFiles
	fail, before, after int
	n                   int
}

func (x *trouble) do(op func() error) error {
	x.n++
	switch x.n {
	case x.fail:
		return syscall.ENOSPC
	case x.before:
		die()
	}
	err := op()
	if x.n == x.after {
		die()
	}
	return err
}

func die() {
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	select {}
}

func (x *trouble) create(path string) (f *os.File, err error) {
	err = x.do(func() error { f, err = x.realFiles.create(path); return err })
	return f, err
}
func (x *trouble) link(old, name string) error {
	return x.do(func() error { return x.realFiles.link(old, name) })
}
func (x *trouble) rename(old, name string) error {
	return x.do(func() error { return x.realFiles.rename(old, name) })
}
func (x *trouble) remove(path string) error {
	return x.do(func() error { return x.realFiles.remove(path) })
}
func (x *trouble) seal(path string) error {
	return x.do(func() error { return x.realFiles.seal(path) })
}

// rotationSteps are create, link, rename and seal; with Keep there is a remove.
const rotationSteps = 5

func TestH46ARotationThatFailsDeniesAndRecovers(t *testing.T) {
	for step := 1; step <= 3; step++ {
		path := filepath.Join(t.TempDir(), "record.jsonl")
		l := mustOpen(t, path, rotating(1500))
		x := &trouble{fail: step}
		l.files = x
		var kept []string
		failed := 0
		for _, n := range numbers(20) {
			err := l.Append(Entry{Kind: KindNote, Note: n})
			if err == nil {
				kept = append(kept, n)
				continue
			}
			if failed++; !errors.Is(err, syscall.ENOSPC) || !errors.Is(l.Err(), syscall.ENOSPC) {
				t.Errorf("step %d: append %v, health %v", step, err, l.Err())
			}
		}
		if failed != 1 || l.Err() != nil {
			t.Errorf("step %d: %d appends failed; health %v", step, failed, l.Err())
		}
		mustClose(t, l)
		head := l.Head()
		if r, got := whole(t, path, &head); !slices.Equal(got, kept) || r.Files < 3 {
			t.Errorf("step %d: %d files hold %v, want %v", step, r.Files, got, kept)
		}
	}
}

const envDie = "VERIFIER_TEST_ROTATION_DIE"

// TestRotationProcess is no test: it is the process that TestKillDuringARotation
// starts.
func TestRotationProcess(t *testing.T) {
	var path string
	x := &trouble{}
	if n, _ := fmt.Sscan(os.Getenv(envDie), &path, &x.before, &x.after); n != 3 {
		return
	}
	o := rotating(1500)
	o.Rotation.Keep = 1
	l := mustOpen(t, path, o)
	l.files = x
	for _, n := range numbers(40) {
		mustAppend(t, l, n)
		fmt.Println(n)
	}
}

func TestH44KillDuringARotation(t *testing.T) {
	for i := 1; i <= 2*(2*rotationSteps); i++ {
		var before, after int
		if before = (i + 1) / 2; i%2 == 0 {
			before, after = 0, before
		}
		path := filepath.Join(t.TempDir(), "record.jsonl")
		cmd := exec.CommandContext(context.Background(), os.Args[0], "-test.run=^TestRotationProcess$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d", envDie, path, before, after))
		out, err := cmd.Output()
		if err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("before %d, after %d: the process ended with %v", before, after, err)
		}
		told := strings.Split(strings.TrimSpace(string(out)), "\n")
		o := rotating(1500)
		o.Rotation.Keep = 1
		l := mustOpen(t, path, o)
		if len(l.Repairs()) > 0 {
			t.Errorf("before %d, after %d: repairs %v", before, after, l.Repairs())
		}
		tidied(t, path)
		_, got := whole(t, path, nil)
		if at := len(told) - len(got); at < 0 || !slices.Equal(told[at:], got) {
			t.Errorf("before %d, after %d: told %v, recorded %v", before, after, told, got)
		}
		mustAppend(t, l, numbers(20)...)
		mustClose(t, l)
		whole(t, path, nil)
		if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) > 3 {
			t.Errorf("before %d, after %d: %v left behind, %v", before, after, left, err)
		}
	}
}

// tidied checks that nothing is left of a rotation that was interrupted.
func tidied(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(nextName(path)); err == nil {
		t.Error("the file that was made ready is still there")
	}
	closed, err := archives(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range closed {
		if info, err := os.Stat(a.path); err != nil || info.Mode().Perm() != readOnly || sameFile(a.path, path) {
			t.Errorf("%s: %v, %v", a.path, info, err)
		}
	}
}

// lastSync is a disk that can't sync any more.
type lastSync struct{ disk }

func (lastSync) Sync() error { return syscall.EIO }

// A line whose file was closed, and so brought to the disk, is not taken back by
// what happens to the next file.
func TestALineInAClosedFileNeedsNoOtherSync(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.jsonl")
	o := testOptions()
	o.SyncEach = true
	l := mustOpen(t, path, o)
	l.syncing <- struct{}{}
	done := make(chan error, 1)
	go func() { done <- l.Append(Entry{Kind: KindNote, Note: "waits"}) }()
	for waits := false; !waits; {
		l.mu.Lock()
		if waits = l.open != nil; waits {
			if err := l.rotate(); err != nil {
				t.Error(err)
			}
			l.disk = lastSync{l.disk}
		}
		l.mu.Unlock()
	}
	<-l.syncing
	if err := <-done; err != nil {
		t.Errorf("the line in the closed file: %v", err)
	}
	if got := notes(t, []string{archiveName(path, 1)}); !slices.Equal(got, []string{"waits"}) {
		t.Errorf("the closed file holds %v", got)
	}
	if err := l.Append(Entry{Kind: KindNote, Note: "fails"}); !errors.Is(err, syscall.EIO) {
		t.Errorf("the line in the new file: %v", err)
	}
	_ = l.Close()
}

func TestH46AFullDiskDuringARotation(t *testing.T) {
	dir := smallDisk(t)
	path, ballast := filepath.Join(dir, "record.jsonl"), filepath.Join(dir, "ballast")
	l := mustOpen(t, path, rotating(9000))
	mustAppend(t, l, numbers(14)...)
	if l.due.Load() {
		t.Fatal("it is due already")
	}
	fill := func() {
		f, err := os.Create(ballast)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for err == nil {
			_, err = f.Write(make([]byte, 512))
		}
	}
	kept := numbers(14)
	for !l.due.Load() {
		mustAppend(t, l, "last")
		kept = append(kept, "last")
	}
	fill()
	for range 3 {
		if err := l.Append(Entry{Kind: KindNote, Note: "denied"}); !errors.Is(err, syscall.ENOSPC) || l.Err() == nil {
			t.Fatalf("append: %v; health: %v", err, l.Err())
		}
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, "space again")
	if l.Err() != nil {
		t.Errorf("health: %v", l.Err())
	}
	mustClose(t, l)
	if r, got := whole(t, path, nil); r.Files != 2 || !slices.Equal(got, append(kept, "space again")) {
		t.Errorf("%d files hold %v", r.Files, got)
	}
}
