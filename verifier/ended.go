package verifier

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/session"
)

// A session that has really ended takes the yeses with it that no call has used: they
// were given for what the agent was doing then. After any other end, such as a run
// that was aborted, a late yes is for the retry.

// Bounds of what is remembered of ended sessions.
const (
	mostEnded = 64
	keepEnded = 7 * 24 * time.Hour // longer than a yes counts
)

func endedList(c session.Conversation) string { return c.Hash() + ":ended" }

// noteEnd notes when a session ended, by the store's clock.
func (v *Verifier) noteEnd(ctx context.Context, h *hearing) error {
	now, x := h.heard.Now, &h.call.Context
	if now.IsZero() {
		now = time.Now()
	}
	text := strings.Join([]string{strconv.FormatInt(now.UnixMilli(), 10), x.SessionID, x.SessionKey}, "\x00")
	return v.o.Store.Note(ctx, v.seals(endedList(h.conv), mostEnded, keepEnded, []byte(text)))
}

// endedAt is when the session of a call ended last. It is zero if it did not. If that
// can't be read, it may have ended just now: then an earlier yes does not count.
func (v *Verifier) endedAt(ctx context.Context, t *trace) (last time.Time) {
	entries, err := v.notes(ctx, endedList(t.conv))
	if err != nil {
		v.o.Log.WarnContext(ctx, "it could not be looked up whether the session has ended", "request", v.named(t.call), "err", err)
		return t.now()
	}
	x := &t.call.Context
	full := len(entries) >= mostEnded // then older ends are forgotten, and this session's may be among them
	for i, e := range entries {
		at, rest, _ := strings.Cut(string(e), "\x00")
		id, key, _ := strings.Cut(rest, "\x00")
		ms, _ := strconv.ParseInt(at, 10, 64) // it is under our seal
		ours := key == x.SessionKey && (id == x.SessionID || id == "" || x.SessionID == "")
		if end := time.UnixMilli(ms); (ours || full && i == 0) && end.After(last) {
			last = end
		}
	}
	return last
}
