package session

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/taint"
)

// Influence is something that had a say in a conversation and made it worse, or
// would have if it had not been as bad already. A store keeps one for each
// source, so that the owner can take one out and the level is what the others
// make it.
type Influence struct {
	Number   int64       // its name: given once in a conversation, also across resets
	Session  string      // the session id it counts for; empty: for all
	Label    string      // as in Source; empty: what is not known any more
	Level    taint.Level // the worst it brought
	Fixed    bool        // no tool brought it in, so it can't be taken out
	First    time.Time
	Last     time.Time
	Step     int64     // of the last time
	Endorsed time.Time // since when the owner vouches for it; zero: it counts
}

// Least is the best level that is kept by source. What is better needs no
// word of the owner; a conversation from which sources were taken out is never better
// than the level before it.
const Least = taint.Shared

// MostInfluences is how many are kept for a session id. The rest share one that
// can't be taken out.
const MostInfluences = 32

// cut is the end of a label that was too long.
const cut = "…"

// Influences are those of one session id, in the order in which they came.
type Influences []Influence

// Worst is the worst level that counts.
func (all Influences) Worst() taint.Level {
	worst := taint.System
	for i := range all {
		if all[i].Endorsed.IsZero() {
			worst = taint.Worse(worst, all[i].Level)
		}
	}
	return worst
}

// Find is the index of an influence, or -1.
func (all Influences) Find(number int64) int {
	return slices.IndexFunc(all, func(i Influence) bool { return i.Number == number })
}

// Add notes that something had a say, now: what was vouched for before counts
// again, for it may be another page today. Next gives the number of one that was
// not known.
func (all *Influences) Add(one Influence, next func() (int64, error)) error {
	one.Label = strings.ReplaceAll(one.Label, "\n", " ")
	one.Fixed = one.Fixed || one.Label == "" || strings.HasSuffix(one.Label, cut) // it may be the label of several
	at := all.same(&one)
	if at < 0 && len(*all) >= MostInfluences {
		one.Label, one.Fixed = "", true
		at = all.same(&one)
	}
	if at < 0 {
		number, err := next()
		if err != nil {
			return err
		}
		one.Number, one.First = number, one.Last
		*all = append(*all, one)
		return nil
	}
	had := &(*all)[at]
	had.Level, had.Last, had.Step, had.Endorsed = taint.Worse(had.Level, one.Level), one.Last, one.Step, time.Time{}
	return nil
}

func (all *Influences) same(one *Influence) int {
	return slices.IndexFunc(*all, func(i Influence) bool { return i.Label == one.Label && i.Fixed == one.Fixed })
}

// String writes them for a store, one a line: number, level, fixed, first, last,
// step, endorsed, label.
func (all Influences) String() string {
	var b strings.Builder
	for _, i := range all {
		fixed := int64(0)
		if i.Fixed {
			fixed = 1
		}
		for _, n := range [...]int64{i.Number, int64(i.Level), fixed, i.First.UnixMilli(), i.Last.UnixMilli(), i.Step, milli(i.Endorsed)} {
			b.WriteString(strconv.FormatInt(n, 10))
			b.WriteByte(' ')
		}
		b.WriteString(i.Label)
		b.WriteByte('\n')
	}
	return b.String()
}

func milli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// ParseInfluences reads what String has written of a session id. Ok is false for
// anything else.
func ParseInfluences(sessionID, text string) (all Influences, ok bool) {
	for line := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 8)
		if len(f) != 8 {
			return nil, false
		}
		var n [7]int64
		for i := range n {
			v, err := strconv.ParseInt(f[i], 10, 64)
			if err != nil || v < 0 {
				return nil, false
			}
			n[i] = v
		}
		if n[1] >= taint.Levels || n[2] > 1 {
			return nil, false
		}
		one := Influence{
			Number: n[0], Session: sessionID, Label: f[7], Level: taint.Level(n[1]), Fixed: n[2] == 1, //nolint:gosec // it is below taint.Levels
			First: time.UnixMilli(n[3]).UTC(), Last: time.UnixMilli(n[4]).UTC(), Step: n[5],
		}
		if n[6] > 0 {
			one.Endorsed = time.UnixMilli(n[6]).UTC()
		}
		all = append(all, one)
	}
	return all, true
}

// Lowered is what a session id's own level is without what the owner vouches for.
func (all Influences) Lowered(own taint.Level) taint.Level {
	return taint.Worse(min(own, Least-1), all.Worst())
}

// Account is what came into a conversation.
type Account struct {
	Conversation Conversation
	Level        taint.Level // the worst of all session ids
	Influences   Influences  // by their numbers
}

// Endorsement is what a store did at the owner's word about a source.
type Endorsement struct {
	Conversation Conversation
	Influence    Influence
	Before       taint.Level // of the session id that it counted for, or the worst where it counts for all
	After        taint.Level
}
