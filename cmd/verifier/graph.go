package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/provenance"
	"github.com/openclaw-verifier/verifier/internal/store"
)

// GraphCmd draws a turn.
type GraphCmd struct {
	Turn    string   `arg:"" help:"A turn's or run's id, or a reference of a decision or conversation."`
	Records []string `arg:"" optional:"" name:"record" help:"Records: files or directories; else the server's."`
	Format  string   `help:"How to draw it: text or json." enum:"text,json" default:"text"`
	owner
}

// Run lets the server draw, or draws from records.
func (c *GraphCmd) Run(a *app) error {
	if len(c.Records) > 0 {
		return c.draw(a)
	}
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

// draw draws from the records that were named, such as those of several gateways.
func (c *GraphCmd) draw(a *app) error {
	var r found
	if err := r.add(c.Records); err != nil {
		return unreadable(err)
	}
	var records [][]string
	for _, b := range r.books {
		records = append(records, b.files)
	}
	g, err := provenance.Draw(context.Background(), records, c.Turn, refOf)
	switch {
	case errors.Is(err, provenance.ErrUnknown):
		a.warnf("The records have no such turn.\n")
		return exit(exitNo)
	case err != nil:
		return unreadable(err)
	case c.Format == "text":
		a.printf("%s\n", block(g.Text()))
		return nil
	}
	text, err := json.Marshal(g, jsontext.WithIndent("  "))
	if err == nil {
		a.printf("%s\n", text)
	}
	return err
}

// refOf is the reference of a conversation.
func refOf(client, session string) string { return store.Name{Client: client, Key: session}.Ref() }
