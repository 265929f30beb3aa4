package record

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sample is a record in one file, its bytes and its head.
func sample(t testing.TB) ([]byte, Head) {
	t.Helper()
	paths, head := written(t, newPath(t), testOptions(), "one", "two", "three", "four", "five", "six")
	return contents(t, paths[0]), head
}

func TestH50EveryEditedByteIsNamed(t *testing.T) {
	t.Parallel()
	raw, _ := sample(t)
	path := filepath.Join(t.TempDir(), "r.jsonl")
	for i := range raw {
		line := 1 + bytes.Count(raw[:i], []byte("\n"))
		for _, c := range []byte{raw[i] ^ 1, raw[i] ^ 0x20, '\n', 0} {
			if c == raw[i] {
				continue
			}
			edited := bytes.Clone(raw)
			edited[i] = c
			put(t, path, edited)
			if i == len(raw)-1 {
				continue // the last newline: the line is not finished
			}
			if bad := badLine(t, []string{path}, VerifyOptions{}); bad.Line != line {
				t.Fatalf("byte %d %q→%q: %v, want line %d", i, raw[i], c, bad, line)
			}
		}
	}
}

func TestH50AnySpliceIsNamed(t *testing.T) {
	t.Parallel()
	raw, head := sample(t)
	path := filepath.Join(t.TempDir(), "r.jsonl")
	rapid.Check(t, func(rt *rapid.T) {
		from := rapid.IntRange(0, len(raw)).Draw(rt, "from")
		to := rapid.IntRange(from, len(raw)).Draw(rt, "to")
		insert := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(rt, "put")
		if rapid.Bool().Draw(rt, "fromFile") {
			a := rapid.IntRange(0, len(raw)).Draw(rt, "a")
			insert = raw[a:rapid.IntRange(a, len(raw)).Draw(rt, "b")]
		}
		edited := slices.Concat(raw[:from], insert, raw[to:])
		if bytes.HasPrefix(edited, raw) && !bytes.Contains(edited[len(raw):], []byte("\n")) {
			return // the same, or with a line behind it that is not finished
		}
		put(t, path, edited)
		bad := badLine(t, []string{path}, VerifyOptions{Head: &head})
		if bad.Line < min(1+bytes.Count(raw[:from], []byte("\n")), 7) {
			rt.Fatalf("splice %d:%d: %v", from, to, bad)
		}
	})
}

func TestH50WhatIsWrongInAFileIsNamed(t *testing.T) {
	t.Parallel()
	raw, head := sample(t)
	l := splitLines(raw)
	join := func(lines ...[]byte) []byte { return bytes.Join(lines, nil) }
	other := head
	other.MAC = strings.Repeat("0", macLen)
	for _, tt := range []struct {
		name   string
		raw    []byte
		head   *Head
		line   int
		reason string
	}{
		{"a line removed", join(l[0], l[1], l[3]), nil, 3,
			"is entry 4 where 3 belongs: lines were removed, moved or repeated"},
		{"lines swapped", join(l[0], l[2], l[1]), nil, 2, "is entry 3 where 2 belongs"},
		{"a line twice", join(l[0], l[1], l[1]), nil, 3,
			"is entry 2 where 3 belongs"},
		{"the first line gone", join(l[1:]...), nil, 1, "does not begin as a record"},
		{"the first line twice", join(l[0], l[0]), nil, 2, "is entry 1 where 2 belongs"},
		{"edited", bytes.Replace(raw, []byte("two"), []byte("owt"), 1), nil, 3, "is not as the server wrote it"},
		{"no MAC", join(l[0], []byte(`{"seq":2,"kind":"note"}`+"\n")), nil, 2, "not as the server wrote it"},
		{"a member twice", bytes.Replace(raw, []byte(`"kind":"note"`), []byte(`"kind":"note","kind":"note"`), 1), nil,
			2, "is not valid"},
		{"NUL", bytes.Replace(raw, []byte("two"), []byte("t\x00o"), 1), nil, 3, "holds NUL bytes"},
		{"too long", append(join(l[0]), append(bytes.Repeat([]byte("x"), MaxLine), '\n')...), nil, 2, "is longer than"},
		{"another format", bytes.Replace(raw, []byte(`"format":5`), []byte(`"format":6`), 1), nil, 1, "format is 6"},
		{"empty", nil, nil, 1, "is missing: the file is empty"},
		{"a tail cut", join(l[:3]...), &head, 4, "entries 4 to 7, seen before, are missing"},
		{"cut in a line", raw[:len(raw)-5], &head, 7, "entries 7 to 7, seen before, are missing"},
	} {
		t.Run(tt.name, func(t *testing.T) { wantBad(t, tt.raw, tt.head, tt.line, tt.reason) })
	}
	path := filepath.Join(t.TempDir(), "r.jsonl")
	put(t, path, raw)
	check := func(o VerifyOptions) (Report, error) { return VerifyFiles([]string{path}, o) }
	if _, err := check(VerifyOptions{Key: testKey, Head: &other}); err == nil ||
		!strings.Contains(err.Error(), "not under this server's key") {
		t.Errorf("a forged head: %v", err)
	}
	if _, err := check(VerifyOptions{}); err == nil {
		t.Error("verified without a key")
	}
	if _, err := check(VerifyOptions{Key: []byte("another")}); err == nil ||
		!strings.Contains(err.Error(), "another key") {
		t.Errorf("another key: %v", err)
	}
	_, foreign := sample(t)
	if r, err := check(VerifyOptions{Key: testKey, Head: &foreign}); err != nil || len(r.Losses) != 1 {
		t.Errorf("a head of another record: %+v, %v", r, err)
	}
	put(t, path, raw[:len(raw)-1])
	if r, err := check(VerifyOptions{Key: testKey}); err != nil || !r.Unfinished || r.Entries != 5 {
		t.Errorf("a line that is not finished: %+v, %v", r, err)
	}
	if _, err := VerifyFiles([]string{path + "x"}, VerifyOptions{Key: testKey}); err == nil {
		t.Error("verified a file that is not there")
	}
}

func TestH50WhatIsWrongBetweenFilesIsNamed(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	paths, head := written(t, path, rotating(500), numbers(14)...)
	if len(paths) < 4 {
		t.Fatalf("%d files", len(paths))
	}
	all := make([][]byte, len(paths))
	for i, p := range paths {
		all[i] = contents(t, p)
	}
	lines := splitLines(all[1])
	for _, tt := range []struct {
		name   string
		spoil  func()
		paths  []string
		bad    string
		reason string
	}{
		{"one missing", func() {}, []string{paths[0], paths[2], paths[3]}, "record-000003.jsonl",
			"a file between them is missing"},
		{"reordered", func() {}, []string{paths[0], paths[2], paths[1]}, "record-000003.jsonl", "is missing"},
		{"one twice", func() {}, []string{paths[0], paths[0]}, "record-000001.jsonl", "there twice"},
		{"a later one twice", func() {}, []string{paths[0], paths[1], paths[1]}, "record-000002.jsonl",
			"one of the two was replaced or is there twice"},
		{"cut", func() { put(t, paths[1], bytes.Join(lines[:len(lines)-1], nil)) }, paths, "record-000003.jsonl",
			"that one was cut"},
		{"emptied", func() { put(t, paths[1], nil) }, paths, "record-000002.jsonl", "the file is empty"},
		{"cut in a line", func() { put(t, paths[1], all[1][:len(all[1])-3]) }, paths, "record-000002.jsonl",
			"ends in the middle"},
		{"swapped", func() { put(t, paths[1], all[2]); put(t, paths[2], all[1]) }, paths, "record-000002.jsonl",
			"file 2 by its name"},
		{"edited", func() { put(t, paths[1], bytes.Replace(all[1], []byte(`"note"`), []byte(`"Note"`), 1)) }, paths,
			"record-000002.jsonl", "not as the server wrote it"},
	} {
		tt.spoil()
		if bad := badLine(t, tt.paths, VerifyOptions{Head: &head}); filepath.Base(bad.File) != tt.bad ||
			!strings.Contains(bad.Error(), tt.reason) {
			t.Errorf("%s: %s: %v", tt.name, bad.File, bad)
		}
		for i, p := range paths {
			put(t, p, all[i])
		}
	}
	r, err := VerifyFiles(paths[2:], VerifyOptions{Key: testKey, Head: &head})
	if err != nil || r.Before == 0 || len(r.Losses) > 0 || !r.HeadChecked {
		t.Errorf("the last ones alone: %+v, %v", r, err)
	}
	r, err = VerifyFiles(paths[2:], VerifyOptions{Key: testKey, Head: &head, Whole: true})
	if err != nil || len(r.Losses) != 1 {
		t.Errorf("H765: the last ones as all: %+v, %v", r, err)
	}
	others, _ := written(t, newPath(t), rotating(500), numbers(14)...)
	if bad := badLine(t, []string{paths[0], others[1]}, VerifyOptions{}); !strings.Contains(bad.Error(),
		"does not follow record-000001.jsonl") {
		t.Errorf("another record behind it: %v", bad)
	}
}

// Every process that fuzzes has a record of its own, so that what it is given is a change to that.
func FuzzVerify(f *testing.F) {
	raw, _ := sample(f)
	f.Add(0, 0, []byte(nil))
	f.Add(len(raw)/2, len(raw), []byte(nil))
	for _, s := range []string{"", "\n", "{}\n", `{"seq":1,"kind":"begin","begin":{"format":5}}` + "\n"} {
		f.Add(0, len(raw), []byte(s))
		f.Add(len(raw)/2, 1, []byte(s))
	}
	path := filepath.Join(f.TempDir(), "r.jsonl")
	f.Fuzz(func(t *testing.T, at, cut int, with []byte) {
		at = min(max(at, 0), len(raw))
		b := slices.Concat(raw[:at], with, raw[at+min(max(cut, 0), len(raw)-at):])
		put(t, path, b)
		r, err := VerifyFiles([]string{path}, VerifyOptions{Key: testKey})
		if whole := bytes.LastIndexByte(b, '\n') + 1; err == nil && !bytes.HasPrefix(raw, b[:whole]) {
			t.Fatalf("verified: %+v", r)
		}
	})
}

func TestFilesAreFoundByTheirNumbers(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/a/record-000001.jsonl": "/a/record.jsonl 1", "r-1234567.log": "r.log 1234567",
		"record-01.jsonl":      "record-01.jsonl 0",
		"record-0000001.jsonl": "record-0000001.jsonl 0", "record-000000.jsonl": "record-000000.jsonl 0",
		"a-b":          "a-b 0",
		"record.jsonl": "record.jsonl 0", "record--00001.jsonl": "record--00001.jsonl 0", "a-b-000002": "a-b 2",
	} {
		base, n := Base(path)
		if got := fmt.Sprint(base, " ", n); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if _, err := Files(filepath.Join(t.TempDir(), "record.jsonl")); err == nil {
		t.Error("found what is not there")
	}
}
