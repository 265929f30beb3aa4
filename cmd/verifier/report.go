package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/openclaw-verifier/verifier/replay"
)

// AuditReportCmd counts what the auditor said.
type AuditReportCmd struct {
	Files []string `arg:"" optional:"" name:"file" help:"The record's files, or the directory that they are in. Without it, the record of the server."`
	JSON  bool     `help:"Print the numbers as JSON."`
	recordFlags
}

// Run reports.
func (c *AuditReportCmd) Run(a *app) error {
	r, err := c.find(a, c.Files)
	if err != nil {
		return err
	}
	var all replay.Auditing
	for _, name := range r.files {
		if err := readFrom(name, all.ReadAudited); err != nil {
			return err
		}
	}
	report := all.Report()
	if c.JSON {
		return a.printJSON(report)
	}
	a.printf("asked about              %s\n", count(report.Asked, "call"))
	a.printf("against                  %d, and %d of them were allowed by a person all the same\n", report.Blocked, report.Overruled)
	a.printf("no answer                %d\n", report.Silent)
	printAudited(a, "against, by tool", report.Tools)
	printAudited(a, "against, by pattern", report.Patterns)
	return nil
}

// readFrom lets one file be read, and names it in what is wrong with it.
func readFrom(name string, read func(io.Reader) error) (err error) {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := read(f); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func printAudited(a *app, title string, items []replay.AuditedItem) {
	listSome(a, 25, items, func(item replay.AuditedItem) {
		a.printf("%-24s %d, %d overruled  %s\n", title, item.Blocked, item.Overruled, printable(item.Name))
		title = ""
	})
}
