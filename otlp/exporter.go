// Package otlp hands spans and metrics to an OpenTelemetry collector: OTLP over
// HTTP, in JSON.
//
// Telling must not cost a decision anything, so that [Exporter.Trace] never waits:
// there is a queue of a fixed length, and what does not fit is dropped and
// counted. A collector that hangs, redirects or answers without end costs one
// goroutine some time, no more. What is sent is what the callers of this package
// put into it; nothing is taken from the calls themselves.
package otlp

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	dto "github.com/prometheus/client_model/go"
)

const (
	scopeName   = "github.com/openclaw-verifier/verifier"
	tries       = 3                // for each batch
	firstPause  = time.Second      // doubled each time
	maxPause    = 10 * time.Second // whatever the collector asks for
	maxAnswer   = 64 << 10         // of what it says, the rest is not read
	maxHeader   = 16 << 10
	quietBefore = time.Minute // between two lines in the log about the same collector
)

// Exporter sends. A nil one sends nothing.
type Exporter struct {
	s       *Settings
	log     *slog.Logger
	client  *http.Client
	gather  func() ([]*dto.MetricFamily, error)
	started time.Time

	queue   chan []span
	dropped atomic.Int64
	said    atomic.Int64 // when the log was last told of a failure

	stop    chan struct{}
	closing sync.Once
	stopped sync.WaitGroup
	cut     context.CancelFunc
	ctx     context.Context
}

// New makes an exporter, or nil where nothing is to be sent. Gather gives the metrics.
func New(s *Settings, gather func() ([]*dto.MetricFamily, error), log *slog.Logger) *Exporter {
	if !s.On() {
		return nil
	}
	e := &Exporter{
		s: s, log: log, gather: gather, started: time.Now(), queue: make(chan []span, s.queue), stop: make(chan struct{}),
		client: &http.Client{
			Transport: &http.Transport{
				Proxy: http.ProxyFromEnvironment, MaxResponseHeaderBytes: maxHeader, DisableCompression: true, MaxConnsPerHost: 2,
				TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 90 * time.Second,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the headers can hold a key
		},
	}
	e.ctx, e.cut = context.WithCancel(context.Background())
	return e
}

// Start begins to send. Whatever gather reads must be there by now.
func (e *Exporter) Start() {
	if e == nil {
		return
	}
	if e.s.Traces() {
		e.stopped.Go(e.sendSpans)
	}
	if e.s.metrics.url != "" {
		e.stopped.Go(e.sendMetrics)
	}
}

// Traces reports whether spans are wanted.
func (e *Exporter) Traces() bool { return e != nil && e.s.Traces() }

// Trace sends a piece of work, later. It never waits.
func (e *Exporter) Trace(w *Work, p Parent) {
	if p.Trace == [16]byte{} {
		rand.Read(p.Trace[:]) // it never fails
	}
	if !e.s.sampler.wants(&p) {
		return
	}
	select {
	case e.queue <- spans(w, &p):
	default:
		e.dropped.Add(int64(1 + len(w.Parts)))
	}
}

// Dropped is how many spans were not handed over.
func (e *Exporter) Dropped() int64 { return e.dropped.Load() }

// Close sends what waits, as far as there is time until ctx ends.
func (e *Exporter) Close(ctx context.Context) {
	if e == nil {
		return
	}
	defer context.AfterFunc(ctx, e.cut)()
	e.closing.Do(func() { close(e.stop) })
	e.stopped.Wait()
	e.cut()
	e.client.CloseIdleConnections()
}

// sendSpans sends a batch when it is full, or after a while.
func (e *Exporter) sendSpans() {
	tick := time.NewTicker(e.s.delay)
	defer tick.Stop()
	var batch []span
	for {
		select {
		case more := <-e.queue:
			if batch = append(batch, more...); len(batch) < e.s.batch {
				continue
			}
		case <-tick.C:
		case <-e.stop:
			for len(e.queue) > 0 {
				batch = append(batch, <-e.queue...)
			}
			e.sendBatches(batch)
			return
		}
		e.sendBatches(batch)
		batch = nil
	}
}

type scope struct {
	Name string `json:"name"`
}

type resource struct {
	Attributes []attribute `json:"attributes"`
}

func (e *Exporter) sendBatches(all []span) {
	for batch := range slices.Chunk(all, e.s.batch) {
		e.sendBatch(batch)
	}
}

func (e *Exporter) sendBatch(batch []span) {
	type scoped struct {
		Scope scope  `json:"scope"`
		Spans []span `json:"spans"`
	}
	type of struct {
		Resource resource `json:"resource"`
		Scopes   []scoped `json:"scopeSpans"`
	}
	body := map[string][]of{"resourceSpans": {{resource{e.s.resource}, []scoped{{scope{scopeName}, batch}}}}}
	if err := e.post(&e.s.traces, body); err != nil {
		e.dropped.Add(int64(len(batch)))
		e.complain("spans could not be handed to the OpenTelemetry collector", err)
	}
}

func (e *Exporter) sendMetrics() {
	tick := time.NewTicker(e.s.interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			e.report()
		case <-e.stop:
			e.report()
			return
		}
	}
}

// report sends all metrics as they are now.
func (e *Exporter) report() {
	type scoped struct {
		Scope   scope    `json:"scope"`
		Metrics []metric `json:"metrics"`
	}
	type of struct {
		Resource resource `json:"resource"`
		Scopes   []scoped `json:"scopeMetrics"`
	}
	families, err := e.gather()
	if err == nil {
		all := metricsOf(families, e.started, time.Now())
		err = e.post(&e.s.metrics, map[string][]of{"resourceMetrics": {{resource{e.s.resource}, []scoped{{scope{scopeName}, all}}}}})
	}
	if err != nil {
		e.complain("metrics could not be handed to the OpenTelemetry collector", err)
	}
}

// complain tells the log, now and then.
func (e *Exporter) complain(what string, err error) {
	now := time.Now()
	if last := e.said.Load(); last != 0 && now.Sub(time.Unix(0, last)) < quietBefore {
		return
	}
	e.said.Store(now.UnixNano())
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // without the address: it can hold a password
	}
	e.log.Warn(what, "err", err, "dropped", e.dropped.Load())
}

// refusal is an answer that is not 2xx.
type refusal struct {
	status int
	after  time.Duration // when to come again; 0: it does not say
}

func (r *refusal) Error() string { return fmt.Sprintf("the collector answered %d", r.status) }

// again reports whether the same could be taken later.
func (r *refusal) again() bool {
	switch r.status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// post sends a body, a few times where that may help.
func (e *Exporter) post(to *signal, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	pause := firstPause
	for try := 1; ; try++ {
		err = e.once(to, text)
		refused, _ := errors.AsType[*refusal](err)
		if err == nil || try == tries || refused != nil && !refused.again() {
			return err
		}
		wait := pause
		if refused != nil && refused.after > 0 {
			wait = min(refused.after, maxPause)
		}
		select {
		case <-time.After(wait):
		case <-e.stop: // one more, at once
			try = tries - 1
		case <-e.ctx.Done():
			return err
		}
		pause *= 2
	}
}

func (e *Exporter) once(to *signal, text []byte) error {
	ctx, cancel := context.WithTimeout(e.ctx, to.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.url, bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header = to.headers.Clone()
	req.Header.Set("Content-Type", "application/json")
	res, err := e.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxAnswer)) // so that the connection can be used again
	if res.StatusCode/100 == 2 {
		return nil
	}
	after, _ := time.ParseDuration(res.Header.Get("Retry-After") + "s")
	return &refusal{res.StatusCode, max(after, 0)}
}
