package redis

import (
	"context"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// admitCall is admit.lua with all it takes, in one piece of memory: what an
// argument points to costs no allocation of its own. Every call makes one.
type admitCall struct {
	epoch  string
	keys   [admitKeys]string
	text   [12]string
	number [3]int64
	args   [3 + admitKeys + 16]any
	grants []string
}

const admitKeys = 8

// Calls begin with these.
var (
	evalSHA   any = "evalsha"
	eval      any = "eval"
	eightKeys any = "8"
	admitSHA  any = admitScript.Hash()
	admitSrc  any = admitSource
	twoKeys   any = "2"
	denySHA   any = denyScript.Hash()
)

func newAdmitCall(a session.Admission, p place) *admitCall {
	runCap := int64(a.RunCap)
	if a.Run == "" {
		runCap = 0
	}
	c := &admitCall{
		keys: p.admitKeys(a.RequestID, a.Run),
		text: [...]string{
			p.hash, nameOf(a.Conversation), a.Session, digits(a), string(a.Body[:]), a.Standing, a.Sender, a.Source, a.Digest,
			a.Brake.All, a.Brake.Agent, a.Brake.Own,
		},
		number: [...]int64{a.Floor.Generation, life(a.Keep), runCap},
		grants: a.Grants,
	}
	t, n := &c.text, &c.number
	c.args = [...]any{
		evalSHA, admitSHA, eightKeys,
		&c.keys[0], &c.keys[1], &c.keys[2], &c.keys[3], &c.keys[4], &c.keys[5], &c.keys[6], &c.keys[7],
		&c.epoch, &t[0], &t[1], &t[2], &t[3], &n[0], &t[4], &t[5], &n[1], &n[2], &t[6], &t[7], &t[8], &t[9], &t[10], &t[11],
	}
	return c
}

// command calls the script by its hash.
func (c *admitCall) command(ctx context.Context) *goredis.Cmd {
	args := c.args[:]
	for i := range c.grants {
		args = append(args, &c.grants[i])
	}
	cmd := goredis.NewCmd(ctx, args...)
	cmd.SetFirstKeyPos(3)
	return cmd
}

// whole brings the script along, for a server that does not know it yet.
func (c *admitCall) whole(ctx context.Context) *goredis.Cmd {
	c.args[0], c.args[1] = eval, admitSrc
	return c.command(ctx)
}

// settleCall is settle.lua with all it takes.
type settleCall []any

func newSettleCall(st session.Settlement) settleCall {
	p, claim := placeOf(st.Conversation), claimed(st.Claim)
	keys := p.keys(p.request(st.RequestID), p.card(claim.Card), p.pauses())
	c := settleCall{evalSHA, settleScript.Hash(), len(keys)}
	for _, key := range keys {
		c = append(c, key)
	}
	return append(c, "", p.hash, "", st.Session, string(st.Body[:]), st.Version, string(digit(st.Raise)), st.Source,
		st.Standing, life(st.Keep), claim.Version, claim.Blob, st.Brake.All, st.Brake.Agent, st.Brake.Own)
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
type denyCall [7]any

func newDenyCall(d *session.Denial) *denyCall {
	p := placeOf(d.Conversation)
	return &denyCall{evalSHA, denySHA, twoKeys, p.request(d.RequestID), p.state(), string(d.Body[:]), life(d.Keep)}
}

func (c *denyCall) command(ctx context.Context) *goredis.Cmd {
	cmd := goredis.NewCmd(ctx, c[:]...)
	cmd.SetFirstKeyPos(3)
	return cmd
}

func (c *denyCall) whole(ctx context.Context) *goredis.Cmd {
	c[0], c[1] = eval, denyLua
	return c.command(ctx)
}

// admitKeys are the keys of admit.lua, in one piece of memory.
func (p place) admitKeys(request, run string) (keys [admitKeys]string) {
	parts := [admitKeys][3]string{
		{"s:", p.hash}, {"known"}, {"epoch"}, {"g:", p.hash}, {"q:", p.hash},
		{"r:" + p.hash, ":", request}, {"n:" + p.hash, ":", run}, {"pauses"},
	}
	var all strings.Builder
	all.Grow(admitKeys*(len(p.prefix)+len(p.hash)+8) + len(request) + len(run))
	for _, key := range parts {
		all.WriteString(p.prefix)
		for _, part := range key {
			all.WriteString(part)
		}
	}
	text := all.String()
	for i, key := range parts {
		n := len(p.prefix) + len(key[0]) + len(key[1]) + len(key[2])
		keys[i], text = text[:n], text[n:]
	}
	return keys
}

// digits packs what is small: initial, birth, floor, raise, final, six modes,
// paused, note.
func digits(a session.Admission) string {
	d := [7 + taint.Levels]byte{
		digit(a.Initial), digit(a.Birth), digit(a.Floor.Level), digit(a.Raise), flag(a.Final)[0],
	}
	for i, m := range a.Modes {
		d[5+i] = '0' + byte(min(m, taint.Restrict))
	}
	d[5+taint.Levels], d[6+taint.Levels] = flag(a.Brake.On)[0], flag(a.Note)[0]
	return string(d[:])
}

// digit writes a level; one that does not exist is the worst.
func digit(l taint.Level) byte { return '0' + byte(min(l, taint.Untrusted)) }
