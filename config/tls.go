package config

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"
)

// TLS names the files that the server shows who it is with. The zero TLS is
// none.
type TLS struct {
	// Cert is a PEM file: the server's certificate, then those that lead to its
	// authority.
	Cert string `yaml:"cert"`
	// Key is the PEM file of its private key. Only its owner may read it.
	Key string `yaml:"key"`
}

// Set reports whether there is TLS.
func (t TLS) Set() bool { return t.Cert != "" || t.Key != "" }

// maxCertificates is more than any chain has.
const maxCertificates = 1 << 20

// Load reads both files, and refuses a key that others can read.
func (t TLS) Load() (*tls.Certificate, error) {
	for _, path := range []string{t.Cert, t.Key} {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, &problem{path + " does not exist", "name the PEM file"}
		}
	}
	chain, err := readCertificates(t.Cert)
	if err != nil {
		return nil, err
	}
	key, err := readPrivate(t.Key)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(chain, []byte(key))
	if err != nil {
		return nil, &problem{fmt.Sprintf("%s and %s are not a certificate and its key: %v", t.Cert, t.Key, err), "both are PEM files; the certificate of the server itself comes first"}
	}
	return &pair, nil
}

func readCertificates(path string) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	return io.ReadAll(io.LimitReader(f, maxCertificates))
}

// below makes relative paths start at the config's directory, as file: does.
func (t *TLS) below(dir string) {
	for _, path := range []*string{&t.Cert, &t.Key} {
		if *path == "" {
			continue
		}
		if !filepath.IsAbs(*path) {
			*path = filepath.Join(dir, *path)
		}
		if abs, err := filepath.Abs(*path); err == nil {
			*path = abs
		}
	}
}

func (k *checker) checkTLS() {
	switch {
	case !k.TLS.Set():
		return
	case k.TLS.Cert == "":
		k.fail("tls", "has a key and no certificate", "add cert: the PEM file of the certificate")
		return
	case k.TLS.Key == "":
		k.fail("tls", "has a certificate and no key", "add key: the PEM file of its private key")
		return
	}
	pair, err := k.TLS.Load()
	if p, ok := errors.AsType[*problem](err); ok {
		k.fail("tls", p.text, p.hint)
		return
	}
	if err != nil {
		k.fail("tls", "can't be read: "+err.Error(), "can the user that runs verifier read both files?")
		return
	}
	k.riskyCertificate(pair.Leaf, time.Now())
}

// renewBefore is how long before its end a certificate should have been
// replaced.
const renewBefore = 14 * 24 * time.Hour

func (k *checker) riskyCertificate(c *x509.Certificate, now time.Time) {
	const day = "2006-01-02 15:04Z"
	switch left := c.NotAfter.Sub(now); {
	case left <= 0:
		k.find(Warning, "tls.cert", "ended on "+c.NotAfter.UTC().Format(day)+": clients refuse it")
	case now.Before(c.NotBefore):
		k.find(Warning, "tls.cert", "begins only on "+c.NotBefore.UTC().Format(day)+": clients refuse it until then")
	case left < renewBefore:
		k.find(Warning, "tls.cert", "ends on "+c.NotAfter.UTC().Format(day))
	}
}

// Exposed reports whether others on the network could listen in on what comes
// to an address, host:port, without the owner having said that they can't.
func (c *Config) Exposed(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && !loopback(host) && !c.TLS.Set() && !c.InsecurePublic
}

// What is said of an address that is Exposed.
const (
	ExposedText = "others on the network can reach this address, and there is no TLS: secrets and codes would travel in clear"
	ExposedHint = "set tls: {cert, key}, or listen on 127.0.0.1; where something else keeps others out or does the TLS (a proxy, a pod of its own), say so with insecurePublic: true"
)

func (k *checker) checkProxies() {
	for i, text := range k.TrustedProxies {
		if _, err := proxyRange(text); err != nil {
			k.fail(index("trustedProxies", i), "is neither an address nor a range of addresses", "write it as 10.0.0.7 or 10.0.0.0/24")
		}
	}
}

// Proxies are the ranges of TrustedProxies.
func (c *Config) Proxies() []netip.Prefix {
	var out []netip.Prefix
	for _, text := range c.TrustedProxies {
		if p, err := proxyRange(text); err == nil {
			out = append(out, p)
		}
	}
	return out
}

func proxyRange(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	return p.Masked(), err
}

func (k risks) riskyListen() {
	if host, _, err := net.SplitHostPort(k.Listen); err == nil && !loopback(host) && !k.TLS.Set() && k.InsecurePublic {
		k.find(Warning, "insecurePublic", "anyone on the way to this address reads secrets and codes: only a proxy or a network of your own may reach it")
	}
	for i, p := range k.Proxies() {
		if p.Bits() == 0 {
			k.find(Warning, index("trustedProxies", i), "trusts everybody to say whose address a request comes from")
		}
	}
}
