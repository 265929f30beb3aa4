package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
)

// AuditCmd is about the record.
type AuditCmd struct {
	Verify AuditVerifyCmd `cmd:"" help:"Prove that nothing in the record was changed, or name the first bad line."`
	Show   AuditShowCmd   `cmd:"" help:"Print the record for people."`
}

// AuditVerifyCmd checks records.
type AuditVerifyCmd struct {
	Files        []string `arg:"" optional:"" name:"file" help:"Records: files or directories; else the server's."`
	AcceptLosses bool     `help:"List what is missing from the record, and accept that."`
	recordFlags
}

// Run verifies.
func (c *AuditVerifyCmd) Run(a *app) error {
	r, err := c.find(a, c.Files)
	if err != nil {
		return err
	}
	key, err := serverKey(r.config, r.state)
	if err != nil || len(key) == 0 {
		return &failure{
			"nothing shows that the server wrote this record: its server key is not here",
			"name the server's --state, or the --config that has store.key",
		}
	}
	var errs []error
	for i := range r.books {
		b := &r.books[i]
		if len(r.books) > 1 {
			a.printf("%s:\n", b.path)
		}
		err := c.verify(a, r, b, key)
		if len(r.books) > 1 && err != nil {
			a.printf("%v\n", err)
		}
		errs = append(errs, err)
	}
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	return nil
}

func (c *AuditVerifyCmd) verify(a *app, r *found, b *book, key hmac.Key) error {
	o := record.VerifyOptions{Key: key, Whole: b.whole, Head: c.head(a, r, b)}
	rep, err := record.VerifyFiles(b.files, o)
	if err != nil && b.current { // the server may have gone on in a new file meanwhile
		if files, errFind := record.Files(b.path); errFind == nil && !slices.Equal(files, b.files) {
			b.files = files
			rep, err = record.VerifyFiles(files, o)
		}
	}
	if bad, ok := errors.AsType[*record.BadLine](err); ok {
		return &failure{
			fmt.Sprintf("%s: %v", bad.File, bad),
			count(rep.Lines, "line") + " before it are intact; compare with a copy, and keep the files as they are",
		}
	}
	if err != nil {
		return unreadable(err)
	}
	return c.print(a, rep)
}

// head is what the store has seen, for the record that the server writes and no other. What was kept beside a record
// says the same where there is no store to ask.
func (c *AuditVerifyCmd) head(a *app, r *found, b *book) *record.Head {
	if !b.whole {
		return nil
	}
	if b.current {
		head, err := recordHead(r.state, r.config)
		if err == nil && head != nil {
			return head
		}
		if err != nil {
			a.warnf("warning: the store can't say how long the record is: %v\n", err)
		}
	}
	head, err := record.HeadBeside(b.path)
	if err != nil {
		a.warnf("warning: the head beside the record can't be read: %v\n", err)
	}
	return head
}

func (c *AuditVerifyCmd) print(a *app, r record.Report) error {
	var losses []string
	for _, l := range r.Losses {
		losses = append(losses, l.File+": "+printable(l.Error()))
	}
	if len(losses) > 0 && !c.AcceptLosses {
		return &failure{
			"the record is not all there: " + strings.Join(losses, "; "),
			"what is there is intact. If you took the rest away yourself, --accept-losses accepts that",
		}
	}
	a.printf("ok: %s in %s, %s, %s to %s\n", count(r.Lines, "line"), count(r.Files, "file"),
		approval.Count(r.Entries, "entry", "entries"), stamp(r.First), stamp(r.Last))
	for _, loss := range losses {
		a.printf("note: accepted as lost: %s\n", loss)
	}
	switch {
	case r.Before > 0 && r.Removed:
		a.printf("note: the record begins with entry %d: what was before it was removed, as audit.keep says\n",
			r.Before+1)
	case r.Before > 0:
		a.printf("note: this begins with entry %d: what comes before it was not looked at\n", r.Before+1)
	}
	if r.Repairs > 0 {
		a.printf("note: %s; read them with `verifier audit show --kind repair`\n",
			approval.Count(r.Repairs, "repair is noted", "repairs are noted"))
	}
	if r.Unfinished {
		a.printf("note: the last line is not finished: a write was interrupted, or is going on\n")
	}
	if !r.HeadChecked {
		a.printf("note: lines cut off the end would not show: no head was compared\n")
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// AuditShowCmd prints a record.
type AuditShowCmd struct {
	Files    []string `arg:"" optional:"" name:"file" help:"Records: files or directories; else the server's."`
	Since    string   `help:"From then on: 2h or 2d (ago), 2026-10-03, or 2026-10-03T14:00:00Z." placeholder:"TIME"`
	Until    string   `help:"Before then; written as --since." placeholder:"TIME"`
	Tool     string   `help:"Only this tool." placeholder:"NAME"`
	Session  string   `help:"Only this conversation: session key or session id." placeholder:"KEY"`
	Agent    string   `help:"Only this agent." placeholder:"ID"`
	Decision string   `help:"Only allow, or only deny." enum:"allow,deny," default:"" placeholder:"WORD"`
	Ref      string   `help:"Only the call with this reference, as the agent reads it in a denial." placeholder:"REF"`
	Kind     string   `help:"Only one kind: ${enum}." enum:",decision,asked,answer,delivery,lock,reset,pause,resume,revoke,event,graph,begin,repair,note,start,stop" default:"" placeholder:"KIND"`
	Person   string   `help:"Only what this person answered." placeholder:"NAME"`
	Auditor  bool     `help:"Count what the auditor objected to and people allowed all the same, by tool." xor:"form"`
	JSON     bool     `help:"Print JSON lines." name:"json" xor:"form"`
	recordFlags

	objections   objections
	since, until time.Time
}

// Run prints.
func (c *AuditShowCmd) Run(a *app) (err error) {
	now := time.Now()
	if c.since, err = moment("--since", c.Since, now); err != nil {
		return err
	}
	if c.until, err = moment("--until", c.Until, now); err != nil {
		return err
	}
	r, err := c.find(a, c.Files)
	if err != nil {
		return err
	}
	for _, b := range r.books {
		if err := c.show(a, &b); err != nil {
			return err
		}
	}
	if c.Auditor {
		c.objections.print(a)
	}
	return nil
}

// show prints one record.
func (c *AuditShowCmd) show(a *app, b *book) error {
	// All of it: after a clock was set back, what is looked for may stand behind what is older.
	for raw, err := range record.Since(b.files, time.Time{}) {
		if err != nil {
			return unreadable(err)
		}
		entry, err := raw.Line()
		if bad, ok := errors.AsType[*record.BadLine](err); ok {
			a.warnf("warning: %s: a line %v; `verifier audit verify` says more\n", bad.File, bad.Err)
			continue
		}
		if !c.matches(&entry.Entry) {
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
		what, more := l.Told()
		if what = stamp(l.At) + " " + what; l.Ref != "" {
			what += " · ref " + printable(l.Ref)
		}
		a.printf("%s\n", strings.Join(append([]string{what}, more...), "\n    "))
		return nil
	}
	out, err := json.Marshal(l)
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

// matches reports whether an entry fits the flags.
func (c *AuditShowCmd) matches(e *record.Entry) bool {
	is := func(want string, have ...string) bool { return want == "" || slices.Contains(have, want) }
	named := func(p record.Person) bool { return strings.EqualFold(p.Name, c.Person) }
	return !e.At.Before(c.since) && (c.until.IsZero() || e.At.Before(c.until)) && is(c.Tool, e.Tool, e.Sent) &&
		is(c.Session, e.Session, e.SessionID) && is(c.Agent, e.Agent) && is(c.Decision, e.Decision) &&
		is(c.Kind, string(e.Kind)) && (c.Ref == "" || strings.EqualFold(c.Ref, e.Ref)) &&
		(c.Person == "" || slices.ContainsFunc(e.People, named))
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
