package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/openclaw-verifier/verifier/intent"
)

// countAudits makes the auditor's counters: what it says, how long it takes, and
// what it costs.
func (m *Metrics) countAudits() {
	m.audits = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "verifier_audits_total", Help: "Questions to the auditor by what it said, why it said nothing, and whether the answer was known.",
	}, []string{"verdict", "cause", "cached"})
	m.auditing = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "verifier_audit_seconds", Help: "Time the auditor took to answer.",
		Buckets: []float64{.05, .1, .2, .3, .5, .75, 1, 1.5, 2, 3, 5, 10, 20},
	})
	m.tokens = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "verifier_audit_tokens_total", Help: "Tokens that questions to the auditor and its answers took.",
	}, []string{"direction"})
	m.registry.MustRegister(m.audits, m.auditing, m.tokens)
}

// Audited counts a question to the auditor.
func (m *Metrics) Audited(o intent.Observation) {
	cached := "no"
	if o.Cached {
		cached = "yes"
	}
	m.audits.WithLabelValues(o.Verdict.String(), o.Cause, cached).Inc()
	if o.Cached {
		return
	}
	m.auditing.Observe(o.Took.Seconds())
	m.tokens.WithLabelValues("input").Add(float64(max(o.Input, 0)))
	m.tokens.WithLabelValues("output").Add(float64(max(o.Output, 0)))
}
