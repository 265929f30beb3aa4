package delivery_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/channels/delivery"
)

// lines hands on each line that is written.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

func TestErrandsEndWithTheirChannel(t *testing.T) {
	log := make(lines, 2)
	e := delivery.NewTasks(slog.New(slog.NewTextHandler(log, nil)).With("channel", "chat"))
	e.Go("it went wrong", func(context.Context) error { return errors.New("by itself") })
	if got := <-log; !strings.Contains(got, `msg="it went wrong" channel=chat err="by itself"`) {
		t.Errorf("logged: %s", got)
	}
	ended := false
	e.Go("nobody wants to know", func(ctx context.Context) error {
		<-ctx.Done()
		ended = true
		return ctx.Err()
	})
	e.Close()
	if !ended || len(log) > 0 {
		t.Errorf("ended %v, lines %d", ended, len(log))
	}
}
