package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/session"
)

// Grants lists and ends what lets calls pass without a question.
type Grants struct {
	*cardStore

	announcer *announcer
	consents  *Consents
}

// Granting is what lets calls pass without a question at one moment.
type Granting struct {
	Grants []session.Grant // those that end last first
	More   bool            // there are more than these
	Now    time.Time       // by the store's clock
}

// Bounds of one look at the grants.
const (
	maxGrants    = 500
	revokeRounds = 100 // each ends up to maxGrants
)

// List gives what is granted in all conversations. What does not carry our seal is
// no grant, and one of somebody who may not approve any more covers nothing: neither
// is listed.
func (gr *Grants) List(ctx context.Context) (Granting, error) {
	stored, now, err := gr.o.Store.Grants(ctx, "", maxGrants+1)
	if err != nil {
		return Granting{}, err
	}
	out, t := Granting{Now: now.UTC(), More: len(stored) > maxGrants}, gr.terms()
	for _, s := range stored[:min(maxGrants, len(stored))] {
		if g, ours := gr.granted(s); ours && t.approve(g.Givers()) {
			out.Grants = append(out.Grants, g)
		}
	}
	standing, err := gr.consents.Active(ctx)
	standing = slices.DeleteFunc(standing, func(g session.Grant) bool { return !now.Before(g.Until) })
	out.Grants = append(standing, out.Grants...)
	return out, err
}

// granted reads what the store holds as a grant, if it is one of ours and is
// where it was given.
func (gr *Grants) granted(s StoredGrant) (session.Grant, bool) {
	g, err := session.ReadGrant(gr.o.Key, s.Value)
	return g, err == nil && g.Name() == s.Conversation+":"+s.Field
}

// AllGrants is what Revoke takes for all that there are.
const AllGrants = "all"

// Revoke ends grants at an approver's word: one by its [session.Grant.Name], those
// of a conversation by its hash, or AllGrants. Once it returns without an error no
// call passes by them any more, in any process that shares the store.
func (gr *Grants) Revoke(ctx context.Context, a Answer, of string) (Outcome, error) {
	person, listed := gr.terms().people[a.ID]
	if !listed {
		return Outcome{Kind: Unauthorised, Text: NotAuthorised}, nil
	}
	r := revocation{person: person, via: a.Via}
	switch hash, field, one := strings.Cut(of, ":"); {
	case of == AllGrants:
		r.all = true
	case len(hash) != hashSize || one && field == "":
		return noGrant, nil
	default:
		r.in, r.meant = hash, func(g *session.Grant) bool { return !one || g.Name() == of }
	}
	return gr.revoke(ctx, r)
}

// hashSize is how long a conversation's hash is.
const hashSize = 32

// revocation is which grants are to end, and at whose word.
type revocation struct {
	person, via string
	in          string                    // the conversation; empty: any
	all         bool                      // everything there, ours or not
	meant       func(*session.Grant) bool // where not all
}

var noGrant = Outcome{Kind: NotFound, Text: "No such grant is open. Nothing was changed."}

// revoke ends the grants that are meant. The list is bounded, so where all are it
// is read until nothing is left.
func (gr *Grants) revoke(ctx context.Context, r revocation) (Outcome, error) {
	var ended []session.Grant
	for range revokeRounds {
		some, more, err := gr.revokeListed(ctx, r)
		ended = append(ended, some...)
		if err != nil {
			return Outcome{Text: "The store can't be reached. Grants may still hold; say it again."}, err
		}
		if !more || !r.all {
			break
		}
	}
	standing, err := gr.consents.endStanding(ctx, r)
	if ended = append(ended, standing...); err != nil {
		return Outcome{Text: "The store can't be reached. Grants may still hold; say it again."}, err
	}
	switch len(ended) {
	case 0:
		return noGrant, nil
	case 1:
		text := fmt.Sprintf("The grant for %s%s was ended by %s (%s). The next such call asks again.", quote(ended[0].Tool), LikeOnly(&ended[0]), r.person, r.via)
		return Outcome{Kind: Replied, Text: text}, nil
	}
	return Outcome{Kind: Replied, Text: fmt.Sprintf("%d grants were ended by %s (%s).", len(ended), r.person, r.via)}, nil
}

// revokeListed ends those of one list.
func (gr *Grants) revokeListed(ctx context.Context, r revocation) (ended []session.Grant, more bool, err error) {
	stored, now, err := gr.o.Store.Grants(ctx, r.in, maxGrants)
	if err != nil {
		return nil, false, err
	}
	for _, s := range stored {
		g, ours := gr.granted(s)
		switch {
		case !ours && r.all: // it covers nothing, and hides what does
			_, err = gr.o.Store.Revoke(ctx, s.Conversation, s.Field)
		case ours && (r.all || r.meant(&g)):
			if err = gr.end(ctx, &g, now); err == nil {
				ended = append(ended, g)
				gr.consents.noteRevoked(ctx, &g, r.person, r.via)
			}
		}
		if err != nil {
			return ended, false, err
		}
	}
	return ended, len(stored) == maxGrants, nil
}

// end takes back the yes on the card, then the grant: a person who says it again
// after a fault finds the grant still there.
func (gr *Grants) end(ctx context.Context, g *session.Grant, now time.Time) error {
	if err := gr.takeBack(ctx, g, now); err != nil {
		return err
	}
	_, err := gr.o.Store.Revoke(ctx, g.Conversation.Hash(), g.Field())
	return err
}

// revoked is what a card says whose yes was taken back.
const revoked = "the yes was taken back"

// takeBack makes nothing of a yes that no call has used yet, and shows on every
// copy that the card grants nothing any more. An identical call may ask again.
func (gr *Grants) takeBack(ctx context.Context, g *session.Grant, now time.Time) error {
	c, err := gr.change(ctx, g.ID, func(c *Card, _ time.Time) (Change, error) {
		gone := map[string]time.Time{}
		for _, q := range c.all() {
			if q.Ask.Tool == g.Tool && q.state(now) == Allowed {
				q.withdraw(revoked, now)
				gone[q.Ask.Digest] = now
			}
		}
		if len(gone) == 0 {
			return Change{}, errUnchanged
		}
		return Change{Waiting: gone, Closed: c.closed(now)}, nil
	})
	switch {
	case err == nil:
		gr.runFor(ctx, func(ctx context.Context) { gr.announcer.showCopies(ctx, c) })
		return nil
	case errors.Is(err, errUnchanged), c == nil && (errors.Is(err, ErrGone) || errors.Is(err, errForged)): // it gives nothing
		return nil
	case errors.Is(err, ErrUnknown): // the conversation is gone, and its grants with it
		return nil
	}
	return err
}

func (cn *Consents) noteRevoked(ctx context.Context, g *session.Grant, person, via string) {
	cn.note(ctx, record.Entry{
		Kind: record.KindRevoke, Ref: codes.Ref(g.ID), Card: g.ID, Client: g.Conversation.Client, Session: g.Conversation.Key,
		Agent: g.Agent, Run: g.Run, Tool: g.Tool, Level: g.Level.String(),
		Note:   fmt.Sprintf("granted%s by %s until %s", LikeOnly(g), g.By, g.Until.UTC().Format(time.DateTime+" UTC")),
		People: []record.Person{{Name: person, Via: via, At: time.Now().UTC()}},
	})
}

// listGrants answers `.grants`.
func (gr *Grants) listGrants(ctx context.Context, via string) (Outcome, error) {
	open, err := gr.List(ctx)
	if err != nil {
		return Outcome{Text: "The store can't be reached. Try again."}, err
	}
	if len(open.Grants) == 0 {
		return Outcome{Kind: Replied, Text: "Nothing is granted: every call that needs a person asks."}, nil
	}
	var b strings.Builder
	for i := range open.Grants {
		g := &open.Grants[i]
		fmt.Fprintf(&b, "%s  %s%s  in %s  %s  by %s\n", codes.Ref(g.ID), quote(g.Tool), LikeOnly(g), Holds(g), Lasts(g, open.Now), g.By)
	}
	if open.More {
		b.WriteString("… and more.\n")
	}
	b.WriteString(command(via, "revoke <ref>") + " ends one, " + command(via, "revoke all") + " all of them.")
	return Outcome{Kind: Replied, Text: b.String()}, nil
}

// Count is a number of things in words.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Holds says in which conversations a grant holds.
func Holds(g *session.Grant) string {
	if g.IsStanding() && g.Conversation.Key == "" {
		return "every conversation of " + quote(g.Agent)
	}
	return g.Conversation.Ref()
}

// Lasts says how long a grant will hold.
func Lasts(g *session.Grant, now time.Time) string {
	left := g.Until.Sub(now).Round(time.Second)
	if left < 0 {
		left = 0
	}
	if g.IsStanding() {
		return "until " + g.Until.UTC().Format(time.DateOnly)
	}
	text := fmt.Sprintf("until %s UTC (%s left)", g.Until.UTC().Format(time.TimeOnly), left)
	if g.Run != "" {
		text += ", at most as long as the run"
	}
	return text
}
