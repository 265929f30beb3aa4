package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/mcp"
)

// listenFlags say where a gate listens that clients reach by an address.
type listenFlags struct {
	Listen         string   `placeholder:"ADDR" help:"Where clients reach the gate, such as 127.0.0.1:8790. The path is that of --url."`
	Cert           string   `placeholder:"FILE" help:"The gate's certificate, a PEM file, where it listens for others."`
	Key            string   `placeholder:"FILE" help:"The key of the certificate."`
	Host           []string `placeholder:"NAME" help:"A name by which clients reach the gate, beside its address and the names in its certificate. May be given several times."`
	InsecurePublic bool     `help:"Something else keeps others out, or does the TLS."`
}

// serverURL is the address of a server.
func serverURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err == nil {
		err = mcp.CheckURL(u)
	}
	if err != nil {
		return nil, &failure{text: "the address of the server can't be used: " + err.Error(), hint: "write it as https://mcp.example.com/mcp"}
	}
	return u, nil
}

// serve runs the gate before a server that is reached by an address, until it is ended.
func (f *listenFlags) serve(ctx context.Context, a *app, path string, handler func(mcp.Reached) http.Handler) error {
	pair, l, err := f.bind(ctx)
	if err != nil {
		return err
	}
	scheme, names := "http://", gateNames{address: l.Addr().String(), more: f.Host}
	s := &http.Server{ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: log.New(io.Discard, "", 0)}
	s.BaseContext = func(net.Listener) context.Context { return ctx }
	if pair != nil {
		scheme, names.cert = "https://", pair.Leaf
		s.TLSConfig = &tls.Config{Certificates: []tls.Certificate{*pair}, MinVersion: tls.VersionTLS12}
	}
	s.Handler = handler(mcp.Reached{Host: names.has, TLS: pair != nil})
	a.printf("The gate listens on %s%s%s\n", scheme, l.Addr(), path)
	ended := make(chan error, 1)
	go func() {
		if pair != nil {
			ended <- s.ServeTLS(l, "", "")
			return
		}
		ended <- s.Serve(l)
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done(): // what is held is dropped with it
		return s.Close()
	}
}

// bind opens the address, and refuses one on which others could listen in.
func (f *listenFlags) bind(ctx context.Context) (pair *tls.Certificate, l net.Listener, err error) {
	c := &config.Config{TLS: config.TLS{Cert: f.Cert, Key: f.Key}, InsecurePublic: f.InsecurePublic}
	if c.TLS.Set() {
		if pair, err = c.TLS.Load(); err != nil {
			return nil, nil, &failure{text: "the certificate can't be used: " + err.Error(), hint: "name both PEM files, with --cert and --key"}
		}
	}
	var lc net.ListenConfig
	if l, err = lc.Listen(ctx, "tcp", f.Listen); err != nil {
		return nil, nil, &failure{fmt.Sprintf("listen on %s: %v", f.Listen, err), listenHint(err)}
	}
	if c.Exposed(l.Addr().String()) {
		return nil, nil, errors.Join(&failure{l.Addr().String() + ": others on the network can reach this address, and there is no TLS: what clients are authorized with would travel in clear", "listen on 127.0.0.1, or name --cert and --key; where something else keeps others out or does the TLS, say so with --insecure-public"}, l.Close())
	}
	return pair, l, nil
}

// gateNames are those by which a gate may be reached. A page that reaches it by another one is not its client.
type gateNames struct {
	address string
	more    []string
	cert    *x509.Certificate // nil: there is no TLS
}

func (n *gateNames) has(host string) bool {
	own, port, err := net.SplitHostPort(n.address)
	if err != nil {
		return false
	}
	name, at, err := net.SplitHostPort(host)
	if err != nil { // the usual port is left out
		name, at = strings.Trim(host, "[]"), "80"
		if n.cert != nil {
			at = "443"
		}
	}
	for _, more := range n.more {
		if strings.EqualFold(name, more) {
			return true
		}
	}
	ip, named := net.ParseIP(own), net.ParseIP(name)
	switch {
	case at != port:
		return false
	case ip != nil && ip.IsLoopback():
		return name == "localhost" || named != nil && named.IsLoopback()
	case n.cert != nil && n.cert.VerifyHostname(name) == nil:
		return true
	}
	return ip != nil && ip.Equal(named)
}
