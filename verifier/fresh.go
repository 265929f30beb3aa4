package verifier

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// fresh knows which conversations the owner has started anew with a typed /new or
// /reset. OpenClaw empties the context then and keeps the session id, so that the
// id alone can't say that nothing is left of what was read.
//
// Four things must come together: runs of the conversation have shown who the
// owner is, a message of that person asks for it, the session ends for that reason
// soon after, and the next run begins with an empty context. From then on, runs
// that begin in the conversation have a session id of their own. A run that was
// there before keeps the old one and its level. A run whose beginning was not heard
// of counts without a session id: it sees the worst, and all see what it reads.
//
// All of it rests on one process hearing everything. Where several share a store
// ([Options.Alone]), /new changes no level.
type fresh struct {
	mu     sync.Mutex
	recent map[session.Conversation]*renewal
	old    map[session.Conversation]*renewal
}

// renewal is what is known of one conversation.
type renewal struct {
	loaded bool      // what the store knows of it was read; else any of its runs may be an old one
	owners []string  // who the owner is there, platform:id
	asked  time.Time // when the owner's message came; zero: none came, or a session has ended since
	ended  string    // the session that ended at the owner's word; empty: none waits for its next run

	session.Renewed                // the last time that it began anew
	runs            map[string]int // which count each run began under
	order           []string       // of the runs, oldest first
}

const (
	freshSize    = 20_000          // conversations
	mostOwners   = 8               // of one
	mostFreshRun = 200             // of one
	askedFor     = 1 * time.Minute // from the owner's message to the end of the session
	keepFresh    = 30 * 24 * time.Hour
)

// find is what is known of a conversation. The lock is held.
func (f *fresh) find(c session.Conversation) *renewal {
	if r := f.recent[c]; r != nil {
		return r
	}
	r := f.old[c]
	if r == nil {
		r = &renewal{runs: map[string]int{}}
	}
	if f.recent == nil || len(f.recent) >= freshSize {
		f.old, f.recent = f.recent, make(map[session.Conversation]*renewal)
	}
	f.recent[c.Clone()] = r
	return r
}

// note keeps under which count a run began.
func (r *renewal) note(run string, count int) {
	if _, known := r.runs[run]; known {
		return
	}
	if len(r.order) >= mostFreshRun {
		delete(r.runs, r.order[0])
		r.order = r.order[1:]
	}
	run = strings.Clone(run)
	r.runs[run], r.order = count, append(r.order, run)
}

func conversationOf(c *toolcall.Call) session.Conversation {
	return session.Conversation{Client: c.Client, Key: c.Context.SessionKey}
}

// place gives a call, or an event of a run, the session id that counts.
func (v *Verifier) place(ctx context.Context, c *toolcall.Call) {
	if !v.o.Alone || c.Context.SessionKey == "" || c.Context.SessionID == "" {
		return
	}
	v.loadFresh(ctx, conversationOf(c))
	c.Context.SessionID = v.fresh.sessionOf(c)
}

func (f *fresh) sessionOf(c *toolcall.Call) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, id := f.find(conversationOf(c)), c.Context.SessionID
	switch count, known := r.runs[c.Context.RunID]; {
	case !r.loaded:
		return ""
	case r.Count == 0 || r.Session != id:
		return id
	case known:
		return session.RenewedName(id, count)
	}
	return ""
}

// beginning is a run on its way in.
type beginning struct {
	of    session.Conversation
	run   string
	id    string // the session, by the runtime's own id
	count int
	anew  bool // it is the first after the owner's /new
}

// hearFresh takes in what an event tells of new beginnings, before anything else is
// made of it. It lowers nothing yet: see began.
func (v *Verifier) hearFresh(ctx context.Context, h *hearing) {
	x := &h.call.Context
	if !v.o.Alone || x.SessionKey == "" || x.SpawnedBy != "" {
		return
	}
	switch h.event.Name {
	case loop.ResetRequested:
		v.fresh.ask(h.call, time.Now())
	case loop.SessionEnd:
		v.loadFresh(ctx, conversationOf(h.call))
		x.SessionID = v.fresh.end(h.call, h.event, time.Now())
	case loop.ContextAssembled:
		v.loadFresh(ctx, conversationOf(h.call))
		h.beginning = v.fresh.begin(h.call, h.event, h.rules.Strict())
		if h.beginning.count > 0 {
			x.SessionID = session.RenewedName(x.SessionID, h.beginning.count)
		} else {
			x.SessionID = v.fresh.sessionOf(h.call)
		}
	default:
		v.place(ctx, h.call)
	}
}

// sender names who wrote, where the platform's ids can be relied on: where an agent
// writes with the owner's own account, they can't.
func sender(x *toolcall.Context) string {
	platform := strings.ToLower(x.MessageProvider)
	if x.SenderID == "" || x.GroupID != "" || session.IsGroup(x.SessionKey) || !slices.Contains([]string{"telegram", "discord", "slack"}, platform) {
		return ""
	}
	return platform + ":" + x.SenderID
}

// ask notes that the owner's own message asks for a new beginning.
func (f *fresh) ask(c *toolcall.Call, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.find(conversationOf(c))
	if who := sender(&c.Context); who != "" && slices.Contains(r.owners, who) && !c.Context.OddKeys() {
		r.asked = now
	}
}

// end notes that a session ended at the owner's word. It gives the id under which
// the session's state counts.
func (f *fresh) end(c *toolcall.Call, e *loop.Event, now time.Time) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, id := f.find(conversationOf(c)), c.Context.SessionID
	asked := !r.asked.IsZero() && now.Sub(r.asked) <= askedFor
	same := id != "" && e.NextSessionID == id && (e.NextSessionKey == "" || e.NextSessionKey == c.Context.SessionKey)
	r.asked, r.ended = time.Time{}, ""
	if asked && same && (e.Reason == "new" || e.Reason == "reset") {
		r.ended = strings.Clone(id)
	}
	switch {
	case !r.loaded:
		return ""
	case r.Session == id:
		return session.RenewedName(id, r.Count)
	}
	return id
}

// begin says under which count a run begins, and learns from it who the owner is. A
// new count is only proposed.
func (f *fresh) begin(c *toolcall.Call, e *loop.Event, strict bool) beginning {
	f.mu.Lock()
	defer f.mu.Unlock()
	x := &c.Context
	r, b := f.find(conversationOf(c)), beginning{of: conversationOf(c), run: x.RunID, id: x.SessionID}
	if b.run == "" || b.id == "" || !r.loaded {
		return b
	}
	if who := sender(x); who != "" && session.Classify(c, taint.Untrusted).Level == taint.Owner && ownersWords(e) && !slices.Contains(r.owners, who) {
		r.owners = append(r.owners[max(0, len(r.owners)-mostOwners+1):], strings.Clone(who))
	}
	count, known := r.runs[b.run]
	switch {
	case known:
		b.count = count
	case r.ended == "":
		if r.Session == b.id {
			b.count = r.Count
		}
		r.note(b.run, b.count)
	case r.ended == b.id && empty(e) && !strict:
		b.count, b.anew = r.Count+1, true
	default: // something is left of what was read
		r.ended = ""
		if r.Session == b.id {
			b.count = r.Count
		}
		r.note(b.run, b.count)
	}
	return b
}

// ownersWords reports whether what the run was started with is the owner's own.
func ownersWords(e *loop.Event) bool {
	return len(e.Sources) > 0 && !slices.ContainsFunc(e.Sources, func(s loop.Source) bool { return !s.ByUser() })
}

// empty reports whether the context held nothing before the message that started
// the run: OpenClaw counts what it says about that message, and nothing else.
func empty(e *loop.Event) bool {
	return len(e.Sources) == 1 && e.Sources[0].Kind == loop.UserMessage && e.Sources[0].Index != nil && *e.Sources[0].Index == 1
}

// renewedNote is what the record says of a new beginning.
const renewedNote = "The owner started the conversation anew with /new or /reset: what was read before counts for earlier runs only."

// began puts a new beginning in force, once it is in the record. A run that comes
// later has the store know for longer.
func (v *Verifier) began(ctx context.Context, b beginning) {
	f := &v.fresh
	f.mu.Lock()
	r := f.find(b.of)
	if !b.anew {
		last := r.Renewed
		f.mu.Unlock()
		if b.count > 0 && b.count == last.Count {
			v.keepFresh(ctx, b.of, last)
		}
		return
	}
	if r.ended != b.id || r.Count+1 != b.count { // another run was faster, or the session has ended again
		f.mu.Unlock()
		return
	}
	f.mu.Unlock()
	next := session.Renewed{Session: strings.Clone(b.id), Count: b.count, At: time.Now().UTC()}
	if !v.keepFresh(ctx, b.of, next) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.ended == b.id && r.Count+1 == b.count {
		r.ended, r.Renewed = "", next
		r.note(b.run, b.count)
	}
}

// keepFresh lets the store know. What it does not know does not count: after a
// restart the runs since then would have the level of those before.
func (v *Verifier) keepFresh(ctx context.Context, of session.Conversation, r session.Renewed) bool {
	text, err := json.Marshal(r)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeBudget)
		defer cancel()
		err = v.o.Store.Note(ctx, v.seals(session.RenewedList(of), 1, keepFresh, text))
	}
	if err != nil {
		v.o.Log.WarnContext(ctx, "a new beginning could not be kept, so the conversation keeps its level", "err", err)
	}
	return err == nil
}

// loadFresh reads what the store knows of a conversation, once.
func (v *Verifier) loadFresh(ctx context.Context, c session.Conversation) {
	v.fresh.mu.Lock()
	loaded := v.fresh.find(c).loaded
	v.fresh.mu.Unlock()
	if loaded {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, storeBudget)
	defer cancel()
	entries, err := v.notes(ctx, session.RenewedList(c))
	if err != nil {
		return // the old level counts until it can be read
	}
	v.fresh.mu.Lock()
	defer v.fresh.mu.Unlock()
	r := v.fresh.find(c)
	for _, e := range entries {
		var kept session.Renewed
		if json.Unmarshal(e, &kept) == nil && kept.Count > r.Count {
			r.Renewed = kept
		}
	}
	r.loaded = true
}
