package approval

import (
	"slices"
	"time"

	"github.com/openclaw-verifier/verifier/recent"
)

// usedApprovals remembers which request took the yes of which question, in this
// process: a card that someone rolled back in the store gives no second one.
type usedApprovals struct {
	recent.Shared[[2]string, string] // by card and digest
}

// MarkUsed notes that a request has taken the yes of a card, and wakes identical
// requests that wait for the outcome.
func (cs *cardStore) MarkUsed(card, digest, request string) {
	defer cs.waiters.wake(card)
	cs.usedApprovals.Put([2]string{card, digest}, request, 5_000)
}

// by is the request that took it, "" if none did.
func (s *usedApprovals) by(card, digest string) string {
	request, _ := s.Get([2]string{card, digest})
	return request
}

// claimable says whether a request may take a question's yes, by what the card
// says and by what this process has seen.
func (cs *cardStore) claimable(c *Card, q *Question, request string, now time.Time) bool {
	if by := cs.usedApprovals.by(c.ID, q.Ask.Digest); by != "" && by != request {
		return false
	}
	t := cs.terms()
	if slices.ContainsFunc(q.Votes, t.lapsed) {
		return false // a call has used it; it is kept only for display
	}
	return q.claimable(q.last(), request, t.TTL, now, cs.process.gone)
}
