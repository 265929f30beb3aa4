package main

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/internal/record"
)

// AuditCmd is about the record.
type AuditCmd struct {
	Verify AuditVerifyCmd `cmd:"" help:"Prove that nothing in the record was changed, or name the first bad line."`
	Show   AuditShowCmd   `cmd:"" help:"Print the record for people."`
}

// AuditVerifyCmd checks a record.
type AuditVerifyCmd struct {
	Files        []string `arg:"" optional:"" name:"file" help:"The record's files, or the directory that they are in. Without it, the record of the server."`
	Key          string   `help:"The public key it must be signed with, in hex. Without it, the state directory's." placeholder:"HEX"`
	AcceptLosses bool     `help:"List what is missing from the record, and accept that."`
	recordFlags
}

// recordFlags say whose record is meant.
type recordFlags struct {
	configFlag
	State string `help:"The server's state directory." env:"VERIFIER_STATE" placeholder:"DIR"`
}

// Run verifies.
func (c *AuditVerifyCmd) Run(a *app) error {
	r, rep, err := c.verify(a)
	if err != nil && r != nil {
		// The server may have gone on in a new file meanwhile.
		if again, errFind := c.find(a, c.Files); errFind == nil && !slices.Equal(again.files, r.files) {
			r, rep, err = c.verify(a)
		}
	}
	if bad, ok := errors.AsType[*record.BadLine](err); ok {
		return &failure{fmt.Sprintf("%s: %v", r.path(bad.File), bad), fmt.Sprintf("%s before it are intact; compare with a copy, and keep the files as they are", count(rep.Lines, "line"))}
	}
	if _, told := errors.AsType[*failure](err); told {
		return err
	}
	if err != nil {
		return unreadable(err)
	}
	return c.print(a, r, rep)
}

func (c *AuditVerifyCmd) verify(a *app) (r *found, rep record.Report, err error) {
	if r, err = c.find(a, c.Files); err != nil {
		return nil, rep, err
	}
	secret, why := c.secret(r.state)
	switch { // a program that can rewrite the record can take the key away, too
	case c.Key != "":
	case r.state == nil && len(c.Files) == 0:
		return r, rep, &failure{"nothing shows that the server wrote this record: there is no state directory here, and so no record.key", "name the server's --state, or the public key with --key"}
	case why != nil && r.current:
		return r, rep, &failure{fmt.Sprintf("nothing shows that the server wrote this record: %v", why), "bring record.key back from a backup, or name the public key with --key"}
	}
	o := record.VerifyOptions{Secret: secret, Whole: r.whole}
	if c.Key != "" {
		if o.Key, err = hex.DecodeString(c.Key); err != nil || len(o.Key) != ed25519.PublicKeySize {
			return r, rep, &failure{"--key is not an ed25519 public key", "it is 64 hex digits, as in the first line of a record"}
		}
		if o.Secret != nil && !o.Key.Equal(o.Secret.Public()) {
			o.Secret = nil // of another record
		}
	}
	o.Head = c.head(a, r)
	rep, err = record.VerifyFiles(r.files, o)
	return r, rep, err
}

// secret is the state directory's key, nil where there is no such directory. Without it and
// without --key the record can only vouch for itself.
func (c *AuditVerifyCmd) secret(state *config.State) (ed25519.PrivateKey, error) {
	if state == nil {
		return nil, nil
	}
	return state.RecordKey()
}

// head is what the store has seen, for the record that is being written there
// and no other: an older file ends where it ended.
func (c *AuditVerifyCmd) head(a *app, r *found) *record.Head {
	if !r.current {
		return nil
	}
	head, err := recordHead(r.state, r.config)
	if err != nil {
		a.warnf("warning: the store can't say how long the record is: %v\n", err)
		return nil
	}
	return head
}

func (c *AuditVerifyCmd) print(a *app, f *found, r record.Report) error {
	var losses []string
	for _, l := range r.Losses {
		losses = append(losses, lossText(f, l))
	}
	if len(losses) > 0 && !c.AcceptLosses {
		return &failure{"the record is not all there: " + strings.Join(losses, "; "), "what is there is intact. If you took the rest away yourself, --accept-losses accepts that"}
	}
	lines := count(r.Lines, "line")
	if r.Files > 1 {
		lines += " in " + count(r.Files, "file")
	}
	a.printf("ok: %s, %s, %s, %s to %s\n", lines, approval.Count(r.Entries, "entry", "entries"),
		count(r.Checkpoints, "checkpoint"), stamp(r.First), stamp(r.Last))
	for _, loss := range losses {
		a.printf("note: accepted as lost: %s\n", loss)
	}
	c.notes(a, r)
	path := f.files[len(f.files)-1]
	if info, err := os.Lstat(path); f.current && err == nil && info.Mode()&os.ModeSymlink != 0 {
		a.printf("note: %s is a symbolic link: the server does not start with one; put the file itself there, or name where it is as audit.path\n", path)
	}
	return nil
}

// notes tell what the ok does not cover.
func (c *AuditVerifyCmd) notes(a *app, r record.Report) {
	switch {
	case r.Before != nil && r.Removed:
		a.printf("note: the record begins with entry %d: %s and what was before it were removed, as audit.keep says\n", r.Before.Head.Seq+1, printable(r.Before.File))
	case r.Before != nil:
		a.printf("note: this begins with entry %d: %s, which comes before it, was not looked at\n", r.Before.Head.Seq+1, printable(r.Before.File))
	}
	if r.SelfAttested {
		a.printf("note: the key is only the file's own word; compare it with yours: %s\n", r.Key)
	}
	if r.Unchecked > 0 {
		a.printf("note: the MACs of the lines were not checked, which takes the server's record.key: a line that someone else wrote after the last signature would not show\n")
	}
	if r.Repairs > 0 {
		a.printf("note: %s; read them with `verifier audit show --kind repair`\n", approval.Count(r.Repairs, "repair is noted", "repairs are noted"))
	}
	if !r.HeadChecked {
		a.printf("note: lines cut off the end would not show: the store was not compared\n")
	}
	if r.Unsigned > 1 {
		a.printf("note: the last %d lines are not signed yet\n", r.Unsigned)
	}
}

func lossText(f *found, l record.Loss) string {
	when := ""
	if !l.At.IsZero() {
		when = " (noticed " + stamp(l.At) + ")"
	}
	return fmt.Sprintf("%s: line %d: %s%s", f.path(l.File), l.Line, printable(l.Note), when)
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

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
	Kind     string   `help:"Only one kind: decision, asked, answer, delivery, lock, reset, pause, resume, revoke, event, graph, begin, checkpoint, repair, note, start, stop." enum:",decision,asked,answer,delivery,lock,reset,pause,resume,revoke,event,graph,begin,checkpoint,repair,note,start,stop" default:"" placeholder:"KIND"`
	Person   string   `help:"Only what this person answered." placeholder:"NAME"`
	Auditor  bool     `help:"Count what the auditor objected to and people allowed all the same, by tool." xor:"form"`
	JSON     bool     `help:"Print JSON lines." name:"json" xor:"form"`
	recordFlags

	objections objections
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
	if c.Auditor {
		c.objections.print(a)
	}
	return nil
}

// show prints one file.
func (c *AuditShowCmd) show(a *app, path string, filter record.Filter) error {
	f, err := os.Open(path)
	if err != nil {
		return unreadable(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	for entry, err := range record.Read(f) {
		if bad, ok := errors.AsType[*record.BadLine](err); ok {
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

func (c *AuditShowCmd) print(a *app, l record.Line) error {
	if c.Auditor {
		c.objections.add(&l.Entry)
		return nil
	}
	if !c.JSON {
		return record.Print(a.stdout, l.Entry)
	}
	out, err := json.Marshal(struct {
		Seq uint64 `json:"seq"`
		record.Entry
	}{l.Seq, l.Entry})
	if err != nil {
		return err
	}
	a.printf("%s\n", out)
	return nil
}

// objections are the calls that the auditor was against, and whether a person allowed each all the same. The same
// call in the same conversation counts once, however often the agent tried.
type objections map[objection]bool

type objection struct{ client, session, sessionID, tool, digest string }

func (o *objections) add(e *record.Entry) {
	if e.Kind != record.KindDecision || e.Auditor != "block" || e.Replay {
		return
	}
	if *o == nil {
		*o = make(objections)
	}
	call := objection{e.Client, e.Session, e.SessionID, e.Tool, e.Digest}
	(*o)[call] = (*o)[call] || e.Decision == record.Allow && e.By == "person"
}

func (o objections) print(a *app) {
	objected, overruled := map[string]int{}, map[string]int{}
	for call, allowed := range o {
		objected[call.tool]++
		if allowed {
			overruled[call.tool]++
		}
	}
	a.printf("%8s %9s  %s\n", "objected", "overruled", "tool")
	for _, tool := range slices.Sorted(maps.Keys(objected)) {
		a.printf("%8d %9d  %s\n", objected[tool], overruled[tool], printable(tool))
	}
}

func (c *AuditShowCmd) filter(now time.Time) (record.Filter, error) {
	since, err1 := moment("--since", c.Since, now)
	until, err2 := moment("--until", c.Until, now)
	return record.Filter{
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
