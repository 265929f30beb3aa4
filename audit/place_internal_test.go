package audit

import (
	"errors"
	"os"
	"path/filepath"
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
