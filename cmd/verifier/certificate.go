package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// showCertificate leaves the certificate in the state directory, for commands on
// this machine.
func (g *gateway) showCertificate() error {
	cert := g.live.Load().cert
	if cert == nil {
		return nil
	}
	block := &pem.Block{Type: "CERTIFICATE", Bytes: cert.Leaf.Raw}
	return g.state.SetCertificate(string(pem.EncodeToMemory(block)))
}

// trust is how a command knows that it speaks with the right server: by the
// authority that the reader names, else, for the server whose config or state
// directory this is, by that server's own certificate and no other, else by the
// authorities that this machine trusts.
func (t *target) trust(ca string, given, fromConfig bool) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	switch {
	case !strings.HasPrefix(t.base, "https:"):
		return nil, nil
	case ca != "":
		text, err := os.ReadFile(ca)
		c.RootCAs = x509.NewCertPool()
		if err != nil || !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, &failure{ca + " holds no certificates", "--ca and VERIFIER_CA name a PEM file with the certificate of the authority that signed the server's"}
		}
	case !given:
		own, err := t.certificate(fromConfig)
		if err != nil || own == nil {
			return c, err
		}
		c.RootCAs = x509.NewCertPool()
		c.RootCAs.AddCert(own)
		c.ServerName = t.nameIn(own)
	}
	return c, nil
}

// certificate is the server's own, as its config or state directory has it; nil
// where neither does.
func (t *target) certificate(fromConfig bool) (*x509.Certificate, error) {
	var text string
	switch {
	case fromConfig:
		b, err := os.ReadFile(t.config.TLS.Cert)
		if err != nil {
			return nil, err
		}
		text = string(b)
	case t.state != nil:
		var err error
		if text, err = t.state.Certificate(); err != nil {
			return nil, err
		}
	}
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, nil
	}
	return x509.ParseCertificate(block.Bytes)
}

// nameIn is a name that the certificate has: the server is reached by an
// address that it need not name. Only the server has its key.
func (t *target) nameIn(c *x509.Certificate) string {
	u, err := url.Parse(t.base)
	switch {
	case err == nil && c.VerifyHostname(u.Hostname()) == nil:
		return ""
	case len(c.DNSNames) > 0:
		return strings.Replace(c.DNSNames[0], "*", "any", 1)
	case len(c.IPAddresses) > 0:
		return c.IPAddresses[0].String()
	}
	return ""
}

// distrust is what to do about a connection that could not be trusted; "" where
// it failed otherwise.
func (t *target) distrust(err error) string {
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, name := errors.AsType[x509.HostnameError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	switch {
	case unknown:
		return "this machine does not know who signed the server's certificate: name the authority's with --ca or VERIFIER_CA. If you know it should, somebody may be in between"
	case name:
		return "reach the server by a name that its certificate has"
	case invalid:
		return "the server's certificate is not valid now: `verifier check` says why; check the clocks too"
	case errors.Is(err, http.ErrSchemeMismatch):
		return "the server there speaks no TLS: write http://, or set tls in its config"
	}
	return ""
}
