package main

import (
	"net/http"
	"net/url"
)

// GraphCmd draws a turn.
type GraphCmd struct {
	Turn   string `arg:"" help:"A turn's id or run id, or the reference of a decision or a conversation: its latest turn."`
	Format string `help:"How to draw it: text or json." enum:"text,json" default:"text"`
	owner
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
