package delivery_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
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

func TestViewsAreTakenOnce(t *testing.T) {
	var v delivery.Views[int]
	v.Add("a", 1)
	v.Add("b", 2)
	v.Add("a", 3)
	v.Add("a", 1)
	if got := v.Take("a"); !slices.Equal(got, []int{1, 3}) {
		t.Errorf("got %v", got)
	}
	if got := v.Take("a"); got != nil {
		t.Errorf("again: %v", got)
	}
	if v.Add("a", 4) || v.Take("a") != nil {
		t.Error("a view of a settled card was kept")
	}
	for i := range 5000 {
		v.Add(strings.Repeat("x", i), i)
	}
	if got := v.Take("b"); got != nil {
		t.Errorf("after 5000 others: %v", got)
	}
}
