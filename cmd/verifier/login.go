package main

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/config"
)

// LoginCmd prints a link to the owner's page.
type LoginCmd struct {
	Viewer  bool   `help:"A link for looking only: its page can't answer." xor:"kind"`
	Passkey bool   `help:"A link that adds a passkey to the device that opens it. It needs no other login." xor:"kind"`
	For     string `help:"With --passkey: the approver who opens the link, by name. Only the owner token may name another person." placeholder:"NAME"`
	owner
}

// Run prints a link.
func (c *LoginCmd) Run(a *app) error {
	if c.For != "" && !c.Passkey {
		return &failure{"--for needs --passkey", "verifier login --passkey --for NAME"}
	}
	t, err := c.target(a, c.URL)
	if err != nil {
		return err
	}
	var out struct {
		Path  string    `json:"path"`
		Until time.Time `json:"until"`
		Text  string    `json:"text"`
	}
	if err := c.ask(a, http.MethodPost, "/owner/login", struct {
		Viewer  bool   `json:"viewer"`
		Passkey bool   `json:"passkey,omitzero"`
		For     string `json:"for,omitzero"`
	}{c.Viewer, c.Passkey, c.For}, &out); err != nil {
		return err
	}
	if out.Path == "" {
		return &failure{"the server has no page", "web.enabled in its config must not be false"}
	}
	base := pageBase(t.config, t.base)
	if c.Passkey {
		base = named(base)
	}
	a.printf("%s%s\n", base, printable(out.Path))
	a.warnf("It is good once, until %s.\n", stamp(out.Until))
	return nil
}

// named is an address that a passkey can belong to: one of this machine by its name, for browsers tie a passkey to no address of digits.
func named(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() != "127.0.0.1" && u.Hostname() != "::1" {
		return base
	}
	u.Host = net.JoinHostPort("localhost", u.Port())
	return u.String()
}

// pageBase is where the owner opens the page: where the config says, else at the
// server.
func pageBase(c *config.Config, server string) string {
	if c.Web.Address() != nil {
		return strings.TrimRight(c.Web.URL, "/")
	}
	return server
}
