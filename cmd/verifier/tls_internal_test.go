package main

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/server/certtest"
)

// newTLSRig is a rig behind a certificate, and the file that its client trusts.
func newTLSRig(t *testing.T) (r *rig, cert, key string) {
	t.Helper()
	cert, key = certtest.Pair(t, "127.0.0.1")
	r = newRig(t, func(c *config.Config) { c.TLS = config.TLS{Cert: cert, Key: key} })
	r.trust(cert)
	return r, cert, key
}

// trust makes the rig's client trust one certificate and no other.
func (r *rig) trust(cert string) {
	r.t.Helper()
	text, err := os.ReadFile(cert)
	if err != nil {
		r.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	r.client = &http.Client{
		Timeout:   30 * time.Second,
		Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}},
	}
}

func TestH45AStopOverTLSDeniesWhatIsHeldInTime(t *testing.T) {
	r, _, _ := newTLSRig(t)
	r.allow(call{tool: "read", params: `{"path":"a"}`, context: ownerIn("m")})
	held := r.hold(call{tool: "exec", params: `{"command":"date"}`, context: unvouched("x")})
	r.waits()
	started := time.Now()
	r.quit()
	if a := <-held; a.status != http.StatusOK || a.Decision != "deny" || a.Ref == "" {
		t.Errorf("the held call got %d %s", a.status, a.raw)
	}
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestACertificateIsReplacedByAReloadAndABadOneIsNot(t *testing.T) {
	t.Parallel()
	r, cert, key := newTLSRig(t)
	c := call{tool: "read", params: `{"path":"a"}`, context: ownerIn("m")}
	next, nextKey := certtest.Pair(t, "127.0.0.1")
	swap := func(from, to string) {
		t.Helper()
		text, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	swap(next, cert)
	reload := func() error {
		again := *r.cfg
		return r.g.reload(&again, policy.Guard{})
	}
	if err := reload(); err == nil || !strings.Contains(err.Error(), "are not a certificate and its key") {
		t.Errorf("a certificate without its key: %v", err)
	}
	r.allow(c)
	swap(nextKey, key)
	if err := reload(); err != nil {
		t.Fatal(err)
	}
	body := c.body()
	if _, err := r.try(t.Context(), body); err == nil {
		t.Error("the old certificate is still shown")
	}
	r.trust(next)
	r.allow(c)
	if !strings.Contains(r.log.String(), "changed=[tls.cert]") {
		t.Errorf("the log does not say what changed:\n%s", r.log)
	}
	without := *r.cfg
	without.TLS = config.TLS{}
	if err := r.g.reload(&without, policy.Guard{}); err != nil {
		t.Fatal(err)
	}
	r.allow(c)
	if !strings.Contains(r.log.String(), "keys=[tls]") {
		t.Errorf("the log does not say that it takes a restart:\n%s", r.log)
	}
}
