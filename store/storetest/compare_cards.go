package storetest

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/openclaw-verifier/verifier/approval"
)

func (m *machine) place(t *rapid.T) {
	c := drawConversation(t, "conversation")
	digests := []string{"d1", "d2", "d3"}
	first := rapid.IntRange(0, 2).Draw(t, "digest")
	d := draft(c, fmt.Sprint("card", len(m.cards)), digests[first])
	if d.Batch = rapid.IntRange(0, 4).Draw(t, "batch") == 0; d.Batch {
		d.Digests = digests[first:]
	}
	if len(m.cards) > 0 && rapid.Bool().Draw(t, "instead of one") {
		d.Instead = rapid.SampledFrom(m.cards).Draw(t, "instead").ID
	}
	d.MaxOpen = rapid.IntRange(1, 3).Draw(t, "max open")
	d.Live = drawLife(t, "live")
	d.CodeSeal = fmt.Sprint("seal", rapid.IntRange(0, 20).Draw(t, "code"))
	got, errGot := m.Store.Place(m.ctx, d)
	want, errWant := m.model.Place(m.ctx, d)
	m.same(t, "place", got, want, errGot, errWant)
	m.cards = append(m.cards, d)
}

func (m *machine) swap(t *rapid.T) {
	if len(m.cards) == 0 {
		t.Skip("there are no cards")
	}
	d := rapid.SampledFrom(m.cards).Draw(t, "card")
	ours := approval.Change{ID: d.ID, Conversation: d.Conversation, Blob: []byte("swapped"), Version: 1}
	if k, _, err := m.model.Load(m.ctx, d.ID); err == nil && len(k) == 1 {
		ours.Version = k[0].Version
	}
	ours.Version += int64(rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "version is off by"))
	ours.Closed = rapid.Bool().Draw(t, "closed")
	if rapid.Bool().Draw(t, "grants") {
		field := rapid.SampledFrom(grantFields).Draw(t, "field")
		lasts := rapid.SampledFrom([]int{0, 1, 2}).Draw(t, "hours")
		ours.Grants = map[string]string{field: fmt.Sprintf("%d|granted by %s", m.began.Add(time.Duration(lasts)*time.Hour).Unix(), d.ID)}
	}
	theirs := ours
	_, now, err := m.Store.Load(m.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "has a deadline") {
		in := drawSpan(t, "deadline")
		ours.NotAfter, theirs.NotAfter = now.Add(in), m.model.clock.Now().Add(in)
	}
	if rapid.Bool().Draw(t, "waiting") {
		digest, in := rapid.SampledFrom(d.Digests).Draw(t, "digest"), drawSpan(t, "waits for")
		ours.Waiting = map[string]time.Time{digest: now.Add(in)}
		theirs.Waiting = map[string]time.Time{digest: m.model.clock.Now().Add(in)}
	}
	m.same(t, "swap", nil, nil, m.Store.Swap(m.ctx, ours), m.model.Swap(m.ctx, theirs))
}

// drawSpan is some time from now, before or after.
func drawSpan(t *rapid.T, label string) time.Duration {
	return rapid.SampledFrom([]time.Duration{-time.Minute, time.Minute, 10 * time.Minute, time.Hour}).Draw(t, label)
}

// look compares all that can be read and changes nothing.
func (m *machine) look(t *rapid.T) {
	got, errGot := m.Store.Open(m.ctx)
	want, errWant := m.model.Open(m.ctx)
	slices.Sort(got) // cards of one instant have no order; the suite looks at the rest
	slices.Sort(want)
	m.same(t, "open", got, want, errGot, errWant)
	m.lookAtCards(t)

	seal := fmt.Sprint("seal", rapid.IntRange(0, 20).Draw(t, "code"))
	gotID, errGot := m.Store.Find(m.ctx, seal)
	wantID, errWant := m.model.Find(m.ctx, seal)
	m.same(t, "find", gotID, wantID, errGot, errWant)

	c := drawConversation(t, "conversation")
	gotLevel, errGot := m.Store.Worst(m.ctx, c)
	wantLevel, errWant := m.model.Worst(m.ctx, c)
	m.same(t, "worst", gotLevel, wantLevel, errGot, errWant)
}

// revoke ends grants after it has compared what there are.
func (m *machine) revoke(t *rapid.T) {
	in := rapid.SampledFrom([]string{"", conv("a").Hash(), conv("b").Hash()}).Draw(t, "in")
	got, _, errGot := m.Store.Grants(m.ctx, in, 100)
	want, _, errWant := m.model.Grants(m.ctx, in, 100)
	m.same(t, "grants", got, want, errGot, errWant)
	c := drawConversation(t, "conversation")
	fields := grantFields[:rapid.IntRange(0, 2).Draw(t, "fields")]
	ended, errGot := m.Store.Revoke(m.ctx, c.Hash(), fields...)
	model, errWant := m.model.Revoke(m.ctx, c.Hash(), fields...)
	m.same(t, "revoke", ended, model, errGot, errWant)
}

func (m *machine) lookAtCards(t *rapid.T) {
	var ids []string
	for _, d := range m.cards {
		ids = append(ids, d.ID)
	}
	got, nowGot, errGot := m.Store.Load(m.ctx, ids...)
	want, nowWant, errWant := m.model.Load(m.ctx, ids...)
	m.same(t, "load", got, want, errGot, errWant)
	m.same(t, "now", nowGot, nowWant)
	got, nowGot, errGot = m.Store.Versions(m.ctx, ids...)
	want, nowWant, errWant = m.model.Versions(m.ctx, ids...)
	m.same(t, "versions", got, want, errGot, errWant)
	m.same(t, "now", nowGot, nowWant)
}

func (m *machine) miss(t *rapid.T) {
	person := rapid.SampledFrom([]string{"eve", "bob"}).Draw(t, "person")
	window, count := drawLife(t, "window"), rapid.Bool().Draw(t, "count")
	got, errGot := m.Store.Count(m.ctx, person, window, count)
	want, errWant := m.model.Count(m.ctx, person, window, count)
	m.same(t, "miss", got, want, errGot, errWant)
}
