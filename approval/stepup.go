package approval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/passkey"
	"github.com/openclaw-verifier/verifier/policy"
)

// stepUps asks for the signature of a passkey, and checks it.
type stepUps struct{ *core }

// Some calls only a passkey allows (approval.stepUp): the person's authenticator signs this answer to this call, after it has verified the
// person. A stolen session, code or chat account can't do that. A stolen token can, if it adds a passkey first: people get a notice of that.

// Proof is what an authenticator has signed for one answer.
type Proof struct {
	Nonce string // of the [StepUp] that asked for it
	passkey.Assertion
}

// StepUp asks for a signature.
type StepUp struct {
	Nonce     string
	Challenge []byte
	Keys      []string // the ids of the passkeys that may sign
	Site      string   // the host that they belong to
}

// proofLife is how long a person may take to sign.
const proofLife = 5 * time.Minute

// What a person reads whose answer needs a passkey.
const (
	noPasskeyHere = "Only your passkey allows this call, on your page%s. You can deny it here. Nothing was approved."
	noPasskey     = "Only a passkey allows this call, and you have none for this page. Add one under Passkeys. Nothing was approved."
	wrongProof    = "Your passkey's signature does not fit this answer. Nothing was approved; try again."
	usedProof     = "This signature was used before, or is too old. Nothing was approved; try again."
)

// stepsUp reports whether the terms ask for a passkey before a call is allowed.
func (t *terms) stepsUp(a *Ask) bool {
	if len(t.StepUp) == 0 || a.Test {
		return false
	}
	return slices.Contains(t.StepUp, string(policy.StakeAll)) || slices.ContainsFunc(a.Stakes, func(s string) bool { return slices.Contains(t.StepUp, s) })
}

// StepUp reports whether only a passkey allows the card.
func (c *Card) StepUp() bool {
	return slices.ContainsFunc(c.Questions, func(q Question) bool { return q.Ask.StepUp })
}

// stepUp checks that a passkey has signed a yes to calls that need one, and notes which in the answer. Where there is no signature the outcome asks for it, or says where
// to give it; an outcome without a text says that the answer can be counted.
func (su *stepUps) stepUp(ctx context.Context, person string, c *Card, asked []*Question, a *Answer, now time.Time) (Outcome, error) {
	t := su.terms()
	if !a.Allow || !slices.ContainsFunc(asked, func(q *Question) bool {
		return (q.Ask.StepUp || t.stepsUp(&q.Ask) || a.edit != nil && a.edit.Ask.StepUp) && q.Ask.admits(person) && q.state(now) == Open
	}) {
		return Outcome{}, nil
	}
	site := siteOf(a.Origin)
	if su.o.Passkeys == nil || site == "" {
		where := ""
		if su.o.Page != "" {
			where = ": " + su.o.Page + c.ID
		}
		return Outcome{Kind: Misunderstood, Card: c, Text: fmt.Sprintf(noPasskeyHere, where)}, nil
	}
	keys := su.o.Passkeys.Of(a.ID, site)
	if len(keys) == 0 {
		return Outcome{Kind: Misunderstood, Card: c, Text: noPasskey}, nil
	}
	if a.Proof == nil {
		return su.wantsPasskey(c, asked, a, keys, now)
	}
	return su.prove(ctx, person, c, asked, a, now)
}

// siteOf is the host that passkeys of a page belong to. An address of digits can have none.
func siteOf(origin string) string {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Hostname()
}

// wantsPasskey asks for a signature.
func (su *stepUps) wantsPasskey(c *Card, asked []*Question, a *Answer, keys []passkey.Key, now time.Time) (Outcome, error) {
	var raw [16]byte
	if _, err := io.ReadFull(su.o.Rand, raw[:]); err != nil {
		return Outcome{Text: "Nothing was approved; try again."}, err
	}
	random, until := hex.EncodeToString(raw[:]), strconv.FormatInt(now.Add(proofLife).Unix(), 10)
	s := &StepUp{Nonce: random + "." + until + "." + su.o.Key.Seal("step-up", random, until, c.ID, a.ID), Site: siteOf(a.Origin)}
	s.Challenge = challenge(s.Nonce, c, asked, a)
	for _, k := range keys {
		s.Keys = append(s.Keys, k.ID)
	}
	return Outcome{Kind: WantsPasskey, Card: c, StepUp: s, Edit: a.edit, Text: "Sign your answer with your passkey."}, nil
}

// challenge is what the authenticator signs: a fresh number, the card, what it asks about and the answer. Each part has its length before
// it, so that no two answers have the same.
func challenge(nonce string, c *Card, asked []*Question, a *Answer) []byte {
	parts := []string{"verifier step-up", nonce, c.ID, a.ID, strconv.FormatBool(a.Allow), a.Tool, fmt.Sprint(a.Scope.Turn, a.Scope.Like, a.Scope.Exactly, a.Scope.Minutes)}
	for _, q := range asked {
		parts = append(parts, q.Ask.Digest, q.Ask.CallDigest())
	}
	if a.edit != nil {
		parts = append(parts, "edited", a.edit.Ask.Digest)
	}
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p) //nolint:errcheck // a hash never fails
	}
	return h.Sum(nil)
}

// prove checks a signature. Each nonce is good for one, whether that fits or not.
func (su *stepUps) prove(ctx context.Context, person string, c *Card, asked []*Question, a *Answer, now time.Time) (Outcome, error) {
	random, rest, _ := strings.Cut(a.Proof.Nonce, ".")
	until, seal, _ := strings.Cut(rest, ".")
	end, errEnd := strconv.ParseInt(until, 10, 64)
	if errEnd != nil || !su.o.Key.Check(seal, "step-up", random, until, c.ID, a.ID) || !now.Before(time.Unix(end, 0)) {
		return su.unproven(ctx, person, c, a, usedProof, errors.New("approval: the nonce is not one of this card and person, or too old")), nil //nolint:nilerr // what is no number is no nonce of ours
	}
	used, err := su.o.Store.Count(ctx, "passkey:"+random, 2*proofLife, true)
	switch {
	case err != nil:
		return Outcome{Text: "The store can't be reached. Nothing was approved; try again."}, err
	case used != 1:
		return su.unproven(ctx, person, c, a, usedProof, errors.New("approval: the nonce was used before")), nil
	}
	want := passkey.Ceremony{Challenge: challenge(a.Proof.Nonce, c, asked, a), Origin: a.Origin, Site: siteOf(a.Origin)}
	key, err := su.o.Passkeys.Check(a.ID, &a.Proof.Assertion, want, now)
	if err != nil {
		return su.unproven(ctx, person, c, a, wrongProof, err), nil
	}
	a.passkey = key.ID
	return Outcome{}, nil
}

// unproven refuses a signature. It is recorded: someone may have the person's session, or a copy of the key.
func (su *stepUps) unproven(ctx context.Context, person string, c *Card, a *Answer, text string, why error) Outcome {
	su.o.Log.WarnContext(ctx, "a passkey's signature was refused", "person", person, "via", a.Via, "card", c.Ref(), "err", why)
	note := "a passkey's signature was refused"
	if errors.Is(why, passkey.ErrCounter) {
		note += ": its counter has not moved on, so the key may have been copied"
		su.Tell(ctx, "A passkey of "+person+" signed with a counter that has not moved on: someone may have a copy of it. Nothing was approved. If you can't explain it, remove the passkey on your page.")
	}
	who := audit.Person{Name: person, Via: a.Via, At: time.Now().UTC()}
	if id := passkey.NameID(a.Proof.ID); slices.ContainsFunc(su.o.Passkeys.Of(a.ID, ""), func(k passkey.Key) bool { return k.ID == id }) {
		who.Passkey = id
	}
	su.note(ctx, audit.Entry{Kind: audit.KindNote, Ref: c.Ref(), Note: note, People: []audit.Person{who}})
	return Outcome{Kind: Misunderstood, Card: c, Text: text}
}
