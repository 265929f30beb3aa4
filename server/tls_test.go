package server_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/server"
	"github.com/openclaw-verifier/verifier/server/certtest"
)

// encrypted runs a server with TLS, whose certificate can be replaced.
func encrypted(t *testing.T, edits ...func(*server.Options)) (address string, show *atomic.Pointer[tls.Certificate]) {
	t.Helper()
	show = &atomic.Pointer[tls.Certificate]{}
	show.Store(pair(t))
	s, _ := newServer(t, func(o *server.Options) {
		o.Certificate = show.Load
		for _, edit := range edits {
			edit(o)
		}
	})
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String(), show
}

func pair(t *testing.T) *tls.Certificate {
	t.Helper()
	c, err := tls.LoadX509KeyPair(certtest.Pair(t, "127.0.0.1"))
	if err != nil {
		t.Fatal(err)
	}
	return &c
}

// spoken is how an answer came.
type spoken struct{ status, http, tls int }

// get asks for the health, trusting one certificate.
func get(t *testing.T, address string, trusted *tls.Certificate, edit func(*tls.Config)) (spoken, error) {
	t.Helper()
	c := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	c.RootCAs.AddCert(trusted.Leaf)
	if edit != nil {
		edit(c)
	}
	transport := &http.Transport{TLSClientConfig: c, DisableKeepAlives: true, ForceAttemptHTTP2: true}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+"/healthz", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := (&http.Client{Transport: transport, Timeout: 10 * time.Second}).Do(req)
	if err != nil {
		return spoken{}, err
	}
	return spoken{res.StatusCode, res.ProtoMajor, int(res.TLS.Version)}, res.Body.Close()
}

func TestTLS(t *testing.T) {
	address, show := encrypted(t)
	first := show.Load()
	if got, err := get(t, address, first, nil); err != nil || got != (spoken{http.StatusOK, 1, tls.VersionTLS13}) {
		t.Fatalf("got %+v, %v", got, err)
	}
	if got, err := get(t, address, first, func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }); err != nil || got.tls != tls.VersionTLS12 {
		t.Errorf("TLS 1.2: got %+v, %v", got, err)
	}
	if _, err := get(t, address, first, func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 }); err == nil {
		t.Error("TLS 1.1 was spoken")
	}
	show.Store(pair(t))
	if _, err := get(t, address, first, nil); err == nil {
		t.Error("the old certificate is still shown")
	}
	if _, err := get(t, address, show.Load(), nil); err != nil {
		t.Errorf("the new certificate: %v", err)
	}
}
