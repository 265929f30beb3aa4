package provenance

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
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
	timeLen   = 8         // hex digits of an id that say when
	idLen     = 16
)

// ID is the id of the turn that something belongs to which happens now.
func (t *Turns) ID(k Key, now time.Time) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.at(k, now).id
}

// Keep says that the turn's graph belongs into the record.
func (t *Turns) Keep(k Key, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at(k, now).keep = true
}

// Over ends a turn, and says whether its graph belongs into the record: once. What still comes of a run is of the same
// turn; what comes of a session is of another.
func (t *Turns) Over(k Key, now time.Time) (id string, keep bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.at(k, now)
	id, keep, n.keep = n.id, n.keep, false
	if k.Run == "" {
		delete(t.known, k)
	}
	return id, keep
}

func (t *Turns) at(k Key, now time.Time) *turn {
	if k.Run != "" {
		k.SessionID = ""
	}
	n := t.known[k]
	if n == nil || now.Sub(n.last) > silence {
		if len(t.known) >= mostTurns || t.known == nil {
			t.known = map[Key]*turn{}
		}
		sum := sha256.Sum256([]byte(k.Client + "\x00" + k.Session + "\x00" + k.Run + "\x00" + k.SessionID))
		seconds := strconv.FormatInt(1<<32+now.Unix(), 16)
		n = &turn{id: seconds[len(seconds)-timeLen:] + hex.EncodeToString(sum[:])[:idLen-timeLen]}
		t.known[k] = n
	}
	n.last = now
	return n
}

// mostSources is how many sources of a context an entry holds.
const mostSources = 64

// Fewer puts sources of one sort, worth and tool together, the first ones first, until there are few enough.
func Fewer(sources []record.Source) []record.Source {
	over := len(sources) - mostSources
	if over <= 0 {
		return sources
	}
	var first []record.Source
	for _, s := range sources[:over+1] {
		s.Hash, s.Size, s.Count = "", 0, 1
		alike := func(f record.Source) bool { return f.Kind == s.Kind && f.Trust == s.Trust && f.Tool == s.Tool }
		if i := slices.IndexFunc(first, alike); i >= 0 {
			first[i].Count++
		} else {
			first = append(first, s)
		}
	}
	return append(first, sources[over+1:]...)
}

// Bounds of a look for a turn.
const (
	mostEntries = 2000
	idleBytes   = 256 << 20 // of a record that are gone through without finding anything more of the turn
	endedBytes  = 1 << 20   // the same once the turn is over
	namedBytes  = 64 << 20  // the latest of a record, in which names other than ids are looked for
)

// Draw draws a turn from records, each the files of one in their order. It is named by its id, its run or session, the
// reference of a decision in it or, by ref, that of its conversation; of several it is the latest. Of a record only the
// part is read that can hold it.
func Draw(
	ctx context.Context, records [][]string, name string, ref func(client, session string) string,
) (*Graph, error) {
	id := strings.ToLower(name)
	entries, cut, err := collect(ctx, records, id)
	if err == nil && len(entries) == 0 {
		if id, err = find(ctx, records, name, ref); err == nil {
			entries, cut, err = collect(ctx, records, id)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case len(entries) == 0:
		return nil, ErrUnknown
	}
	for _, e := range entries { // of several gateways the first to meet the run named it
		id = min(id, e.Turn)
	}
	g := Build(id, entries)
	g.Cut = cut
	return g, nil
}

// earlier is by how much another gateway, or this one before a restart, may have met a run before.
const earlier = time.Hour

// collect reads the entries of a turn. Those of the same run that another gateway named are of it.
//
//nolint:gocognit // one look at each line
func collect(ctx context.Context, records [][]string, id string) (entries []record.Entry, cut bool, err error) {
	seconds, err := strconv.ParseInt(id[:min(len(id), timeLen)], 16, 64)
	if err != nil || len(id) != idLen {
		return nil, false, nil // no id
	}
	began, own := time.Unix(seconds, 0), []byte(id[timeLen:]+`"`)
	for _, files := range records {
		idle, most := 0, idleBytes
		want := func(raw []byte) bool {
			idle += len(raw)
			return idle > most || bytes.Contains(raw, own) || ctx.Err() != nil
		}
		for l, err := range record.Since(files, began.Add(-earlier), want) {
			if err := skipBad(ctx, err); err != nil {
				return nil, false, err
			}
			if idle > most && l.At.Before(began) {
				idle = 0
			}
			if idle > most || len(entries) == mostEntries {
				cut = cut || len(entries) == mostEntries
				break
			}
			if l.Part == nil || l.Turn != id && (l.Run == "" || !strings.HasSuffix(l.Turn, id[timeLen:])) {
				continue
			}
			entries = append(entries, l.Entry)
			if idle, most = 0, idleBytes; ends(l.Part) {
				most = endedBytes
			}
		}
	}
	return entries, cut, nil
}

// skipBad is the error that ends a look; a line that can't be read does not.
func skipBad(ctx context.Context, err error) error {
	if _, bad := errors.AsType[*record.BadLine](err); bad {
		err = nil
	}
	return errors.Join(err, ctx.Err())
}

// find is the id of the latest turn of a name, "" where there is none.
func find(
	ctx context.Context, records [][]string, name string, ref func(client, session string) string,
) (id string, err error) {
	var latest time.Time
	turns := []byte(`"turn":"`)
	for _, files := range records {
		read := 0
		want := func(raw []byte) bool {
			read += len(raw)
			return read > namedBytes || bytes.Contains(raw, turns) || ctx.Err() != nil
		}
		for l, err := range record.Backward(files, want) {
			if err := skipBad(ctx, err); err != nil {
				return "", err
			}
			if read > namedBytes || !l.At.After(latest) {
				break
			}
			if l.Turn != "" && name != "" && (l.Run == name || l.Session == name || strings.EqualFold(l.Ref, name) ||
				strings.EqualFold(ref(l.Client, l.Session), name)) {
				id, latest = l.Turn, l.At
				break
			}
		}
	}
	return id, nil
}

// ends reports whether the turn is over by what the part tells.
func ends(p *record.Part) bool {
	return p.What == record.PartEnded || slices.ContainsFunc(p.More, func(m record.Part) bool { return m.What == record.PartEnded })
}
