package server_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/server"
)

// served runs a test against a server on a clock that jumps. The bubble ends
// only when every goroutine has: one that leaks fails the test.
func served(t *testing.T, test func(t *testing.T, s *server.Server, d *decider, dial func() net.Conn)) {
	t.Helper()
	servedWith(t, nil, test)
}

func servedWith(t *testing.T, edit func(*server.Options), test func(t *testing.T, s *server.Server, d *decider, dial func() net.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, d := newServer(t, edit)
		l := listen()
		done := make(chan error, 1)
		go func() { done <- s.Serve(l) }()
		test(t, s, d, l.dial)
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// write sends text; a server that has hung up is not an error.
func write(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

// answered reads one answer and says when it came.
func answered(t *testing.T, c net.Conn, since time.Time) (status int, body string, took time.Duration) {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("after %s: %v", time.Since(since), err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return res.StatusCode, string(text), time.Since(since)
}

func TestH08ASlowBodyIsDeniedInTime(t *testing.T) {
	served(t, func(t *testing.T, s *server.Server, d *decider, dial func() net.Conn) {
		c, started := dial(), time.Now()
		defer c.Close()
		write(t, c, "POST /verify HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n")
		enough := make(chan struct{})
		defer close(enough)
		go func() {
			for { // a byte a second
				select {
				case <-enough:
					return
				case <-time.After(time.Second):
				}
				if _, err := io.WriteString(c, "{"); err != nil {
					return
				}
			}
		}()
		status, body, took := answered(t, c, started)
		if status != http.StatusOK || !strings.Contains(body, `"decision":"deny"`) || !strings.Contains(body, "did not arrive in time") {
			t.Errorf("got %d %s, want a deny: another status leaves it to the client", status, body)
		}
		if took < 9*time.Second || took > 12*time.Second {
			t.Errorf("it took %s, want about 10 s", took)
		}
		if d.verified.Load()+d.rejected.Load() != 0 || s.Rejected() != 1 {
			t.Errorf("decided %d, rejected %d, counted %d", d.verified.Load(), d.rejected.Load(), s.Rejected())
		}
	})
}

// A claim costs nothing to make, so it must cost nothing to hear.
func TestH08AClaimedLengthTakesNoMemory(t *testing.T) {
	s, _ := newServer(t, nil)
	const calls = 50
	var before, after runtime.MemStats
	h := s.Handler()
	runtime.ReadMemStats(&before)
	for range calls {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/verify", io.MultiReader(strings.NewReader("{"), broken{}))
		req.ContentLength = protocol.MaxBody
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		if w.Code != http.StatusUnauthorized {
			t.Fatalf("got %d", w.Code)
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / calls; each > 128<<10 {
		t.Errorf("one byte and a claim of 1 MiB took %d KiB", each>>10)
	}
}

// broken is a connection that was lost.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
