package session

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/taint"
)

// Influence is something that influenced a conversation and made it worse, or
// would have if it had not been as bad already. A store keeps one for each
// source, for the owner to look at.
type Influence struct {
	Number  int64       // its name: given once in a conversation, also across resets
	Session string      // the session id it counts for; empty: for all
	Label   string      // as in Source; empty: what is not known any more
	Level   taint.Level // the worst it brought
	First   time.Time
	Last    time.Time
	Step    int64 // of the last time
}

// Least is the best level that is kept by source.
const Least = taint.Shared

// MostInfluences is how many are kept for a session id. The rest share one without a label.
const MostInfluences = 32

// Influences are those of one session id, in the order in which they came.
type Influences []Influence

// Worst is the worst level of all.
func (all Influences) Worst() taint.Level {
	worst := taint.System
	for i := range all {
		worst = taint.Worse(worst, all[i].Level)
	}
	return worst
}

// Find is the index of an influence, or -1.
func (all Influences) Find(number int64) int {
	return slices.IndexFunc(all, func(i Influence) bool { return i.Number == number })
}

// Add notes that something influenced it, now. Next gives the number of one that was not known.
func (all *Influences) Add(one Influence, next func() (int64, error)) error {
	one.Label = strings.ReplaceAll(one.Label, "\n", " ")
	at := all.same(&one)
	if at < 0 && len(*all) >= MostInfluences {
		one.Label = ""
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
	had.Level, had.Last, had.Step = taint.Worse(had.Level, one.Level), one.Last, one.Step
	return nil
}

func (all *Influences) same(one *Influence) int {
	return slices.IndexFunc(*all, func(i Influence) bool { return i.Label == one.Label })
}

// String writes them for a store, one a line: number, level, first, last,
// step, label.
func (all Influences) String() string {
	var b strings.Builder
	for _, i := range all {
		for _, n := range [...]int64{i.Number, int64(i.Level), i.First.UnixMilli(), i.Last.UnixMilli(), i.Step} {
			b.WriteString(strconv.FormatInt(n, 10))
			b.WriteByte(' ')
		}
		b.WriteString(i.Label)
		b.WriteByte('\n')
	}
	return b.String()
}

// ParseInfluences reads what String has written of a session id. Ok is false for
// anything else.
func ParseInfluences(sessionID, text string) (all Influences, ok bool) {
	for line := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 6)
		if len(f) != 6 {
			return nil, false
		}
		var n [5]int64
		for i := range n {
			v, err := strconv.ParseInt(f[i], 10, 64)
			if err != nil || v < 0 {
				return nil, false
			}
			n[i] = v
		}
		if n[1] >= taint.Levels {
			return nil, false
		}
		all = append(all, Influence{
			Number: n[0], Session: sessionID, Label: f[5], Level: taint.Level(n[1]), //nolint:gosec // it is below taint.Levels
			First: time.UnixMilli(n[2]).UTC(), Last: time.UnixMilli(n[3]).UTC(), Step: n[4],
		})
	}
	return all, true
}

// Account is what came into a conversation.
type Account struct {
	Conversation Conversation
	Level        taint.Level // the worst of all session ids
	Influences   Influences  // by their numbers
}
