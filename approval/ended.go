package approval

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/session"
)

// endings are the ends of sessions.
type endings struct {
	*cardStore

	announcer *announcer
}

// When a session has really ended, the yeses that no call has used end with it: they
// were given for what the agent was doing then. After any other end, such as a run
// that was aborted, a late yes is for the retry.

// Bounds of what is remembered of ended sessions.
const (
	mostEnded = 64
	keepEnded = 7 * 24 * time.Hour // longer than a yes counts
)

func endedList(c session.Conversation) string { return c.Hash() + ":ended" }

// outlivedBy reports whether the session of a call has ended since a yes was given. If
// that can't be read, it may have.
func (en *endings) outlivedBy(ctx context.Context, a *Ask, yes Vote) bool {
	ends, all, err := en.notes(ctx, "note", endedList(a.Conversation))
	if err != nil {
		en.o.Log.WarnContext(ctx, "the desk could not look up whether a session has ended, so an earlier yes does not count", "err", err)
		return true
	}
	full := all >= mostEnded // then older ends are forgotten, and this session's may be among them
	for i, text := range ends {
		at, rest, _ := strings.Cut(string(text), "\x00")
		id, key, _ := strings.Cut(rest, "\x00")
		ms, _ := strconv.ParseInt(at, 10, 64) // it is under our seal
		ours := key == a.SessionKey && (id == a.SessionID || id == "" || a.SessionID == "")
		if (ours || full && i == 0) && ms >= yes.At.UnixMilli() {
			return true
		}
	}
	return false
}

// Ending is the end of a session, with all that the agent did in it.
type Ending struct {
	Conversation          session.Conversation
	SessionKey, SessionID string
	At                    time.Time // by the store's clock
	Why                   string    // is shown to people
}

// leaves reports whether a question is about a call of another session.
func (e *Ending) leaves(q *Question) bool {
	return q.Ask.Conversation != e.Conversation || q.Ask.SessionKey != e.SessionKey || q.Ask.SessionID != "" && e.SessionID != "" && q.Ask.SessionID != e.SessionID
}

// Abandon takes back the open cards of a session that has ended: its run is gone, so
// no call could use a yes. Yeses from before that no call has used are over as well.
func (en *endings) Abandon(ctx context.Context, e Ending) error {
	conv := e.Conversation
	ended := strings.Join([]string{strconv.FormatInt(e.At.UnixMilli(), 10), e.SessionID, e.SessionKey}, "\x00")
	if err := en.keepNote(ctx, "note", session.Note{List: endedList(conv), Most: mostEnded, Keep: keepEnded}, ended); err != nil {
		return err
	}
	ids, err := en.o.Store.Open(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if !strings.HasPrefix(id, conv.Hash()[:2]) {
			continue
		}
		c, _, err := en.load(ctx, id)
		if errors.Is(err, ErrGone) || errors.Is(err, errForged) {
			continue
		}
		if err != nil {
			return err
		}
		if slices.ContainsFunc(c.all(), e.leaves) {
			continue
		}
		taken, err := en.announcer.withdraw(ctx, id, e.Why)
		if err != nil && !errors.Is(err, ErrGone) {
			return err
		}
		if !taken {
			continue
		}
		for _, q := range c.all() {
			entry := entryFor(record.KindAnswer, c, q)
			entry.Note = "withdrawn: " + e.Why
			en.note(ctx, entry)
		}
		en.runFor(ctx, func(ctx context.Context) { en.announcer.showCopies(ctx, c) })
	}
	return nil
}
