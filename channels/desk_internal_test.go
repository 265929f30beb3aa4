package channels

import (
	"context"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
)

// wrongCodes is a store in which no code is right.
type wrongCodes struct {
	approval.Store
	tries int
}

func (s *wrongCodes) Find(context.Context, string) (string, error) { return "", nil }

func (s *wrongCodes) Count(_ context.Context, _ string, _ time.Duration, count bool) (int, error) {
	if count {
		s.tries++
	}
	return s.tries, nil
}

func (s *wrongCodes) Wakes(ctx context.Context, _ func(string)) error {
	<-ctx.Done()
	return nil
}

// nothing keeps no record.
type nothing struct{}

func (nothing) Append(record.Entry) error { return nil }
