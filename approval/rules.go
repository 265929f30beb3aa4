package approval

import (
	"fmt"
	"slices"
	"time"
)

// State is the state of a question. The zero State is open.
type State uint8

// The states of a question.
const (
	Open State = iota
	Allowed
	Denied
	Expired
)

// String names the state in words that fit "The question is …".
func (s State) String() string {
	return [...]string{"open", "approved", "denied", "expired"}[min(s, Expired)]
}

// state works out the state of a question from its votes alone. A vote that
// does not carry our seal counts for nothing, unless it denies.
func (q *Question) state(now time.Time) State {
	people := make(map[string]bool)
	for i := range q.Votes {
		v := &q.Votes[i]
		if !v.Allow {
			return Denied
		}
		if q.counts(v) {
			people[v.Person] = true
		}
	}
	switch {
	case len(people) >= max(q.Ask.Approvals, 1):
		return Allowed
	case !now.Before(q.Ask.Until):
		return Expired
	}
	return Open
}

// scope is what an allowed question grants: the narrowest that was given.
func (q *Question) scope() Scope {
	if len(q.Votes) == 0 {
		return Scope{}
	}
	s := q.Votes[0].Scope
	for _, v := range q.Votes[1:] {
		s = narrower(s, v.Scope)
	}
	return s
}

// counts reports whether a vote is one of ours: made here, in time, by someone
// who may.
func (q *Question) counts(v *Vote) bool {
	if !q.Ask.admits(v.Person) {
		return false
	}
	if v.Edited != "" && q.Ask.Approvals > 1 {
		return false
	}
	return len(q.key) > 0 && !v.At.After(q.Ask.Until) && q.key.Check(v.Seal, "vote", v.sealed(q.card, q.Ask.Digest)...)
}

// Denial is the first no; nil if there is none. No seal covers its time: by changing it
// in the store, a no holds longer, or the same call asks again sooner. Neither allows
// anything.
func (q *Question) Denial() *Vote {
	if at := slices.IndexFunc(q.Votes, func(v Vote) bool { return !v.Allow }); at >= 0 {
		return &q.Votes[at]
	}
	return nil
}

// last is the last vote that counts.
func (q *Question) last() (last Vote) {
	for i := range q.Votes {
		if v := &q.Votes[i]; q.counts(v) && !v.At.Before(last.At) {
			last = *v
		}
	}
	return last
}

// limit cuts a scope down to what the question may grant, and says so.
func (q *Question) limit(s Scope, most int) (Scope, string) {
	switch {
	case !s.Lasting():
		return s, ""
	case s.Like && q.Ask.Like == "":
		return Scope{}, " Calls like this one can't be allowed together, so the yes is for this call only."
	case !q.Ask.Lasting:
		return Scope{}, " This call can't get a lasting grant, so the yes is for this call only."
	case s.Turn && q.Ask.Run == "":
		return Scope{}, " The agent's runtime names no run, so the yes is for this call only."
	}
	said := ""
	s = q.Ask.Bound(s)
	if q.Ask.Shell && !q.Ask.Every && !s.Exactly {
		s.Exactly, said = true, " Another such call could do anything, so the yes is for exactly this one."
	}
	switch {
	case s.Turn:
		s.Minutes = most
	case s.Minutes > most:
		s.Minutes = most
		said += fmt.Sprintf(" %d minutes is the most, so it is %d.", most, most)
	}
	return s, said
}

// vote adds a person's answer. It reports false when the question is settled or
// the person has voted already.
func (q *Question) vote(v Vote) bool {
	if q.state(v.At) != Open {
		return false
	}
	if slices.ContainsFunc(q.Votes, func(old Vote) bool { return old.Person == v.Person && old.Allow == v.Allow }) {
		return false
	}
	if v.Allow && len(q.Holders) > 0 {
		v.For = q.Holders[0]
	}
	v.Seal = q.key.Seal("vote", v.sealed(q.card, q.Ask.Digest)...)
	q.Votes = append(q.Votes, v)
	return true
}

// withdraw ends the question without a person's answer. An unsealed no counts.
func (q *Question) withdraw(why string, now time.Time) {
	q.Votes = append(q.Votes, Vote{Via: "verifier", Reason: why, At: now})
}

// claimable says whether a request may take the yes that the last vote gave.
func (q *Question) claimable(yes Vote, request string, ttl time.Duration, now time.Time, gone func(holder string) bool) bool {
	switch {
	case q.Used != "":
		return q.Used == request
	case !now.Before(yes.At.Add(ttl)):
		return false
	case heldRequest(yes.For) == request:
		return true
	case q.Ask.HeldOnly, yes.Edited != "":
		return false
	}
	return yes.For == "" || gone(yes.For) || q.kept(yes, now) == 0
}

// kept is how much longer a yes is kept for the request that it was given to. That
// one may have died with its process, and no other process knows: after a moment an
// identical request may have the yes, and waits for it until then.
func (q *Question) kept(yes Vote, now time.Time) time.Duration {
	if q.Used != "" || q.Ask.HeldOnly || yes.For == "" || yes.Edited != "" {
		return 0
	}
	return max(0, yes.At.Add(grace).Sub(now))
}

// join adds a request that waits, under its holder; leave takes it out.
func (q *Question) join(holder string) bool {
	if slices.Contains(q.Holders, holder) {
		return false
	}
	q.Holders = append(q.Holders, holder)
	return true
}

func (q *Question) leave(holder string) bool {
	n := len(q.Holders)
	q.Holders = slices.DeleteFunc(q.Holders, func(h string) bool { return h == holder })
	return len(q.Holders) != n
}

// closed reports whether nothing on the card waits for an answer.
func (c *Card) closed(now time.Time) bool {
	return !slices.ContainsFunc(c.Questions, func(q Question) bool { return q.state(now) == Open })
}
