package web

import "context"

// maxScans is how many looks through the record run at a time: each may read a
// hundred thousand lines, on the machine that decides calls.
const maxScans = 2

// scan is one look back through the record. It ends after a number of lines, or
// when no one waits for it any more.
type scan struct {
	gone  func() error // set once no one waits for it
	lines int
	most  int
}

// recordReader looks back through the record for the views.
type recordReader struct {
	*site
	scans chan struct{} // holds one for each look
}

// scan waits for its turn. The caller ends it by done.
func (r *recordReader) scan(ctx context.Context, most int) (_ *scan, done func(), _ error) {
	select {
	case r.scans <- struct{}{}:
		return &scan{gone: ctx.Err, most: most}, func() { <-r.scans }, nil
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
}

// over counts a line, and reports whether it is beyond the last.
func (s *scan) over() bool {
	if s.lines++; s.lines%1000 == 0 && s.gone() != nil {
		s.lines = s.most + 1
	}
	return s.done()
}

func (s *scan) done() bool { return s.lines > s.most }
