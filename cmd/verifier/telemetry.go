package main

import (
	"context"
	"time"

	"github.com/openclaw-verifier/verifier/otlp"
	"github.com/openclaw-verifier/verifier/verifier"
)

// telemetryPatience is how long a stop waits until the collector has taken what
// was not sent yet.
const telemetryPatience = 2 * time.Second

// telemetry is what the environment says about OpenTelemetry. What is wrong there
// goes to the log: decisions don't depend on it.
func (g *gateway) telemetry(getenv func(string) string) *otlp.Settings {
	if getenv == nil {
		return &otlp.Settings{}
	}
	settings, err := otlp.Read(getenv, version().Version)
	if err != nil {
		g.log.Warn("nothing is sent to an OpenTelemetry collector", "err", err)
	}
	return settings
}

func (g *gateway) stopTelemetry() {
	ctx, cancel := context.WithTimeout(context.Background(), telemetryPatience)
	defer cancel()
	g.otlp.Close(ctx)
}

// tracer makes a span of each decision, with its steps below it; nil where none
// are sent. All that is in them comes from lists of ours, but the reference of a
// card.
func (g *gateway) tracer() func(*verifier.Traced) {
	if !g.otlp.Traces() {
		return nil
	}
	return func(t *verifier.Traced) {
		decision := "deny"
		if t.Allow {
			decision = "allow"
		}
		w := otlp.Work{Name: "decide", Began: t.Began, Ended: t.Ended, Failed: t.Fault != "", Attributes: map[string]string{
			"verifier.decision": decision, "verifier.by": t.By, "verifier.mode": t.Mode, "verifier.class": t.Class, "verifier.level": t.Level,
		}}
		if t.Ref != "" {
			w.Attributes["verifier.ref"] = t.Ref
		}
		for _, s := range t.Steps {
			w.Parts = append(w.Parts, otlp.Work{Name: s.Name, Began: s.Began, Ended: s.Ended, Failed: s.Failed})
		}
		g.otlp.Trace(&w, otlp.ParseParent(t.Parent))
	}
}
