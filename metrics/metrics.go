// Package metrics counts what the gateway does, for Prometheus.
//
// Labels are bounded: outcomes, modes, levels and classes of tools, never a tool's name, a session, a person or a
// reason. Nothing secret can get in, because nothing free-form does.
package metrics

import (
	"cmp"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/auditor"
	"github.com/openclaw-verifier/verifier/internal/record"
)

// parts are those whose failure ends in a deny.
var parts = []string{"store", "record"}

// reflex is how fast an answer is too fast to have been read.
const reflex = 2 * time.Second

// Metrics is what one gateway counts. Each has a registry of its own.
type Metrics struct {
	registry *prometheus.Registry

	decisions, answers, faults, audits, tokens *prometheus.CounterVec
	asked, reflexes, undelivered, exhausted    prometheus.Counter
	deciding                                   *prometheus.HistogramVec
	answering, auditing                        prometheus.Observer
}

// Gauges are read when someone looks.
type Gauges struct {
	Open     func() float64 // cards that wait
	Paused   func() float64 // pauses of agents, or of all, that stand
	Rejected func() float64 // calls that could not be authenticated
}

// ofRuntime tells about Go's runtime, which is one for the process.
var ofRuntime = sync.OnceValue(func() prometheus.Collector { return collectors.NewGoCollector() })

// New makes the counters.
func New(g Gauges) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(ofRuntime(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	f := promauto.With(m.registry)
	counts := func(name, help string, labels ...string) *prometheus.CounterVec {
		return f.NewCounterVec(prometheus.CounterOpts{Name: "verifier_" + name, Help: help}, labels)
	}
	count := func(name, help string) prometheus.Counter { return counts(name, help).WithLabelValues() }
	times := func(name, help string, labels []string, buckets ...float64) *prometheus.HistogramVec {
		return f.NewHistogramVec(prometheus.HistogramOpts{Name: "verifier_" + name, Help: help, Buckets: buckets},
			labels)
	}
	m.decisions = counts("decisions_total", "Decisions by outcome, policy mode, class of tool and trust level.",
		"decision", "by", "mode", "class", "level")
	m.deciding = times("decision_seconds", "Time to decide a call, without waiting for people.", []string{"decision"},
		.00005, .0001, .0002, .0005, .001, .002, .005, .01, .05, .1, .5)
	m.asked = count("prompts_total", "Questions put to people. Its rate per hour is how often the owner is asked.")
	m.answers = counts("answers_total", "People's answers by what they said.", "answer")
	m.answering = times("answer_seconds", "Time from putting a question to a person's answer.", nil,
		.5, 1, 2, 4, 8, 15, 30, 60, 120, 300).WithLabelValues()
	m.reflexes = count("answers_under_two_seconds_total",
		"Approvals given faster than one can read: the sign of a rubber stamp.")
	m.undelivered = count("undelivered_total", "Cards that a channel could not send.")
	m.exhausted = count("prompts_refused_total",
		"Questions that were not put because their agent had asked too many in the hour.")
	m.faults = counts("faults_total", "Failures that ended in a deny, by part.", "part")
	m.audits = counts("audits_total", "Questions to the auditor by what it said, and why it said nothing.",
		"verdict", "cause")
	m.auditing = times("audit_seconds", "Time the auditor took to answer.", nil,
		.05, .1, .2, .3, .5, .75, 1, 1.5, 2, 3, 5, 10, 20).WithLabelValues()
	m.tokens = counts("audit_tokens_total", "Tokens that questions to the auditor and its answers took.", "direction")
	for _, part := range parts {
		m.faults.WithLabelValues(part)
	}
	for _, said := range []string{"allow", "deny", "expired"} {
		m.answers.WithLabelValues(said)
	}
	gauge := func(name, help string, read func() float64) {
		if read != nil {
			f.NewGaugeFunc(prometheus.GaugeOpts{Name: "verifier_" + name, Help: help}, read)
		}
	}
	gauge("open_cards", "Questions that wait for an answer.", g.Open)
	gauge("paused", "Pauses in force, of one agent or of all.", g.Paused)
	if g.Rejected != nil {
		f.NewCounterFunc(prometheus.CounterOpts{
			Name: "verifier_unauthenticated_total", Help: "Calls that could not be authenticated.",
		}, g.Rejected)
	}
	return m
}

// Decided counts a decision.
func (m *Metrics) Decided(e *record.Entry, class string, took time.Duration) {
	m.decisions.WithLabelValues(e.Decision, cmp.Or(e.Error, e.By), e.Mode, class, e.Level).Inc()
	waited := time.Duration(e.WaitedMs) * time.Millisecond
	m.deciding.WithLabelValues(e.Decision).Observe((took - waited).Seconds())
	if slices.Contains(parts, e.Error) {
		m.faults.WithLabelValues(e.Error).Inc()
	}
}

func said(allow bool) string {
	if allow {
		return "allow"
	}
	return "deny"
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
		m.answers.WithLabelValues(said(e.Allow)).Inc()
		m.answering.Observe(e.Took.Seconds())
		if e.Allow && e.Took < reflex {
			m.reflexes.Inc()
		}
	}
}

// Audited counts a question to the auditor.
func (m *Metrics) Audited(o auditor.Observation) {
	m.audits.WithLabelValues(o.Verdict.String(), o.Cause).Inc()
	m.auditing.Observe(o.Took.Seconds())
	m.tokens.WithLabelValues("input").Add(float64(max(o.Input, 0)))
	m.tokens.WithLabelValues("output").Add(float64(max(o.Output, 0)))
}

// Handler serves them.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
