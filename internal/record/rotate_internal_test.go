package record

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// rotating are options under which every few lines go into a file of their own.
func rotating(bytes int64) Options {
	o := testOptions()
	o.Rotation.Bytes = bytes
	return o
}

// whole verifies all files of a record and gives the notes in them.
func whole(t testing.TB, path string, head *Head) (Report, []string) {
	t.Helper()
	paths, err := Files(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := VerifyFiles(paths, VerifyOptions{Key: publicKey(), Head: head, Whole: true})
	if err != nil {
		t.Fatalf("verify %v: %v", paths, err)
	}
	return r, notes(t, paths)
}

// notes are what was appended to some files, in order.
func notes(t testing.TB, paths []string) (out []string) {
	t.Helper()
	for _, p := range paths {
		f, err := os.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		for l, err := range Read(f) {
			if err != nil {
				t.Fatal(err)
			}
			if l.Kind == KindNote && l.Removed == nil {
				out = append(out, l.Note)
			}
		}
		_ = f.Close()
	}
	return out
}

func numbers(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprint("note ", i))
	}
	return out
}

func TestRotationBySizeKeepsTheChain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.jsonl")
	l := mustOpen(t, path, rotating(2000))
	mustAppend(t, l, numbers(20)...)
	mustClose(t, l)
	l = mustOpen(t, path, rotating(2000))
	head := l.Head()
	r, got := whole(t, path, &head)
	if r.Files < 3 || r.Before != nil || len(r.Losses) > 0 || !r.HeadChecked || !slices.Equal(got, numbers(20)) {
		t.Errorf("report %+v, notes %v", r, got)
	}
	mustAppend(t, l, "more")
	mustClose(t, l)
	paths, err := Files(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range paths {
		want, name := fs.FileMode(0o400), fmt.Sprintf("record-%06d.jsonl", i+1)
		if i == len(paths)-1 {
			want, name = 0o600, "record.jsonl"
		}
		info, err := os.Stat(p)
		if err != nil || info.Mode().Perm() != want || filepath.Base(p) != name || info.Size() > 3000 {
			t.Errorf("file %d: %s %v, %v; want %s %v", i+1, p, info, err, name, want)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != len(paths) {
		t.Errorf("%d files and no more were expected, %d are there, %v", len(paths), len(entries), err)
	}
}

func TestKeepRemovesTheOldestAndSaysSo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.jsonl")
	o := rotating(1500)
	o.Rotation.Keep = 2
	l := mustOpen(t, path, o)
	mustAppend(t, l, numbers(40)...)
	mustClose(t, l)
	paths, err := Files(path)
	if err != nil || len(paths) != 3 {
		t.Fatalf("%v, %v", paths, err)
	}
	head := l.Head()
	r, got := whole(t, path, &head)
	if r.Before == nil || !r.Removed || r.Before.File != filepath.Base(archiveName(path, numberIn(paths[0])-1)) || r.Before.Head.Seq == 0 {
		t.Errorf("the chain begins after %+v", r.Before)
	}
	if len(got) == 40 || got[len(got)-1] != "note 39" {
		t.Errorf("what is left is %v", got)
	}
	// One more is taken away, and nobody said so.
	if err := os.Remove(paths[0]); err != nil {
		t.Fatal(err)
	}
	_, err = VerifyFiles(paths[1:], VerifyOptions{Key: publicKey(), Whole: true})
	if bad, ok := errors.AsType[*BadLine](err); !ok || bad.File != filepath.Base(paths[1]) || !strings.Contains(bad.Reason, filepath.Base(paths[0])+", which is missing") {
		t.Errorf("got %v", err)
	}
	if r, err := VerifyFiles(paths[1:], VerifyOptions{Key: publicKey()}); err != nil || r.Before == nil || r.Removed {
		t.Errorf("a part of the record: %+v, %v", r, err)
	}
}

func TestAHeadFromBeforeARotationIsFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.jsonl")
	l := mustOpen(t, path, testOptions())
	mustAppend(t, l, numbers(6)...)
	heads := []Head{l.Head()}
	l.SetRotation(Rotation{Bytes: 1})
	mustAppend(t, l, "in the second")
	l.SetRotation(Rotation{})
	heads = append(heads, l.Head())
	mustAppend(t, l, "and one more")
	heads = append(heads, l.Head())
	mustClose(t, l)
	for _, h := range heads {
		o := testOptions()
		o.Seen = &h
		l := mustOpen(t, path, o)
		if len(l.Repairs()) > 0 {
			t.Errorf("entry %d: %v", h.Seq, l.Repairs())
		}
		if got, err := l.Compare(h); err != nil || len(got) > 0 {
			t.Errorf("entry %d, compared later: %v, %v", h.Seq, got, err)
		}
		mustClose(t, l)
	}
	ahead := Head{Chain: heads[0].Chain, Seq: 1000, Hash: heads[0].Hash}.signed(testKey())
	l = mustOpen(t, path, testOptions())
	if got, err := l.Compare(ahead); err != nil || len(got) != 1 || !strings.Contains(got[0], "to 1000, seen before, are missing") {
		t.Errorf("got %v, %v", got, err)
	}
	mustClose(t, l)
	if r, _ := whole(t, path, nil); len(r.Losses) != 1 || r.Losses[0].File != "record.jsonl" || r.Losses[0].At.IsZero() {
		t.Errorf("losses %+v", r.Losses)
	}
}

func TestADeletedRecordIsALossForGood(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.jsonl")
	l := mustOpen(t, path, rotating(1500))
	mustAppend(t, l, numbers(12)...)
	mustClose(t, l)
	head := l.Head()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for name, seen := range map[string]*Head{"where the head was kept": &head, "where it was not": nil} {
		o := rotating(1500)
		o.Seen = seen
		o.Rand = bytes.NewReader([]byte("another chain has another id")) // as it has where ids are random
		l = mustOpen(t, path, o)
		mustAppend(t, l, "after")
		mustClose(t, l)
		r, _ := whole(t, path, nil)
		if len(r.Losses) != 1 || r.Losses[0].File != "record.jsonl" {
			t.Errorf("%s: losses %+v", name, r.Losses)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	// Without any file left, only the record's own word is there.
	paths, err := Files(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths[:len(paths)-1] {
		if err := os.Remove(p); err != nil {
			t.Fatal(err)
		}
	}
	o := rotating(1500)
	o.Seen = &head
	mustClose(t, mustOpen(t, path, o))
	if r, _ := whole(t, path, nil); len(r.Losses) != 1 || !strings.Contains(r.Losses[0].Note, "not the chain seen last") {
		t.Errorf("losses %+v", r.Losses)
	}
}

func TestAFileThatStandsBeforeAClosedOneIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.jsonl")
	l := mustOpen(t, path, rotating(1500))
	mustAppend(t, l, "first")
	old := contents(t, path)
	mustAppend(t, l, numbers(20)...)
	mustClose(t, l)
	if err := os.WriteFile(path, old, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, testOptions()); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "it is file 1 of its chain") {
		t.Errorf("got %v", err)
	}
}

func TestAppendersKeepOneChainAcrossFiles(t *testing.T) {
	for _, each := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "record.jsonl")
		o := rotating(4000)
		o.SyncEach = each
		l := mustOpen(t, path, o)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for j := range 25 {
					if err := l.Append(Entry{Kind: KindNote, Note: fmt.Sprint(i, " ", j)}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		mustClose(t, l)
		head := l.Head()
		if r, got := whole(t, path, &head); len(got) != 200 || r.Files < 5 {
			t.Errorf("syncEach=%v: %d notes in %d files", each, len(got), r.Files)
		}
	}
}
