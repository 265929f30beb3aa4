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

// Help is the long help.
func (*AuditReportCmd) Help() string {
	return `Which tools and patterns the auditor was against most, and how often a person allowed the call all the same: where that is often, it is too strict there, or you are too quick. The same call counts once, however often the agent tried.

    $ verifier audit report
    asked about              41 calls
    against                  9, and 2 of them were allowed by a person all the same
    no answer                1
    against, by tool         6, 1 overruled  message send
                             3, 1 overruled  exec
    against, by pattern      7, 2 overruled  injection and rogue action
                             2, 0 overruled  none: the policy let it pass`
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
