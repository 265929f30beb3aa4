package main

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/config"
)

// AuditCmd is about the record.
type AuditCmd struct {
	Verify AuditVerifyCmd `cmd:"" help:"Prove that nothing in the record was changed, or name the first bad line."`
	Show   AuditShowCmd   `cmd:"" help:"Print the record for people."`
}

// AuditVerifyCmd checks a record.
type AuditVerifyCmd struct {
	File string `arg:"" optional:"" help:"The record. Without it, the one in the state directory."`
	Key  string `help:"The public key it must be signed with, in hex. Without it, the state directory's." placeholder:"HEX"`
	recordFlags
}

// recordFlags say whose record is meant.
type recordFlags struct {
	Config string `help:"The server's config, which may name another record and the store." placeholder:"FILE" short:"c"`
	State  string `help:"The server's state directory." env:"VERIFIER_STATE" placeholder:"DIR"`
}

// Help is the long help.
func (*AuditVerifyCmd) Help() string {
	return `Every line carries the hash of the line before it, and every few hundred lines a signature. An edited, removed, added or moved line is named by its number. Lines cut off the end show only where the store has seen more than the file holds.

    $ verifier audit verify
    ok: 214 lines, 209 entries, 3 checkpoints, 2026-10-01 08:00:11Z to 2026-10-03 14:02:11Z
    $ verifier audit verify copy.jsonl --key 9f2c…
    error: copy.jsonl: line 17: was edited: it does not match its hash

Exit codes: 0 intact, 1 not intact or not readable.`
}

// Run verifies.
func (c *AuditVerifyCmd) Run(a *app) error {
	r, err := c.open(c.File)
	if err != nil {
		return err
	}
	defer r.file.Close() //nolint:errcheck // it was only read
	key, err := c.key(r.state)
	if err != nil {
		return err
	}
	head, err := c.head(a, r)
	if err != nil {
		return err
	}
	rep, err := audit.Verify(r.file, audit.VerifyOptions{Key: key, Head: head})
	if bad, ok := errors.AsType[*audit.BadLine](err); ok {
		return &failure{fmt.Sprintf("%s: %v", r.path, bad), fmt.Sprintf("%d lines before it are intact; compare with a copy, and keep the file as it is", rep.Lines)}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.path, err)
	}
	c.print(a, rep)
	return nil
}

// key is the flag's, else the state directory's. Without either the record can
// only vouch for itself.
func (c *AuditVerifyCmd) key(state *config.State) (ed25519.PublicKey, error) {
	if c.Key != "" {
		key, err := hex.DecodeString(c.Key)
		if err != nil || len(key) != ed25519.PublicKeySize {
			return nil, &failure{"--key is not an ed25519 public key", "it is 64 hex digits; `verifier audit verify` prints the one of a record"}
		}
		return key, nil
	}
	if state == nil {
		return nil, nil
	}
	private, err := state.RecordKey()
	if err != nil {
		return nil, nil //nolint:nilerr // a state directory without a key has nothing to compare with; the report says so
	}
	public, _ := private.Public().(ed25519.PublicKey)
	return public, nil
}

// head is what the store has seen, for the record that is being written there
// and no other: an older file ends where it ended.
func (c *AuditVerifyCmd) head(a *app, r *opened) (*audit.Head, error) {
	if !r.current {
		return nil, nil
	}
	head, err := recordHead(r.state, r.config)
	if err != nil {
		a.warnf("warning: the store can't say how long the record is: %v\n", err)
		return nil, nil
	}
	return head, nil
}

func (c *AuditVerifyCmd) print(a *app, r audit.Report) {
	a.printf("ok: %s, %s, %s, %s to %s\n", count(r.Lines, "line"), plural(r.Entries, "entry", "entries"),
		count(r.Checkpoints, "checkpoint"), stamp(r.First), stamp(r.Last))
	if r.SelfAttested {
		a.printf("note: the key is only the file's own word; compare it with yours: %s\n", r.Key)
	}
	if r.Repairs > 0 {
		a.printf("note: %s; read them with `verifier audit show --kind repair`\n", plural(r.Repairs, "repair is noted", "repairs are noted"))
	}
	if !r.HeadChecked {
		a.printf("note: lines cut off the end would not show: the store was not compared\n")
	}
	if r.Unsigned > 1 {
		a.printf("note: the last %d lines are not signed yet\n", r.Unsigned)
	}
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// opened is a record and what is known around it.
type opened struct {
	path    string
	file    *os.File
	config  *config.Config
	state   *config.State // nil when there is none here
	current bool          // it is the one that the server writes
}

// open finds the record: the file that was named, else the server's.
func (f *recordFlags) open(named string) (*opened, error) {
	cfg, err := quietConfig(f.Config)
	if err != nil {
		return nil, err
	}
	state, why := config.FindState(f.State)
	r := &opened{path: named, config: cfg, state: state}
	if named == "" {
		if state == nil && cfg.Audit.Path == "" {
			return nil, &failure{fmt.Sprintf("there is no record here: %v", why), "name the file, or the server's --state"}
		}
		r.path = recordPath(cfg, state)
	}
	if r.file, err = os.Open(r.path); err != nil {
		return nil, &failure{fmt.Sprintf("%s can't be read: %v", r.path, err), "name the file, or the server's --state"}
	}
	r.current = state != nil && sameFile(r.file, recordPath(cfg, state))
	return r, nil
}

func sameFile(f *os.File, path string) bool {
	a, errA := f.Stat()
	b, errB := os.Stat(path)
	return errA == nil && errB == nil && os.SameFile(a, b)
}
