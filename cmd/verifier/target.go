package main

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hook"
)

// where are the flags that say which server is meant.
type where struct {
	configFlag
	State string `help:"The server's state directory." env:"VERIFIER_STATE" placeholder:"DIR"`
	CA    string `help:"The certificate of the authority that signed the server's, a PEM file." name:"ca" env:"VERIFIER_CA" placeholder:"FILE"`
}

// target is a server and what we know of it.
type target struct {
	config *config.Config
	state  *config.State // nil when there is none here
	why    error         // why there is none
	base   string        // without a slash at the end
	path   string        // where calls go
	found  bool          // base comes from a config that was found, not named: no token but its own goes there
	tls    *tls.Config   // nil where the server speaks none
	client *http.Client
}

// target finds the server: the URL, else the config's address, else the one
// that a running server left in its state directory.
func (w *where) target(a *app, given string) (*target, error) {
	t := &target{}
	t.state, t.why = config.FindState(w.State)
	if err := w.find(); err != nil {
		return nil, err
	}
	remembered := ""
	if w.Config == "" && given == "" && t.state != nil { // the one that the server here was started with
		remembered = t.state.Config()
		w.Config, w.found = remembered, remembered != ""
	}
	cfg, err := w.quietConfig(a)
	if err != nil {
		return nil, err
	}
	if w.found && given == "" && t.state != nil && t.state.Config() == w.Config && cfg.Listen == config.Default().Listen {
		remembered = w.Config // it names no address, so the server that runs with it may listen elsewhere
	}
	t.config, t.path = cfg, cfg.Webhook.Path
	switch {
	case given != "":
		t.base = given
	case remembered != "":
		t.base = t.address()
	case w.found && t.running() != "":
		if t.base = t.running(); !t.listens(cfg.Listen) {
			return nil, &failure{fmt.Sprintf("%s says that the server listens on %s, but the one that ran here last listened on %s", w.Config, cfg.Listen, t.base),
				"say which you mean: --config " + shellWord(w.Config) + ", or --url " + t.base}
		}
	case w.Config != "":
		t.base, t.found = scheme(cfg)+reachable(cfg.Listen), w.found
	default:
		t.base = t.address()
	}
	u, err := url.Parse(t.base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, badURL(t.base)
	}
	t.base = strings.TrimSuffix(strings.TrimRight(t.base, "/"), t.path)
	trust, err := t.trust(w.CA, given != "", w.Config != "")
	if err != nil {
		return nil, err
	}
	t.tls = trust
	// It follows no redirect: what we sign and the token are for one server only.
	t.client = &http.Client{
		Timeout:       longestWait + time.Minute,
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: trust, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return t, nil
}

func scheme(c *config.Config) string {
	if c.TLS.Set() {
		return "https://"
	}
	return "http://"
}

func badURL(text string) error {
	return &failure{fmt.Sprintf("%q is not the address of a server", printable(text)), "write it as http://127.0.0.1:8787"}
}

// address is where the server of this state directory listens.
func (t *target) address() string { return cmp.Or(t.running(), scheme(t.config)+t.config.Listen) }

// running is where the server that used this state directory last listened; empty
// where there was none.
func (t *target) running() string {
	if t.state == nil {
		return ""
	}
	addr, err := t.state.Address()
	if err != nil || addr == "" {
		return ""
	}
	return hook.Reachable(addr)
}

// listens reports whether the server could have its address from a config that
// says this. A config that was only found must not lead the owner's token
// elsewhere.
func (t *target) listens(listen string) bool {
	_, port, err := net.SplitHostPort(listen)
	return err == nil && port == "0" || scheme(t.config)+reachable(listen) == t.base
}

// reachable turns "every address of this machine" into one that can be called.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return listen
}

func (t *target) verifyURL() string { return t.base + t.path }

// secret is the flag's, else the config's, else the state directory's.
func (t *target) secret(given string) (config.Secret, error) {
	if given != "" {
		return config.NewSecret(given), nil
	}
	if own := t.config.Clients()[config.DefaultClient]; len(own) > 0 {
		return own[0], nil
	}
	return t.kept((*config.State).WebhookSecret, "secret to sign with", "--secret or VERIFIER_SECRET")
}

// kept is a secret of the state directory.
func (t *target) kept(read func(*config.State) (config.Secret, error), what, how string) (config.Secret, error) {
	why := t.why
	if t.state != nil {
		var s config.Secret
		if s, why = read(t.state); why == nil {
			return s, nil
		}
	}
	return config.Secret{}, &failure{fmt.Sprintf("there is no %s: %v", what, why), "give it with " + how + ", name the server's --config, or start `verifier serve` on this machine"}
}

// token is the environment's, else the config's, else the state directory's.
func (t *target) token(given string) (config.Secret, error) {
	switch own := t.config.OwnerToken; {
	case t.found && !own.Set():
		return config.Secret{}, &failure{"the config here has no ownerToken, and no server has run with this state directory", "name the config with --config, or the server with --url"}
	case given != "" && !t.found:
		return config.NewSecret(given), nil
	case own.Set():
		return own, nil
	}
	return t.kept((*config.State).OwnerToken, "owner token", "VERIFIER_OWNER_TOKEN")
}

// exposed reports whether others on the way could read what we send.
func (t *target) exposed() bool {
	u, err := url.Parse(t.base)
	if err != nil || u.Scheme == "https" || u.Hostname() == "localhost" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return ip == nil || !ip.IsLoopback()
}

// do sends a request.
func (t *target) do(req *http.Request) (status int, header http.Header, body []byte, err error) {
	res, err := t.client.Do(req)
	if err != nil {
		return 0, nil, nil, t.unreachable(err)
	}
	defer res.Body.Close()
	body, err = readReply(res.Body)
	if err != nil {
		return 0, nil, nil, t.unreachable(err)
	}
	return res.StatusCode, res.Header, body, nil
}

// unreachable drops the method and the URL, which the words around it have.
func (t *target) unreachable(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if hint := t.distrust(err); hint != "" {
		return &failure{fmt.Sprintf("%s is not to be trusted: %v", t.base, err), hint}
	}
	return &failure{fmt.Sprintf("no answer from %s: %v", t.base, err), fmt.Sprintf("is `verifier serve` running at %s? Another address: --url or VERIFIER_URL", t.base)}
}

// printable keeps what came over the network from moving the cursor.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

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
