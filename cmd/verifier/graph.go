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
	return `Shows what a turn of the agent was made of: what stood in its context, the calls of the model, the tools they called, what those brought in, and what was blocked. Of texts there are hashes only. Turns are kept for provenance.keep (7 days); one in which nothing was asked or denied, of a runtime that sends no events, is known only to the server that allowed it, as long as that runs.

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
