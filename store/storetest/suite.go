package storetest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/verifier"
)

// Store is all that a store offers: the two interfaces of its consumers, the
// heads of the record, and what the operator needs.
type Store interface {
	verifier.Store
	approval.Store

	// KeepHead remembers how far a record has got; Head tells, "" if none was kept.
	KeepHead(ctx context.Context, name, head string) error
	Head(ctx context.Context, name string) (string, error)

	// Hold takes a lease or renews it, for ttl from now by the store's clock. It
	// reports false while another owner has it. Release gives it up, if it is the
	// owner's.
	Hold(ctx context.Context, name, owner string, ttl time.Duration) (bool, error)
	Release(ctx context.Context, name, owner string) error

	// Ready says why the store can't be used now, if it can't.
	Ready(ctx context.Context) error

	// AcceptLoss is the owner's word that conversations may be born clean again.
	AcceptLoss(ctx context.Context) error
}

// Harness is a fresh, empty store and the levers that the suite pulls.
type Harness struct {
	Store Store

	// Advance makes the store's clock move: a fake clock, or real waiting.
	Advance func(d time.Duration)

	// SetBack sets the clock that the store follows back, and forward by a negative
	// time, while no time passes; nil: the clock can't be set.
	SetBack func(d time.Duration)

	// Forget makes a conversation's state vanish as by expiry or eviction: its
	// levels, link, grants and questions. What stays is that it was known, its
	// requests, its runs and its cards.
	Forget func(c session.Conversation)

	// Flush makes everything vanish from the store, and nothing from this machine.
	Flush func()

	// Real says that the clock is real: times are not compared, waits are short,
	// and what needs a long wait is left out.
	Real bool
}

// Run is the suite that every store passes. It opens one store for each test,
// and runs the tests in parallel.
func Run(t *testing.T, open func(t *testing.T) Harness) {
	t.Helper()
	for _, group := range []struct {
		about string
		specs []spec
	}{
		{"replay", replaySpecs()},
		{"level", levelSpecs()},
		{"loss", lossSpecs()},
		{"admission", admissionSpecs()},
		{"settle", settleSpecs()},
		{"deny", denySpecs()},
		{"hear", slices.Concat(hearSpecs(), hearEndSpecs())},
		{"place", placeSpecs()},
		{"swap", swapSpecs()},
		{"desk", deskSpecs()},
		{"family", familySpecs()},
		{"lease", leaseSpecs()},
		{"influence", influenceSpecs()},
		{"note", noteSpecs()},
		{"pause", pauseSpecs()},
		{"grants", grantSpecs()},
		{"clock", clockSpecs()},
		{"race", raceSpecs()},
	} {
		t.Run(group.about, func(t *testing.T) {
			for _, s := range group.specs {
				t.Run(s.says, func(t *testing.T) {
					t.Parallel()
					s.check(&bench{T: t, Harness: open(t), ctx: t.Context()})
				})
			}
		})
	}
}

// spec is one sentence about a store, and its proof.
type spec struct {
	says  string
	check func(b *bench)
}

// bench is a store under test. Its methods fail the test on any error.
type bench struct {
	*testing.T
	Harness
	ctx context.Context
}

// short is a life that a test can wait for. No test asks for anything to be
// still alive under it: a busy machine may take longer than that.
func (b *bench) short() time.Duration {
	if b.Real {
		return 20 * time.Millisecond
	}
	return time.Minute
}

// outlive waits until what had a short life is over.
func (b *bench) outlive() { b.Advance(b.short() + 5*time.Millisecond) }

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) admit(a session.Admission) session.View {
	b.Helper()
	v, err := b.Store.Admit(b.ctx, a)
	b.must(err)
	return v
}

func (b *bench) settle(s session.Settlement) session.Settled {
	b.Helper()
	out, err := b.Store.Settle(b.ctx, s)
	b.must(err)
	return out
}

func (b *bench) deny(d session.Denial) {
	b.Helper()
	b.must(b.Store.Deny(b.ctx, d))
}

func (b *bench) place(d approval.Draft) approval.Placement {
	b.Helper()
	p, err := b.Store.Place(b.ctx, d)
	b.must(err)
	return p
}

func (b *bench) link(child, parent session.Conversation) (session.Conversation, taint.Level) {
	b.Helper()
	root, before, err := b.Store.Link(b.ctx, child, parent)
	b.must(err)
	return root, before
}

func (b *bench) worst(c session.Conversation) taint.Level {
	b.Helper()
	l, err := b.Store.Worst(b.ctx, c)
	b.must(err)
	return l
}

// level is what a harmless call of the owner's meets in a conversation.
func (b *bench) level(c session.Conversation, sessionID string) taint.Level {
	b.Helper()
	a := call(c, fresh("level"))
	a.Session, a.Initial = sessionID, taint.System
	return b.admit(a).Level
}

func (b *bench) wantEntry(v session.View, want session.Entry) {
	b.Helper()
	if v.Entry != want {
		b.Fatalf("entry %d, want %d: %+v", v.Entry, want, v)
	}
}

func (b *bench) wantLevel(got, want taint.Level) {
	b.Helper()
	if got != want {
		b.Fatalf("level %v, want %v", got, want)
	}
}

func conv(name string) session.Conversation {
	return session.Conversation{Client: "laptop", Key: "agent:main:" + name}
}

// call is an allow by the level alone: the owner's, harmless, in session s1.
func call(c session.Conversation, id string) session.Admission {
	return session.Admission{
		Conversation: c, Session: "s1", RequestID: id, Body: body(id),
		Initial: taint.Owner, Sender: "owner", Modes: taint.Every(taint.Allow), Final: true, Source: "read",
		Digest: "digest-" + id, Decision: "A|" + id, Keep: 11 * time.Minute,
	}
}

// fetch is an allowed call that brings in the web.
func fetch(c session.Conversation, id string) session.Admission {
	a := call(c, id)
	a.Raise, a.Source = taint.Untrusted, "web_fetch example.com"
	return a
}

// asking is a call that a person must confirm.
func asking(c session.Conversation, id string) session.Admission {
	a := call(c, id)
	a.Modes = taint.Every(taint.Confirm)
	return a
}

// settling is the allow of a call that was admitted and met this view.
func settling(a session.Admission, v session.View) session.Settlement {
	return session.Settlement{
		Conversation: a.Conversation, Session: a.Session, RequestID: a.RequestID, Body: a.Body, Version: v.Version,
		Raise: a.Raise, Source: a.Source, Decision: a.Decision, Keep: a.Keep,
	}
}

// denying is the deny of a call that was admitted.
func denying(a session.Admission) session.Denial {
	return session.Denial{Conversation: a.Conversation, RequestID: a.RequestID, Body: a.Body, Keep: a.Keep}
}

// draft is a card about the digests.
func draft(c session.Conversation, name string, digests ...string) approval.Draft {
	sum := sha256.Sum256([]byte(name))
	return approval.Draft{
		ID: c.Hash()[:2] + fmt.Sprintf("%x", sum[:16]), Conversation: c, Digests: digests, Blob: []byte("blob " + name),
		CodeSeal: "seal-" + name, Live: time.Hour, MaxOpen: 5,
	}
}

func body(text string) [32]byte { return sha256.Sum256([]byte(text)) }
