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

	"github.com/go-json-experiment/json/jsontext"

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

// Over ends a turn, and says whether its graph belongs into the record.
func (t *Turns) Over(k Key, now time.Time) (id string, keep bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.at(k, now)
	delete(t.known, k)
	return n.id, n.keep
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
		i := slices.IndexFunc(first, func(f record.Source) bool { return f.Kind == s.Kind && f.Trust == s.Trust && f.Tool == s.Tool })
		if i < 0 {
			first = append(first, s)
			continue
		}
		first[i].Count++
	}
	return append(first, sources[over+1:]...)
}

// Bounds of a look for a turn.
const (
	mostEntries = 2000
	mostBytes   = 256 << 20 // of the record that are gone through without finding anything more
	afterTheEnd = 1 << 20   // the same once the turn is over
)

// Draw draws a turn from records, each the files of one in their order. It is named by its id, its run or session, the
// reference of a decision in it or, if ref is not nil, that of its conversation; of several it is the latest. Only the
// part of a record that can hold it is read, where it is named by its id; for other names the latest of a record.
func Draw(ctx context.Context, records [][]string, name string, ref func(client, session string) string) (*Graph, error) {
	id := strings.ToLower(name)
	entries, cut, err := collect(ctx, records, id)
	if err == nil && len(entries) == 0 {
		if id, err = find(ctx, records, name, ref); err == nil {
			entries, cut, err = collect(ctx, records, id)
		}
	}
	if err != nil {
		return nil, err
	}
	// Another gateway may have met the run before, and named it by that time.
	for _, e := range entries {
		if e.Turn < id {
			id = e.Turn
		}
	}
	if entries, cut, err = collect(ctx, records, id); err != nil {
		return nil, err
	}
	g := Build(id, entries)
	g.Cut = cut
	return g, nil
}

// begin is when a turn began, by its id.
func begin(id string) (time.Time, bool) {
	raw, err := hex.DecodeString(id)
	if err != nil || len(id) != idLen {
		return time.Time{}, false
	}
	seconds, err := strconv.ParseInt(id[:timeLen], 16, 64)
	return time.Unix(seconds, 0), err == nil && len(raw) > 0
}

// collect reads the entries of a turn. Those of the same run that were written under another id are of it.
func collect(ctx context.Context, records [][]string, id string) (entries []record.Entry, cut bool, err error) {
	from, ok := begin(id)
	if !ok {
		return nil, false, nil
	}
	mark := []byte(id[timeLen:] + `"`)
	for _, files := range records {
		idle, most := 0, mostBytes
		want := func(raw []byte) bool {
			idle += len(raw)
			return idle > most || bytes.Contains(raw, mark) || ctx.Err() != nil
		}
		for l, err := range record.Since(files, from, want) {
			if _, bad := errors.AsType[*record.BadLine](err); bad {
				continue
			}
			if err = errors.Join(err, ctx.Err()); err != nil {
				return nil, false, err
			}
			if idle > most {
				break
			}
			if !strings.HasSuffix(l.Turn, id[timeLen:]) || l.Turn != id && l.Run == "" || l.Part == nil {
				continue
			}
			if len(entries) == mostEntries {
				return entries, true, nil
			}
			entries = append(entries, l.Entry)
			if idle, most = 0, mostBytes; l.Part.Ends() {
				most = afterTheEnd
			}
		}
	}
	return entries, false, nil
}

// find is the id of the latest turn of a name.
func find(ctx context.Context, records [][]string, name string, ref func(client, session string) string) (string, error) {
	quoted, err := jsontext.AppendQuote(nil, name)
	if err != nil || name == "" {
		return "", ErrUnknown
	}
	upper := []byte(`"` + strings.ToUpper(name) + `"`)
	named := func(raw []byte) bool { return bytes.Contains(raw, quoted) || bytes.Contains(raw, upper) }
	is := func(e *record.Entry) bool {
		return e.Run == name || e.Session == name || strings.EqualFold(e.Ref, name)
	}
	id, err := latest(ctx, records, named, is)
	if id == "" && err == nil && ref != nil {
		id, err = latest(ctx, records, func([]byte) bool { return true }, func(e *record.Entry) bool {
			return strings.EqualFold(ref(e.Client, e.Session), name)
		})
	}
	if id == "" && err == nil {
		err = ErrUnknown
	}
	return id, err
}

// latest is the id of the latest turn of which an entry is.
func latest(ctx context.Context, records [][]string, named func(raw []byte) bool, is func(e *record.Entry) bool) (id string, err error) {
	var at time.Time
	turns := []byte(`"turn":"`)
	for _, files := range records {
		read := 0
		want := func(raw []byte) bool {
			read += len(raw)
			return read > mostBytes || ctx.Err() != nil || bytes.Contains(raw, turns) && named(raw)
		}
		for l, err := range record.Backward(files, want) {
			if err = errors.Join(err, ctx.Err()); err != nil {
				return "", err
			}
			if read > mostBytes || l.Turn != "" && is(&l.Entry) {
				if l.At.After(at) && is(&l.Entry) {
					id, at = l.Turn, l.At
				}
				break
			}
		}
	}
	return id, nil
}
