package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/openclaw-verifier/verifier/otlp"
	"github.com/openclaw-verifier/verifier/verifier"
)

// tracedTarget is how many of the calls without OpenTelemetry are left with it.
const tracedTarget = 0.8

// openTraced is the embedded server that sends each decision as a span, with its steps. The collector is in the same process, so that its
// work counts, too.
func openTraced(p place) (running, error) {
	s, err := embeddedStore(p)
	if err != nil {
		return running{}, err
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return running{}, errors.Join(err, s.Close())
	}
	collector := &http.Server{ReadHeaderTimeout: maxSlice, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the exporter sees whether it was taken
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{}"))
	})}
	go collector.Serve(l) //nolint:errcheck // it ends with the run
	settings, err := otlp.Read(func(name string) string {
		return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://" + l.Addr().String(), "OTEL_METRICS_EXPORTER": "none"}[name]
	}, "bench")
	if err != nil {
		return running{}, errors.Join(err, s.Close(), collector.Close())
	}
	e := otlp.New(settings, func() ([]*dto.MetricFamily, error) { return nil, nil }, slog.New(slog.DiscardHandler))
	run, err := (&gateway{store: s, trace: func(t *verifier.Traced) { e.Trace(span(t), otlp.Parent{}) }}).open(p)
	if err != nil {
		return running{}, errors.Join(err, collector.Close())
	}
	e.Start()
	stop := run.close
	run.close = func() error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		e.Close(ctx)
		return errors.Join(stop(), collector.Close())
	}
	return run, nil
}

// span is a decision as cmd/verifier sends it.
func span(t *verifier.Traced) *otlp.Work {
	w := &otlp.Work{Name: "decide", Began: t.Began, Ended: t.Ended, Attributes: map[string]string{
		"verifier.decision": fmt.Sprint(t.Allow), "verifier.by": t.By, "verifier.mode": t.Mode, "verifier.class": t.Class, "verifier.level": t.Level,
	}}
	for _, s := range t.Steps {
		w.Parts = append(w.Parts, otlp.Work{Name: s.Name, Began: s.Began, Ended: s.Ended, Failed: s.Failed})
	}
	return w
}
