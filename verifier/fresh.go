package verifier

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// The owner starts a conversation anew with a typed /new or /reset. OpenClaw empties the context then and keeps the
// session id, so that the id alone can't say that nothing is left of what was read.
//
// Four things must come together: a run of the conversation has shown who the owner is, a message of that person asks
// for it, the session ends for that reason within a minute, and the next run begins with an empty context. Runs that
// begin from then on count under a session id of their own. Those of before keep the old one; one whose beginning was
// not heard of counts without a session id: it sees the worst, and all see what it reads.

const (
	askedFor   = time.Minute // from the owner's message to the end of the session
	mostOwners = 8
	mostRuns   = 200 // whose beginning is known

	renewedNote = "The owner started the conversation anew with /new or /reset: what was read before counts for " +
		"earlier runs only."
)

// isRenewable reports whether the owner could start the conversation anew: it is one with a person.
func isRenewable(c *protocol.Call) bool {
	x := &c.Context
	return x.SessionKey != "" && x.SpawnedBy == "" && !policy.IsGroup(x.SessionKey) &&
		!policy.IsSubagent(x.SessionKey) && policy.JobOf(x.SessionKey) == ""
}

// countsAs is the session id under which a run counts.
func countsAs(f *store.Fresh, c *protocol.Call) string {
	id := c.Context.SessionID
	if id == "" || f.Count == 0 && f.Ended.IsZero() || !isRenewable(c) {
		return id
	}
	if began, known := f.Runs[c.Context.RunID]; known {
		return renewed(id, began)
	}
	return ""
}

const renewedMark = " #"

// renewed is the session id for runs that began when the conversation had begun anew so many times.
func renewed(id string, count int) string {
	if count == 0 {
		return id
	}
	return id + renewedMark + strconv.Itoa(count)
}

// sender names who wrote, where the platform's ids can be relied on: where an agent writes with the owner's own
// account, they can't.
func sender(x *protocol.Context) string {
	platform := strings.ToLower(x.MessageProvider)
	if x.SenderID == "" || x.GroupID != "" || x.OddKeys() ||
		!slices.Contains([]string{"telegram", "discord", "slack"}, platform) {
		return ""
	}
	return platform + ":" + x.SenderID
}

// renews takes in what an event tells of new beginnings. It reports whether a run is the first of one.
func renews(t *store.Tx, e *protocol.Event, strict bool) (anew bool) {
	f, x := &t.C.Fresh, &e.Call.Context
	if t.C.Key != x.SessionKey || !isRenewable(&e.Call) || strict {
		return false
	}
	switch e.Name { //nolint:exhaustive // the others tell nothing of it
	case protocol.ResetRequested:
		if slices.Contains(f.Owners, sender(x)) {
			t.C.Changed()
			f.Asked = t.Now
		}
	case protocol.SessionEnd:
		if f.Asked.IsZero() && f.Ended.IsZero() {
			return false
		}
		t.C.Changed()
		same := e.NextSessionID == x.SessionID && x.SessionID != "" &&
			cmp.Or(e.NextSessionKey, x.SessionKey) == x.SessionKey
		soon := t.Now.Sub(f.Asked) <= askedFor
		f.Asked, f.Ended, f.Session = time.Time{}, time.Time{}, ""
		if soon && same && (e.Reason == "new" || e.Reason == "reset") {
			f.Ended, f.Session = t.Now, x.SessionID
		}
	case protocol.ContextAssembled:
		return begins(t, e)
	}
	return false
}

// begins takes in that a run begins. The context held nothing before the message that started it if that is all that
// there is, and OpenClaw counts it as the first.
func begins(t *store.Tx, e *protocol.Event) (anew bool) {
	f, x, who := &t.C.Fresh, &e.Call.Context, ""
	foreign := func(s protocol.Source) bool { return !s.ByUser() }
	if len(e.Sources) > 0 && !slices.ContainsFunc(e.Sources, foreign) &&
		policy.Classify(&e.Call, taint.Untrusted).Level == taint.Owner {
		who = sender(x)
	}
	_, begun := f.Runs[x.RunID]
	if x.RunID == "" || x.SessionID == "" || begun || len(f.Owners) == 0 && who == "" { // no /new could count
		return false
	}
	t.C.Changed()
	if who != "" && !slices.Contains(f.Owners, who) {
		f.Owners = append(f.Owners[max(0, len(f.Owners)-mostOwners+1):], who)
	}
	isEmpty := len(e.Sources) == 1 && e.Sources[0].Kind == protocol.KindUserMessage && e.Sources[0].Index != nil &&
		*e.Sources[0].Index == 1
	if anew = isEmpty && !f.Ended.IsZero() && f.Session == x.SessionID; anew {
		f.Count++
		t.C.EndGrants(func(*store.Grant) bool { return true })
	}
	f.Ended, f.Session = time.Time{}, ""
	if len(f.Runs) >= mostRuns || f.Runs == nil {
		f.Runs = map[string]int{} // those of before count without a session id from now on
	}
	f.Runs[x.RunID] = f.Count
	return anew
}
