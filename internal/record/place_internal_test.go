package record

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hintIn is what to do about a refusal to open.
func hintIn(err error) string {
	if o, ok := errors.AsType[*OpenError](err); ok {
		return o.Hint
	}
	return ""
}

func TestH124ARecordThatIsTakenAwayWhileOpenIsNotWrittenOn(t *testing.T) {
	for name, take := range map[string]func(path string) error{
		"moved":   func(path string) error { return os.Rename(path, path+".old") },
		"removed": os.Remove,
		"replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, make([]byte, 1<<16), 0o600))
		},
		"cut": func(path string) error { return os.Truncate(path, 100) },
		"written to": func(path string) error {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err == nil {
				_, err = f.WriteString("{}\n")
			}
			return errors.Join(err, f.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "record.jsonl")
			l := mustOpen(t, path, testOptions()) // whose clock does not go on
			if err := errors.Join(l.Append(Entry{Kind: KindNote, Note: "one"}), l.Err(), take(path)); err != nil {
				t.Fatal(err)
			}
			if err := l.Err(); !errors.Is(err, ErrGone) {
				t.Errorf("health says %v", err)
			}
			for range 2 {
				if err := l.Append(Entry{Kind: KindNote, Note: "two"}); !errors.Is(err, ErrGone) {
					t.Errorf("a line was written nowhere: %v", err)
				}
			}
			if name != "moved" {
				return
			}
			if err := os.Rename(path+".old", path); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(l.Append(Entry{Kind: KindNote, Note: "three"}), l.Err()); err != nil {
				t.Errorf("put back: %v", err)
			}
		})
	}
}

func TestH154ARecordThatIsALinkIsRefused(t *testing.T) {
	dir := t.TempDir()
	path, target := filepath.Join(dir, "record.jsonl"), filepath.Join(dir, "elsewhere.jsonl")
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
	refused := func(when string) {
		t.Helper()
		if _, err := Open(path, testOptions()); !errors.Is(err, ErrLink) || hintIn(err) == "" {
			t.Errorf("%s: open says %v, and as a hint %q", when, err, hintIn(err))
		}
	}
	refused("to nothing")
	if _, err := os.Lstat(target); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was made behind the link: %v", err)
	}
	mustClose(t, mustOpen(t, target, testOptions()))
	refused("to a record")

	// A link to the very file is not the file either.
	l := mustOpen(t, target, testOptions())
	if err := errors.Join(os.Rename(target, target+".old"), os.Symlink(target+".old", target)); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(Entry{Kind: KindNote, Note: "one"}); !errors.Is(err, ErrGone) {
		t.Errorf("a line was written behind a link: %v", err)
	}
}

// After a power cut, blocks that were not written read as NUL bytes; the newline
// may have reached the disk. No line holds a NUL.
func TestALineWithNULsAtTheEndIsAnInterruptedWrite(t *testing.T) {
	for name, tail := range map[string]string{
		"all of the line": "\x00\x00\x00\n", "its beginning": "\x00\x00,\"kind\":\"note\"}\n", "two lines": "\x00\x00\n\x00\n", "no newline": "\x00\x00",
	} {
		t.Run(name, func(t *testing.T) {
			path, raw := crashed(t)
			if err := os.WriteFile(path, append(bytes.Clone(raw), tail...), 0o600); err != nil {
				t.Fatal(err)
			}
			if bad := badLine(t, contents(t, path), nil); bad.Line != len(splitLines(raw))+1 || !strings.Contains(bad.Reason, "write was interrupted") {
				t.Errorf("verify says %v", bad)
			}
			l := mustOpen(t, path, testOptions())
			if repairs := l.Repairs(); len(repairs) != 1 || !strings.Contains(repairs[0], "unfinished line") {
				t.Errorf("repairs: %q", repairs)
			}
			mustAppend(t, l, "next")
			mustClose(t, l)
			if _, err := Verify(bytes.NewReader(contents(t, path)), VerifyOptions{Secret: testKey()}); err != nil {
				t.Error(err)
			}
		})
	}
}

// Lines that are overwritten with NULs are missing like lines that are cut off: the
// store has seen them.
func TestH155LinesOverwrittenWithNULsAreMissed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.jsonl")
	l := mustOpen(t, path, testOptions())
	mustAppend(t, l, "one", "two", "three", "four", "five")
	mustClose(t, l)
	head, raw := l.Head(), contents(t, path)
	lines := splitLines(raw)
	last := len(raw) - len(lines[len(lines)-1])
	blank := append(bytes.Clone(raw[:last]), bytes.Repeat([]byte{0}, len(raw)-last-1)...)
	if err := os.WriteFile(path, append(blank, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	o := testOptions()
	o.Seen = &head
	l = mustOpen(t, path, o)
	if repairs := l.Repairs(); len(repairs) != 2 || !strings.Contains(repairs[0], "missing from the end of the file") {
		t.Errorf("repairs: %q", repairs)
	}
	mustClose(t, l)

	// A file that is not a record is not cut to nothing.
	text := "\x00my own notes\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, testOptions()); !errors.Is(err, ErrDamaged) || string(contents(t, path)) != text {
		t.Errorf("open says %v and leaves %q", err, contents(t, path))
	}
}
