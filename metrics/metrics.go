// Package metrics counts what the gateway does, for Prometheus.
//
// Labels are bounded: outcomes, modes, levels and classes of tools, never a
// tool's name, a session, a person or a reason. Nothing secret can get in,
// because nothing free-form does.
package metrics

import (
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/internal/auditor"
	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/verifier"
)

// reflex is how fast an answer is too fast to have been read.
const reflex = 2 * time.Second

// Metrics is what one gateway counts. Each has a registry of its own.
type Metrics struct {
	registry    *prometheus.Registry
	decisions   *prometheus.CounterVec
	deciding    *prometheus.HistogramVec
	waiting     prometheus.Histogram
	asked       prometheus.Counter
	answers     *prometheus.CounterVec
	answering   prometheus.Histogram
	reflexes    prometheus.Counter
	undelivered prometheus.Counter
	exhausted   prometheus.Counter
	faults      *prometheus.CounterVec
	audits      *prometheus.CounterVec
	auditing    prometheus.Histogram
	tokens      *prometheus.CounterVec
	modelTokens *prometheus.CounterVec
	modelTime   prometheus.Histogram
}

// Gauges are read when someone looks.
type Gauges struct {
	Open     func() float64 // cards that wait
	Paused   func() float64 // pauses of agents, or of all, that stand
	Rejected func() float64 // calls that could not be authenticated
}

// New makes the counters.
func New(g Gauges) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "verifier_decisions_total", Help: "Decisions by outcome, policy mode, class of tool and trust level.",
		}, []string{"decision", "by", "mode", "class", "level"}),
		deciding: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "verifier_decision_seconds", Help: "Time to decide a call, without waiting for people.",
			Buckets: []float64{.00005, .0001, .0002, .0005, .001, .002, .005, .01, .05, .1, .5},
		}, []string{"decision"}),
		waiting: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "verifier_wait_seconds", Help: "Time a call was held for a person.",
			Buckets: []float64{1, 2, 5, 10, 15, 20, 25, 30, 60, 120, 300, 600},
		}),
		asked: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "verifier_prompts_total", Help: "Questions put to people. Its rate per hour is how often the owner is asked.",
		}),
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "verifier_answers_total", Help: "People's answers by what they said.",
		}, []string{"answer"}),
		answering: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "verifier_answer_seconds", Help: "Time from putting a question to a person's answer.",
			Buckets: []float64{.5, 1, 2, 4, 8, 15, 30, 60, 120, 300},
		}),
		reflexes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "verifier_answers_under_two_seconds_total", Help: "Approvals given faster than one can read: the sign of a rubber stamp.",
		}),
		undelivered: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "verifier_undelivered_total", Help: "Cards that a channel could not send.",
		}),
		exhausted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "verifier_prompts_refused_total", Help: "Questions that were not put because their agent had asked too many in the hour.",
		}),
		faults: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "verifier_faults_total", Help: "Failures that ended in a deny, by part.",
		}, []string{"part"}),
	}
	m.countAudits()
	m.countModel()
	m.register(g)
	return m
}

// ofRuntime tells about Go's runtime, which is one for the process.
var ofRuntime = sync.OnceValue(func() prometheus.Collector { return collectors.NewGoCollector() })

func (m *Metrics) register(g Gauges) {
	m.registry.MustRegister(m.decisions, m.deciding, m.waiting, m.asked, m.answers, m.answering, m.reflexes, m.undelivered, m.exhausted, m.faults,
		ofRuntime(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, part := range []string{"store", "record"} {
		m.faults.WithLabelValues(part)
	}
	for _, said := range []string{"allow", "deny", "expired"} {
		m.answers.WithLabelValues(said)
	}
	if g.Open != nil {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "verifier_open_cards", Help: "Questions that wait for an answer."}, g.Open))
	}
	if g.Paused != nil {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "verifier_paused", Help: "Pauses in force, of one agent or of all.",
		}, g.Paused))
	}
	if g.Rejected != nil {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "verifier_unauthenticated_total", Help: "Calls that could not be authenticated.",
		}, g.Rejected))
	}
}

// Decided counts a decision.
func (m *Metrics) Decided(o verifier.Observation) {
	decision := "deny"
	if o.Allow {
		decision = "allow"
	}
	m.decisions.WithLabelValues(decision, o.By, o.Mode, o.Class, o.Level).Inc()
	m.deciding.WithLabelValues(decision).Observe((o.Took - o.Waited).Seconds())
	if o.Waited > 0 {
		m.waiting.Observe(o.Waited.Seconds())
	}
	if o.Fault != "" {
		m.faults.WithLabelValues(o.Fault).Inc()
	}
}

// Happened counts what the desk does.
func (m *Metrics) Happened(e approval.Event) {
	switch e.Kind {
	case approval.EventAsked:
		m.asked.Inc()
	case approval.EventUndelivered:
		m.undelivered.Inc()
	case approval.EventExhausted:
		m.exhausted.Inc()
	case approval.EventExpired:
		m.answers.WithLabelValues("expired").Inc()
	case approval.EventAnswered:
		said := "deny"
		if e.Allow {
			said = "allow"
		}
		m.answers.WithLabelValues(said).Inc()
		m.answering.Observe(e.Took.Seconds())
		if e.Allow && e.Took < reflex {
			m.reflexes.Inc()
		}
	}
}

// Handler serves them.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// countAudits makes the auditor's counters: what it says, how long it takes, and
// what it costs.
func (m *Metrics) countAudits() {
	m.audits = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "verifier_audits_total", Help: "Questions to the auditor by what it said, and why it said nothing.",
	}, []string{"verdict", "cause"})
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
func (m *Metrics) Audited(o auditor.Observation) {
	m.audits.WithLabelValues(o.Verdict.String(), o.Cause).Inc()
	m.auditing.Observe(o.Took.Seconds())
	m.tokens.WithLabelValues("input").Add(float64(max(o.Input, 0)))
	m.tokens.WithLabelValues("output").Add(float64(max(o.Output, 0)))
}

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
