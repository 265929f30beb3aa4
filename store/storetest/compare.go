package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// Compare drives a store and the model with the same random histories, and
// compares every answer. It opens one store for each history. Times are
// compared, to the millisecond, only where the clock is not real.
func Compare(t *testing.T, open func(t *testing.T) Harness) {
	t.Helper()
	rapid.Check(t, func(rt *rapid.T) {
		m := newMachine(t.Context(), rt, open(t))
		rt.Repeat(map[string]func(*rapid.T){
			"admit":      m.admit,
			"admit more": m.admit, // most of what happens is calls
			"settle":     m.settle,
			"deny":       m.deny,
			"hear":       m.hear,
			"place":      m.place,
			"swap":       m.swap,
			"look":       m.look,
			"miss":       m.miss,
			"lease":      m.lease,
			"note":       m.note,
			"reset":      m.reset,
			"revoke":     m.revoke,
			"drop":       m.drop,
			"link":       m.link,
			"raise":      m.raise,
			"expose":     m.expose,
			"automation": m.automation,
			"pause":      m.pause,
			"spend":      m.spend,
			"advance":    m.advance,
			"forget":     m.forget,
			"flush":      m.flush,
		})
	})
}

// machine holds the two stores and what the history has named so far.
type machine struct {
	Harness
	ctx   context.Context
	model *reference
	began time.Time

	admitted []admitted
	cards    []approval.Draft
	pauses   map[string]string // what the process thinks is there
	// The last generation that each of the two reported, by conversation: on a
	// real clock they are not the same number.
	generations map[session.Conversation][2]int64
}

// admitted is a call and the version that each of the two answered with.
type admitted struct {
	session.Admission
	version int64
}

func newMachine(ctx context.Context, t *rapid.T, h Harness) *machine {
	_, now, err := h.Store.Load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return &machine{Harness: h, ctx: ctx, model: newReference(now), began: now, pauses: map[string]string{}, generations: map[session.Conversation][2]int64{}}
}

// same compares two answers. Errors are compared by what they are, not by what
// they say.
func (m *machine) same(t *rapid.T, what string, got, want any, errs ...error) {
	t.Helper()
	if len(errs) == 2 && !errors.Is(errs[0], errs[1]) {
		t.Fatalf("%s: the store's error is %v, the model's %v", what, errs[0], errs[1])
	}
	opts := cmp.Options{cmpopts.EquateEmpty(), cmp.Comparer(func(a, b time.Time) bool {
		return m.Real || a.IsZero() == b.IsZero() && a.UnixMilli() == b.UnixMilli()
	})}
	if m.Real {
		opts = append(opts, cmpopts.IgnoreFields(session.View{}, "Generation"), cmpopts.IgnoreFields(session.Heard{}, "Generation"))
	}
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Fatalf("%s: the model (-) and the store (+) differ:\n%s", what, diff)
	}
}

func (m *machine) admit(t *rapid.T) {
	a := drawAdmission(t)
	if len(m.admitted) > 0 && rapid.IntRange(0, 4).Draw(t, "resend") == 0 {
		old := rapid.SampledFrom(m.admitted).Draw(t, "of").Admission
		a.Conversation, a.RequestID, a.Body = old.Conversation, old.RequestID, old.Body
	}
	ours, theirs := a, a
	if rapid.Bool().Draw(t, "floor knows the generation") {
		g := m.generations[a.Conversation]
		ours.Floor.Generation, theirs.Floor.Generation = g[0], g[1]
	}
	ours.Pauses = m.drawPauses(t)
	theirs.Pauses = ours.Pauses
	got, errGot := m.Store.Admit(m.ctx, ours)
	want, errWant := m.model.Admit(m.ctx, theirs)
	m.same(t, "admit", got, want, errGot, errWant)
	if want.Entry == session.PauseChanged {
		return
	}
	if want.Entry != session.Conflict && want.Entry != session.Moved && !want.Lost {
		m.generations[a.Conversation] = [2]int64{got.Generation, want.Generation}
	}
	m.admitted = append(m.admitted, admitted{Admission: a, version: want.Version})
}

func (m *machine) settle(t *rapid.T) {
	if len(m.admitted) == 0 {
		t.Skip("nothing was admitted")
	}
	a := rapid.SampledFrom(m.admitted).Draw(t, "call")
	s := settling(a.Admission, session.View{Version: a.version})
	s.Raise, s.Keep = drawLevel(t, "raise"), drawLife(t, "keep")
	s.Secret = rapid.SampledFrom([]string{"", "", "", "~/.ssh/id_rsa", ".env"}).Draw(t, "secret")
	s.Version += int64(rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "version is off by"))
	if rapid.IntRange(0, 9).Draw(t, "other body") == 0 {
		s.Body = body("other")
	}
	if len(m.cards) > 0 && rapid.Bool().Draw(t, "claims") {
		s.Claim = &session.Claim{
			Card:    rapid.SampledFrom(m.cards).Draw(t, "card").ID,
			Version: int64(rapid.IntRange(1, 3).Draw(t, "card version")), Blob: []byte("used"),
		}
		if s.Claim.Card[:2] != s.Conversation.Hash()[:2] {
			s.Claim = nil // a card of another bucket can't be this conversation's
		}
	}
	s.Pauses = m.drawPauses(t)
	got, errGot := m.Store.Settle(m.ctx, s)
	want, errWant := m.model.Settle(m.ctx, s)
	m.same(t, "settle", got, want, errGot, errWant)
}

func (m *machine) deny(t *rapid.T) {
	if len(m.admitted) == 0 {
		t.Skip("nothing was admitted")
	}
	d := denying(rapid.SampledFrom(m.admitted).Draw(t, "call").Admission)
	d.Keep = drawLife(t, "keep")
	if rapid.IntRange(0, 9).Draw(t, "other body") == 0 {
		d.Body = body("other")
	}
	m.same(t, "deny", nil, nil, m.Store.Deny(m.ctx, d), m.model.Deny(m.ctx, d))
}

func (m *machine) reset(t *rapid.T) {
	if m.Real { // the model's clock does not move: two of its resets would have one generation
		m.Advance(2 * time.Millisecond)
		m.model.clock.advance(2 * time.Millisecond)
	}
	ref := drawConversation(t, "conversation").Hash()[:rapid.SampledFrom([]int{1, 2, 8, 32}).Draw(t, "length")]
	got, errGot := m.Store.Reset(m.ctx, ref)
	want, errWant := m.model.Reset(m.ctx, ref)
	m.same(t, "reset", got, want, errGot, errWant)
}

func (m *machine) link(t *rapid.T) {
	type answer struct {
		Root   session.Conversation
		Before taint.Level
	}
	child, parent := drawConversation(t, "child"), drawConversation(t, "parent")
	var got, want answer
	var errGot, errWant error
	got.Root, got.Before, errGot = m.Store.Link(m.ctx, child, parent)
	want.Root, want.Before, errWant = m.model.Link(m.ctx, child, parent)
	m.same(t, "link", got, want, errGot, errWant)
}

func (m *machine) raise(t *rapid.T) {
	c, to := drawConversation(t, "conversation"), drawLevel(t, "to")
	m.same(t, "raise", nil, nil, m.Store.Raise(m.ctx, c, to, "sessions_send"), m.model.Raise(m.ctx, c, to, "sessions_send"))
}

func (m *machine) expose(t *rapid.T) {
	c := drawConversation(t, "conversation")
	if rapid.Bool().Draw(t, "read") {
		m.same(t, "expose", nil, nil, m.Store.Expose(m.ctx, c, "a sent secret"), m.model.Expose(m.ctx, c, "a sent secret"))
	}
	got, errGot := m.Store.Exposed(m.ctx, c)
	want, errWant := m.model.Exposed(m.ctx, c)
	m.same(t, "exposed", got, want, errGot, errWant)
}

func (m *machine) automation(t *rapid.T) {
	agent := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "agent")
	if rapid.Bool().Draw(t, "raise") {
		to := drawLevel(t, "to")
		m.same(t, "raise automation", nil, nil, m.Store.RaiseAutomation(m.ctx, "laptop", agent, to), m.model.RaiseAutomation(m.ctx, "laptop", agent, to))
	}
	got, errGot := m.Store.AutomationFloor(m.ctx, "laptop", agent)
	want, errWant := m.model.AutomationFloor(m.ctx, "laptop", agent)
	m.same(t, "automation floor", got, want, errGot, errWant)
}

func (m *machine) advance(t *rapid.T) {
	if m.Real {
		t.Skip("the clock is real")
	}
	d := time.Duration(rapid.SampledFrom([]int{1, 1000, 59_999, 60_000, 300_000, 660_000}).Draw(t, "ms")) * time.Millisecond
	m.Advance(d)
	m.model.clock.advance(d)
}

func (m *machine) forget(t *rapid.T) {
	c := drawConversation(t, "conversation")
	m.Forget(c)
	m.model.forget(c)
}

// flush is rare, or nothing else would be seen.
func (m *machine) flush(t *rapid.T) {
	switch rapid.IntRange(0, 9).Draw(t, "what") {
	case 0:
		m.Flush()
		m.model.flush()
	case 1, 2, 3:
		m.same(t, "accept loss", nil, nil, m.Store.AcceptLoss(m.ctx), m.model.AcceptLoss(m.ctx))
	default:
		t.Skip("not now")
	}
}

// grantFields are where grants stand: for a session, for a run in it, for a run
// without a session.
var grantFields = []string{grantField("s1", ""), grantField("s1", "run1"), grantField("", "run1")}

func grantField(sessionID, run string) string {
	g := session.Grant{Tool: "exec", Agent: "main", Session: sessionID, Run: run}
	return g.Field()
}

func drawConversation(t *rapid.T, label string) session.Conversation {
	return conv(rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, label))
}

func drawLevel(t *rapid.T, label string) taint.Level {
	return taint.Level(rapid.IntRange(0, taint.Levels-1).Draw(t, label))
}

func drawLife(t *rapid.T, label string) time.Duration {
	return rapid.SampledFrom([]time.Duration{time.Minute, 5 * time.Minute, time.Hour}).Draw(t, label)
}

func drawAdmission(t *rapid.T) session.Admission {
	a := call(drawConversation(t, "conversation"), fmt.Sprint("r", rapid.IntRange(0, 40).Draw(t, "request")))
	a.Session = rapid.SampledFrom([]string{"", "s1", "s2"}).Draw(t, "session")
	if rapid.IntRange(0, 9).Draw(t, "other body") == 0 {
		a.Body = body("other")
	}
	a.Initial, a.Birth = drawLevel(t, "initial"), drawLevel(t, "birth")
	a.Floor = session.Mark{Level: drawLevel(t, "floor")}
	if rapid.Bool().Draw(t, "clean") { // or nearly every conversation is soon as bad as can be
		a.Initial, a.Birth, a.Floor = taint.Owner, taint.System, session.Mark{}
	}
	for i := range a.Modes {
		a.Modes[i] = taint.Mode(rapid.IntRange(0, 2).Draw(t, "mode"))
	}
	a.Raise, a.Final = drawLevel(t, "raise"), rapid.Bool().Draw(t, "final")
	a.Sender, a.Source = "sender "+a.RequestID, "tool "+rapid.SampledFrom([]string{"a", "b", "c…"}).Draw(t, "source")
	a.Leaves = rapid.Bool().Draw(t, "leaves")
	a.Note = rapid.Bool().Draw(t, "note")
	a.Run = rapid.SampledFrom([]string{"", "run1", "run2"}).Draw(t, "run")
	a.RunCap = rapid.SampledFrom([]int{0, 3}).Draw(t, "cap")
	a.Digest = rapid.SampledFrom([]string{"d1", "d2", "d3"}).Draw(t, "digest")
	a.Grants = slices.Clone(grantFields[:rapid.IntRange(0, 3).Draw(t, "grants")])
	a.Keep = drawLife(t, "keep")
	return a
}
