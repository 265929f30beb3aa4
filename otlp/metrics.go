package otlp

import (
	"math"
	"strconv"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// metric is one of the protocol's, in one of three forms.
type metric struct {
	Name        string  `json:"name"`
	Description string  `json:"description,omitzero"`
	Sum         *points `json:"sum,omitempty"`
	Gauge       *points `json:"gauge,omitempty"`
	Histogram   *points `json:"histogram,omitempty"`
}

type points struct {
	Temporality int     `json:"aggregationTemporality,omitzero"`
	Monotonic   bool    `json:"isMonotonic,omitzero"`
	Points      []point `json:"dataPoints"`
}

// cumulative counts from the start on, as Prometheus does.
const cumulative = 2

type point struct {
	Attributes []attribute `json:"attributes,omitempty"`
	Began      nanoseconds `json:"startTimeUnixNano,omitzero"`
	At         nanoseconds `json:"timeUnixNano"`
	Value      *float64    `json:"asDouble,omitempty"`
	Count      string      `json:"count,omitzero"`
	Sum        *float64    `json:"sum,omitempty"`
	Buckets    []string    `json:"bucketCounts,omitempty"`
	Bounds     []float64   `json:"explicitBounds,omitempty"`
}

// metricsOf are Prometheus' counters, gauges and histograms. Summaries, which
// only Go's runtime has here, are left out.
func metricsOf(families []*dto.MetricFamily, began, now time.Time) []metric {
	var out []metric
	for _, f := range families {
		p := points{}
		for _, m := range f.GetMetric() {
			p.add(m, began, now)
		}
		if len(p.Points) == 0 {
			continue
		}
		one := metric{Name: f.GetName(), Description: f.GetHelp()}
		switch f.GetType() {
		case dto.MetricType_COUNTER:
			p.Temporality, p.Monotonic, one.Sum = cumulative, true, &p
		case dto.MetricType_HISTOGRAM:
			p.Temporality, one.Histogram = cumulative, &p
		default:
			one.Gauge = &p
		}
		out = append(out, one)
	}
	return out
}

// add takes a value over, unless JSON has no number for it.
func (p *points) add(m *dto.Metric, began, now time.Time) {
	labels := make(map[string]string, len(m.GetLabel()))
	for _, l := range m.GetLabel() {
		labels[l.GetName()] = l.GetValue()
	}
	one := point{Attributes: attributes(labels), Began: at(began), At: at(now)}
	var value float64
	switch {
	case m.GetCounter() != nil:
		value = m.GetCounter().GetValue()
		one.Value = &value
	case m.GetGauge() != nil:
		value, one.Began = m.GetGauge().GetValue(), ""
		one.Value = &value
	case m.GetHistogram() != nil:
		value = m.GetHistogram().GetSampleSum()
		one.Sum = &value
		one.histogram(m.GetHistogram())
	default:
		return
	}
	if !math.IsNaN(value) && !math.IsInf(value, 0) {
		p.Points = append(p.Points, one)
	}
}

// histogram turns counts up to each bound into counts between the bounds.
func (p *point) histogram(h *dto.Histogram) {
	p.Count = strconv.FormatUint(h.GetSampleCount(), 10)
	below := uint64(0)
	for _, b := range h.GetBucket() {
		if math.IsInf(b.GetUpperBound(), 1) {
			continue
		}
		p.Bounds = append(p.Bounds, b.GetUpperBound())
		p.Buckets = append(p.Buckets, strconv.FormatUint(b.GetCumulativeCount()-below, 10))
		below = b.GetCumulativeCount()
	}
	p.Buckets = append(p.Buckets, strconv.FormatUint(h.GetSampleCount()-below, 10))
}
