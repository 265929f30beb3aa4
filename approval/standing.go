package approval

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/session"
)

// Consents are the standing consents.
type Consents struct {
	*core

	unkept sync.Map // tools of which a refusal could not be kept
}

// A standing consent is a grant that holds for days, in every conversation of one agent or in one of them: for calls of one tool to exactly the
// same destinations, or for one command, down to a level, until a day. Only a person gives one. It is kept in a list of the store, under this server's seal: if the list is lost,
// calls ask again.

// Bounds of standing consents.
const (
	MaxConsentDays = 30
	standingList   = "00:standing"
	mostStanding   = 200
	keepStanding   = 2 * MaxConsentDays * 24 * time.Hour
	endedMark      = "ended "
)

// Active gives the standing consents that have not been ended, the latest first and of each name the latest only. One of a person who may not
// approve any more is none.
func (cn *Consents) Active(ctx context.Context) (given []session.Grant, err error) {
	all, err := cn.unended(ctx)
	t, latest := cn.terms(), map[string]bool{}
	for _, g := range all {
		if name := g.Name(); !latest[name] && t.approve(g.Givers()) {
			given = append(given, g)
		}
		latest[g.Name()] = true // a consent that ended does not bring back a wider one that it replaced
	}
	return given, err
}

// unended are all standing consents that have not been ended, the latest first.
func (cn *Consents) unended(ctx context.Context) (given []session.Grant, err error) {
	entries, err := cn.o.Store.Notes(ctx, standingList)
	if err != nil {
		return nil, err
	}
	ended := make(map[string]bool)
	for _, e := range slices.Backward(entries) { // what ends a consent comes after it
		if rest, ends := strings.CutPrefix(string(e), endedMark); ends {
			if id, seal, _ := strings.Cut(rest, "|"); cn.o.Key.Check(seal, "consent-ended", id) {
				ended[id] = true
			}
			continue
		}
		if g, err := session.ReadGrant(cn.o.Key, string(e)); err == nil && g.IsStanding() && !ended[g.ID] {
			given = append(given, g)
		}
	}
	return given, nil
}

// give makes a standing consent at an approver's word. The grant says for which calls and at which level; who gives it and how long it
// holds is written here. It is in the record before it counts.
func (cn *Consents) give(ctx context.Context, a Answer, person string, g session.Grant, days int) (Outcome, error) {
	id, err := codes.NewID(cn.o.Rand)
	if err != nil {
		return Outcome{Text: notGiven}, err
	}
	now := time.Now().UTC()
	given := ""
	if g.ID != "" {
		given = ", given on " + codes.Ref(g.ID)
	}
	g.ID, g.By, g.IDs, g.Until = g.Conversation.Hash()[:2]+id, person, a.ID, now.AddDate(0, 0, days)
	err = cn.o.Record.Append(record.Entry{
		Kind: record.KindConsent, Ref: codes.Ref(g.ID), Card: g.ID, Client: g.Conversation.Client, Session: g.Conversation.Key, Agent: g.Agent, Tool: g.Tool, Level: g.Level.String(), Decision: record.Allow,
		Note:   fmt.Sprintf("standing consent%s in %s until %s%s", LikeOnly(&g), Holds(&g), g.Until.Format(time.DateTime+" UTC"), given),
		People: []record.Person{{Name: person, Via: a.Via, At: now}},
	})
	if err != nil {
		return Outcome{Text: "The record can't be written. " + notGiven}, err
	}
	if err := cn.noteStanding(ctx, g.Value(cn.o.Key)); err != nil {
		return Outcome{Text: "The store can't be reached. The consent may not hold; look at the list."}, err
	}
	where := ""
	if g.Conversation.Key != "" {
		where = " in this conversation"
	}
	return Outcome{Kind: Replied, Text: fmt.Sprintf("%s by %s passes%s%s without a question until %s, while the level is no worse than %s. You can end it at any time.",
		quote(g.Tool), quote(g.Agent), LikeOnly(&g), where, g.Until.Format(time.DateOnly), g.Level)}, nil
}

func (cn *Consents) noteStanding(ctx context.Context, entry string) error {
	return cn.o.Store.Note(ctx, session.Note{List: standingList, Most: mostStanding, Keep: keepStanding, Entries: [][]byte{[]byte(entry)}})
}

// endStanding ends the standing consents that are meant, and with each those that it hides: earlier ones of the same name, which may hold at
// another level or for longer. It returns one of each name.
func (cn *Consents) endStanding(ctx context.Context, r revocation) (ended []session.Grant, err error) {
	given, err := cn.unended(ctx)
	if err != nil {
		return nil, err
	}
	meant := make(map[string]bool)
	for i := range given {
		g := &given[i]
		meant[g.Name()] = meant[g.Name()] || (r.in == "" || r.in == g.Conversation.Hash()) && (r.all || r.meant(g))
	}
	told := make(map[string]bool)
	for i := range given {
		g := &given[i]
		if !meant[g.Name()] {
			continue
		}
		if err := cn.noteStanding(ctx, endedMark+g.ID+"|"+cn.o.Key.Seal("consent-ended", g.ID)); err != nil {
			return ended, err
		}
		if !told[g.Name()] {
			told[g.Name()], ended = true, append(ended, *g)
		}
		cn.noteRevoked(ctx, g, r.person, r.via)
	}
	return ended, nil
}
