package main

import (
	"context"
	"iter"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/web"
)

// ledger is the server's own record, as the page reads it.
type ledger struct {
	path  string
	state *config.State
}

// Files implements web.Ledger.
func (l ledger) Files() ([]string, error) { return audit.Files(l.path) }

// Backward implements web.Ledger.
func (l ledger) Backward(want func(raw []byte) bool) iter.Seq2[audit.Line, error] {
	files, err := l.Files()
	if err != nil {
		return func(yield func(audit.Line, error) bool) { yield(audit.Line{}, err) }
	}
	return audit.Backward(files, want)
}

// Verify implements web.Ledger. Lines cut off the end are the start's to notice.
func (l ledger) Verify() (audit.Report, error) {
	files, err := l.Files()
	if err != nil {
		return audit.Report{}, err
	}
	key, err := l.state.RecordKey()
	if err != nil {
		return audit.Report{}, err
	}
	o := audit.VerifyOptions{Secret: key, Whole: true}
	rep, err := audit.VerifyFiles(files, o)
	if err != nil { // the last line may have been half written, or a new file begun
		if files, err = l.Files(); err == nil {
			rep, err = audit.VerifyFiles(files, o)
		}
	}
	return rep, err
}

// pageHealth is what the page shows of the gateway's health.
func (g *gateway) pageHealth(ctx context.Context) []web.Check {
	var out []web.Check
	for _, c := range g.health(ctx) {
		check := web.Check{Name: c.Name}
		if c.Err != nil {
			check.Fault = c.Err.Error()
		}
		out = append(out, check)
	}
	for _, r := range g.runtimes() {
		check := web.Check{Name: r.Name}
		check.Good, check.Fault = r.Says(time.Now())
		out = append(out, check)
	}
	return out
}
