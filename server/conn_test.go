package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/server"
	"github.com/openclaw-verifier/verifier/verifier"
)

// thinker takes its time over every call, unless the caller leaves.
type thinker struct {
	decider
	takes time.Duration
	left  chan time.Time // when it did; has room for one
}

func thinking(takes time.Duration) (*thinker, func(*server.Options)) {
	th := &thinker{takes: takes}
	return th, func(o *server.Options) {
		th.left = make(chan time.Time, 1) // in the bubble, whose clock waits for it
		o.Verifier = th
	}
}

func (th *thinker) Verify(ctx context.Context, c *protocol.Call) verifier.Decision {
	select {
	case <-time.After(th.takes):
		return verifier.Decision{Allow: true, Ref: c.RequestID}
	case <-ctx.Done():
		th.left <- time.Now()
		return verifier.Decision{Reason: "You have left."}
	}
}

// callNo is a call of its own, on the wire.
func callNo(n int) string {
	_, body, _ := strings.Cut(heldCall(""), "\r\n\r\n")
	body = strings.Replace(body, `"r-1"`, fmt.Sprintf(`"r-%d"`, n), 1)
	h := signed(body)
	return fmt.Sprintf("POST /verify HTTP/1.1\r\nHost: x\r\n%s: %s\r\nContent-Length: %d\r\n\r\n%s", h[0], h[1], len(body), body)
}

// answersTo reads one answer after the other, and sees that each is to its call.
func answersTo(t *testing.T, read *bufio.Reader, first, last int) {
	t.Helper()
	for n := first; n <= last; n++ {
		res, err := http.ReadResponse(read, nil)
		if err != nil {
			t.Fatalf("call %d: %v", n, err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if want := fmt.Sprintf(`{"decision":"allow","reason":"","ref":"r-%d"}`, n); err != nil || string(body) != want {
			t.Errorf("call %d: %s, %v, want %s", n, body, err, want)
		}
	}
}

func TestACallerThatLeavesWhileItsCallIsDecidedIsNoticed(t *testing.T) {
	for _, after := range []time.Duration{0, 50 * time.Millisecond, time.Second, time.Minute} {
		th, edit := thinking(time.Hour)
		servedWith(t, edit, func(t *testing.T, _ *server.Server, _ *decider, dial func() net.Conn) {
			c, began := dial(), time.Now()
			write(t, c, callNo(1))
			<-time.After(after)
			c.Close()
			if took := (<-th.left).Sub(began); took != after {
				t.Errorf("it left after %s, which was noticed after %s", after, took)
			}
		})
	}
}

func TestH08ADeadlineHoldsAfterOtherCalls(t *testing.T) {
	for name, test := range map[string]struct {
		sends    string
		from, to time.Duration
	}{
		"a caller that asks for nothing more":   {"", 2*time.Minute - 2*time.Second, 2 * time.Minute},
		"a request that does not get further":   {"POST /verify HTTP/1.1\r\nHos", 4 * time.Second, 5 * time.Second},
		"a body that does not arrive":           {"POST /verify HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{", 9 * time.Second, 10 * time.Second},
		"a first byte, and nothing behind it":   {"P", 2*time.Minute - 2*time.Second, 2 * time.Minute},
		"four bytes, and nothing behind them":   {"POST", 4 * time.Second, 5 * time.Second},
		"a line that is no request, unfinished": {"GET / HTTP/1.1\r\n", 4 * time.Second, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			_, edit := thinking(10 * time.Millisecond)
			servedWith(t, edit, func(t *testing.T, _ *server.Server, _ *decider, dial func() net.Conn) {
				c := dial()
				defer c.Close()
				read := bufio.NewReader(c)
				for n := range 20 {
					write(t, c, callNo(n))
					answersTo(t, read, n, n)
				}
				began := time.Now()
				write(t, c, test.sends)
				_, _ = io.Copy(io.Discard, read)
				if took := time.Since(began); took < test.from || took > test.to {
					t.Errorf("it was cut off after %s, want %s to %s", took, test.from, test.to)
				}
			})
		})
	}
}

func TestH08ACallerThatTakesNoAnswerIsCutOff(t *testing.T) {
	served(t, func(t *testing.T, _ *server.Server, _ *decider, dial func() net.Conn) {
		c, began := dial(), time.Now()
		defer c.Close()
		write(t, c, callNo(1))
		for { // it hangs up when nothing more can be written
			if _, err := io.WriteString(c, "\r\n"); err != nil {
				break
			}
		}
		if took := time.Since(began); took < 9*time.Second || took > 11*time.Second {
			t.Errorf("it was cut off after %s, want about 10 s", took)
		}
	})
}

// A stop closes what is idle, and waits for what is being decided.
func TestAShutdownWaitsForACallThatIsDecided(t *testing.T) {
	_, edit := thinking(time.Second)
	servedWith(t, edit, func(t *testing.T, s *server.Server, _ *decider, dial func() net.Conn) {
		c, idle := dial(), dial()
		defer c.Close()
		defer idle.Close()
		write(t, idle, callNo(1))
		answersTo(t, bufio.NewReader(idle), 1, 1)
		write(t, c, callNo(2))
		synctest.Wait()
		ended := make(chan error, 1)
		go func() { ended <- s.Shutdown(t.Context()) }()
		answersTo(t, bufio.NewReader(c), 2, 2)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
