package redis

import (
	"strconv"

	goredis "github.com/redis/go-redis/v9"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// scriptCall is a script with all it takes.
type scriptCall struct {
	script *goredis.Script
	keys   []string
	args   []any
}

// admitCall enters a call into its conversation. Every argument costs both sides
// something, so what is no key goes in one, but for the names of grants.
func admitCall(a *session.Admission, epoch string, floor int64) scriptCall {
	p := placeOf(a.At())
	keys := p.keys(p.request(a.RequestID), p.pauses())
	if runCap(a) > 0 {
		keys = append(keys, p.run(a.Run))
	}
	args := []any{appendSaid(make([]byte, 0, 512), a, epoch, floor)}
	for _, grant := range a.Grants {
		args = append(args, grant)
	}
	return scriptCall{admitScript, keys, args}
}

// runCap is how many calls the run may make; 0: they are not counted.
func runCap(a *session.Admission) int64 {
	if a.Run == "" {
		return 0
	}
	return int64(max(0, a.RunCap))
}

func settleCall(st session.Settlement, floor int64) scriptCall {
	p, claim := placeOf(st.Conversation.ID()), claimed(st.Claim)
	return scriptCall{settleScript, p.keys(p.request(st.RequestID), p.card(claim.Card), p.pauses()), []any{
		"", p.hash, "", st.Session, string(st.Body[:]), st.Version, string(digit(st.Raise)), st.Source,
		st.Standing, life(st.Keep), claim.Version, claim.Blob, st.Brake.All, st.Brake.Agent, st.Brake.Own, st.Secret, floor,
	}}
}

func denyCall(d *session.Denial, floor int64) scriptCall {
	p := placeOf(d.Conversation.ID())
	return scriptCall{denyScript, []string{p.request(d.RequestID), p.state()}, []any{string(d.Body[:]), life(d.Keep), floor}}
}

// appendSaid writes what said.lua takes apart.
func appendSaid(to []byte, a *session.Admission, epoch string, floor int64) []byte {
	to = appendDigits(to, a)
	to = appendNumbers(to, floor, a.Floor.Generation, life(a.Keep), int64(len(a.Session)), int64(len(a.Body)+len(a.Standing)),
		int64(len(a.Source)), int64(len(a.Brake.All)), int64(len(a.Brake.Agent)), int64(len(a.Brake.Own)))
	to = append(append(append(to, a.Session...), a.Body[:]...), a.Standing...)
	to = append(append(append(append(to, a.Source...), a.Brake.All...), a.Brake.Agent...), a.Brake.Own...)
	to = appendNumbers(to, runCap(a), int64(len(epoch)), int64(len(a.Sender)), int64(len(a.Digest)))
	to = append(append(append(to, epoch...), a.Sender...), a.Digest...)
	return appendName(to, a.Conversation)
}

// appendNumbers writes numbers with a space behind each.
func appendNumbers(to []byte, numbers ...int64) []byte {
	for _, n := range numbers {
		to = append(strconv.AppendInt(to, n, 10), ' ')
	}
	return to
}

// appendDigits packs what is small: initial, birth, floor, raise, final, six
// modes, paused, note, counted, leaves.
func appendDigits(to []byte, a *session.Admission) []byte {
	to = append(to, digit(a.Initial), digit(a.Birth), digit(a.Floor.Level), digit(a.Raise), flag(a.Final)[0])
	for _, m := range a.Modes {
		to = append(to, '0'+byte(min(m, taint.Restrict)))
	}
	return append(to, flag(a.Brake.On)[0], flag(a.Note)[0], flag(runCap(a) > 0)[0], flag(a.Leaves)[0])
}

// digit writes a level; one that does not exist is the worst.
func digit(l taint.Level) byte { return '0' + byte(min(l, taint.Untrusted)) }
