package otlp

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Settings are what the environment says, by OpenTelemetry's own variables.
type Settings struct {
	traces, metrics signal
	resource        []attribute
	sampler         sampler
	delay           time.Duration // between two batches of spans
	interval        time.Duration // between two reports of metrics
	queue, batch    int
}

// signal is where spans or metrics go.
type signal struct {
	url     string // empty: nowhere
	headers http.Header
	timeout time.Duration
}

// On reports whether anything is sent at all.
func (s *Settings) On() bool { return s.Traces() || s.metrics.url != "" }

// Traces reports whether spans are sent.
func (s *Settings) Traces() bool {
	return s.traces.url != "" && (s.sampler.own || s.sampler.name != "always_off")
}

// Read reads the environment. Nothing is sent unless an endpoint is named. An
// error names the variable and not its value, which can hold a password.
func Read(getenv func(string) string, version string) (*Settings, error) {
	env := environment{get: func(name string) string { return strings.TrimSpace(getenv(name)) }}
	s := &Settings{}
	if strings.EqualFold(env.get("OTEL_SDK_DISABLED"), "true") {
		return s, nil
	}
	s.traces, s.metrics = env.signal("TRACES"), env.signal("METRICS")
	s.resource = env.resource(version)
	s.sampler = env.sampler()
	s.delay = env.milliseconds("OTEL_BSP_SCHEDULE_DELAY", 5*time.Second)
	s.interval = env.milliseconds("OTEL_METRIC_EXPORT_INTERVAL", time.Minute)
	s.queue = env.number("OTEL_BSP_MAX_QUEUE_SIZE", 2048)
	s.batch = min(env.number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512), s.queue)
	if err := errors.Join(env.errs...); err != nil {
		return &Settings{}, err
	}
	return s, nil
}

// environment collects what is wrong with it.
type environment struct {
	get  func(string) string
	errs []error
}

func (e *environment) wrong(name, want string) {
	e.errs = append(e.errs, fmt.Errorf("%s must be %s", name, want))
}

// first is the value of a signal's own variable, or else of the one for all.
func (e *environment) first(kind, name string) (value, from string) {
	own := "OTEL_EXPORTER_OTLP_" + kind + "_" + name
	if value = e.get(own); value != "" {
		return value, own
	}
	return e.get("OTEL_EXPORTER_OTLP_" + name), "OTEL_EXPORTER_OTLP_" + name
}

func (e *environment) signal(kind string) signal {
	at, from := e.first(kind, "ENDPOINT")
	if exporter := e.get("OTEL_" + kind + "_EXPORTER"); at == "" || exporter == "none" {
		return signal{}
	} else if exporter != "" && exporter != "otlp" {
		e.wrong("OTEL_"+kind+"_EXPORTER", "otlp or none")
	}
	if protocol, from := e.first(kind, "PROTOCOL"); protocol != "" && !strings.HasPrefix(protocol, "http/") {
		e.wrong(from, "http/json: verifier does not speak gRPC")
	}
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		e.wrong(from, "an address such as http://127.0.0.1:4318")
		return signal{}
	}
	if from == "OTEL_EXPORTER_OTLP_ENDPOINT" {
		u = u.JoinPath("v1", strings.ToLower(kind))
	}
	s := signal{url: u.String(), headers: http.Header{}}
	headers, from := e.first(kind, "HEADERS")
	for key, value := range e.pairs(headers, from) {
		s.headers.Set(key, value)
	}
	timeout, from := e.first(kind, "TIMEOUT")
	s.timeout = e.duration(timeout, from, 10*time.Second)
	return s
}

// pairs reads key=value,key=value with escapes, as in W3C Baggage.
func (e *environment) pairs(text, from string) map[string]string {
	out := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if key = strings.TrimSpace(key); !ok || err != nil || key == "" || strings.ContainsAny(key+value, "\r\n\x00") {
			e.wrong(from, "of the form key=value,key=value")
			return nil
		}
		out[key] = value
	}
	return out
}

func (e *environment) resource(version string) []attribute {
	given := e.pairs(e.get("OTEL_RESOURCE_ATTRIBUTES"), "OTEL_RESOURCE_ATTRIBUTES")
	all := map[string]string{"service.name": "verifier", "service.version": version}
	maps.Copy(all, given)
	if name := e.get("OTEL_SERVICE_NAME"); name != "" {
		all["service.name"] = name
	}
	return attributes(all)
}

func (e *environment) milliseconds(name string, otherwise time.Duration) time.Duration {
	return e.duration(e.get(name), name, otherwise)
}

const longest = 24 * time.Hour

func (e *environment) duration(value, from string, otherwise time.Duration) time.Duration {
	if value == "" {
		return otherwise
	}
	n, err := strconv.Atoi(value)
	if err != nil || n <= 0 || int64(n) > longest.Milliseconds() {
		e.wrong(from, "a number of milliseconds, at most a day")
		return otherwise
	}
	return time.Duration(n) * time.Millisecond
}

// maxQueue bounds the memory of spans that wait.
const maxQueue = 1 << 16

func (e *environment) number(name string, otherwise int) int {
	value := e.get(name)
	if value == "" {
		return otherwise
	}
	n, err := strconv.Atoi(value)
	if err != nil || n <= 0 || n > maxQueue {
		e.wrong(name, "a number from 1 to 65536")
		return otherwise
	}
	return n
}

// sampler says which decisions are traced.
type sampler struct {
	name  string // always_on, always_off or traceidratio
	bound uint64 // of a trace's id, for traceidratio
	own   bool   // the caller's word counts first
}

func (e *environment) sampler() sampler {
	name := e.get("OTEL_TRACES_SAMPLER")
	name = cmp.Or(name, "parentbased_always_on")
	s := sampler{}
	s.name, s.own = strings.CutPrefix(name, "parentbased_")
	switch s.name {
	case "always_on", "always_off":
	case "traceidratio":
		ratio := 1.0
		if arg := e.get("OTEL_TRACES_SAMPLER_ARG"); arg != "" {
			parsed, err := strconv.ParseFloat(arg, 64)
			if err != nil || !(parsed >= 0 && parsed <= 1) {
				e.wrong("OTEL_TRACES_SAMPLER_ARG", "a number from 0 to 1")
			}
			ratio = parsed
		}
		s.bound = uint64(ratio * math.MaxInt64)
	default:
		e.wrong("OTEL_TRACES_SAMPLER", "always_on, always_off, traceidratio, or parentbased_ and one of them")
	}
	return s
}
