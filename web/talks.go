package web

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/session"
)

// Bounds of looking for conversations in the record.
const (
	talksIn    = 20_000 // lines
	talksMost  = 50
	talkIn     = 100_000 // lines in which one is looked for
	talkLatest = 300     // entries of one
	talkCalls  = 50      // of them, rows that are shown
)

// talkLine is a conversation in the list.
type talkLine struct {
	Hash, Name, Level    string
	Title                string // what the owner first asked for, else what its first call did, of its latest entries
	At                   time.Time
	Calls, Denied, Asked int
	lines                int
	first                []byte // the line of that call
	named                session.Conversation
}

// list shows the conversations that the record has lately.
func (t *talks) list(w http.ResponseWriter, r *http.Request, m *member) {
	v := view{Title: "Conversations", At: "talks"}
	lines, err := t.reader.recentTalks()
	if err != nil {
		v.Said = said{Text: unreadable, Tone: bad}
		t.o.Log.ErrorContext(r.Context(), "the page could not read the record", "err", err)
	}
	v.Talks = lines
	if v.Jobs, err = t.jobs(r.Context()); err != nil {
		t.o.Log.ErrorContext(r.Context(), "the page could not read what is known of scheduled jobs", "err", err)
	}
	t.show(w, r, m, "talks", v)
}

// jobsLine is an agent with scheduled jobs that come from outside content.
type jobsLine struct {
	Hash, Ref, Name, Level string
	Jobs                   []influenceView
}

func (t *talks) jobs(ctx context.Context) (out []jobsLine, _ error) {
	all, err := t.o.Rooms.Sources.Jobs(ctx)
	for i := range all {
		c := all[i].Conversation
		line := jobsLine{Hash: c.Hash(), Ref: c.Ref(), Name: talkName(c), Level: all[i].Level.String()}
		for _, one := range influences(all[i].Influences) {
			if !one.Endorsed {
				line.Jobs = append(line.Jobs, one)
			}
		}
		out = append(out, line)
	}
	return out, err
}

const unreadable = "The record can't be read at this moment. Its own health says more."

// recentTalks decodes the latest line of each conversation, and counts the others
// as they are.
func (r *recordReader) recentTalks() (out []*talkLine, err error) {
	scanned, found := 0, map[string]*talkLine{}
	var fresh *talkLine
	for l, err := range r.o.Ledger.Backward(func(raw []byte) bool {
		scanned++
		key := rawTalk(raw)
		if len(key) == 0 {
			return scanned > talksIn
		}
		t := found[string(key)]
		known := t != nil
		if !known && len(out) == talksMost {
			return scanned > talksIn // for the first calls of the others
		}
		if !known {
			t = &talkLine{}
			found[string(key)], fresh = t, t
		}
		t.count(raw)
		return scanned > talksIn || !known
	}) {
		if err != nil {
			return out, err
		}
		if scanned > talksIn {
			break
		}
		fresh.fill(&l.Entry)
		out = append(out, fresh)
	}
	for _, t := range out {
		t.Title = cmp.Or(firstRequest(r.o.Memory, t.named), firstCall(t.first), t.Name)
	}
	return out, nil
}

// headSize is where a line's kind is: behind its number and the hash before.
const headSize = 160

func (t *talkLine) count(raw []byte) {
	t.lines++
	switch head := raw[:min(len(raw), headSize)]; {
	case bytes.Contains(head, []byte(`"kind":"asked"`)):
		t.Asked++
	case bytes.Contains(head, []byte(`"kind":"decision"`)):
		t.Calls++
		if t.lines <= talkLatest {
			t.first = append(t.first[:0], raw...) // the oldest comes last
		}
		if bytes.Contains(raw, []byte(`"decision":"deny"`)) {
			t.Denied++
		}
	}
}

func (t *talkLine) fill(e *audit.Entry) {
	c := session.Conversation{Client: e.Client, Key: e.Session}
	t.named, t.Hash, t.Name, t.At, t.Level = c, c.Hash(), talkName(c), e.At, levelAfter(e)
}

// levelAfter is how far the conversation was trusted after an entry; "" if the
// entry does not say.
func levelAfter(e *audit.Entry) string {
	return cmp.Or(e.RaisedTo, e.Level)
}

// rawTalk is the part of a line that names its client and its session key, as it
// is written there; nothing if it names no session. The two come before anything
// that could look like them, and what is quoted can't.
func rawTalk(raw []byte) []byte {
	from := bytes.Index(raw, []byte(`"client":"`))
	if from < 0 {
		return nil
	}
	to := stringEnd(raw, from+len(`"client":`))
	const then = `,"session":`
	if to < 0 || !bytes.HasPrefix(raw[to:], []byte(then)) {
		return nil
	}
	if to = stringEnd(raw, to+len(then)); to < 0 {
		return nil
	}
	return raw[from:to]
}

// stringEnd is where the JSON string that begins here is over; -1 if it is none.
func stringEnd(raw []byte, from int) int {
	if from >= len(raw) || raw[from] != '"' {
		return -1
	}
	for i := from + 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// talkOf reads what rawTalk found.
func talkOf(key []byte) (c session.Conversation, ok bool) {
	at := stringEnd(key, len(`"client":`))
	client, errClient := jsontext.AppendUnquote(nil, key[len(`"client":`):at])
	name, errKey := jsontext.AppendUnquote(nil, key[at+len(`,"session":`):])
	return session.Conversation{Client: string(client), Key: string(name)}, errClient == nil && errKey == nil
}

// ofTalk are the latest entries of a conversation, by the hash of its name or of
// what the record has of that, the oldest first.
func (r *recordReader) ofTalk(ctx context.Context, hash, as string) (entries []audit.Line, err error) {
	scan, done, err := r.scan(ctx, talkIn)
	if err != nil {
		return nil, err
	}
	defer done()
	is := map[string]bool{}
	for l, err := range r.o.Ledger.Backward(func(raw []byte) bool {
		over, key := scan.over(), rawTalk(raw)
		if over || len(key) == 0 {
			return over
		}
		meant, known := is[string(key)]
		if !known {
			c, ok := talkOf(key)
			meant = ok && (c.Hash() == hash || c.Hash() == as)
			is[string(key)] = meant
		}
		return meant
	}) {
		if err != nil {
			return nil, err
		}
		if scan.done() || len(entries) == talkLatest {
			break
		}
		entries = append(entries, l)
	}
	slices.Reverse(entries)
	return entries, nil
}
