package audit

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// hintIn is what to do about a refusal to open.
func hintIn(err error) string {
	if o, ok := errors.AsType[*OpenError](err); ok {
		return o.Hint
	}
	return ""
}

func TestH50ARecordThatIsTakenAwayWhileOpenIsNotWrittenOn(t *testing.T) {
	for name, take := range map[string]func(path string) error{
		"moved":   func(path string) error { return os.Rename(path, path+".old") },
		"removed": os.Remove,
		"replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, make([]byte, 1<<16), 0o600))
		},
		"cut": func(path string) error { return os.Truncate(path, 100) },
	} {
		t.Run(name, func(t *testing.T) {
			path, o := filepath.Join(t.TempDir(), "record.jsonl"), testOptions()
			now := o.Now()
			o.Now = func() time.Time { return now }
			l := mustOpen(t, path, o)
			if err := errors.Join(l.Append(Entry{Kind: KindNote, Note: "one"}), l.Err(), take(path)); err != nil {
				t.Fatal(err)
			}
			now = now.Add(lookEvery)
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
