package record

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// fourFiles is a closed record of four files, and its head.
func fourFiles(t testing.TB) (paths []string, head Head) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "record.jsonl")
	l := mustOpen(t, path, testOptions())
	mustAppend(t, l, "one", "two", "three")
	for range 3 {
		l.SetRotation(Rotation{Bytes: 1})
		mustAppend(t, l, "one")
		l.SetRotation(Rotation{})
		mustAppend(t, l, "two", "three")
	}
	mustClose(t, l)
	paths, err := Files(path)
	if err != nil || len(paths) != 4 {
		t.Fatalf("%v, %v", paths, err)
	}
	for _, p := range paths {
		if err := os.Chmod(p, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return paths, l.Head()
}

func swap(t testing.TB, a, b string) {
	t.Helper()
	x, y := contents(t, a), contents(t, b)
	if err := errors.Join(os.WriteFile(a, y, 0o600), os.WriteFile(b, x, 0o600)); err != nil {
		t.Fatal(err)
	}
}

func TestH50WhatIsWrongBetweenFilesIsNamed(t *testing.T) {
	cut := func(t testing.TB, path string, lines int) {
		all := splitLines(contents(t, path))
		if err := os.WriteFile(path, joinLines(all[:len(all)-lines]...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		attack func(t testing.TB, p []string)
		file   int // that is named, from 0
		line   int
		want   string
	}{
		"nothing":               {func(testing.TB, []string) {}, -1, 0, ""},
		"the first is missing":  {func(t testing.TB, p []string) { remove(t, p[0]) }, 1, 1, "follows record-000001.jsonl, which is missing, and the record does not say"},
		"the second is missing": {func(t testing.TB, p []string) { remove(t, p[1]) }, 2, 1, "follows record-000002.jsonl, which is missing: entries 6 to 10"},
		"two are missing":       {func(t testing.TB, p []string) { remove(t, p[1]); remove(t, p[2]) }, 3, 1, "follows record-000003.jsonl, which is missing: entries 6 to 15"},
		"one is cut":            {func(t testing.TB, p []string) { cut(t, p[1], 1) }, 2, 1, "follows entry 10, and record-000002.jsonl ends with 9: that file was cut"},
		"all but its beginning": {func(t testing.TB, p []string) { cut(t, p[1], 4) }, 2, 1, "ends with 6: that file was cut"},
		"two are swapped":       {func(t testing.TB, p []string) { swap(t, p[1], p[2]) }, 1, 1, "is that of file 3 of the record, under the name of file 2"},
		"with the first":        {func(t testing.TB, p []string) { swap(t, p[0], p[2]) }, 0, 1, "is that of file 3 of the record, under the name of file 1"},
		"with the last":         {func(t testing.TB, p []string) { swap(t, p[2], p[3]) }, 2, 1, "is that of file 4 of the record, under the name of file 3"},
		"one is emptied":        {func(t testing.TB, p []string) { cut(t, p[2], 5); truncate(t, p[2]) }, 2, 1, "the file is empty"},
		"an edit in the second": {func(t testing.TB, p []string) {
			b := bytes.Replace(contents(t, p[1]), []byte(`"note":"two"`), []byte(`"note":"owt"`), 1)
			if err := os.WriteFile(p[1], b, 0o600); err != nil {
				t.Fatal(err)
			}
		}, 1, 3, "was edited"},
		"the end is rewritten": {func(t testing.TB, p []string) {
			all := splitLines(contents(t, p[1]))
			last := len(all) - 1
			all[last] = reseal(bytes.Replace(all[last], []byte(`2026-10-03`), []byte(`2026-10-04`), 1))
			if err := os.WriteFile(p[1], joinLines(all...), 0o600); err != nil {
				t.Fatal(err)
			}
		}, 2, 1, "does not follow record-000002.jsonl as it is now"},
		"the last is missing": {func(t testing.TB, p []string) { truncate(t, p[3]) }, 3, 1, "lines 1.. are missing: the store has seen entry 20"},
		"a stranger's file": {func(t testing.TB, p []string) {
			other, _ := fourFiles(t)
			if err := os.WriteFile(p[1], bytes.Replace(contents(t, other[1]), []byte(strings.Repeat("09", 16)), []byte(strings.Repeat("08", 16)), 2), 0o600); err != nil {
				t.Fatal(err)
			}
		}, 1, 1, "was edited"},
	} {
		t.Run(name, func(t *testing.T) {
			paths, head := fourFiles(t)
			all := slices.Clone(paths)
			c.attack(t, paths)
			paths, err := Files(paths[3])
			if err != nil {
				t.Fatal(err)
			}
			_, err = VerifyFiles(paths, VerifyOptions{Key: publicKey(), Head: &head, Whole: true})
			if c.want == "" {
				if err != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			bad, ok := errors.AsType[*BadLine](err)
			if !ok || bad.File != filepath.Base(all[c.file]) || bad.Line != c.line || !strings.Contains(bad.Reason, c.want) {
				t.Errorf("got %+v, %v; want %s line %d: …%s…", bad, err, all[c.file], c.line, c.want)
			}
		})
	}
}

func remove(t testing.TB, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func truncate(t testing.TB, path string) {
	t.Helper()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
}

// Whoever takes the signing key's place can't make a file that fits.
func TestH50AFileBeforeThatNobodySignedIsNamed(t *testing.T) {
	paths, _ := fourFiles(t)
	raw := contents(t, paths[3])
	lines := splitLines(raw)
	at := bytes.Index(lines[0], []byte(`"sig":"`)) + len(`"sig":"`)
	forged := slices.Clone(lines[0])
	copy(forged[at:], bytes.Repeat([]byte("0"), 128))
	wantBad(t, joinLines(reseal(forged)), nil, 1, "without a signature that holds")
}

func TestH50TheFirstFileTwiceIsNamed(t *testing.T) {
	paths, head := fourFiles(t)
	_, err := VerifyFiles(slices.Concat(paths[:1], paths), VerifyOptions{Key: publicKey(), Head: &head, Whole: true})
	if err == nil || !strings.Contains(err.Error(), "it is there twice") {
		t.Errorf("got %v", err)
	}
}

// Any set of files that is not all of them, in order and whole, is refused.
func TestH50AnySelectionOfFilesButAllIsRefused(t *testing.T) {
	paths, head := fourFiles(t)
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfN(rapid.SampledFrom(paths), 1, 6).Draw(t, "files")
		_, err := VerifyFiles(some, VerifyOptions{Key: publicKey(), Head: &head, Whole: true})
		if err == nil && !slices.Equal(some, paths) {
			t.Errorf("accepted %v", some)
		}
	})
	if _, err := VerifyFiles(paths, VerifyOptions{Key: publicKey(), Head: &head, Whole: true}); err != nil {
		t.Error(err)
	}
}

func TestNamesOfClosedFiles(t *testing.T) {
	for name, want := range map[string]int{
		"record-000001.jsonl": 1, "record-1234567.jsonl": 1234567, "record-999999.jsonl": 999999, "record-00001.jsonl": 0, "record-0000001.jsonl": 0,
		"record-000000.jsonl": 0, "record--00001.jsonl": 0, "record-00000a.jsonl": 0, "record.jsonl": 0, "records-000001.jsonl": 0,
		"record-000001.jsonl.gz": 0, "record-000001": 0, "record-+00001.jsonl": 0, "record-000001.jsonl.next": 0,
	} {
		if got := archiveNumber("/var/x/record.jsonl", "/var/x/"+name); got != want {
			t.Errorf("%s is number %d, want %d", name, got, want)
		}
	}
	if got := archiveName("/var/x/record", 7); got != "/var/x/record-000007" || archiveNumber("/var/x/record", got) != 7 {
		t.Errorf("without an extension: %s", got)
	}
}

// TestH765FilesBeforeANewChainThatAreGoneAreNamed: the record was taken away, a new chain began behind the closed files, and then these were taken away, too.
func TestH765FilesBeforeANewChainThatAreGoneAreNamed(t *testing.T) {
	paths, _ := fourFiles(t)
	path := paths[len(paths)-1]
	remove(t, path)
	o := testOptions()
	o.Rand = nil // another chain
	l := mustOpen(t, path, o)
	mustAppend(t, l, "after")
	head := l.Head()
	mustClose(t, l)
	verify := func() (Report, error) {
		files, err := Files(path)
		if err != nil {
			t.Fatal(err)
		}
		return VerifyFiles(files, VerifyOptions{Key: publicKey(), Head: &head, Whole: true})
	}
	if r, err := verify(); err != nil || len(r.Losses) != 1 {
		t.Fatalf("with all files: %v, %v", r.Losses, err)
	}
	remove(t, paths[2])
	if r, err := verify(); err != nil || len(r.Losses) != 2 || !strings.Contains(r.Losses[0].Note, "file 3 is missing") {
		t.Errorf("without the last closed one: %+v, %v", r.Losses, err)
	}
	remove(t, paths[0])
	remove(t, paths[1])
	if r, err := verify(); err != nil || len(r.Losses) != 1 || !strings.Contains(r.Losses[0].Note, "file 3 is missing") {
		t.Errorf("without any closed one: %+v, %v", r.Losses, err)
	}
	if _, err := VerifyFiles([]string{path}, VerifyOptions{Key: publicKey()}); err != nil {
		t.Errorf("a part of a record: %v", err)
	}
}

// TestH765FilesThatWereRemovedAsConfiguredAreNotMissed: audit.keep removed all files of the chain before.
func TestH765FilesThatWereRemovedAsConfiguredAreNotMissed(t *testing.T) {
	paths, _ := fourFiles(t)
	path := paths[len(paths)-1]
	remove(t, path)
	o := rotating(1)
	o.Rand, o.Rotation.Keep = nil, 1
	l := mustOpen(t, path, o)
	mustAppend(t, l, numbers(5)...)
	mustClose(t, l)
	files, err := Files(path)
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	if _, err := VerifyFiles(files, VerifyOptions{Key: publicKey(), Whole: true}); err != nil {
		t.Error(err)
	}
}
