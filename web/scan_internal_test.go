package web

import (
	"context"
	"errors"
	"testing"
)

func TestFewLookThroughTheRecordAtATimeAndNoneForNobody(t *testing.T) {
	p := &recordReader{scans: make(chan struct{}, maxScans)}
	ctx, gone := context.WithCancel(t.Context())
	var last *scan
	for range maxScans {
		s, done, err := p.scan(ctx, 5000)
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
	if _, _, err := p.scan(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("one more than may: %v", err)
	}
}
