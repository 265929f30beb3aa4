package hmac

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestStatesAreUsedAgainWithoutATrace: many keys, more than have states, and
// messages of all lengths, at once, give what package hmac gives.
func TestStatesAreUsedAgainWithoutATrace(t *testing.T) {
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 2_000 {
				key := fmt.Appendf(nil, "%d%s", i%(maxKeys+g), strings.Repeat("k", i%100))
				body := []byte(strings.Repeat("x", i*7%300))
				h := hmac.New(sha256.New, key)
				h.Write(body)
				var sum [sha256.Size]byte
				if mac(&sum, key, body); !hmac.Equal(h.Sum(nil), sum[:]) {
					t.Errorf("%d: another sum", i)
					return
				}
			}
		})
	}
	all.Wait()
	if known := pools.Load(); len(*known) > maxKeys {
		t.Errorf("%d keys are kept", len(*known))
	}
}

// TestAKeyMayChangeAfterwards: the caller's slice is not what is kept.
func TestAKeyMayChangeAfterwards(t *testing.T) {
	key := []byte("first-key")
	first := Sign(key, []byte("a"))
	copy(key, "other-key")
	if Sign(key, []byte("a")) == first || Sign([]byte("first-key"), []byte("a")) != first {
		t.Error("the state follows the slice")
	}
}
