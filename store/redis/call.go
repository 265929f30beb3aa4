package redis

import (
	"context"

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

func newAdmitCall(a *session.Admission, p place) *admitCall {
	runCap := int64(a.RunCap)
	if a.Run == "" {
		runCap = 0
	}
	w := p.written(a)
	c := &admitCall{
		keys: [admitKeys]string(w[:admitKeys]),
		text: [...]string{
			p.hash, w[admitKeys], a.Session, w[admitKeys+1], w[admitKeys+2], a.Standing, a.Sender, a.Source, a.Digest,
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

// written is what has to be put together for admit.lua: its keys, the
// conversation's name, the digits and the body, in one piece of memory.
func (p place) written(a *session.Admission) (texts [admitKeys + 3]string) {
	var ends [len(texts)]int
	w := make([]byte, 0, 1024) // on the stack, as long as that is enough
	for i, key := range [admitKeys]struct{ kind, id, sep, name string }{
		{"s:", p.hash, "", ""}, {"known", "", "", ""}, {"epoch", "", "", ""}, {"g:", p.hash, "", ""}, {"q:", p.hash, "", ""},
		{"r:", p.hash, ":", a.RequestID}, {"n:", p.hash, ":", a.Run}, {"pauses", "", "", ""},
	} {
		w = append(append(append(append(append(w, p.prefix...), key.kind...), key.id...), key.sep...), key.name...)
		ends[i] = len(w)
	}
	w = appendName(w, a.Conversation)
	ends[admitKeys] = len(w)
	w = appendDigits(w, a)
	ends[admitKeys+1] = len(w)
	w = append(w, a.Body[:]...)
	ends[admitKeys+2] = len(w)
	text, start := string(w), 0
	for i, end := range ends {
		texts[i], start = text[start:end], end
	}
	return texts
}

// appendDigits packs what is small: initial, birth, floor, raise, final, six
// modes, paused, note.
func appendDigits(to []byte, a *session.Admission) []byte {
	to = append(to, digit(a.Initial), digit(a.Birth), digit(a.Floor.Level), digit(a.Raise), flag(a.Final)[0])
	for _, m := range a.Modes {
		to = append(to, '0'+byte(min(m, taint.Restrict)))
	}
	return append(to, flag(a.Brake.On)[0], flag(a.Note)[0])
}

// digit writes a level; one that does not exist is the worst.
func digit(l taint.Level) byte { return '0' + byte(min(l, taint.Untrusted)) }
