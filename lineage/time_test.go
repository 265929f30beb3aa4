//go:build unix

package lineage_test

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/lineage"
)

// Eight times the text takes about eight times as long. Were every part compared
// with every other, it would take 64 times as long.
const (
	short, times = 4096, 8
	mostTimes    = 3 * times
	noise        = 500 * time.Millisecond // what the collector of garbage may take
)

// FuzzTime: whatever a text repeats, the time it takes grows with its length and
// no faster.
func FuzzTime(f *testing.F) {
	for _, s := range []string{"a", "a ", "a@", "://", "http://a", "2024-05-19 ", "1,", "+1 ", "12 ", "a/", "a.", "DE89 ", "$1 ", "請", strings.Repeat("a", 40) + " "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, part string) {
		if part == "" || len(part) > short {
			return
		}
		one, all := compared(t, part, short), compared(t, part, times*short)
		if all > noise+mostTimes*one {
			t.Errorf("%d bytes take %s, %d take %s", short, one, times*short, all)
		}
	})
}

// compared is the processor's time that a text of such a length takes.
func compared(t *testing.T, part string, size int) time.Duration {
	t.Helper()
	key, text := lineage.NewKey([]byte(secret)), strings.ToValidUTF8(strings.Repeat(part, size/len(part)+1), " ")
	params, err := json.Marshal(map[string]string{"to": "a@b.example", "text": text, text: part})
	if err != nil {
		t.Fatal(err)
	}
	started := used(t)
	got := key.Extract(text)
	argumentsOf(t, lineage.NewIndex([]lineage.Seen{{Source: lineage.Source{User: true}, Fingerprints: got.Fingerprints}}), params, key)
	lineage.AlikeOf(params, []string{"to"}, []string{"text"})
	return used(t) - started
}

// used is the processor's time that this process has taken. The clock on the wall
// would count what other processes take.
func used(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
