package approval

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/session"
)

// When a session has really ended, the yeses that no call has used end with it: they
// were given for what the agent was doing then. After any other end, such as a run
// that was aborted, a late yes is for the retry.

// Bounds of what is remembered of ended sessions.
const (
	mostEnded = 64
	keepEnded = 7 * 24 * time.Hour // longer than a yes counts
)

func endedList(c session.Conversation) string { return c.Hash() + ":ended" }

// noteEnd notes when a session ended, by the store's clock.
func (d *Desk) noteEnd(ctx context.Context, c session.Conversation, sessionKey, sessionID string, at time.Time) error {
	list := endedList(c)
	text := strings.Join([]string{strconv.FormatInt(at.UnixMilli(), 10), sessionID, sessionKey}, "\x00")
	entry := []byte(d.o.Key.Seal("note", list, text) + text)
	return d.o.Store.Note(ctx, session.Note{List: list, Entries: [][]byte{entry}, Most: mostEnded, Keep: keepEnded})
}

// outlivedBy reports whether the session of a call has ended since a yes was given. If
// that can't be read, it may have.
func (d *Desk) outlivedBy(ctx context.Context, a *Ask, yes Vote) bool {
	list := endedList(a.Conversation)
	entries, err := d.o.Store.Notes(ctx, list)
	if err != nil {
		d.o.Log.WarnContext(ctx, "the desk could not look up whether a session has ended, so an earlier yes does not count", "err", err)
		return true
	}
	full := len(entries) >= mostEnded // then older ends are forgotten, and this session's may be among them
	for i, e := range entries {
		if len(e) <= sealLength || !d.o.Key.Check(string(e[:sealLength]), "note", list, string(e[sealLength:])) {
			continue
		}
		at, rest, _ := strings.Cut(string(e[sealLength:]), "\x00")
		id, key, _ := strings.Cut(rest, "\x00")
		ms, _ := strconv.ParseInt(at, 10, 64) // it is under our seal
		ours := key == a.SessionKey && (id == a.SessionID || id == "" || a.SessionID == "")
		if (ours || full && i == 0) && ms >= yes.At.UnixMilli() {
			return true
		}
	}
	return false
}
