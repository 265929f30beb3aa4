package verifier

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/recent"
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
// What was heard is in the store, in the order in which it was heard, for all
// instances alike: see [session.Renewals]. This is what was read of it. An instance
// that has the store to itself ([Options.Alone]) need not read it twice. Others read
// it at the first call of a run, and at each call that names no run.
type fresh struct {
	o        *Options
	mu       sync.Mutex
	renewals recent.Map[session.Conversation, *renewal]
}

// renewal is what was read of one conversation.
type renewal struct {
	*session.Renewals     // nil: nothing was
	writes            int // how often this instance has added to it

	runs  map[[2]string]string // runs and their session ids, and under which they count for good
	order [][2]string          // oldest first
}

const (
	freshSize    = 20_000              // conversations
	mostFreshRun = 200                 // of one
	keepFresh    = 60 * 24 * time.Hour // longer than a conversation that nothing comes into
)

// find is what is known of a conversation. The lock is held.
func (f *fresh) find(c session.Conversation) *renewal {
	r, known := f.renewals.Get(c)
	if !known {
		r = &renewal{runs: map[[2]string]string{}}
	}
	f.renewals.Put(c, r, freshSize)
	return r
}

// known is what was read last, when it was changed last, and under which session id a
// run counts for good.
func (f *fresh) known(of session.Conversation, run, id string) (read *session.Renewals, writes int, name string, stays bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.find(of)
	name, stays = r.runs[[2]string{run, id}]
	return r.Renewals, r.writes, name, stays
}

// changes says that the store is about to know more.
func (f *fresh) changes(of session.Conversation) (writes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.find(of)
	r.writes++
	r.Renewals = nil
	return r.writes
}

// changed keeps what was read after a change, unless there was another one since, and
// met what was read without one, unless more is known by now.
func (f *fresh) changed(of session.Conversation, read *session.Renewals, writes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.find(of); r.writes == writes {
		r.Renewals = read
	}
}

func (f *fresh) met(of session.Conversation, read *session.Renewals, writes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.find(of); r.writes == writes && r.Renewals == nil {
		r.Renewals = read
	}
}

// stays keeps under which session id a run counts for good.
func (f *fresh) stays(of session.Conversation, run, id, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, key := f.find(of), [2]string{run, id}
	if _, known := r.runs[key]; known {
		return
	}
	if len(r.order) >= mostFreshRun {
		delete(r.runs, r.order[0])
		r.order = r.order[1:]
	}
	r.runs[key], r.order = name, append(r.order, key)
}

func conversationOf(c *toolcall.Call) session.Conversation {
	return session.Conversation{Client: c.Client, Key: c.Context.SessionKey}
}

// renewable reports whether the owner could start the conversation anew: it is one
// with a person.
func renewable(c *toolcall.Call) bool {
	x := &c.Context
	return x.SessionKey != "" && x.SpawnedBy == "" && !session.IsGroup(x.SessionKey) && !session.IsSubagent(x.SessionKey) && session.JobOf(x.SessionKey) == ""
}

// place gives a call, or an event of a run, the session id that counts.
func (f *fresh) place(ctx context.Context, c *toolcall.Call) {
	x := &c.Context
	if x.SessionID == "" || !renewable(c) {
		return
	}
	of := conversationOf(c)
	read, writes, name, known := f.known(of, x.RunID, x.SessionID)
	if known {
		x.SessionID = name
		return
	}
	if read == nil || !f.o.Alone {
		first, cancel := context.WithTimeout(ctx, f.o.StoreWait*3/8) // a call that can't be placed in time is decided all the same, within half a second
		read = f.read(first, of)
		if cancel(); read == nil {
			x.SessionID = "" // the worst of all counts until it can be read
			return
		}
		f.met(of, read, writes)
	}
	name, stays := read.Of(x.RunID, x.SessionID)
	if stays {
		f.stays(of, x.RunID, x.SessionID, name)
	}
	x.SessionID = name
}

// read reads what the store knows of a conversation. It is nil if that can't be
// read.
func (f *fresh) read(ctx context.Context, of session.Conversation) *session.Renewals {
	ctx, cancel := context.WithTimeout(ctx, f.o.StoreWait)
	defer cancel()
	entries, err := session.ReadNotes(ctx, f.o.Store, f.o.Key, session.RenewedList(of))
	if err != nil {
		return nil
	}
	read, err := session.ReadRenewals(entries)
	if err != nil {
		f.o.Log.ErrorContext(ctx, "what is kept of a conversation's new beginnings can't be read, so the worst of its levels counts", "err", err)
		return nil
	}
	return read
}

// note adds to what the store knows of a conversation, and reads it again: the
// order in which several instances have added decides.
func (f *fresh) note(ctx context.Context, of session.Conversation, t *session.Turn) *session.Renewals {
	writes := f.changes(of)
	text, err := json.Marshal(t)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.o.StoreWait)
		defer cancel()
		err = f.o.Store.Note(ctx, session.SealNote(f.o.Key, session.RenewedList(of), session.MostRenewals, keepFresh, text))
	}
	if err != nil {
		f.o.Log.WarnContext(ctx, "what was heard of a new beginning could not be kept, so the conversation keeps its level", "err", err)
		return nil
	}
	read := f.read(context.WithoutCancel(ctx), of)
	f.changed(of, read, writes)
	return read
}

// beginning is a run on its way in.
type beginning struct {
	of   session.Conversation
	turn session.Turn
	anew bool // it is the first after the owner's /new
}

// hear takes in what an event tells of new beginnings, before anything else is
// made of it. It lowers nothing yet: see [fresh.began].
func (f *fresh) hear(ctx context.Context, h *eventEvaluation) {
	x, of := &h.call.Context, conversationOf(h.call)
	if !renewable(h.call) {
		return
	}
	switch h.event.Name {
	case loop.ResetRequested:
		read, who := f.read(ctx, of), sender(x)
		if read != nil && who != "" && slices.Contains(read.Owners, who) && !x.OddKeys() {
			f.note(ctx, of, &session.Turn{What: session.TurnAsked, Moment: time.Now().UTC(), Who: who})
		}
	case loop.SessionEnd:
		x.SessionID = f.end(ctx, h)
	case loop.ContextAssembled:
		if read := f.read(ctx, of); read != nil && x.RunID != "" && x.SessionID != "" {
			_, _, _, acted := f.known(of, x.RunID, x.SessionID)
			h.beginning = propose(h, read, !acted && empty(h.event))
			if h.beginning.turn.What != "" {
				read = read.With(&h.beginning.turn)
			}
			x.SessionID, _ = read.Of(x.RunID, x.SessionID)
		} else {
			f.place(ctx, h.call)
		}
	default:
		f.place(ctx, h.call)
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

// end notes that a session ended, where the owner may have asked for it. It gives
// the id under which the session's state counts.
func (f *fresh) end(ctx context.Context, h *eventEvaluation) string {
	of, id, e := conversationOf(h.call), h.call.Context.SessionID, h.event
	read := f.read(ctx, of)
	if read == nil {
		return ""
	}
	if read.Awaits() {
		same := id != "" && e.NextSessionID == id && (e.NextSessionKey == "" || e.NextSessionKey == of.Key)
		afresh := same && (e.Reason == "new" || e.Reason == "reset")
		f.note(ctx, of, &session.Turn{What: session.TurnEnded, Moment: time.Now().UTC(), ID: id, Afresh: afresh})
	}
	return read.Current(id)
}

// propose says what is to be noted of a run that begins, and whether it would be the
// first of a new beginning.
func propose(h *eventEvaluation, read *session.Renewals, empty bool) beginning {
	x := &h.call.Context
	b := beginning{of: conversationOf(h.call), turn: session.Turn{
		What: session.TurnBegan, Moment: time.Now().UTC(), ID: x.SessionID, Run: x.RunID,
		Afresh: empty, Owners: read.Owners, Renewed: read.Last,
	}}
	if who := sender(x); who != "" && session.Classify(h.call, taint.Untrusted).Level == taint.Owner && ownersWords(h.event) {
		b.turn.Who = who
	}
	b.anew = read.With(&b.turn).Last.Count > read.Last.Count
	b.turn.Afresh = b.anew
	if len(read.Owners) == 0 && b.turn.Who == "" {
		return beginning{} // no owner is known whose /new could count
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

// began notes that a run began, once what is new about that is in the record. A run
// that can't be noted counts without a session id as soon as there was a new beginning.
func (f *fresh) began(ctx context.Context, b *beginning) {
	if b.turn.What == "" {
		return
	}
	if read := f.note(ctx, b.of, &b.turn); read != nil {
		if name, stays := read.Of(b.turn.Run, b.turn.ID); stays {
			f.stays(b.of, b.turn.Run, b.turn.ID, name)
		}
	}
}
