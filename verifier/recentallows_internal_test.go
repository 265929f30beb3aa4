package verifier

import (
	"crypto/sha256"
	"strconv"
	"testing"
)

// Requests stay known while 20,000 others pass, and what is kept of all that ever
// passed is bounded.
func TestRequestsThatPassedAreRememberedForAWhile(t *testing.T) {
	const remembered, passed = 20_000, 50_000
	request := func(i int) requestKey {
		return requestKey{conversation: [16]byte{byte(i % 64)}, body: sha256.Sum256([]byte(strconv.Itoa(i)))}
	}
	var g recentAllows
	for i := range passed {
		k := request(i)
		if i%16 == 0 && g.has(k) {
			t.Fatalf("request %d is known before it passed", i)
		}
		g.note(k)
		if before := i - remembered; before >= 0 && i%16 == 0 && !g.has(request(before)) {
			t.Fatalf("request %d is forgotten when %d passes", before, i)
		}
	}
	other := request(passed - 1)
	other.conversation[1]++
	if g.has(other) {
		t.Error("a request of one conversation is known in another")
	}
	if g.has(request(0)) {
		t.Error("the first of all is still known")
	}
}
