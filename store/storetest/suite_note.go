package storetest

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/session"
)

func (b *bench) note(notes ...session.Note) {
	b.Helper()
	b.must(b.Store.Note(b.ctx, notes...))
}

func (b *bench) wantNotes(list string, want ...string) {
	b.Helper()
	got, err := b.Store.Notes(b.ctx, list)
	b.must(err)
	if len(got) != len(want) {
		b.Fatalf("%s holds %q, want %q", list, got, want)
	}
	for i := range want {
		if string(got[i]) != want[i] {
			b.Fatalf("%s holds %q, want %q", list, got, want)
		}
	}
}

func noted(list string, most int, entries ...string) session.Note {
	n := session.Note{List: list, Most: most, Keep: time.Hour}
	for _, e := range entries {
		n.Entries = append(n.Entries, []byte(e))
	}
	return n
}

// noteSpecs say what is remembered of turns and texts.
func noteSpecs() []spec {
	return []spec{
		{"a list keeps its entries in the order in which they came", func(b *bench) {
			b.wantNotes("00a")
			b.note(noted("00a", 10, "one", "two"))
			b.note(noted("00a", 10, "three"), noted("ffb", 10, "other"))
			b.wantNotes("00a", "one", "two", "three")
			b.wantNotes("ffb", "other")
		}},
		{"the oldest fall out of a full list", func(b *bench) {
			b.note(noted("00a", 3, "one", "two", "three", "four"))
			b.wantNotes("00a", "two", "three", "four")
			b.note(noted("00a", 1, "five"))
			b.wantNotes("00a", "five")
		}},
		{"an entry is any bytes", func(b *bench) {
			all := make([]byte, 256)
			for i := range all {
				all[i] = byte(i)
			}
			b.note(noted("00a", 3, string(all), "", ":", string(bytes.Repeat([]byte("x"), 100_000))))
			b.wantNotes("00a", "", ":", string(bytes.Repeat([]byte("x"), 100_000)))
			b.note(noted("00b", 3, string(all)))
			b.wantNotes("00b", string(all))
		}},
		{"an entry ends with its time, and others stay", func(b *bench) {
			short := noted("00a", 10, "short")
			short.Keep = b.short()
			b.note(noted("00a", 10, "long"), short)
			b.outlive()
			b.wantNotes("00a", "long")
		}},
		{"many who add at once all add", func(b *bench) {
			var all sync.WaitGroup
			for i := range 16 {
				all.Go(func() { b.note(noted("00a", 100, fmt.Sprint(i))) })
			}
			all.Wait()
			if got, err := b.Store.Notes(b.ctx, "00a"); err != nil || len(got) != 16 {
				b.Fatalf("%d entries, %v", len(got), err)
			}
		}},
		{"what is flushed is gone, and nothing else suffers", func(b *bench) {
			b.note(noted("00a", 3, "one"))
			b.Flush()
			b.wantNotes("00a")
			b.note(noted("00a", 3, "two"))
			b.wantNotes("00a", "two")
		}},
	}
}
