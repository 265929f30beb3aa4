package store_test

import (
	"context"
	"testing"

	"github.com/openclaw-verifier/verifier/internal/store"
)

// TestWhoLeavesIsNeverToldThatItIsDone: a backend leaves out whom it finds gone, and then nothing was written,
// whichever the caller hears first.
func TestWhoLeavesIsNeverToldThatItIsDone(t *testing.T) {
	t.Parallel()
	b := store.NewBatch(1, func(together []*store.Work) {
		for _, w := range together {
			if !w.IsLate() {
				t.Error("it is not late")
			}
		}
	})
	defer b.Close()
	gone, leave := context.WithCancel(t.Context())
	leave()
	for range 10_000 {
		if _, err := b.Commit(gone, &store.Commit{}); err == nil {
			t.Fatal("it is done")
		}
	}
}
