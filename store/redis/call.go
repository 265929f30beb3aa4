package redis

import (
	"context"
	"encoding/hex"
	"strconv"

	goredis "github.com/redis/go-redis/v9"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// admitCall is admit.lua with all it takes, in memory that the next call uses
// again. Every argument costs both sides something, so what is no key goes in one.
type admitCall struct {
	memory []byte             // of all pieces
	pieces [admitPieces]piece // keys that are the conversation's own, and what is said of the call
	args   [3 + admitKeys + 1]any
	used   int // of args
	grants []string
}

const (
	admitKeys   = 8
	admitPieces = 6
	mostMemory  = 4096 // that is kept for the next call
)

// piece is an argument that stands in memory of our own.
type piece []byte

// MarshalBinary implements encoding.BinaryMarshaler, which is how go-redis takes an
// argument that is not of its types.
func (p *piece) MarshalBinary() ([]byte, error) { return *p, nil }

// Calls begin with these.
var (
	evalSHA   any = "evalsha"
	eval      any = "eval"
	eightKeys any = "8"
	sevenKeys any = "7"
	admitSHA  any = admitScript.Hash()
	admitSrc  any = admitSource
	twoKeys   any = "2"
	denySHA   any = denyScript.Hash()
)

// write makes it the call of an admission to the conversation with this ID.
func (c *admitCall) write(a *session.Admission, at [16]byte, epoch string, floor int64) {
	c.put(a, at, epoch, floor)
	c.grants = a.Grants
	p, b := &c.pieces, &bucketOf[at[0]]
	args := append(c.args[:0], evalSHA, admitSHA, sevenKeys, &p[0], &b.known, &b.epoch, &p[1], &p[2], &p[3], &b.pauses)
	if runCap(a) > 0 {
		args[2] = eightKeys
		args = append(args, &p[4])
	}
	c.used = len(append(args, &p[5]))
}

// forget drops what it says.
func (c *admitCall) forget() {
	clear(c.memory)
	if cap(c.memory) > mostMemory {
		c.memory = nil
	}
	c.pieces, c.grants = [admitPieces]piece{}, nil
}

// runCap is how many calls the run may make; 0: they are not counted.
func runCap(a *session.Admission) int64 {
	if a.Run == "" {
		return 0
	}
	return int64(max(0, a.RunCap))
}

// command calls the script by its hash.
func (c *admitCall) command(ctx context.Context) *goredis.Cmd {
	args := c.args[:c.used:c.used]
	for i := range c.grants {
		args = append(args, &c.grants[i])
	}
	cmd := goredis.NewCmd(ctx, args...)
	cmd.SetFirstKeyPos(4) // any of the keys says which slot, but it must be a string
	return cmd
}

// whole brings the script along, for a server that does not know it yet.
func (c *admitCall) whole(ctx context.Context) *goredis.Cmd {
	c.args[0], c.args[1] = eval, admitSrc
	return c.command(ctx)
}

// settleCall is settle.lua with all it takes.
type settleCall []any

func newSettleCall(st session.Settlement, floor int64) settleCall {
	p, claim := placeOf(st.Conversation), claimed(st.Claim)
	keys := p.keys(p.request(st.RequestID), p.card(claim.Card), p.pauses())
	c := settleCall{evalSHA, settleScript.Hash(), len(keys)}
	for _, key := range keys {
		c = append(c, key)
	}
	return append(c, "", p.hash, "", st.Session, string(st.Body[:]), st.Version, string(digit(st.Raise)), st.Source,
		st.Standing, life(st.Keep), claim.Version, claim.Blob, st.Brake.All, st.Brake.Agent, st.Brake.Own, st.Secret, floor)
}

func (c settleCall) command(ctx context.Context) *goredis.Cmd {
	cmd := goredis.NewCmd(ctx, c...)
	cmd.SetFirstKeyPos(3)
	return cmd
}

func (c settleCall) whole(ctx context.Context) *goredis.Cmd {
	c[0], c[1] = eval, settleSource
	return c.command(ctx)
}

// denyCall is deny.lua with all it takes.
type denyCall [8]any

func newDenyCall(d *session.Denial, floor int64) *denyCall {
	p := placeOf(d.Conversation)
	return &denyCall{evalSHA, denySHA, twoKeys, p.request(d.RequestID), p.state(), string(d.Body[:]), life(d.Keep), floor}
}

func (c *denyCall) command(ctx context.Context) *goredis.Cmd {
	cmd := goredis.NewCmd(ctx, c[:]...)
	cmd.SetFirstKeyPos(3)
	return cmd
}

func (c *denyCall) whole(ctx context.Context) *goredis.Cmd {
	c[0], c[1] = eval, denySource
	return c.command(ctx)
}

// put puts the pieces together: the keys of the conversation, the request and the
// run, and what is said of the call.
func (c *admitCall) put(a *session.Admission, at [16]byte, epoch string, floor int64) {
	var ends [admitPieces]int
	w, prefix := c.memory[:0], bucketOf[at[0]].prefix
	w = hex.AppendEncode(append(append(w, prefix...), "s:"...), at[:])
	hash := w[len(w)-2*len(at):]
	ends[0] = len(w)
	w = append(append(append(w, prefix...), "g:"...), hash...)
	ends[1] = len(w)
	w = append(append(append(w, prefix...), "q:"...), hash...)
	ends[2] = len(w)
	w = append(append(append(append(append(w, prefix...), "r:"...), hash...), ':'), a.RequestID...)
	ends[3] = len(w)
	if runCap(a) > 0 {
		w = append(append(append(append(append(w, prefix...), "n:"...), hash...), ':'), a.Run...)
	}
	ends[4] = len(w)
	w = appendSaid(w, a, epoch, floor)
	ends[5] = len(w)
	start := 0
	for i, end := range ends {
		c.pieces[i], start = w[start:end], end
	}
	c.memory = w
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
