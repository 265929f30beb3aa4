package crash_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/crash"
)

const secret = "hunter2-in-the-params"

func breaks(value any) { panic(value) }

func recovered(f func()) (p *crash.Panic) {
	defer func() { p = crash.Recovered(recover()) }()
	f()
	return nil
}

func TestItTellsTheTypeAndThePlaceAndNotTheValue(t *testing.T) {
	for want, value := range map[string]any{
		"string": secret, "*errors.errorString": errors.New(secret), "map[string]string": map[string]string{secret: secret},
		"[]uint8": []byte(secret), "*fmt.wrapError": fmt.Errorf("x: %w", errors.New(secret)),
	} {
		p := recovered(func() { breaks(value) })
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Error("x", "panic", p)
		slog.New(slog.NewTextHandler(&log, nil)).Error("x", "panic", p)
		said := p.Error() + fmt.Sprintf("%v %+v", p, p) + log.String()
		if strings.Contains(said, secret) {
			t.Errorf("the value is told: %s", said)
		}
		if p.Type != want || !strings.HasPrefix(p.Trace[0], "crash_test.breaks:") {
			t.Errorf("got %s, want a %s in breaks", p.Error(), want)
		}
		if !strings.Contains(log.String(), "crash_test.breaks") {
			t.Errorf("the log does not say where: %s", log.String())
		}
	}
}

func TestARuntimeErrorNamesWhereItWas(t *testing.T) {
	var none map[string][]int
	p := recovered(func() { _ = none["x"][3] })
	if !strings.Contains(p.Error(), "TestARuntimeErrorNamesWhereItWas") {
		t.Errorf("got %s", p.Error())
	}
}
