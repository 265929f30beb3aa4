package redis

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

//go:embed scripts/state.lua
var stateLua string

//go:embed scripts/clock.lua
var clockLua string

//go:embed scripts/keeptime.lua
var keepTimeLua string

//go:embed scripts/shift.lua
var shiftLua string

//go:embed scripts/said.lua
var saidLua string

//go:embed scripts/admit.lua
var admitLua string

//go:embed scripts/steady.lua
var steadyLua string

//go:embed scripts/arguments.lua
var argumentsLua string

//go:embed scripts/settle.lua
var settleLua string

//go:embed scripts/deny.lua
var denyLua string

//go:embed scripts/hear.lua
var hearLua string

//go:embed scripts/link.lua
var linkLua string

//go:embed scripts/raise.lua
var raiseLua string

//go:embed scripts/expose.lua
var exposeLua string

//go:embed scripts/reset.lua
var resetLua string

//go:embed scripts/revoke.lua
var revokeLua string

//go:embed scripts/endorse.lua
var endorseLua string

//go:embed scripts/place.lua
var placeLua string

//go:embed scripts/swap.lua
var swapLua string

//go:embed scripts/code.lua
var codeLua string

//go:embed scripts/drop.lua
var dropLua string

//go:embed scripts/miss.lua
var missLua string

//go:embed scripts/lease.lua
var leaseLua string

//go:embed scripts/note.lua
var noteLua string

//go:embed scripts/notes.lua
var notesLua string

//go:embed scripts/spend.lua
var spendLua string

//go:embed scripts/refund.lua
var refundLua string

//go:embed scripts/automation.lua
var automationLua string

//go:embed scripts/mark.lua
var markLua string

// admitScript is the only script that most calls need, so it asks first whether
// this is one of them: to make the functions of the general case takes longer
// than all that the steady one does.
var admitScript = goredis.NewScript(saidLua + steadyLua + argumentsLua + stateLua + admitLua)

// Scripts are sent by their hash, and whole where a server does not know them
// yet: after a restart, on a new node.
var (
	settleScript     = goredis.NewScript(clockLua + stateLua + settleLua)
	denyScript       = goredis.NewScript(clockLua + denyLua)
	hearScript       = goredis.NewScript(clockLua + stateLua + hearLua)
	linkScript       = goredis.NewScript(clockLua + stateLua + linkLua)
	raiseScript      = goredis.NewScript(clockLua + stateLua + raiseLua)
	exposeScript     = goredis.NewScript(clockLua + stateLua + exposeLua)
	resetScript      = goredis.NewScript(clockLua + stateLua + resetLua)
	revokeScript     = goredis.NewScript(clockLua + stateLua + revokeLua)
	endorseScript    = goredis.NewScript(clockLua + stateLua + endorseLua)
	placeScript      = goredis.NewScript(clockLua + placeLua)
	swapScript       = goredis.NewScript(clockLua + swapLua)
	codeScript       = goredis.NewScript(clockLua + codeLua)
	dropScript       = goredis.NewScript(dropLua)
	missScript       = goredis.NewScript(clockLua + missLua)
	leaseScript      = goredis.NewScript(clockLua + leaseLua)
	noteScript       = goredis.NewScript(clockLua + noteLua)
	notesScript      = goredis.NewScript(clockLua + notesLua)
	spendScript      = goredis.NewScript(clockLua + spendLua)
	refundScript     = goredis.NewScript(refundLua)
	automationScript = goredis.NewScript(automationLua)
	markScript       = goredis.NewScript(markLua)
	keepTimeScript   = goredis.NewScript(clockLua + keepTimeLua)
	shiftScript      = goredis.NewScript(clockLua + shiftLua)
)

// errReply says that a script answered what none of ours does.
var errReply = errors.New("redis: a script gave an answer that makes no sense")

// needsEpoch is the answer of a script that met a marker it can't judge.
const needsEpoch = "epoch"

// inEpoch runs a script that may have to bring a conversation into being. Where
// the bucket's epoch is not what we think, it looks after that and tries again,
// once.
func (s *Store) inEpoch(ctx context.Context, bucket string, run func(id string) (any, error)) (any, error) {
	for range 2 {
		reply, err := run(s.epoch.current())
		if err != nil || reply != needsEpoch {
			return reply, err
		}
		if err := s.reconcile(ctx, bucket); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("redis: the epoch changed twice during one call")
}

func (s *Store) reconcile(ctx context.Context, bucket string) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.epoch.reconcile(ctx, bucket)
}

// ifThere makes nothing of the error that says that nothing is there.
func ifThere(err error) error {
	if errors.Is(err, goredis.Nil) {
		return nil
	}
	return err
}

// texts reads an answer that is a list of at least n strings or numbers.
func texts(reply any, n int) ([]string, error) {
	list, ok := reply.([]any)
	if !ok || len(list) < n {
		return nil, fmt.Errorf("%w: %v", errReply, reply)
	}
	out := make([]string, len(list))
	for i, item := range list {
		switch v := item.(type) {
		case string:
			out[i] = v
		case int64:
			out[i] = strconv.FormatInt(v, 10)
		default:
			return nil, fmt.Errorf("%w: %v", errReply, reply)
		}
	}
	return out, nil
}

func milliTime(text string) (time.Time, error) {
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: %q is no time", errReply, text)
	}
	return time.UnixMilli(ms), nil
}

// life is a duration for PX, which knows no zero.
func life(d time.Duration) int64 { return max(1, d.Milliseconds()) }

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}
