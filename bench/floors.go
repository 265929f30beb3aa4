package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/server"
	"github.com/openclaw-verifier/verifier/toolcall"
	"github.com/openclaw-verifier/verifier/verifier"
)

// openConstant answers every request with the same bytes.
func openConstant(place) (running, error) {
	answer := []byte(allowBody)
	return plain(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer) // a client that has gone needs no answer
	})), nil
}

// openStrict checks the signature and decodes the call, as little as a verifier
// can do.
func openStrict(place) (running, error) {
	key, answer := []byte(secret), []byte(allowBody)
	return plain(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, toolcall.MaxBody))
		if err != nil || hmac.Match(r.Header.Get(hmac.RequestHeader), body, key) < 0 {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if _, err := toolcall.Decode(body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer) // a client that has gone needs no answer
	})), nil
}

func plain(h http.Handler) running {
	s := &http.Server{Handler: h, ReadHeaderTimeout: maxSlice}
	return running{serve: s.Serve, close: s.Close}
}

// openGet is our own server in front of one plain GET.
func openGet(p place) (running, error) {
	client := goredis.NewClient(&goredis.Options{
		Addr: p.redis, Dialer: p.count.dial, Protocol: 2, DisableIdentity: true, MaxRetries: -1, ContextTimeoutEnabled: true,
	})
	s, err := newServer(getter{client}, noDesk{}, approval.Rooms{})
	if err == nil {
		err = client.Set(context.Background(), getKey, getValue, 0).Err()
	}
	if err != nil {
		return running{}, errors.Join(err, client.Close())
	}
	return running{serve: s.Serve, close: func() error { return errors.Join(shut(s), client.Close()) }}, nil
}

// What the plain GET reads.
const getKey, getValue = "bench:key", "allow"

// getter asks Redis for one key, and allows.
type getter struct{ client *goredis.Client }

func (g getter) Verify(ctx context.Context, _ *toolcall.Call) verifier.Decision {
	got, err := g.client.Get(ctx, getKey).Result()
	return verifier.Decision{Allow: err == nil && got == getValue}
}

func (getter) Reject(context.Context, *toolcall.Call, string, string) verifier.Decision {
	return verifier.Decision{}
}

// noDesk answers no card.
type noDesk struct{}

var errNoDesk = errors.New("there is no desk")

func (noDesk) Answer(context.Context, approval.Answer) (approval.Outcome, error) {
	return approval.Outcome{}, errNoDesk
}
func (noDesk) Lists(string) bool { return false }

func (noDesk) Probe(context.Context, string, bool) ([]approval.Probed, error) {
	return nil, approval.ErrNotApprover
}

func (noDesk) Open(context.Context, approval.Answer, *approval.Card) error { return nil }

func (noDesk) Pending(context.Context, string) ([]*approval.Card, error) { return nil, errNoDesk }

func (noDesk) Answered(context.Context, string, []string, time.Duration) []string { return nil }

// newServer is the door as `verifier serve` opens it.
func newServer(v server.Verifier, d server.Desk, rooms approval.Rooms) (*server.Server, error) {
	auth, err := server.NewAuth(map[string][]string{"default": {secret}}, "", map[string]string{config.Owner: ownerToken})
	if err != nil {
		return nil, err
	}
	return server.New(server.Options{Auth: func() *server.Auth { return auth }, Verifier: v, Desk: d, Rooms: rooms})
}

func shut(s *server.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), maxSlice)
	defer cancel()
	return s.Shutdown(ctx)
}
