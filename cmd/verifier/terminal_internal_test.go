package main

import (
	"io"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/channels/terminal"
)

// slow is a terminal that takes its time: nothing is written before it is let go.
type slow struct {
	to   io.Writer
	gone chan struct{}
}

func (s *slow) Write(p []byte) (int, error) {
	<-s.gone
	return s.to.Write(p)
}

// TestH43ATerminalThatTakesNothingStopsNobody: blocked, closed or slow, the
// owner still sees the question elsewhere and the answer comes in time; and the
// gateway still ends.
func TestH43ATerminalThatTakesNothingStopsNobody(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) io.Writer{
		"blocked": func(t *testing.T) io.Writer {
			r, w := io.Pipe() // nobody reads
			t.Cleanup(func() { _ = r.Close() })
			return w
		},
		"closed": func(*testing.T) io.Writer {
			r, w := io.Pipe()
			_ = r.Close()
			return w
		},
		"slow": func(t *testing.T) io.Writer {
			s := &slow{to: io.Discard, gone: make(chan struct{})}
			t.Cleanup(func() { close(s.gone) })
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			r.quit()
			r.channels = map[string]approval.Channel{"terminal": terminal.New(open(t))}
			r.start()
			for i := range 3 {
				held := r.hold(sh("date", unvouched(name)))
				if v := r.approve(r.waits().Ref, 0); v.Kind != "counted" {
					t.Errorf("call %d: the owner is told %+v", i, v)
				}
				if a := <-held; !a.allowed() || a.took > 3*time.Second {
					t.Errorf("call %d got %s after %v", i, a.raw, a.took)
				}
			}
			r.mustAsk(sh("ls", unvouched(name)))
			began := time.Now()
			r.quit()
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it ended after %v", took)
			}
		})
	}
}
