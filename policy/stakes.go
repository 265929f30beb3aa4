package policy

import (
	"slices"

	"github.com/openclaw-verifier/verifier/command"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// Stake is what may be lost by a call, in a word of the owner's config (approval.stepUp).
type Stake string

// The stakes.
const (
	StakeAll         Stake = "all" // every call that a person is asked about
	StakeDangerous   Stake = "dangerous"
	StakeDestructive Stake = "destructive"
	StakeSecret      Stake = "secret"
	StakeMoney       Stake = "money"
	StakeDownloaded  Stake = "downloaded"
	StakeRecipient   Stake = "recipient"
	StakeOutside     Stake = "outside"
	StakeLeaves      Stake = "leaves"
	StakeUnknown     Stake = "unknown"
)

// Stakes are all the words.
func Stakes() []string {
	out := make([]string, len(stakes))
	for i, s := range stakes {
		out[i] = string(s)
	}
	return out
}

var stakes = []Stake{StakeAll, StakeDangerous, StakeDestructive, StakeSecret, StakeMoney, StakeDownloaded, StakeRecipient, StakeOutside, StakeLeaves, StakeUnknown}

// Stakes are those of a call with these risks. A tool that has no label, and a command that we can't read, may do anything: they have all.
func (pl *Plan) Stakes(c *toolcall.Call, risks []Risk) (out []string) {
	if mayDoAnything(pl.parsed, pl.rule) {
		return Stakes()
	}
	has := func(wanted ...Risk) bool {
		return slices.ContainsFunc(risks, func(r Risk) bool { return slices.Contains(wanted, r) })
	}
	for _, s := range []struct {
		stake Stake
		so    bool
	}{
		{StakeAll, true},
		{StakeDangerous, pl.rule.dangerous},
		{StakeDestructive, pl.rule.destructive || c.Hints.Destroys() || pl.parsed != nil && pl.parsed.Harms != "" || has(DeletesFiles, CantBeUndone)},
		{StakeSecret, pl.rule.secret || has(HoldsSecret)},
		{StakeMoney, pl.rule.money},
		{StakeRecipient, has(NewRecipient)},
		{StakeOutside, has(OutsideWorkspace)},
		{StakeLeaves, pl.Leaves || has(LeavesMachine)},
	} {
		if s.so {
			out = append(out, string(s.stake))
		}
	}
	return out
}

// Marked reports whether a call bears the mark of a risk by itself, whatever its conversation, or we don't know what it does.
func (pl *Plan) Marked(c *toolcall.Call) bool {
	risks := pl.Risks(c, &session.View{}, false)
	return len(risks) > 0 || !slices.Equal(pl.Stakes(c, risks), []string{string(StakeAll)})
}

// mayDoAnything reports whether we don't know what a call does.
func mayDoAnything(parsed *command.Command, rule *rule) bool {
	switch {
	case rule == nil || !rule.known:
		return true
	case parsed != nil:
		return parsed.Opaque != "" || len(parsed.Unknown) > 0 || parsed.Code || parsed.Fetched
	}
	return rule.runs
}
