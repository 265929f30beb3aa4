package replay

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/session"
)

// Approve is what the simulated owner says to what is not injected.
type Approve string

// What Approve can be.
const (
	Once     Approve = "once"      // yes, to this call
	LikeThis Approve = "like-this" // yes, to calls like it, wherever that can be said
	Never    Approve = "never"     // no: how the agent fares without anyone there
)

// owner is the person at the desk. They know which call a question is about, and
// whether it is marked.
type owner struct {
	approve Approve
	store   Store
	key     hmac.Key

	mu    sync.Mutex
	plays map[string]*played // by request id
}

// played is one call on its way.
type played struct {
	injected bool
	asked    bool
	rule     string
}

// Ask answers at once.
func (o *owner) Ask(ctx context.Context, r *approval.Request) (approval.Ruling, error) {
	o.mu.Lock()
	p := o.plays[r.ID]
	o.mu.Unlock()
	p.asked, p.rule = true, r.Ask.Rule
	if p.injected || o.approve == Never {
		return approval.Ruling{Denied: true, ByPerson: true, Ref: "REPLAY"}, nil
	}
	if o.approve == LikeThis && r.Ask.Like != "" {
		if err := o.grant(ctx, r); err != nil {
			return approval.Ruling{}, err
		}
	}
	return approval.Ruling{Yes: true, Ref: "REPLAY"}, nil
}

// grant puts into the store what the desk would: from then on calls like it pass
// there, if they pass.
func (o *owner) grant(ctx context.Context, r *approval.Request) error {
	a := &r.Ask
	var random [16]byte
	rand.Read(random[:]) // it never fails
	id := a.Conversation.Hash()[:2] + hex.EncodeToString(random[:])
	g := session.Grant{
		Conversation: a.Conversation, Tool: a.Tool, Agent: a.Agent, Session: a.Window, Like: a.Like,
		ID: id, By: "owner", Level: a.Level, Until: r.Now.Add(longest),
	}
	_, err := o.store.Place(ctx, approval.Draft{
		ID: id, Conversation: a.Conversation, Digests: []string{a.Digest}, Blob: []byte("{}"), CodeSeal: id, Live: longest, MaxOpen: 1 << 20,
	})
	if err != nil {
		return err
	}
	return o.store.Swap(ctx, approval.Change{
		ID: id, Version: 1, Conversation: a.Conversation, Blob: []byte("{}"), Closed: true, Grants: map[string]string{g.Field(): g.Value(o.key)},
	})
}

// longest is as long as a grant lasts here: longer than any session is played.
const longest = time.Hour

// begin and end say which call is being decided.
func (o *owner) begin(request string, p *played) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.plays[request] = p
}

func (o *owner) end(request string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.plays, request)
}

// MarkUsed is of no interest: no yes is kept for later.
func (*owner) MarkUsed(_, _, _ string) {}

// Covers says that the owner's word still counts.
func (*owner) Covers(string, approval.Ask) bool { return true }

// Abandon has nothing to take back: the owner answers at once.
func (*owner) Abandon(context.Context, approval.Ending) error {
	return nil
}

// Tell does nothing: the owner reads no messages.
func (*owner) Tell(context.Context, string) {}

// AnsweredElsewhere has nothing to close: the owner answers at once.
func (*owner) AnsweredElsewhere(context.Context, string, string, approval.Elsewhere) error {
	return nil
}

// View says that nothing is paused.
func (*owner) View(agent string) session.PauseView {
	return session.PauseView{Agent: session.AgentScope(agent)}
}

// Changed has nothing to learn.
func (*owner) Changed(context.Context, session.PauseView, [2]string) error { return nil }

// Active is none: a replay asks about everything.
func (*owner) Active(context.Context) ([]session.Grant, error) { return nil, nil }

// UsedUp matters only where there is a standing consent.
func (*owner) UsedUp(context.Context, string, string) bool { return false }
