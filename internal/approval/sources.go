package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
)

// Sources are what conversations have read.
type Sources struct{ *shows }

// mostListed is how many things one message names.
const mostListed = 20

// Of is a conversation by its short name, with what made it worse. store.ErrUnknown and store.ErrAmbiguous say that
// it was not found.
func (so *Sources) Of(ctx context.Context, ref string) (store.Conversation, error) {
	n, err := so.o.Store.Find(ctx, ref)
	if err != nil {
		return store.Conversation{}, err
	}
	return so.o.Store.Look(ctx, n)
}

// notFound says why no conversation was found by a reference.
func (so *Sources) notFound(ref string, err error) (Outcome, error) {
	switch {
	case errors.Is(err, store.ErrUnknown):
		return notFound("No conversation has the reference %s.", quote(so.o.Hide(ref))), nil
	case errors.Is(err, store.ErrAmbiguous):
		return notFound("Several conversations begin with %s. Write more of it.", quote(so.o.Hide(ref))), nil
	}
	return Outcome{Text: storeGone}, err
}

// list answers `.sources`: what made the conversation worse, the last first.
func (so *Sources) list(ctx context.Context, ref string) (Outcome, error) {
	if ref == "" {
		return misunderstood(nil, "Add the reference from a card: it lists what came into that conversation."), nil
	}
	c, err := so.Of(ctx, ref)
	if err != nil {
		return so.notFound(ref, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s is at %s.", c.Ref(), c.Worst())
	if !c.Reset.IsZero() {
		fmt.Fprintf(&b, " Its owner reset it at %s UTC.", c.Reset.UTC().Format(time.DateTime))
	}
	for _, cause := range slices.Backward(c.Causes) {
		fmt.Fprintf(&b, "\n%s  %s  at %s UTC", quote(cause.What), cause.Level, cause.At.UTC().Format(time.DateTime))
	}
	if len(c.Causes) == 0 {
		b.WriteString("\nNothing made it worse.")
	}
	return replied("%s", b.String()), nil
}

// reset forgets at the owner's word what a conversation has read, ends its grants and takes back its open cards. With
// the reference of files that were written unseen it says that the owner has looked at those.
func (so *Sources) reset(ctx context.Context, person, via, ref string) (Outcome, error) {
	e := record.Entry{Kind: record.KindReset, People: []record.Person{{Name: person, Via: via, At: time.Now().UTC()}}}
	cleared, err := so.o.Store.ClearUnseen(ctx, ref)
	switch {
	case err != nil:
		return Outcome{Text: storeGone}, err
	case cleared:
		e.Ref, e.Note = strings.ToUpper(ref), "the files that were written unseen were looked at"
		so.note(ctx, e)
		return replied("Noted: you have looked at the files. Builds and tests pass again."), nil
	case so.o.NoReset != nil && so.o.NoReset():
		return misunderstood(nil, "The profile strict never lowers a level. Start a new session instead."), nil
	}
	n, err := so.o.Store.Find(ctx, ref)
	if err == nil {
		all := func(*Card) bool { return true }
		err = so.takeAll(ctx, n, "the owner reset the conversation", all, func(t *store.Tx) error {
			t.C.Forget(t.Now)
			n = t.C.Name
			return nil
		})
	}
	if err != nil {
		return so.notFound(ref, err)
	}
	e.Client, e.Session, e.Ref = n.Client, n.Key, n.Ref()
	so.note(ctx, e)
	return replied("The taint of %s is forgotten, its grants have ended and its open questions are withdrawn. "+
		"What the agent read is still in its context.", n.Ref()), nil
}
