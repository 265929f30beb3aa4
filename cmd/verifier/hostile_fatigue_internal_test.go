package main

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

// An injected agent floods the owner: the owner sees a handful of cards, one of
// them a list, and one notice; the agent is turned away until there is room.
func TestH31FiveHundredQuestionsInAMinuteAreBounded(t *testing.T) {
	onBoth(t, nil, func(t *testing.T, r *rig) {
		const flood = 500
		ask := func(i int) answer { return r.send(impatient(sh(fmt.Sprintf("echo %d", i), unvouched("x")))) }
		before := heap()
		why := map[string]int{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		next := make(chan int)
		for range 16 {
			wg.Go(func() {
				for i := range next {
					a := ask(i)
					mu.Lock()
					why[sort(t, a)]++
					mu.Unlock()
				}
			})
		}
		for i := range flood {
			next <- i
		}
		close(next)
		wg.Wait()
		if why["asked"] < 5 {
			t.Errorf("%d calls were put to the owner", why["asked"])
		}
		if n := why["asked"] + why["full"]; n != 60 {
			t.Errorf("%d questions were counted, want the hour's 60: %v", n, why)
		}
		if why["paused"] != flood-60 {
			t.Errorf("of %d calls: %v", flood, why)
		}
		cards := r.pending() // calls that come together share one; five cards, and a list of what finds no room
		if len(cards) < 1 || len(cards) > 6 {
			t.Errorf("%d cards wait, want six at most", len(cards))
		}
		for _, c := range cards {
			if len(c.Tools) > 20 {
				t.Errorf("a card lists %d calls", len(c.Tools))
			}
		}
		redistest.Eventually(t, "the owner is told", func() bool { return strings.Contains(r.screen.String(), "has asked 60 questions within an hour") })
		if n := strings.Count(r.screen.String(), "within an hour"); n != 1 {
			t.Errorf("the owner was told %d times", n)
		}
		if grown := int64(heap()) - int64(before); grown > 32<<20 {
			t.Errorf("%d MB are held after the flood", grown>>20)
		}
		r.allow(sh("date", ownerIn("needs-no-approval")))
		r.restart()
		if why := sort(t, ask(flood)); why != "paused" {
			t.Errorf("after a restart the next question is %s", why)
		}
		other := with(unvouched("y"), "agentId", "other", "sessionKey", "agent:other:main")
		r.mustAsk(sh("date", other))
		r.reply(".resume main")
		r.mustAsk(sh("date", unvouched("z")))
	})
}

// sort says what became of a call that nobody answered.
func sort(t *testing.T, a answer) string {
	t.Helper()
	switch {
	case a.Decision != "deny":
		t.Errorf("got %s", a.raw)
	case a.Ref != "":
		return "asked"
	case strings.Contains(a.Reason, "Too many questions are waiting"):
		return "full"
	case strings.Contains(a.Reason, "Paused: too many questions this hour"):
		return "paused"
	}
	return a.raw
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestTheHoursQuestionsAreCountedAcrossReplicas(t *testing.T) {
	t.Parallel()
	r := newRedisRig(t, func(c *config.Config) { c.Approval.MaxPromptsPerHour = 2 })
	replica := r.replica()
	r.mustAsk(sh("date", unvouched("a")))
	replica.mustAsk(sh("date", unvouched("b")))
	for i, r := range []*rig{r, replica, r} {
		if a := r.deny(impatient(sh("date", unvouched(fmt.Sprint("c", i))))); a.Ref != "" || !strings.Contains(a.Reason, "too many questions this hour") {
			t.Errorf("got %s", a.raw)
		}
	}
	told := func() int { return strings.Count(r.screen.String()+replica.screen.String(), "has asked 2 questions") }
	redistest.Eventually(t, "the owner is told", func() bool { return told() > 0 })
	if n := told(); n != 1 {
		t.Errorf("told %d times", n)
	}
	// Asking about the same again is no new question.
	r.mustAsk(sh("date", unvouched("a")))
	if v := replica.reply(".resume"); v.Kind != "told" {
		t.Errorf("told %+v", v)
	}
	r.mustAsk(sh("date", unvouched("d")))
}
