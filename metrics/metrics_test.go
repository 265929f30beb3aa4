package metrics_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/metrics"
	"github.com/openclaw-verifier/verifier/verifier"
)

func TestWhatHappensIsCounted(t *testing.T) {
	m := metrics.New(metrics.Gauges{Open: func() float64 { return 3 }, Paused: func() float64 { return 2 }, Rejected: func() float64 { return 7 }})
	m.Decided(verifier.Observation{Allow: true, By: "taintPolicy", Mode: "allow", Class: "sink", Level: "owner", Took: time.Millisecond})
	m.Decided(verifier.Observation{By: "store", Fault: "store"})
	m.Happened(approval.Event{Kind: approval.EventAsked})
	m.Happened(approval.Event{Kind: approval.EventAnswered, Allow: true, Took: time.Second})
	m.Happened(approval.Event{Kind: approval.EventAnswered, Allow: true, Took: time.Minute})
	m.Happened(approval.Event{Kind: approval.EventAnswered, Took: time.Second})
	m.Happened(approval.Event{Kind: approval.EventExpired})
	m.Happened(approval.Event{Kind: approval.EventEscalated})
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
		`verifier_escalations_total 1`,
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
