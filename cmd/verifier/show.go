package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/audit"
)

// AuditShowCmd prints a record.
type AuditShowCmd struct {
	Files    []string `arg:"" optional:"" name:"file" help:"The record's files, or the directory that they are in. Without it, the record of the server."`
	Since    string   `help:"From then on: 2h or 2d (ago), 2026-10-03, or 2026-10-03T14:00:00Z." placeholder:"TIME"`
	Until    string   `help:"Before then; written as --since." placeholder:"TIME"`
	Tool     string   `help:"Only this tool." placeholder:"NAME"`
	Session  string   `help:"Only this conversation: session key or session id." placeholder:"KEY"`
	Agent    string   `help:"Only this agent." placeholder:"ID"`
	Decision string   `help:"Only allow, or only deny." enum:"allow,deny," default:"" placeholder:"WORD"`
	Ref      string   `help:"Only the call with this reference, as the agent reads it in a denial." placeholder:"REF"`
	Kind     string   `help:"Only one kind: decision, asked, answer, delivery, lock, reset, endorse, pause, resume, revoke, event, graph, begin, checkpoint, repair, note, start, stop." enum:",decision,asked,answer,delivery,lock,reset,endorse,pause,resume,revoke,event,graph,begin,checkpoint,repair,note,start,stop" default:"" placeholder:"KIND"`
	Person   string   `help:"Only what this person answered." placeholder:"NAME"`
	JSON     bool     `help:"Print JSON lines." name:"json"`
	recordFlags
}

// Run prints.
func (c *AuditShowCmd) Run(a *app) error {
	filter, err := c.filter(time.Now())
	if err != nil {
		return err
	}
	r, err := c.find(a, c.Files)
	if err != nil {
		return err
	}
	for _, path := range r.files {
		if err := c.show(a, path, filter); err != nil {
			return err
		}
	}
	return nil
}

// show prints one file.
func (c *AuditShowCmd) show(a *app, path string, filter audit.Filter) error {
	f, err := os.Open(path)
	if err != nil {
		return unreadable(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	for entry, err := range audit.Read(f) {
		if bad, ok := errors.AsType[*audit.BadLine](err); ok {
			a.warnf("warning: %s: %v; `verifier audit verify` says more\n", path, bad)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if !filter.Match(entry.Entry) {
			continue
		}
		if err := c.print(a, entry); err != nil {
			return err
		}
	}
	return nil
}

func (c *AuditShowCmd) print(a *app, l audit.Line) error {
	if !c.JSON {
		return audit.Print(a.stdout, l.Entry)
	}
	out, err := json.Marshal(struct {
		Seq uint64 `json:"seq"`
		audit.Entry
	}{l.Seq, l.Entry})
	if err != nil {
		return err
	}
	a.printf("%s\n", out)
	return nil
}

func (c *AuditShowCmd) filter(now time.Time) (audit.Filter, error) {
	since, err1 := moment("--since", c.Since, now)
	until, err2 := moment("--until", c.Until, now)
	return audit.Filter{
		Since: since, Until: until, Tool: c.Tool, Session: c.Session, Agent: c.Agent,
		Decision: c.Decision, Ref: c.Ref, Kind: c.Kind, Person: c.Person,
	}, errors.Join(err1, err2)
}

// moment reads a time as people write it.
func moment(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	if days, err := strconv.ParseUint(strings.TrimSuffix(text, "d"), 10, 16); err == nil && strings.HasSuffix(text, "d") {
		return now.AddDate(0, 0, -int(days)), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, &failure{fmt.Sprintf("%s %q is no time", flag, printable(text)), "write 2h for two hours ago, 2d for two days, 2026-10-03, or 2026-10-03T14:00:00Z"}
}
