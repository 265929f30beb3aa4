package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/server"
	"github.com/openclaw-verifier/verifier/toolcall"
	"github.com/openclaw-verifier/verifier/verifier"
)

// holder holds every call for as long as its people take.
type holder struct {
	decider
	people func(ctx context.Context) verifier.Decision
}

func (h *holder) Verify(ctx context.Context, _ *toolcall.Call) verifier.Decision {
	return h.people(ctx)
}

// yes is an answer after a minute, unless the caller leaves.
func yes(ctx context.Context) verifier.Decision {
	select {
	case <-time.After(time.Minute):
		return verifier.Decision{Allow: true, Ref: "7Q4K"}
	case <-ctx.Done():
		return verifier.Decision{Reason: "You have left."}
	}
}

func holding(people func(context.Context) verifier.Decision) func(*server.Options) {
	return func(o *server.Options) { o.Verifier = &holder{people: people} }
}

// heldCall is a call that can be judged, on the wire, with something behind it.
func heldCall(behind string) string {
	body := fmt.Sprintf(`{"version":1,"timestamp":%q,"requestId":"r-1","tool":{"name":"exec","params":{}},"context":{}}`, time.Now().UTC().Format(time.RFC3339))
	return fmt.Sprintf("POST /verify HTTP/1.1\r\nHost: x\r\n%s: %s\r\nContent-Length: %d\r\n\r\n%s%s",
		hmac.RequestHeader, hmac.Sign([]byte(secret), []byte(body)), len(body), body, behind)
}

func TestAHeldCallerIsAnsweredAsAnyOther(t *testing.T) {
	for name, behind := range map[string]string{"alone": "", "with a line behind it": "\r\n", "with another call behind it": heldCall("")} {
		t.Run(name, func(t *testing.T) {
			servedWith(t, holding(yes), func(t *testing.T, _ *server.Server, _ *decider, dial func() net.Conn) {
				c, started := dial(), time.Now()
				defer c.Close()
				go write(t, c, heldCall(behind))
				read := bufio.NewReader(c)
				res, err := http.ReadResponse(read, nil)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(res.Body)
				if err != nil || string(body) != `{"decision":"allow","reason":"","ref":"7Q4K"}` || time.Since(started) != time.Minute {
					t.Errorf("after %s: %s, %v", time.Since(started), body, err)
				}
				if got := res.Header.Get(hmac.AnswerHeader); got != hmac.SignAnswer([]byte(secret), "r-1", body) {
					t.Errorf("signed %q", got)
				}
				for _, h := range []string{server.RequestIDHeader, "Date", "Content-Type", "Cache-Control"} {
					if res.Header.Get(h) == "" {
						t.Errorf("%s is missing in %v", h, res.Header)
					}
				}
				res.Body.Close()
			})
		})
	}
}
