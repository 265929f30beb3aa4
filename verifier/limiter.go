package verifier

import (
	"slices"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// limiter counts what limits are about: in this process, for as long as it runs.
// Every call that is decided counts, whatever became of it, so that no two at the
// same moment are both the last.
type limiter struct {
	mu   sync.Mutex
	seen map[rateKey][]rated
	last time.Time // when what is over was last swept
}

type rateKey struct{ limit, of string }

type rated struct {
	at     time.Time
	amount float64
}

// mostRated bounds what is kept under one limit: beyond it the limit is reached.
const (
	mostRated  = 10_000
	sweepRates = time.Minute
)

// limit tightens the plan by the limits that the call has reached.
func (r *limiter) limit(t *evaluation) {
	for i := range t.plan.Bounds {
		b := &t.plan.Bounds[i]
		if r.reached(b, rateKeyOf(t.call, b), t.started) {
			t.plan.Exceed(b)
		}
	}
}

func rateKeyOf(c *toolcall.Call, b *policy.Bound) rateKey {
	k := rateKey{limit: b.Name}
	switch b.Limit.Per {
	case policy.PerRun:
		k.of = c.Client + "\n" + c.Context.SessionKey + "\n" + c.Context.RunID
	case policy.PerConversation:
		k.of = c.Client + "\n" + c.Context.SessionKey
	case policy.PerAgent:
		k.of = c.Client + "\n" + c.Agent()
	case policy.PerAll:
	}
	return k
}

func (r *limiter) reached(b *policy.Bound, k rateKey, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[rateKey][]rated{}
	}
	r.sweep(now)
	counted := r.seen[k]
	for len(counted) > 0 && now.Sub(counted[0].at) >= b.Limit.Window {
		counted = counted[1:]
	}
	sum := 0.0
	for _, c := range counted {
		sum += c.amount
	}
	reached := b.Reached(len(counted), sum) || len(counted) >= mostRated
	if !reached && b.Limit.Tokens == 0 {
		counted = append(counted, rated{now, b.Amount})
	}
	r.seen[k] = counted
	return reached
}

// uncount takes back what limit has counted for the call.
func (r *limiter) uncount(t *evaluation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := 0; r.seen != nil && i < len(t.plan.Bounds); i++ {
		k := rateKeyOf(t.call, &t.plan.Bounds[i])
		r.seen[k] = slices.DeleteFunc(r.seen[k], func(c rated) bool { return c.at.Equal(t.started) })
	}
}

// spend counts the tokens that a call of the model took, under each budget that
// they belong to.
func (r *limiter) spend(h *eventEvaluation) {
	if h.event.Tokens.Total == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[rateKey][]rated{}
	}
	r.sweep(h.started)
	for _, b := range h.rules.Budgets(h.call.Agent()) {
		k := rateKeyOf(h.call, &b)
		if counted := r.seen[k]; len(counted) < mostRated {
			r.seen[k] = append(counted, rated{h.started, float64(h.event.Tokens.Total)})
		}
	}
}

// longestWindow is how long anything is kept, however long a window is: a day.
const longestWindow = 24 * time.Hour

// sweep forgets what no window reaches any more.
func (r *limiter) sweep(now time.Time) {
	if now.Sub(r.last) < sweepRates {
		return
	}
	r.last = now
	for k, counted := range r.seen {
		if len(counted) == 0 || now.Sub(counted[len(counted)-1].at) >= longestWindow {
			delete(r.seen, k)
		}
	}
}
