package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/openclaw-verifier/verifier/loop"
)

// countModel makes the counters of what the agents' own models take, as far as
// their runtimes say.
func (m *Metrics) countModel() {
	m.modelTokens = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "verifier_model_tokens_total", Help: "Tokens that the agents' models took, as their runtimes report them.",
	}, []string{"kind"})
	m.modelTime = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "verifier_model_seconds", Help: "Time the agents' models took to answer, as their runtimes report it.",
		Buckets: []float64{.1, .25, .5, 1, 2, 5, 10, 20, 30, 60, 120, 300},
	})
	m.registry.MustRegister(m.modelTokens, m.modelTime)
}

// Used counts what a call of an agent's model took.
func (m *Metrics) Used(t loop.Tokens, took time.Duration) {
	m.modelTokens.WithLabelValues("input").Add(float64(t.Input))
	m.modelTokens.WithLabelValues("output").Add(float64(t.Output))
	m.modelTokens.WithLabelValues("cached").Add(float64(t.Cached))
	if took > 0 {
		m.modelTime.Observe(took.Seconds())
	}
}
