package server_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/server"
	"github.com/openclaw-verifier/verifier/verifier"
)

// What comes before a decision needs no decision: these tests are about bytes
// and time. Whole decisions are tested in cmd/verifier.
const secret, bearer, ann = "c0ffee5ecretf0rtests", "b34rer0ftheclient", "t0ken0fannf0rtests"

// decider allows whatever reaches it, and counts.
type decider struct{ verified, rejected atomic.Int64 }

func (d *decider) Verify(context.Context, *protocol.Call) verifier.Decision {
	d.verified.Add(1)
	return verifier.Decision{Allow: true}
}

func (d *decider) Reject(_ context.Context, _ *protocol.Call, _, reason string) verifier.Decision {
	d.rejected.Add(1)
	return verifier.Decision{Reason: reason}
}

// noApprovers is a desk without approvers.
type noApprovers struct{}

func (noApprovers) Answer(context.Context, approval.Answer) (approval.Outcome, error) {
	return approval.Outcome{Kind: approval.Unauthorised, Text: approval.NotAuthorised}, nil
}

func (noApprovers) Probe(context.Context, string, bool) ([]approval.Probed, error) {
	return nil, approval.ErrNotApprover
}

func (noApprovers) Sources(context.Context, string) (store.Conversation, error) {
	return store.Conversation{}, store.ErrUnknown
}

func (noApprovers) Lists(string) bool { return false }

func (noApprovers) Open(context.Context, approval.Answer, *approval.Card, bool) error { return nil }

func (noApprovers) Pending(context.Context, string) ([]*approval.Card, error) {
	return nil, approval.ErrNotApprover
}

func (noApprovers) Answered(context.Context, string, []string, time.Duration) []string { return nil }

func newServer(t testing.TB, edit func(*server.Options)) (*server.Server, *decider) {
	t.Helper()
	auth, err := server.NewAuth(map[string][]string{"laptop": {secret}}, "", map[string]string{"Ann": ann})
	if err != nil {
		t.Fatal(err)
	}
	d := &decider{}
	o := server.Options{Auth: func() *server.Auth { return auth }, Verifier: d, Desk: noApprovers{}}
	if edit != nil {
		edit(&o)
	}
	s, err := server.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s, d
}

// post gives a request to the handler, without a network.
func post(s *server.Server, body string, headers ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/verify", strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, req)
	return w
}

func signed(body string) []string {
	return []string{hmac.RequestHeader, hmac.Sign([]byte(secret), []byte(body))}
}

// pipes is a listener whose connections stay in memory, so that the clock of a
// synctest bubble moves them.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func listen() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.closed)
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p *pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p.conns <- theirs
	return ours
}
