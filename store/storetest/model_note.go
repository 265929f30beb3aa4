package storetest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/openclaw-verifier/verifier/session"
)

type note struct {
	entry []byte
	until time.Time
}

// noteLists are lists of notes.
type noteLists struct {
	*clocked
	notes map[string][]note // by list
}

// Note implements verifier.Store.
func (k *noteLists) Note(_ context.Context, notes ...session.Note) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, n := range notes {
		if len(n.Entries) == 0 {
			continue
		}
		list := k.notes[n.List]
		for _, e := range n.Entries {
			list = append(list, note{bytes.Clone(e), k.Now().Add(n.Keep)})
		}
		k.notes[n.List] = list[max(0, len(list)-n.Most):]
	}
	return nil
}

// Notes implements verifier.Store.
func (k *noteLists) Notes(_ context.Context, list string) (entries [][]byte, _ error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, n := range k.notes[list] {
		if k.Now().Before(n.until) {
			entries = append(entries, n.entry)
		}
	}
	return entries, nil
}

// note compares what lists hold.
func (m *machine) note(t *rapid.T) {
	list := rapid.SampledFrom([]string{"00a", "ffb"}).Draw(t, "list")
	if rapid.Bool().Draw(t, "add") {
		n := session.Note{List: list, Most: rapid.SampledFrom([]int{1, 3}).Draw(t, "most"), Keep: drawLife(t, "keep")}
		for i := range rapid.IntRange(0, 4).Draw(t, "entries") {
			n.Entries = append(n.Entries, fmt.Appendf(nil, "entry %d %d\x00:", i, rapid.IntRange(0, 9).Draw(t, "entry")))
		}
		m.same(t, "note", nil, nil, m.Store.Note(m.ctx, n, session.Note{List: "0fc", Most: 1, Keep: n.Keep}), m.model.Note(m.ctx, n))
	}
	got, errGot := m.Store.Notes(m.ctx, list)
	want, errWant := m.model.Notes(m.ctx, list)
	m.same(t, "notes", slices.Clip(got), slices.Clip(want), errGot, errWant)
}
