package main

import (
	"net/http"
	"net/url"
)

// GraphCmd draws a turn.
type GraphCmd struct {
	Turn   string `arg:"" help:"A turn's id or run id, or the reference of a decision or a conversation: its latest turn."`
	Format string `help:"How to draw it: text, json or svg." enum:"text,json,svg" default:"text"`
	owner
}

// Help is the long help.
func (*GraphCmd) Help() string {
	return `Shows what a turn of the agent was made of: what was in its context, the calls of the model, the tools they called, what those brought in, and what was blocked. Texts are shown as hashes. Turns are kept for provenance.keep (7 days). If nothing was asked or denied in a turn, and the runtime sends no events, only the server that allowed its calls knows it, until that server stops.

    $ verifier graph 7Q4K
    $ verifier graph 1A2B3C4D --format svg > turn.svg` + ownerHelp + `

Exit codes: 0 drawn, 3 there is no such turn, 1 error, 2 wrong command line.`
}

// Run lets the server draw.
func (c *GraphCmd) Run(a *app) error {
	r, err := c.fetch(a, http.MethodGet, "/api/graphs/"+url.PathEscape(c.Turn)+"?format="+c.Format, nil)
	if err != nil {
		return err
	}
	if r.status == http.StatusOK {
		a.printf("%s\n", block(string(r.body)))
		return nil
	}
	var missing outcome
	if err := r.decode(&missing); err != nil {
		return err
	}
	a.warnf("%s\n", block(missing.Text))
	return exit(exitNo)
}
