package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
)

func TestLinesOfManyStayInOneChainAcrossFilesAndStarts(t *testing.T) {
	t.Parallel()
	path, told := newPath(t), map[string]bool{}
	for start := range 3 {
		l := mustOpen(t, path, rotating(3000))
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for j := range 20 {
					if err := l.Append(Entry{Kind: KindNote, Note: fmt.Sprint(start, i, j)}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		mustClose(t, l)
		if err := l.Append(Entry{Kind: KindNote}); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		if len(l.Repairs()) > 0 {
			t.Errorf("a good stop needed repairs: %q", l.Repairs())
		}
		head := l.Head()
		r, got := verifies(t, path, &head)
		for _, n := range got {
			told[n] = true
		}
		if len(told) != 160*(start+1) || len(got) != len(told) || r.Entries != len(got) || r.Files < 8*start {
			t.Fatalf("start %d: %d notes, %+v", start, len(told), r)
		}
	}
	for _, f := range listed(t, path) {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f, info, err)
		}
	}
}

// The end that a death of the process leaves, at each byte of it, with the line before it begun in the same file or in
// the one before. The first line of a file is there whole or not at all.
func TestATornEndIsClosedOffAtEveryOffset(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{"one file": testOptions(), "a new file": rotating(1)} {
		path := newPath(t)
		paths, _ := written(t, path, o, "one", "two", "three")
		last := paths[len(paths)-1]
		raw, before := contents(t, last), map[string][]byte{}
		for _, p := range paths {
			before[p] = contents(t, p)
		}
		whole := splitLines(raw)
		for cut := len(raw) - len(whole[len(whole)-1]); cut < len(raw); cut++ {
			for _, tail := range []string{"", "\x00\x00", "\x00{}\n", "\x00\n\x00\n\x00"} {
				for _, p := range listed(t, path) {
					remove(t, p)
				}
				before[last] = append(bytes.Clone(raw[:cut]), tail...)
				for p, text := range before {
					put(t, p, text)
				}
				l, err := Open(path, testOptions())
				if err != nil {
					t.Fatalf("%s, %d bytes and %q: %v", name, cut, tail, err)
				}
				mustAppend(t, l, "four")
				mustClose(t, l)
				_, got := verifies(t, path, nil)
				if !slices.Equal(got[:2], []string{"one", "two"}) || got[len(got)-1] != "four" {
					t.Fatalf("%s, %d bytes and %q: %q", name, cut, tail, got)
				}
			}
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	first := func(path string) string { return fileName(path, 1) }
	other := Options{Key: []byte("another key")}
	for name, tt := range map[string]struct {
		spoil func(t *testing.T, path string)
		o     Options
		want  error
	}{
		"no key":           {func(*testing.T, string) {}, Options{}, nil},
		"another key":      {func(*testing.T, string) {}, other, ErrForged},
		"readable by some": {func(t *testing.T, p string) { chmod(t, first(p), 0o640) }, testOptions(), ErrPermissions},
		"head readable": {func(t *testing.T, p string) { chmod(t, headName(p), 0o604) }, testOptions(),
			ErrPermissions},
		"not a record": {func(t *testing.T, p string) { put(t, first(p), []byte("# notes")) }, testOptions(),
			ErrDamaged},
		"not its number": {func(t *testing.T, p string) { rename(t, first(p), fileName(p, 2)) }, testOptions(),
			ErrDamaged},
		"a directory": {func(t *testing.T, p string) {
			if err := os.Mkdir(fileName(p, 2), 0o700); err != nil {
				t.Fatal(err)
			}
		}, testOptions(), ErrNoFile},
		"a link": {func(t *testing.T, p string) {
			rename(t, first(p), p+".kept")
			link(t, p+".kept", first(p))
		}, testOptions(), ErrNoFile},
		"a link to nothing": {func(t *testing.T, p string) { link(t, p+".none", fileName(p, 2)) }, testOptions(),
			ErrNoFile},
		"a link in place of the head": {func(t *testing.T, p string) {
			rename(t, headName(p), p+".kept")
			link(t, p+".kept", headName(p))
		}, testOptions(), ErrNoFile},
		"more than a line behind the last": {func(t *testing.T, p string) {
			put(t, first(p), append(contents(t, first(p)), make([]byte, MaxLine+1)...))
		}, testOptions(), ErrDamaged},
		"another format": {func(t *testing.T, p string) {
			put(t, first(p), bytes.Replace(contents(t, first(p)), []byte(`"format":5`), []byte(`"format":3`), 1))
		}, testOptions(), ErrVersion},
		"H123 a line without a MAC": {func(t *testing.T, p string) {
			put(t, first(p), append(contents(t, first(p)), `{"seq":4,"kind":"note"}`+"\n"...))
		}, testOptions(), ErrForged},
		"H123 the last line edited": {func(t *testing.T, p string) {
			put(t, first(p), bytes.Replace(contents(t, first(p)), []byte("two"), []byte("owt"), 1))
		}, testOptions(), ErrForged},
		"H123 the last line twice": {func(t *testing.T, p string) {
			raw := contents(t, first(p))
			put(t, first(p), append(raw, splitLines(raw)[2]...))
		}, testOptions(), ErrForged},
		"all cut": {func(t *testing.T, p string) { cutLines(t, p, 0) }, testOptions(), ErrDamaged},
		"an empty file behind it": {func(t *testing.T, p string) { put(t, fileName(p, 2), nil) }, testOptions(),
			ErrDamaged},
	} {
		path := newPath(t)
		written(t, path, testOptions(), "one", "two")
		tt.spoil(t, path)
		before := contents(t, headName(path))
		l, err := Open(path, tt.o)
		if err == nil {
			t.Errorf("%s: opened", name)
			mustClose(t, l)
			continue
		}
		refusal, ok := errors.AsType[*Refusal](err)
		if tt.want != nil && (!errors.Is(err, tt.want) || !ok || refusal.Hint == "") {
			t.Errorf("%s: %v", name, err)
		}
		if !bytes.Equal(before, contents(t, headName(path))) {
			t.Errorf("%s: the evidence was changed", name)
		}
		if _, err := os.Stat(path + ".none"); err == nil {
			t.Errorf("%s: a file was made where the link leads", name)
		}
	}
	path := newPath(t)
	l := mustOpen(t, path, testOptions())
	if _, err := Open(path, testOptions()); !errors.Is(err, ErrInUse) {
		t.Errorf("twice at once: %v", err)
	}
	mustClose(t, l)
	mustClose(t, mustOpen(t, path, testOptions()))
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func TestAppendRefuses(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	l := mustOpen(t, path, testOptions())
	for name, e := range map[string]Entry{
		"too long": {Kind: KindNote, Note: strings.Repeat("x", MaxLine)}, "no JSON": {Kind: KindNote,
			Params: []byte("{")},
	} {
		if err := l.Append(e); err == nil {
			t.Errorf("%s: written", name)
		}
	}
	mustAppend(t, l, strings.Repeat("é", MaxLine/2-200))
	mustClose(t, l)
	if r, _ := verifies(t, path, nil); r.Entries != 1 {
		t.Errorf("%+v", r)
	}
}

// What was seen of a record and is gone is noted in it, once, and stays a loss.
func TestH50OpenNotesWhatWasSeenAndIsGone(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil             func(t *testing.T, path string)
		beside, elsewhere string // what is said with the head beside it, and with the one kept elsewhere
	}{
		"nothing": {func(*testing.T, string) {}, "", ""},
		"lines cut": {func(t *testing.T, p string) { cutLines(t, p, 2) },
			"entries 3 to 4, seen before, are missing", "entries 3 to 4"},
		"lines cut, and an older head put beside": {func(t *testing.T, p string) { olderHead(t, p) },
			"entries 3 to 3, seen before", "entries 3 to 4, seen before"},
		"file removed": {func(t *testing.T, p string) { remove(t, fileName(p, 1)) },
			"this is not the record seen last", "which had 4 entries"},
		"head removed": {func(t *testing.T, p string) { remove(t, headName(p)) }, "no head is beside the record",
			"no head is beside"},
		"head damaged": {func(t *testing.T, p string) { put(t, headName(p), []byte("{")) }, "can't be read",
			"can't be read"},
		"head forged": {func(t *testing.T, p string) { forgeHead(t, p) }, "not under this server's key",
			"not under this server's key"},
		"lines after it": {func(t *testing.T, p string) { addLine(t, p) }, "entries 5 to 5 came after the last head",
			"entries 5 to 5"},
	} {
		for _, elsewhere := range []bool{false, true} {
			path, o, want := newPath(t), testOptions(), tt.beside
			_, head := written(t, path, o, "one", "two", "three")
			tt.spoil(t, path)
			l := mustOpen(t, path, o)
			said := strings.Join(l.Repairs(), "; ")
			if elsewhere {
				missing, err := l.Compare(&head)
				if err != nil {
					t.Error(err)
				}
				said, want = said+missing, tt.elsewhere
			}
			if said == "" != (want == "") || !strings.Contains(said, want) {
				t.Errorf("%s, elsewhere %v: %q", name, elsewhere, said)
			}
			mustClose(t, l)
			r, err := VerifyFiles(listed(t, path), VerifyOptions{Key: testKey})
			lost := strings.Contains(name, "cut") || strings.Contains(name, "removed") && name != "head removed" ||
				name == "head forged"
			if err != nil || len(r.Losses) > 0 != lost || r.Repairs > 0 != (want != "") {
				t.Errorf("%s: %v, %+v", name, err, r)
			}
			again := mustOpen(t, path, testOptions())
			if len(again.Repairs()) > 0 {
				t.Errorf("%s: said again: %q", name, again.Repairs())
			}
			if missing, err := again.Compare(&head); err != nil || missing != "" != (lost && name != "head forged") {
				t.Errorf("%s: compared later: %q, %v", name, missing, err)
			}
			mustClose(t, again)
		}
	}
}

func cutLines(t *testing.T, path string, keep int) {
	t.Helper()
	put(t, fileName(path, 1), bytes.Join(splitLines(contents(t, fileName(path, 1)))[:keep], nil))
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// olderHead cuts two lines off, and puts the head of the line between them beside the record.
func olderHead(t *testing.T, path string) {
	t.Helper()
	c, err := newChain(testKey)
	for i, raw := range splitLines(contents(t, fileName(path, 1)))[:3] {
		if raw = bytes.TrimSpace(raw); i == 0 {
			err = errors.Join(err, c.begin(raw, path))
		}
		_, bad := c.follow(raw)
		err = errors.Join(err, bad)
	}
	head, bad := json.Marshal(c.head())
	if err = errors.Join(err, bad); err != nil {
		t.Fatal(err)
	}
	put(t, headName(path), head)
	cutLines(t, path, 2)
}

func forgeHead(t *testing.T, path string) {
	t.Helper()
	put(t, headName(path), bytes.Replace(contents(t, headName(path)), []byte(`"seq":4`), []byte(`"seq":2`), 1))
}

// addLine writes another line and dies.
func addLine(t *testing.T, path string) {
	t.Helper()
	head := contents(t, headName(path))
	l := mustOpen(t, path, testOptions())
	mustAppend(t, l, "four")
	mustClose(t, l)
	put(t, headName(path), head)
}

func TestKeepRemovesTheOldestAndSaysSo(t *testing.T) {
	t.Parallel()
	path, o := newPath(t), testOptions()
	var off atomic.Bool
	o.Rotation = func() (int64, int) {
		if off.Load() {
			return 0, 0
		}
		return 1500, 2
	}
	l := mustOpen(t, path, o)
	mustAppend(t, l, numbers(60)...)
	off.Store(true)
	mustAppend(t, l, "last")
	mustClose(t, l)
	head := l.Head()
	r, got := verifies(t, path, &head)
	if len(listed(t, path)) != 3 || !r.Removed || r.Before == 0 || len(r.Losses) > 0 || got[len(got)-1] != "last" {
		t.Errorf("%d files, %+v", len(listed(t, path)), r)
	}
	remove(t, listed(t, path)[0])
	if r, _ := verifies(t, path, nil); len(r.Losses) != 1 || !strings.Contains(r.Losses[0].Error(), "are gone") {
		t.Errorf("a file that was removed by something else: %+v", r)
	}
}

// H124: noticed before the next line; back when it is put back.
func TestH46ARecordThatIsTakenAwayWhileOpenIsNotWrittenOn(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(t *testing.T, path string, raw []byte){
		"moved":    func(t *testing.T, path string, _ []byte) { rename(t, path, path+".away") },
		"removed":  func(t *testing.T, path string, _ []byte) { remove(t, path) },
		"cut":      func(t *testing.T, path string, raw []byte) { put(t, path, raw[:10]) },
		"replaced": func(t *testing.T, path string, raw []byte) { remove(t, path); put(t, path, raw) },
		"lengthened": func(t *testing.T, path string, raw []byte) {
			put(t, path, append(bytes.Clone(raw), "{}\n"...))
		},
	} {
		path := newPath(t)
		l := mustOpen(t, path, testOptions())
		mustAppend(t, l, "one")
		at := fileName(path, 1)
		raw := contents(t, at)
		if err := os.Link(at, at+".kept"); err != nil {
			t.Fatal(err)
		}
		take(t, at, raw)
		if err := l.Append(Entry{Kind: KindNote, Note: "two"}); !errors.Is(err, ErrGone) ||
			!errors.Is(l.Err(), ErrGone) {
			t.Errorf("%s: %v; health %v", name, err, l.Err())
		}
		rename(t, at+".kept", at)
		put(t, at, raw)
		mustAppend(t, l, "three")
		mustClose(t, l)
		if _, got := verifies(t, path, nil); !slices.Equal(got, []string{"one", "three"}) || l.Err() != nil {
			t.Errorf("%s: %q, %v", name, got, l.Err())
		}
	}
}

// smallDisk mounts a real file system that can be filled up.
func smallDisk(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("needs root on Linux to mount a small tmpfs; CI is root on Linux")
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs",
		dir).CombinedOutput(); err != nil {
		t.Skipf("no tmpfs can be mounted here, as in CI it can: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.CommandContext(context.Background(), "umount", "-l", dir).Run() })
	return dir
}

func TestH46AFullDiskDeniesAndRecovers(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{"": testOptions(), "synced": {Key: testKey, SyncEach: true},
		"rotating": rotating(2000)} {
		dir := smallDisk(t)
		ballast, path := filepath.Join(dir, "ballast"), filepath.Join(dir, "record.jsonl")
		put(t, ballast, make([]byte, 32<<10))
		l := mustOpen(t, path, o)
		var err error
		written := 0
		for ; err == nil; written++ {
			err = l.Append(Entry{Kind: KindNote, Note: strings.Repeat("x", 700)})
		}
		if !errors.Is(err, syscall.ENOSPC) || !errors.Is(l.Err(), syscall.ENOSPC) {
			t.Fatalf("%s: append: %v; health: %v", name, err, l.Err())
		}
		head := l.Head()
		if r, _ := verifies(t, path, &head); r.Entries != written-1 {
			t.Errorf("%s: %d entries in the file, %d were accepted", name, r.Entries, written-1)
		}
		remove(t, ballast)
		mustAppend(t, l, strings.Repeat("y", 3000))
		mustClose(t, l)
		head = l.Head()
		if r, _ := verifies(t, path, &head); r.Entries != written || r.Repairs != 0 || l.Err() != nil {
			t.Errorf("%s: report %+v, want %d entries; health %v", name, r, written, l.Err())
		}
	}
}

func TestH46AFailedWriteOrSyncLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	o := testOptions()
	o.SyncEach = true
	for name, spoil := range map[string]func(f *faulty){
		"a write":            func(f *faulty) { f.write = boom },
		"half a write":       func(f *faulty) { f.write, f.partial = boom, 30 },
		"a write cut short":  func(f *faulty) { f.write, f.partial = nil, 0; f.sync = boom },
		"neither can be cut": func(f *faulty) { f.write, f.partial, f.truncate = boom, 30, errors.New("stuck") },
		"a sync, and no cut": func(f *faulty) { f.sync, f.truncate = boom, errors.New("stuck") },
	} {
		l, f, path := faultyLog(t, o)
		mustAppend(t, l, "one")
		spoil(f)
		for range 2 {
			if err := l.Append(Entry{Kind: KindNote, Note: "two"}); err == nil || l.Err() == nil {
				t.Errorf("%s: %v; health %v", name, err, l.Err())
			}
		}
		*f = faulty{disk: f.disk}
		mustAppend(t, l, "three")
		mustClose(t, l)
		head := l.Head()
		if _, got := verifies(t, path, &head); !slices.Equal(got, []string{"one", "three"}) || l.Err() != nil {
			t.Errorf("%s: %q; health %v", name, got, l.Err())
		}
	}
}

// A disk that hangs is told in time. What nobody waits for any more is not written when it goes on, and all that wait
// then share a write and a sync.
func TestH46ADiskThatHangsIsToldInTime(t *testing.T) { synctest.Test(t, hang) }

func hang(t *testing.T) {
	o := testOptions()
	o.Patience, o.SyncEach = 20*time.Millisecond, true
	l, f, path := faultyLog(t, o)
	f.began, f.gate = make(chan struct{}), make(chan struct{})
	slow := make(chan error)
	try := func(note string) { slow <- l.Append(Entry{Kind: KindNote, Note: note}) }
	began := time.Now()
	go try("first")
	<-f.began
	for range 1000 {
		go try("given up")
	}
	for range 1001 {
		if err := <-slow; !errors.Is(err, ErrSlow) {
			t.Fatalf("while it hangs: %v", err)
		}
	}
	if took := time.Since(began); took > 2*o.Patience {
		t.Errorf("told after %v", took)
	}
	l.o.Patience = 0
	for range 50 {
		go try("patient")
	}
	synctest.Wait()
	go func() {
		for range f.began {
		}
	}()
	close(f.gate)
	for range 50 {
		if err := <-slow; err != nil {
			t.Error(err)
		}
	}
	mustClose(t, l)
	close(f.began)
	if _, got := verifies(t, path, nil); len(got) != 51 || got[0] != "first" || got[1] != "patient" || f.syncs != 2 {
		t.Errorf("written with %d syncs: %q", f.syncs, got)
	}
}

const envDie = "VERIFIER_TEST_RECORD_DIE"

// TestRecordProcess is no test: it is the process that TestH44KillAmidAppends kills.
func TestRecordProcess(t *testing.T) {
	path := os.Getenv(envDie)
	if path == "" {
		return
	}
	o := rotating(2000)
	l := mustOpen(t, path, o)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for j := range 1 << 30 {
				name := fmt.Sprint(i, ".", j)
				mustAppend(t, l, name)
				fmt.Println(name)
			}
		})
	}
	all.Wait()
}

func TestH44KillAmidAppends(t *testing.T) {
	t.Parallel()
	path, seen := newPath(t), map[string]bool{}
	for round := range 8 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRecordProcess$")
		cmd.Env = append(os.Environ(), envDie+"="+path)
		out := &stopper{lines: 50 + 37*round, enough: func() { _ = cmd.Process.Kill() }}
		cmd.Stdout = out
		if err := cmd.Run(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("round %d: it ended with %v:\n%s", round, err, out.text.String())
		}
		l := mustOpen(t, path, testOptions())
		for _, r := range l.Repairs() {
			if !strings.Contains(r, "came after the last head") && !strings.Contains(r, "unfinished line") {
				t.Errorf("round %d: %s", round, r)
			}
		}
		mustClose(t, l)
		_, got := verifies(t, path, nil)
		for _, n := range got {
			seen[n] = true
		}
		told := strings.Fields(out.text.String()[:strings.LastIndexByte(out.text.String(), '\n')])
		for _, n := range told {
			if !seen[n] {
				t.Errorf("round %d: %s was told and is not in the record", round, n)
			}
		}
		clear(seen)
		for _, f := range listed(t, path) {
			remove(t, f)
		}
		remove(t, headName(path))
	}
}

// stopper calls enough once so many lines came.
type stopper struct {
	text   bytes.Buffer
	lines  int
	enough func()
}

func (s *stopper) Write(p []byte) (int, error) {
	if s.lines -= bytes.Count(p, []byte("\n")); s.lines <= 0 {
		s.enough()
	}
	return s.text.Write(p)
}
