package web

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/verifier"
)

const unreadable = "The record can't be read at this moment. The log says why."

// Ledger is the record as it can be read.
type Ledger interface {
	// Verify proves that nothing in it was changed.
	Verify() (record.Report, error)
	// Files are where it is, in the order of the chain.
	Files() ([]string, error)
}

// Bounds of one look at the record.
const (
	onePage = 50
	maxScan = 200_000 // lines that a search goes through
)

type recordView struct {
	Query                recordQuery
	Entries              []entryView
	Kinds                []string
	Older                string // the link to what comes before
	Stopped              bool   // the search went no further
	Fault, Proof, Proven string
}

type recordQuery struct {
	Text, Kind, Decision string
	Before               uint64
}

type entryView struct {
	Seq      uint64
	At       time.Time
	Sentence string
	Details  []string
	Decision string
}

func readQuery(q url.Values) recordQuery {
	before, err := strconv.ParseUint(q.Get("before"), 10, 64)
	if err != nil {
		before = 0 // from the latest on
	}
	return recordQuery{Text: q.Get("q"), Kind: q.Get("kind"), Decision: q.Get("decision"), Before: before}
}

func (q recordQuery) link(of string, before uint64) string {
	v := url.Values{"q": {q.Text}, "kind": {q.Kind}, "decision": {q.Decision}, "before": {strconv.FormatUint(before, 10)}}
	return Root + of + "?" + v.Encode()
}

func (q recordQuery) matches(l *record.Line) bool {
	return (q.Kind == "" || q.Kind == string(l.Kind)) && (q.Decision == "" || q.Decision == l.Decision)
}

// likes is a quick look at a line: what it picks is looked at again.
func (q recordQuery) likes(raw []byte) bool {
	text := []byte(strings.ToLower(q.Text))
	return (q.Kind == "" || bytes.Contains(raw, []byte(`"kind":"`+q.Kind+`"`))) &&
		(len(text) == 0 || bytes.Contains(bytes.ToLower(raw), text))
}

var recordKinds = []string{"decision", "asked", "answer", "pause", "resume", "revoke", "reset", "event", "lock", "delivery", "repair", "note", "start", "stop"}

// records are the views of the record.
type records struct {
	*site
	reader *recordReader
}

// list shows the latest entries, or those that a search finds.
func (b *records) list(w http.ResponseWriter, r *http.Request, m *member) {
	v := recordView{Query: readQuery(r.URL.Query()), Kinds: recordKinds}
	found := b.reader.find(r.Context(), v.Query, func(l *record.Line) bool {
		v.Entries = append(v.Entries, entry(l))
		return len(v.Entries) < onePage
	})
	v.Fault, v.Stopped = found.Fault, found.Stopped
	if found.Before > 0 {
		v.Older = v.Query.link("record", found.Before)
	}
	b.show(w, r, m, "record", view{Title: "Record", At: "record", Record: v})
}

// found is how a search of the record ended.
type found struct {
	Before  uint64 // where to go on; 0: there is no more
	Stopped bool   // it is not known whether there is more
	Fault   string
}

// find gives what a search finds, the latest first, until take wants no more.
func (r *recordReader) find(ctx context.Context, q recordQuery, take func(*record.Line) bool) (f found) {
	if q.Kind != "" && !slices.Contains(recordKinds, q.Kind) {
		f.Fault = "There is no such kind of entry."
		return f
	}
	scan, done, err := r.scan(ctx)
	if err != nil {
		return f // the browser has gone
	}
	defer done()
	files, err := r.o.Ledger.Files()
	if err != nil {
		return r.unreadable(err)
	}
	last := uint64(0) // of a page that is full
	for raw, err := range record.Backward(files, q.Before) {
		if err != nil {
			return r.unreadable(err)
		}
		over := scan.over()
		if !over && !q.likes(raw.Text) {
			continue
		}
		l, err := raw.Line()
		switch {
		case err != nil: // the proof names it
			continue
		case over:
			f.Stopped, f.Before = true, l.Seq+1 // which was not looked at
			return f
		case !q.matches(&l):
			continue
		case last > 0:
			f.Before = last
			return f
		}
		if !take(&l) {
			last = l.Seq
		}
	}
	return f
}

func (r *recordReader) unreadable(err error) found {
	r.o.Log.Error("the page could not read the record", "err", err)
	return found{Fault: unreadable}
}

// entry is one as `verifier audit show` tells it.
func entry(l *record.Line) entryView {
	what, more := l.Told()
	if l.Ref != "" {
		more = slices.Insert(more, 0, "ref "+foreign(l.Ref))
	}
	return entryView{Seq: l.Seq, At: l.At, Sentence: what, Details: more, Decision: l.Decision}
}

// proving lets one proof run at a time: each reads all of the record.
var proving sync.Mutex

// prove verifies the chain, up to an entry and beyond it.
func (b *records) prove(w http.ResponseWriter, r *http.Request, m *member) {
	v := recordView{Kinds: recordKinds}
	if !proving.TryLock() {
		v.Fault = "A proof is running. Ask again in a moment."
	} else {
		defer proving.Unlock()
		if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(10 * time.Minute)); err != nil {
			b.o.Log.DebugContext(r.Context(), "a proof has no time limit of its own", "err", err)
		}
		rep, err := b.o.Ledger.Verify()
		v.Proof, v.Proven = proof(rep, err), r.PostFormValue("seq")
	}
	b.show(w, r, m, "record", view{Title: "Record", At: "record", Record: v})
}

func proof(rep record.Report, err error) string {
	if err != nil {
		return "NOT INTACT: " + err.Error() + ". Keep the files as they are, and compare them with a copy."
	}
	text := fmt.Sprintf("Intact: %d lines in %d files, each bound to the one before it, from %s to %s UTC.",
		rep.Lines, rep.Files, rep.First.UTC().Format(time.DateTime), rep.Last.UTC().Format(time.DateTime))
	if len(rep.Losses) > 0 {
		text += " Something is missing at " + approval.Count(len(rep.Losses), "place", "places") + "."
	}
	return text
}

// export is the record as it is, so that it can be verified elsewhere.
func (b *records) export(w http.ResponseWriter, r *http.Request, _ *member) {
	files, err := b.o.Ledger.Files()
	if err != nil {
		http.Error(w, "The record can't be read.", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Content-Disposition", `attachment; filename="record.jsonl"`)
	if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(10 * time.Minute)); err != nil {
		b.o.Log.DebugContext(r.Context(), "an export has no time limit of its own", "err", err)
	}
	for _, path := range files {
		if err := copyFile(w, path); err != nil {
			b.o.Log.WarnContext(r.Context(), "an export of the record ended early", "err", err)
			return
		}
	}
}

func copyFile(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	_, err = io.Copy(w, f)
	return err
}

// kept is something that takes reading the record, and is read again only after a while.
type kept[T any] struct {
	mu   sync.Mutex
	at   time.Time
	last T
}

// get gives what was read last, or reads it. What can't be read is read again the next time.
func (k *kept[T]) get(now time.Time, life time.Duration, read func() (T, error)) (_ T, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now.Sub(k.at) > life || now.Before(k.at) {
		if k.last, err = read(); err == nil {
			k.at = now
		}
	}
	return k.last, err
}

// maxScans is how many looks through the record run at a time: each may read a
// hundred thousand lines, on the machine that decides calls.
const maxScans = 2

// scan is one look back through the record. It ends after a number of lines, or
// when no one waits for it any more.
type scan struct {
	gone  func() error // set once no one waits for it
	lines int
	most  int
}

// recordReader looks back through the record for the views.
type recordReader struct {
	*site
	scans chan struct{} // holds one for each look
	most  int           // lines of one
}

// scan waits for its turn. The caller ends it by done.
func (r *recordReader) scan(ctx context.Context) (_ *scan, done func(), _ error) {
	select {
	case r.scans <- struct{}{}:
		return &scan{gone: ctx.Err, most: r.most}, func() { <-r.scans }, nil
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
}

// over counts a line, and reports whether it is beyond the last.
func (s *scan) over() bool {
	if s.lines++; s.lines%1000 == 0 && s.gone() != nil {
		s.lines = s.most + 1
	}
	return s.lines > s.most
}

// historyView is what the agents did and wanted to do, one row a call.
type historyView struct {
	Query   recordQuery
	Rows    []callRow
	Older   string // the link to what comes before
	Stopped bool   // the search went no further
	Fault   string
}

// callRow is one call and what became of it.
type callRow struct {
	At             time.Time
	Decision, Sign string
	What           channels.Headline
	Who            string // what decided it
	Why            []string
	Told           string // what the agent read
	Params         string
	Agent, Level   string
	Talk, TalkRef  string // what the conversation is called, and the reference that typed lines take
	Ref            string
}

// history shows the latest calls, or those that a search finds.
func (b *records) history(w http.ResponseWriter, r *http.Request, m *member) {
	q := readQuery(r.URL.Query())
	q.Kind = string(record.KindDecision)
	v := historyView{Query: q}
	found := b.reader.find(r.Context(), q, func(l *record.Line) bool {
		if !l.Replay { // the same call, sent again
			v.Rows = append(v.Rows, newCallRow(&l.Entry))
		}
		return len(v.Rows) < onePage
	})
	v.Fault, v.Stopped = found.Fault, found.Stopped
	if found.Before > 0 {
		v.Older = q.link("history", found.Before)
	}
	b.show(w, r, m, "history", view{Title: "History", At: "history", History: v})
}

// newCallRow is a row of an entry that says what became of a call, or of a conversation.
func newCallRow(e *record.Entry) callRow {
	c := store.Name{Client: e.Client, Key: e.Session}
	v := callRow{
		At: e.At, Decision: e.Decision, Sign: "·", Who: decidedBy(e), Told: foreignText(e.Reason), Agent: foreign(e.Agent), Level: cmp.Or(e.RaisedTo, e.Level),
		Talk: talkName(c), TalkRef: c.Ref(), Ref: e.Ref, What: did(e),
	}
	switch e.Decision {
	case record.Allow:
		v.Sign = "✓"
	case record.Deny:
		v.Sign = "✗"
	}
	for _, s := range append(e.Why[:len(e.Why):len(e.Why)], e.Origins...) {
		v.Why = append(v.Why, foreignText(s))
	}
	if len(e.Params) > 0 {
		v.Params = readable(e.Params)
	}
	return v
}

// did says in words what an entry is about.
func did(e *record.Entry) channels.Headline {
	switch {
	case e.Kind == record.KindReset:
		return channels.Headline{Says: "Trust was reset"}
	case e.Kind == record.KindRevoke:
		return channels.Headline{Says: "A grant was ended"}
	case e.Tool == "":
		return channels.Headline{Says: "A call that could not be read"}
	}
	return channels.Head(&approval.Ask{Tool: e.Tool, Sent: e.Sent, Shown: e.Params})
}

// decidedBy says who or what decided a call.
func decidedBy(e *record.Entry) string {
	var names []string
	for _, p := range e.People {
		names = append(names, foreign(p.Name))
	}
	switch {
	case len(names) > 0:
		return strings.Join(names, ", ")
	case e.Error == "unanswered":
		return "no answer yet"
	}
	return cmp.Or(map[string]string{
		verifier.ByGrant: "your grant", "auditor": "the auditor", "scope": "not in scope",
	}[e.By], "policy")
}

// foreignText is a sentence with what others wrote in it, as it can be seen.
func foreignText(s string) string {
	text, _ := channels.Safe(s, channels.Form{Limit: 500})
	return text
}

// readable is JSON in lines, with every character that can't be seen shown by its number.
func readable(v jsontext.Value) string {
	v = v.Clone()
	if err := v.Indent(jsontext.WithIndent("  ")); err != nil {
		return "" // the record was damaged: its own view shows that
	}
	text, _ := channels.Safe(string(v), channels.Form{Lines: true})
	return text
}
