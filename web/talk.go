package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/drawing"
	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
	"github.com/openclaw-verifier/verifier/turns"
)

// Memory is what is known of conversations besides the record.
type Memory interface {
	// Worst is the worst level that a conversation has been seen at.
	Worst(ctx context.Context, c session.Conversation) (taint.Level, error)
	// Graph draws a turn by any of its names; turns.ErrUnknown if there is none.
	Graph(ctx context.Context, name string) (*provenance.Graph, error)
	// FirstRequest is what the owner first asked for in a conversation, to be read; empty where that is not known.
	FirstRequest(c session.Conversation) string
}

// talkView is a conversation: what was said and read in it, what was asked and
// decided, and how far it is trusted because of that.
type talkView struct {
	Title                   string // what the owner first asked for, else what its first call did
	Hash, Ref, Name, Client string
	Hidden                  bool   // the name holds a secret
	Level                   string // now; empty: not known
	Chart                   levelChart
	Spoke                   []spokeView
	Sources, Earlier        []sourceView    // what the agent read, the latest first: a few, and the others
	Say                     []influenceView // what has a say in the level now
	Turns                   []turnView
	Turn                    *turnView // that whose graph is shown; nil: the last one
	Calls                   []callRow // the latest first
	Cut                     bool      // there is more than this in the record
	Grants                  []grantView
	Graph                   *graphView
}

// spokeView is who started runs.
type spokeView struct {
	Who         string
	Runs        int
	First, Last time.Time
	lastRun     string
}

// sourceView is something that was read.
type sourceView struct {
	At           time.Time
	Label, Level string
}

// influenceView is a source that counts, or that the owner vouches for.
type influenceView struct {
	Number       int64
	Label, Level string
	Last         time.Time
	Seen         string // Last, as it is sent back
	Fixed        bool   // it can't be vouched for
	Endorsed     bool
}

// turnView is one run.
type turnView struct {
	Run, Name             string
	Open                  bool // its graph is shown
	At                    time.Time
	Calls, Denied, Waited int
}

// graphView is a turn as a picture and in words.
type graphView struct {
	Turn    string
	Picture template.HTML // empty: it is too large to be here
	Text    string
	Missing bool
}

// fewSources is how many of what the agent read can be seen without opening the others.
const fewSources = 6

// maxNodes is how many boxes a picture on the page has at most.
const maxNodes = 150

// talks are the views of conversations.
type talks struct {
	*site
	reader *recordReader
	grants *grants
}

// talk shows one.
func (t *talks) talk(w http.ResponseWriter, r *http.Request, m *member) {
	t.one(w, r, m, r.PathValue("hash"), said{})
}

// discuss does what the owner says about a conversation.
func (t *talks) discuss(w http.ResponseWriter, r *http.Request, m *member) {
	hash, who := r.PathValue("hash"), approval.Answer{ID: m.id(), Via: Via}
	var o approval.Outcome
	var err error
	switch r.PostFormValue("what") {
	case "reset":
		who.Text = ".reset-trust " + hash
		o, err = t.o.Desk.Answer(r.Context(), who)
	case "revoke":
		o, err = t.o.Rooms.Grants.Revoke(r.Context(), who, hash)
	case "endorse", "distrust":
		v, ok := vouching(r, hash, m)
		if !ok {
			http.Error(w, "The form names no source. Nothing was changed.", http.StatusUnprocessableEntity)
			return
		}
		o, err = t.o.Rooms.Sources.Endorse(r.Context(), v)
	default:
		http.Error(w, "The page has no such button. Nothing was changed.", http.StatusUnprocessableEntity)
		return
	}
	t.fault(r.Context(), "a word about a conversation could not be taken", err)
	t.one(w, r, m, hash, told(o))
}

// vouching reads which source is meant, as it was seen: what it has brought since
// was not.
func vouching(r *http.Request, hash string, m *member) (approval.Vouching, bool) {
	number, err := strconv.ParseInt(r.PostFormValue("source"), 10, 64)
	seen, errSeen := time.Parse(time.RFC3339Nano, r.PostFormValue("seen"))
	v := approval.Vouching{ID: m.id(), Via: Via, Conversation: hash, Source: number, Seen: seen, Take: r.PostFormValue("what") == "distrust"}
	return v, err == nil && errSeen == nil && !seen.IsZero()
}

func (t *talks) one(w http.ResponseWriter, r *http.Request, m *member, hash string, s said) {
	c, as := t.keptAs(r.Context(), hash)
	entries, err := t.reader.ofTalk(r.Context(), hash, as)
	if err != nil {
		t.o.Log.ErrorContext(r.Context(), "the page could not read the record", "err", err)
		http.Error(w, unreadable, http.StatusServiceUnavailable)
		return
	}
	if len(entries) == 0 {
		http.Error(w, "The record has nothing of such a conversation.", http.StatusNotFound)
		return
	}
	open, err := t.o.Rooms.Grants.List(r.Context(), hash)
	if err != nil {
		t.unreachable(w, r, err)
		return
	}
	v := t.recount(entries)
	v.Grants, v.Title = t.grants.grantViews(open), cmp.Or(firstRequest(t.o.Memory, session.Conversation{Client: entries[0].Client, Key: entries[0].Session}), titled(entries), v.Name)
	if as == hash {
		c = session.Conversation{Client: entries[0].Client, Key: entries[0].Session}
	} else {
		v.Hash, v.Ref, v.Hidden = hash, c.Ref(), true
	}
	t.recall(r.Context(), &v, c, r.URL.Query().Get("turn"))
	t.show(w, r, m, "talk", view{Title: v.Title, At: "talks", Said: s, Talk: v})
}

// keptAs finds the conversation behind a hash, and the hash of the name under which
// the record has it: a secret in a name is hidden there. They are the same hash
// where nothing is hidden, and where the store does not know the conversation.
func (t *talks) keptAs(ctx context.Context, hash string) (c session.Conversation, as string) {
	account, err := t.o.Rooms.Sources.Of(ctx, hash)
	if c = account.Conversation; err != nil || c.Hash() != hash {
		return c, hash
	}
	return c, session.Conversation{Client: c.Client, Key: t.o.Hide(c.Key)}.Hash()
}

// recount puts together what the record says.
func (t *talks) recount(entries []audit.Line) talkView {
	c := session.Conversation{Client: entries[0].Client, Key: entries[0].Session}
	v := talkView{Hash: c.Hash(), Ref: c.Ref(), Name: talkName(c), Client: foreign(c.Client), Cut: len(entries) == talkLatest, Chart: drawLevels(entries)}
	for i := range entries {
		e := &entries[i].Entry
		v.spoke(e)
		v.turn(e)
		t.source(&v, e)
		if e.Kind == audit.KindDecision && !e.Replay || e.Kind == audit.KindReset || e.Kind == audit.KindRevoke {
			v.Calls = append(v.Calls, newCallRow(e))
		}
	}
	if n := len(v.Calls) - talkCalls; n > 0 {
		v.Calls, v.Cut = v.Calls[n:], true
	}
	slices.Reverse(v.Calls)
	slices.Reverse(v.Turns)
	slices.Reverse(v.Sources)
	if len(v.Sources) > fewSources {
		v.Sources, v.Earlier = v.Sources[:fewSources], v.Sources[fewSources:]
	}
	return v
}

// firstRequest is what the owner first asked for in a conversation, as a title.
func firstRequest(m Memory, c session.Conversation) string {
	text := m.FirstRequest(c)
	if text == "" {
		return ""
	}
	text, _ = channels.Safe(text, channels.Form{})
	return "“" + text + "”"
}

// titled is what the first call of these entries did.
func titled(entries []audit.Line) string {
	i := slices.IndexFunc(entries, func(l audit.Line) bool { return l.Kind == audit.KindDecision })
	if i < 0 {
		return ""
	}
	return did(&entries[i].Entry).String()
}

// spoke counts who started runs.
func (v *talkView) spoke(e *audit.Entry) {
	if e.Started == "" {
		return
	}
	who := foreign(e.Started)
	i := slices.IndexFunc(v.Spoke, func(s spokeView) bool { return s.Who == who })
	if i < 0 {
		i = len(v.Spoke)
		v.Spoke = append(v.Spoke, spokeView{Who: who, First: e.At})
	}
	s := &v.Spoke[i]
	if s.Runs == 0 || s.lastRun != e.Run {
		s.Runs++
	}
	s.lastRun, s.Last = e.Run, e.At
}

// turn counts what became of calls by run.
func (v *talkView) turn(e *audit.Entry) {
	if e.Run == "" || e.Kind != audit.KindDecision && e.Kind != audit.KindAsked {
		return
	}
	i := slices.IndexFunc(v.Turns, func(t turnView) bool { return t.Run == e.Run })
	if i < 0 {
		i = len(v.Turns)
		v.Turns = append(v.Turns, turnView{Run: e.Run, Name: foreign(e.Run), At: e.At})
	}
	t := &v.Turns[i]
	switch {
	case e.Kind == audit.KindAsked:
		t.Waited++
	case e.Decision == audit.Deny:
		t.Calls++
		t.Denied++
	default:
		t.Calls++
	}
}

// source notes what a call brought in: what the record says, or what the policy
// says today of a call that did not change the level any more.
func (t *talks) source(v *talkView, e *audit.Entry) {
	switch {
	case e.RaisedTo != "" && e.Source != "":
		v.Sources = append(v.Sources, sourceView{e.At, foreign(e.Source), e.RaisedTo})
	case e.Kind == audit.KindDecision && e.Decision == audit.Allow && !e.Replay:
		plan := t.o.Policy().Plan(&toolcall.Call{Tool: e.Tool, Sent: e.Tool, Params: e.Params})
		if plan.Raise > taint.System {
			v.Sources = append(v.Sources, sourceView{e.At, foreign(plan.Source), plan.Raise.String()})
		}
	}
}

// recall adds what is remembered besides the record. It is no fault where nothing
// is.
func (t *talks) recall(ctx context.Context, v *talkView, c session.Conversation, run string) {
	if level, err := t.o.Memory.Worst(ctx, c); err == nil {
		v.Level = level.String()
	}
	if account, err := t.o.Rooms.Sources.Of(ctx, v.Hash); err == nil {
		v.Say = influences(account.Influences)
	}
	known := ""
	for i := range v.Turns {
		if v.Turns[i].Run == run {
			known, v.Turns[i].Open, v.Turn = run, true, &v.Turns[i]
		}
	}
	v.Graph = t.graph(ctx, c, known)
}

func influences(all session.Influences) (out []influenceView) {
	for i := range all {
		s := &all[i]
		out = append(out, influenceView{
			Number: s.Number, Label: foreign(cmp.Or(s.Label, "what is not known any more")), Level: s.Level.String(), Last: s.Last,
			Seen: s.Last.UTC().Format(time.RFC3339Nano), Fixed: s.Fixed, Endorsed: !s.Endorsed.IsZero(),
		})
	}
	return out
}

// graph draws a run of a conversation, or its last turn; nil if the store can't be
// reached. Another conversation, or another client's, may call a run the same: it
// is looked for by the name that it has here.
func (t *talks) graph(ctx context.Context, c session.Conversation, run string) *graphView {
	name := c.Ref()
	if run != "" {
		name = turns.ID(c, run)
	}
	g, err := t.o.Memory.Graph(ctx, name)
	switch {
	case errors.Is(err, turns.ErrUnknown):
		return &graphView{Missing: true}
	case err != nil:
		t.o.Log.WarnContext(ctx, "the page could not draw a turn", "err", err)
		return nil
	}
	out := &graphView{Turn: g.TurnID, Text: drawing.Text(g)}
	if len(g.Nodes) <= maxNodes {
		out.Picture = template.HTML(drawing.Picture(g)) //nolint:gosec // it escapes all that others chose; see its tests
	}
	return out
}

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
		line.Jobs = slices.DeleteFunc(influences(all[i].Influences), func(one influenceView) bool { return one.Endorsed })
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
		c := session.Conversation{Client: l.Client, Key: l.Session}
		fresh.named, fresh.Hash, fresh.Name, fresh.At, fresh.Level = c, c.Hash(), talkName(c), l.At, levelAfter(&l.Entry)
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

// Sizes of the chart of a conversation's level.
const (
	levelRow   = 20
	levelLeft  = 76 // where the names end
	levelWidth = 280
)

// levelChart is a line that goes down as a conversation gets less trusted, and the
// same in words.
type levelChart struct {
	Path    string
	Rows    []levelRowView
	Right   int
	Height  int
	Changes []levelChange
	From    time.Time
	To      time.Time
}

type levelRowView struct {
	Name string
	Y    int
}

// levelChange is a moment in which the level became another.
type levelChange struct {
	At           time.Time
	Level, Cause string
}

// drawLevels goes from entry to entry: each is one step to the right.
func drawLevels(entries []audit.Line) levelChart {
	c := levelChart{Right: levelLeft + levelWidth, Height: levelRow * taint.Levels}
	rank := map[string]int{}
	for i, level := range taint.All() {
		rank[level.String()] = i
		c.Rows = append(c.Rows, levelRowView{level.String(), i*levelRow + levelRow/2})
	}
	var path strings.Builder
	last := ""
	for i := range entries {
		e := &entries[i].Entry
		x := levelLeft + (i+1)*levelWidth/(len(entries)+1)
		for n, level := range []string{e.Level, e.RaisedTo} {
			at, known := rank[level]
			if !known {
				continue
			}
			y := c.Rows[at].Y
			if path.Len() == 0 {
				fmt.Fprintf(&path, "M%d %dH%d", levelLeft, y, x)
				c.From = e.At
			} else {
				fmt.Fprintf(&path, "H%dV%d", x, y)
			}
			if level != last {
				c.Changes = append(c.Changes, levelChange{e.At, level, cause(e, n == 1)})
			}
			last, c.To = level, e.At
		}
	}
	if path.Len() > 0 {
		fmt.Fprintf(&path, "H%d", c.Right)
	}
	c.Path = path.String()
	return c
}

// cause is what made the level another.
func cause(e *audit.Entry, raised bool) string {
	switch {
	case raised && e.Source != "":
		return foreign(e.Source)
	case raised:
		return foreign(e.Tool)
	case e.Started != "":
		return foreign(e.Started)
	}
	return ""
}
