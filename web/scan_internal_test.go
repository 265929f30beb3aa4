package web

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/openclaw-verifier/verifier/internal/record"
)

func TestFewLookThroughTheRecordAtATimeAndNoneForNobody(t *testing.T) {
	p := &recordReader{scans: make(chan struct{}, maxScans), most: 5000}
	ctx, gone := context.WithCancel(t.Context())
	var last *scan
	for range maxScans {
		s, done, err := p.scan(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		last = s
	}
	lines := func(s *scan) int {
		n := 1
		for !s.over() {
			n++
		}
		return n
	}
	if n := lines(&scan{gone: ctx.Err, most: 5000}); n != 5001 {
		t.Errorf("it ends at line %d", n)
	}
	gone()
	if n := lines(last); n > 1000 {
		t.Errorf("for nobody it ends at line %d", n)
	}
	if _, _, err := p.scan(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("one more than may: %v", err)
	}
}

// book is a record of notes.
type book struct {
	Ledger
	path string
}

func (b book) Files() ([]string, error) { return record.Files(b.path) }

func TestASearchGoesOnWhereOneStopped(t *testing.T) {
	b := book{path: filepath.Join(t.TempDir(), "record.jsonl")}
	o := record.Options{Key: []byte("a key"), Rotation: func() (int64, int) { return 900, 0 }}
	log, err := record.Open(b.path, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if err := log.Append(record.Entry{Kind: record.KindNote, Note: "n" + strconv.Itoa(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	r := &recordReader{&site{o: Options{Ledger: b}}, make(chan struct{}, 1), 7}
	q, next := recordQuery{Kind: "note"}, 49
	for range 20 {
		f := r.find(t.Context(), q, func(l *record.Line) bool {
			if want := "n" + strconv.Itoa(next); l.Note != want {
				t.Errorf("%s where %s belongs", l.Note, want)
			}
			next--
			return true
		})
		if q.Before = f.Before; f.Before == 0 {
			break
		}
	}
	if next != -1 {
		t.Errorf("the search ends before n%d", next)
	}
}
