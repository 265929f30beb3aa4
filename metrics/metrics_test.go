package metrics_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/metrics"
)

func TestWhatHappensIsCounted(t *testing.T) {
	m := metrics.New(metrics.Gauges{Open: func() float64 { return 3 }, Paused: func() float64 { return 2 }, Rejected: func() float64 { return 7 }})
	allowed := &record.Entry{Decision: record.Allow, By: "taintPolicy", Mode: "allow", Level: "owner"}
	m.Decided(allowed, "sink", time.Millisecond)
	m.Decided(&record.Entry{Decision: record.Deny, Error: "store"}, "none", time.Millisecond)
	m.Happened(approval.Event{Kind: approval.EventAsked})
	m.Happened(approval.Event{Kind: approval.EventAnswered, Allow: true, Took: time.Second})
	m.Happened(approval.Event{Kind: approval.EventAnswered, Allow: true, Took: time.Minute})
	m.Happened(approval.Event{Kind: approval.EventAnswered, Took: time.Second})
	m.Happened(approval.Event{Kind: approval.EventExpired})
	m.Happened(approval.Event{Kind: approval.EventExhausted})
	m.Happened(approval.Event{Kind: approval.EventExhausted})
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	for _, line := range []string{
		`verifier_decisions_total{by="taintPolicy",class="sink",decision="allow",level="owner",mode="allow"} 1`,
		`verifier_faults_total{part="store"} 1`,
		`verifier_faults_total{part="record"} 0`,
		`verifier_prompts_total 1`,
		`verifier_answers_total{answer="allow"} 2`,
		`verifier_answers_total{answer="deny"} 1`,
		`verifier_answers_total{answer="expired"} 1`,
		`verifier_answers_under_two_seconds_total 1`,
		`verifier_answer_seconds_count 3`,
		`verifier_prompts_refused_total 2`,
		`verifier_paused 2`,
		`verifier_open_cards 3`,
		`verifier_unauthenticated_total 7`,
	} {
		if !strings.Contains(w.Body.String(), line+"\n") {
			t.Errorf("missing: %s", line)
		}
	}
}

// More sorts of decisions than have their counters at hand, counted at once.
func TestEverySortOfDecisionIsCountedForItself(t *testing.T) {
	m := metrics.New(metrics.Gauges{})
	const rules, times, counting = 40, 25, 4
	var all sync.WaitGroup
	for range counting {
		all.Go(func() {
			for i := range rules * times {
				m.Decided(&record.Entry{
					Decision: []string{record.Allow, record.Deny}[i%2], By: fmt.Sprint("rule ", i%rules), Mode: "allow",
					Level: "local",
				}, "safe", time.Millisecond)
			}
		})
	}
	all.Wait()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	for i := range rules {
		decision := [2]string{"allow", "deny"}[i%2]
		line := fmt.Sprintf(`verifier_decisions_total{by="rule %d",class="safe",decision="%s",level="local",mode="allow"} %d`, i, decision, times*counting)
		if !strings.Contains(w.Body.String(), line+"\n") {
			t.Errorf("missing: %s", line)
		}
	}
	for _, decision := range []string{"allow", "deny"} {
		line := fmt.Sprintf(`verifier_decision_seconds_count{decision="%s"} %d`, decision, rules*times*counting/2)
		if !strings.Contains(w.Body.String(), line+"\n") {
			t.Errorf("missing: %s", line)
		}
	}
}
