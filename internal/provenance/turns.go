package provenance

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/internal/record"
)

// ErrUnknown says that the record has no turn of a name.
var ErrUnknown = errors.New("provenance: the record has no turn of this name")

// Key is whose turn it is: of a run, or where runs are not named of a session.
type Key struct{ Client, Session, Run, SessionID string }

// Turns gives turns their ids: when it began, and a hash of whose it is, so that it is found in the record without an
// index. The zero Turns is ready, and safe for concurrent use. It decides nothing: another process, or this one after
// a restart, names the rest of a run anew, and [Draw] puts the two together.
type Turns struct {
	mu    sync.Mutex
	known map[Key]*turn
}

type turn struct {
	id   string
	last time.Time
	keep bool
}

const (
	mostTurns = 4096      // under way at a time
	silence   = time.Hour // after which it is another turn
	timeLen   = 8         // hex digits of an id that say when; as many say whose
)

// ID is the id of the turn that something belongs to which happens now. With keep, its graph belongs into the record.
func (t *Turns) ID(k Key, now time.Time, keep bool) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.at(&k, now)
	n.keep = n.keep || keep
	return n.id
}

// Over ends a turn, and says whether its graph belongs into the record: once. What still comes of a run is of the same
// turn; what comes of a session is of another.
func (t *Turns) Over(k Key, now time.Time) (id string, keep bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.at(&k, now)
	if keep, n.keep = n.keep, false; k.Run == "" {
		delete(t.known, k)
	}
	return n.id, keep
}

func (t *Turns) at(k *Key, now time.Time) *turn {
	if k.Run != "" {
		k.SessionID = ""
	}
	n := t.known[*k]
	if n == nil || now.Sub(n.last) > silence {
		if len(t.known) >= mostTurns {
			maps.DeleteFunc(t.known, func(_ Key, n *turn) bool { return now.Sub(n.last) > silence })
		}
		if len(t.known) >= mostTurns || t.known == nil {
			t.known = map[Key]*turn{}
		}
		whose := sha256.Sum256([]byte(strings.Join([]string{k.Client, k.Session, k.Run, k.SessionID}, "\x00")))
		n = &turn{id: fmt.Sprintf("%08x%x", uint32(now.Unix()), whose[:timeLen/2])} //nolint:gosec // until 2106
		t.known[*k] = n
	}
	n.last = now
	return n
}

// Bounds of a look for a turn.
const (
	mostEntries = 2000
	mostLines   = 50_000 // the latest of a record, in which names other than ids are looked for
)

// Draw draws a turn from records, each the files of one in their order. It is named by its id, its run or session, the
// reference of a decision in it or, by ref, that of its conversation; of several it is the latest. Of a record only the
// part is read that can hold it.
func Draw(
	ctx context.Context, records [][]string, name string, ref func(client, session string) string,
) (*Graph, error) {
	entries, err := collect(ctx, records, strings.ToLower(name))
	if err == nil && len(entries) == 0 {
		var id string
		if id, err = find(ctx, records, name, ref); err == nil {
			entries, err = collect(ctx, records, id)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case len(entries) == 0:
		return nil, ErrUnknown
	}
	// Of several gateways the first to meet the run named it.
	first := slices.MinFunc(entries, func(a, b record.Entry) int { return cmp.Compare(a.Turn, b.Turn) })
	g := Build(first.Turn, entries[:min(len(entries), mostEntries)])
	g.Cut = len(entries) > mostEntries
	return g, nil
}

// collect reads the entries of a turn, if it is the id of one. Another gateway may have met the run long before or
// after: it looks again until what is around the turn's entries is known of each record.
func collect(ctx context.Context, records [][]string, id string) (entries []record.Entry, err error) {
	seconds, notOne := strconv.ParseInt(id[:min(len(id), timeLen)], 16, 64)
	from := time.Unix(seconds, 0)
	for to := from; notOne == nil && len(id) == 2*timeLen; {
		entries = nil
		for _, files := range records {
			found, err := collectFrom(ctx, files, id, from, to)
			if err != nil {
				return nil, err
			}
			entries = append(entries, found...)
		}
		if len(entries) == 0 {
			break
		}
		slices.SortStableFunc(entries, func(a, b record.Entry) int { return a.At.Compare(b.At) })
		first, last := entries[0].At, entries[len(entries)-1].At
		if !first.Before(from) && (!last.After(to) || len(records) == 1) {
			break
		}
		from, to = first, last
	}
	return entries, nil
}

// collectFrom reads those of one record. What another gateway, or this one before a restart, named for the same run is
// of the turn.
func collectFrom(ctx context.Context, files []string, id string, from, to time.Time) (found []record.Entry, err error) {
	whose, passed := id[timeLen:], 0
	for raw, err := range record.Since(files, from.Add(-silence)) {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		if passed++; passed < 1000 && !bytes.Contains(raw.Text, []byte(whose+`"`)) {
			continue // but now and then one is read, to see the time
		}
		l, err := raw.Line()
		if err != nil {
			continue
		}
		if passed = 0; l.At.Sub(to) > silence || len(found) > mostEntries {
			break
		}
		if len(l.Parts) > 0 && (l.Turn == id || l.Run != "" && strings.HasSuffix(l.Turn, whose)) {
			found = append(found, l.Entry)
			if l.At.After(to) {
				to = l.At
			}
		}
	}
	return found, nil
}

// find is the id of the latest turn of a name, "" where there is none.
func find(
	ctx context.Context, records [][]string, name string, ref func(client, session string) string,
) (id string, err error) {
	var latest time.Time
	isOf := func(l *record.Line) bool {
		return name != "" && (l.Run == name || l.Session == name || strings.EqualFold(l.Ref, name) ||
			strings.EqualFold(ref(l.Client, l.Session), name))
	}
	for _, files := range records {
		l, err := last(ctx, files, latest, isOf)
		if err != nil {
			return "", err
		}
		if l != nil {
			id, latest = l.Turn, l.At
		}
	}
	return id, nil
}

// last is the latest line of a record that is of a turn, after a time and meant; nil: there is none.
func last(ctx context.Context, files []string, after time.Time, meant func(*record.Line) bool) (*record.Line, error) {
	lines := 0
	for raw, err := range record.Backward(files, 0) {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		if lines++; lines > mostLines {
			break
		}
		if !bytes.Contains(raw.Text, []byte(`"turn":"`)) {
			continue
		}
		switch l, err := raw.Line(); {
		case err != nil:
		case !l.At.After(after):
			return nil, nil
		case meant(&l):
			return &l, nil
		}
	}
	return nil, nil
}
