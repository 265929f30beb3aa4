package main

import (
	"net/http"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/config"
)

// LoginCmd prints a link to the owner's page.
type LoginCmd struct {
	Viewer bool `help:"A link for looking only: its page can't answer."`
	owner
}

// Help is the long help.
func (*LoginCmd) Help() string {
	return `The link works once, within ten minutes, for the first person who opens it: treat it like the token. It opens your page on any device that reaches the server.

    $ verifier login
    http://127.0.0.1:8787/page/login#link=…
    $ verifier login --viewer` + ownerHelp
}

// Run prints a link.
func (c *LoginCmd) Run(a *app) error {
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
		Viewer bool `json:"viewer"`
	}{c.Viewer}, &out); err != nil {
		return err
	}
	if out.Path == "" {
		return &failure{"the server has no page", "web.enabled in its config must not be false"}
	}
	a.printf("%s%s\n", pageBase(t.config, t.base), printable(out.Path))
	a.warnf("It is good once, until %s.\n", stamp(out.Until))
	return nil
}

// pageBase is where the owner opens the page: where the config says, else at the
// server.
func pageBase(c *config.Config, server string) string {
	if c.Web.Address() != nil {
		return strings.TrimRight(c.Web.URL, "/")
	}
	return server
}
