package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// telling starts a rig that sends spans and metrics to a collector on loopback.
func telling(t *testing.T, collector http.HandlerFunc) *rig {
	t.Helper()
	c := httptest.NewServer(collector)
	t.Cleanup(c.Close)
	r := newRig(t, nil)
	r.quit()
	r.getenv = func(name string) string {
		return map[string]string{
			"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL, "OTEL_BSP_SCHEDULE_DELAY": "1", "OTEL_METRIC_EXPORT_INTERVAL": "1", "OTEL_EXPORTER_OTLP_HEADERS": "api-key=hunter2",
		}[name]
	}
	r.start()
	return r
}

// timed is how long a call takes that is allowed.
func (r *rig) timed() time.Duration {
	r.t.Helper()
	began := time.Now()
	r.allow(call{tool: "read", params: `{"path":"a.txt"}`, context: ownerIn("x")})
	return time.Since(began)
}

// The collector never answers, answers without end, sends us elsewhere, or hangs up. Calls are decided as ever, and a stop
// does not wait for it. A decision takes about as long as where nothing is sent.
func TestH488ACollectorCostsNoDecisionAnything(t *testing.T) {
	t.Parallel()
	var elsewhere sync.Once
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		elsewhere.Do(func() { t.Error("a redirect was followed") })
	}))
	t.Cleanup(other.Close)
	for name, collector := range map[string]http.HandlerFunc{
		"hangs": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		},
		"floods": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		},
		"redirects": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusPermanentRedirect)
		},
		"hangs up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, off := telling(t, collector), newRig(t, nil)
			with, without := make([]time.Duration, 50), make([]time.Duration, 50)
			for i := range with {
				with[i], without[i] = r.timed(), off.timed()
			}
			slices.Sort(with)
			slices.Sort(without)
			if with[25] > 5*without[25]+50*time.Millisecond {
				t.Errorf("a decision takes %s, and %s without a collector", with[25], without[25])
			}
			began := time.Now()
			r.quit()
			if took := time.Since(began); took > telemetryPatience+20*time.Second {
				t.Errorf("the stop took %s", took)
			}
		})
	}
}

// What is sent has the decisions, and no word of the calls, the people or the keys.
func TestH489NothingOfACallReachesTheCollector(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var sent strings.Builder
	r := telling(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a part is looked at, too
		mu.Lock()
		defer mu.Unlock()
		sent.Write(body)
	})
	const canary = "c4n4ry-0f-the-span"
	r.allow(call{tool: "read", params: `{"path":"` + canary + `.txt"}`, id: canary + "-1", context: with(ownerIn(canary), "runId", canary)})
	r.send(call{tool: canary, params: `{"x":"` + canary + `"}`, context: with(ownerIn("y"), "waitMs", 1000)})
	body := call{tool: "read", context: ownerIn("z")}.body()
	r.post(body, canary)
	held := r.hold(call{tool: "exec", params: `{"command":"echo ` + canary + `"}`, context: unvouched(canary)})
	card := r.waits()
	code := card.code(t)
	r.refuse(card.Ref, "because of "+canary)
	<-held
	r.quit() // sends the rest
	mu.Lock()
	defer mu.Unlock()
	got := sent.String()
	for _, want := range []string{`"name":"decide"`, `"name":"store admit"`, `"name":"people"`, `"name":"record"`, `"verifier.decision"`, `"verifier_decisions_total"`, card.Ref} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in what was sent: %.2000s", want, got)
		}
	}
	for _, never := range []string{canary, code, r.secret, r.token, "hunter2"} {
		if strings.Contains(strings.ToLower(got), strings.ToLower(never)) {
			t.Errorf("%q was sent", never)
		}
	}
}
