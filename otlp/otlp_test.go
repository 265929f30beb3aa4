package otlp_test

import (
	"context"
	"encoding/json" // what others would read it with
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/openclaw-verifier/verifier/otlp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// collector takes what is sent to it, and answers as told.
type collector struct {
	*httptest.Server
	answer http.HandlerFunc // nil: 200
	came   chan received
}

type received struct {
	path   string
	header http.Header
	body   string
}

func collecting(t *testing.T, answer http.HandlerFunc) *collector {
	t.Helper()
	c := &collector{answer: answer, came: make(chan received, 1000)}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		c.came <- received{r.URL.Path, r.Header, string(body)}
		if c.answer != nil {
			c.answer(w, r)
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// sending starts an exporter in an environment, and a log.
func sending(t *testing.T, env ...string) (*otlp.Exporter, *prometheus.Registry, *lines) {
	t.Helper()
	s, err := otlp.Read(environment(env...), "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	r, log := prometheus.NewRegistry(), &lines{}
	e := otlp.New(s, r.Gather, slog.New(slog.NewTextHandler(log, nil)))
	e.Start()
	t.Cleanup(func() { e.Close(t.Context()) })
	return e, r, log
}

type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

const endpoint, soon = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_BSP_SCHEDULE_DELAY"

func work() *otlp.Work {
	began := time.Unix(1770000000, 5)
	return &otlp.Work{
		Name: "decide", Began: began, Ended: began.Add(time.Millisecond), Attributes: map[string]string{"verifier.decision": "allow"},
		Parts: []otlp.Work{{Name: "store admit", Began: began, Ended: began.Add(time.Microsecond), Failed: true}},
	}
}

type attribute struct {
	Key   string
	Value struct{ StringValue string }
}

func has(all []attribute, key, value string) bool {
	for _, a := range all {
		if a.Key == key && a.Value.StringValue == value {
			return true
		}
	}
	return false
}

type traces struct {
	ResourceSpans []struct {
		Resource   struct{ Attributes []attribute }
		ScopeSpans []struct {
			Scope struct{ Name string }
			Spans []struct {
				TraceID, SpanID, ParentSpanID, Name string
				Kind                                int
				StartTimeUnixNano, EndTimeUnixNano  string
				Attributes                          []attribute
				Status                              struct{ Code int }
			}
		}
	}
}

func TestADecisionIsASpanBelowItsCallersWithItsPartsBelowIt(t *testing.T) {
	c := collecting(t, nil)
	e, _, _ := sending(t, endpoint, c.URL, soon, "1", "OTEL_METRICS_EXPORTER", "none", "OTEL_SERVICE_NAME", "gate",
		"OTEL_RESOURCE_ATTRIBUTES", "service.name=other,team=a%20b", "OTEL_EXPORTER_OTLP_HEADERS", "api-key=k%3D1, x=y", "OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
	e.Trace(work(), otlp.ParseParent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
	got := <-c.came
	if got.path != "/v1/traces" || got.header.Get("Content-Type") != "application/json" || got.header.Get("Api-Key") != "k=1" || got.header.Get("X") != "y" {
		t.Errorf("got %s %v", got.path, got.header)
	}
	var sent traces
	if err := json.Unmarshal([]byte(got.body), &sent); err != nil {
		t.Fatal(err)
	}
	of := sent.ResourceSpans[0]
	if a := of.Resource.Attributes; !has(a, "service.name", "gate") || !has(a, "team", "a b") || !has(a, "service.version", "v1.2.3") {
		t.Errorf("the resource is %v", a)
	}
	spans := of.ScopeSpans[0].Spans
	root, part := spans[0], spans[1]
	if root.TraceID != "0af7651916cd43dd8448eb211c80319c" || root.ParentSpanID != "b7ad6b7169203331" || len(root.SpanID) != 16 || root.Name != "decide" ||
		root.Kind != 2 || root.StartTimeUnixNano != "1770000000000000005" || root.EndTimeUnixNano != "1770000000001000005" ||
		!has(root.Attributes, "verifier.decision", "allow") || root.Status.Code != 0 {
		t.Errorf("the decision is %+v", root)
	}
	if part.TraceID != root.TraceID || part.ParentSpanID != root.SpanID || part.SpanID == root.SpanID || part.Name != "store admit" || part.Status.Code != 2 {
		t.Errorf("its part is %+v", part)
	}
}

func TestWhatIsNoTraceparentIsNone(t *testing.T) {
	const trace, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for header, want := range map[string]bool{
		"00-" + trace + "-" + span + "-01": true, "00-" + trace + "-" + span + "-00": true, "cc-" + trace + "-" + span + "-01-later": true,
		"": false, "00-" + trace + "-" + span: false, "ff-" + trace + "-" + span + "-01": false, "00-" + trace + "-" + span + "-01-x": false,
		"00-" + strings.Repeat("0", 32) + "-" + span + "-01": false, "00-" + trace + "-" + strings.Repeat("0", 16) + "-01": false,
		"00-" + strings.ToUpper(trace) + "-" + span + "-01": false, "00-" + trace[1:] + "g-" + span + "-01": false, "zz-" + trace + "-" + span + "-01": false,
	} {
		if got := otlp.ParseParent(header); (got != otlp.Parent{}) != want || want && fmt.Sprintf("%x", got.Trace) != trace {
			t.Errorf("%q: got %+v", header, got)
		}
	}
}

func FuzzParseParent(f *testing.F) {
	f.Add("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	f.Fuzz(func(t *testing.T, header string) {
		p := otlp.ParseParent(header)
		if p != (otlp.Parent{}) && !strings.Contains(header, fmt.Sprintf("-%x-%x-", p.Trace, p.Span)) {
			t.Errorf("%q is %+v", header, p)
		}
	})
}

func TestASamplerSaysWhichTracesAreSent(t *testing.T) {
	const low, high = "00-000000000000000000000000000000ff", "00-0000000000000000fffffffffffffff0"
	for _, tt := range []struct {
		sampler, arg, parent string
		want                 bool
	}{
		{"", "", "", true},
		{"", "", low + "-b7ad6b7169203331-00", false},
		{"always_on", "", low + "-b7ad6b7169203331-00", true},
		{"parentbased_always_off", "", "", false},
		{"parentbased_always_off", "", low + "-b7ad6b7169203331-01", true},
		{"traceidratio", "0.5", low + "-b7ad6b7169203331-00", true},
		{"traceidratio", "0.5", high + "-b7ad6b7169203331-01", false},
		{"parentbased_traceidratio", "0", "", false},
	} {
		c := collecting(t, nil)
		e, _, _ := sending(t, endpoint, c.URL, "OTEL_METRICS_EXPORTER", "none", "OTEL_TRACES_SAMPLER", tt.sampler, "OTEL_TRACES_SAMPLER_ARG", tt.arg)
		if e.Traces() {
			e.Trace(work(), otlp.ParseParent(tt.parent))
		}
		e.Close(t.Context())
		if got := len(c.came) == 1; got != tt.want {
			t.Errorf("%+v: sent is %v", tt, got)
		}
	}
}

func TestMetricsAreThoseOfPrometheus(t *testing.T) {
	c := collecting(t, nil)
	e, r, _ := sending(t, "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", c.URL+"/own", "OTEL_METRIC_EXPORT_INTERVAL", "3600000")
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "calls_total", Help: "Calls."}, []string{"decision"})
	histogram := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "seconds", Buckets: []float64{1, 2}})
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: "open"})
	r.MustRegister(counter, histogram, gauge, prometheus.NewSummary(prometheus.SummaryOpts{Name: "left_out"}))
	counter.WithLabelValues("deny").Add(3)
	gauge.Set(7)
	for _, v := range []float64{.5, 1.5, 1.6, 9} {
		histogram.Observe(v)
	}
	e.Close(t.Context()) // sends them once more
	got := <-c.came
	type points struct {
		AggregationTemporality int
		IsMonotonic            bool
		DataPoints             []struct {
			Attributes     []attribute
			AsDouble, Sum  float64
			Count          string
			BucketCounts   []string
			ExplicitBounds []float64
		}
	}
	var sent struct {
		ResourceMetrics []struct {
			ScopeMetrics []struct {
				Metrics []struct {
					Name, Description     string
					Sum, Gauge, Histogram *points
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(got.body), &sent); err != nil || got.path != "/own" {
		t.Fatal(got.path, err)
	}
	all := sent.ResourceMetrics[0].ScopeMetrics[0].Metrics
	if len(all) != 3 {
		t.Fatalf("got %s", got.body)
	}
	if m := all[0]; m.Name != "calls_total" || m.Description != "Calls." || !m.Sum.IsMonotonic || m.Sum.AggregationTemporality != 2 ||
		m.Sum.DataPoints[0].AsDouble != 3 || !has(m.Sum.DataPoints[0].Attributes, "decision", "deny") {
		t.Errorf("the counter is %+v", m)
	}
	if m := all[1]; m.Name != "open" || m.Gauge.DataPoints[0].AsDouble != 7 {
		t.Errorf("the gauge is %+v", m)
	}
	if m := all[2]; m.Name != "seconds" || m.Histogram.DataPoints[0].Count != "4" || m.Histogram.DataPoints[0].Sum != 12.6 ||
		fmt.Sprint(m.Histogram.DataPoints[0].BucketCounts, m.Histogram.DataPoints[0].ExplicitBounds) != "[1 2 1] [1 2]" {
		t.Errorf("the histogram is %+v", m)
	}
}

func TestNothingIsSentUnlessAnEndpointIsNamed(t *testing.T) {
	for _, env := range [][]string{
		nil,
		{"OTEL_SERVICE_NAME", "x"},
		{endpoint, "http://127.0.0.1:1", "OTEL_SDK_DISABLED", "true"},
		{endpoint, "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER", "none", "OTEL_METRICS_EXPORTER", "none"},
	} {
		if e, _, _ := sending(t, env...); e != nil {
			t.Errorf("%q: something is sent", env)
		}
	}
}

func TestAWrongVariableIsNamedAndItsValueIsNot(t *testing.T) {
	for name, value := range map[string]string{
		endpoint: "hunter2", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "ftp://hunter2", "OTEL_EXPORTER_OTLP_HEADERS": "hunter2",
		"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TIMEOUT": "-1", "OTEL_TRACES_SAMPLER": "hunter2", "OTEL_BSP_MAX_QUEUE_SIZE": "99999999",
		"OTEL_TRACES_EXPORTER": "zipkin", "OTEL_RESOURCE_ATTRIBUTES": "hunter2=%zz", "OTEL_METRIC_EXPORT_INTERVAL": "9999999999",
	} {
		env := []string{name, value}
		if name != endpoint {
			env = append(env, endpoint, "http://127.0.0.1:1")
		}
		s, err := otlp.Read(environment(env...), "")
		if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "hunter2") || s.On() {
			t.Errorf("%s: %v", name, err)
		}
	}
	s, err := otlp.Read(environment(endpoint, "http://127.0.0.1:1", "OTEL_TRACES_SAMPLER", "traceidratio", "OTEL_TRACES_SAMPLER_ARG", "nan"), "")
	if err == nil || s.On() {
		t.Errorf("a ratio that is no number: %v", err)
	}
}

// A collector that is busy gets the same again; one that refuses does not.
func TestABatchIsTriedAgainWhereThatCanHelp(t *testing.T) {
	for status, want := range map[int]int{http.StatusServiceUnavailable: 2, http.StatusBadRequest: 1} {
		var first sync.Once
		c := collecting(t, func(w http.ResponseWriter, _ *http.Request) {
			first.Do(func() { w.WriteHeader(status) })
		})
		e, _, _ := sending(t, endpoint, c.URL, soon, "1", "OTEL_METRICS_EXPORTER", "none")
		e.Trace(work(), otlp.Parent{})
		one := <-c.came
		e.Close(t.Context()) // does not wait for the pause to end
		if 1+len(c.came) != want || want == 2 && (<-c.came).body != one.body || (e.Dropped() == 0) != (want == 2) {
			t.Errorf("%d: dropped %d", status, e.Dropped())
		}
	}
}

func TestAFullQueueDropsAndCounts(t *testing.T) {
	hang := make(chan struct{})
	c := collecting(t, func(http.ResponseWriter, *http.Request) { <-hang })
	defer close(hang)
	e, _, _ := sending(t, endpoint, c.URL, "OTEL_METRICS_EXPORTER", "none", "OTEL_BSP_MAX_QUEUE_SIZE", "4", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")
	e.Trace(work(), otlp.Parent{})
	<-c.came // and now it hangs
	began := time.Now()
	for range 1000 {
		e.Trace(work(), otlp.Parent{})
	}
	if took := time.Since(began); e.Dropped() != 2*996 || took > 5*time.Second {
		t.Errorf("dropped %d in %s", e.Dropped(), took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e.Close(ctx)
	if e.Dropped() != 2*1001 {
		t.Errorf("at the end %d were dropped", e.Dropped())
	}
}

// H488, at the exporter: see cmd/verifier for what it costs a decision.
func TestARedirectIsNotFollowed(t *testing.T) {
	elsewhere := collecting(t, nil)
	c := collecting(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	e, _, log := sending(t, endpoint, strings.Replace(c.URL, "://", "://me:hunter2@", 1), soon, "1", "OTEL_METRICS_EXPORTER", "none", "OTEL_EXPORTER_OTLP_HEADERS", "api-key=hunter2")
	e.Trace(work(), otlp.Parent{})
	<-c.came
	e.Close(t.Context())
	if len(elsewhere.came) != 0 || e.Dropped() != 2 || !strings.Contains(log.String(), "answered 307") || strings.Contains(log.String(), "hunter2") {
		t.Errorf("sent on %d times, dropped %d, the log says %s", len(elsewhere.came), e.Dropped(), log)
	}
}

func TestAnAnswerWithoutEndIsCutOff(t *testing.T) {
	c := collecting(t, func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	e, _, _ := sending(t, endpoint, c.URL, soon, "1", "OTEL_METRICS_EXPORTER", "none")
	for range 3 {
		e.Trace(work(), otlp.Parent{})
		<-c.came
	}
}
