package verifier_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/taint"
)

// history is a random one, and what its owner has said in it.
type history struct {
	*lab
	t      *testing.T
	rt     *rapid.T
	n      int
	sent   []*protocol.Call
	all    []*process
	open   map[string]asked // by reference
	yeses  map[string]int   // to a call, by its digest
	grants map[string]time.Time
	paused bool
	seen   int // entries of the record that were looked at
	levels map[string]taint.Level
}

// asked is what a card is about.
type asked struct{ digest, conversation, run, tool string }

// grant is where one for minutes, or for that turn, is kept.
func (a asked) grant(turn bool) string {
	if turn {
		return strings.Join([]string{a.conversation, a.tool, "turn", a.run}, "\n")
	}
	return a.conversation + "\n" + a.tool
}

// one draws a process.
func (h *history) one(label string) *process {
	return h.all[rapid.IntRange(0, len(h.all)-1).Draw(h.rt, label)]
}

func where(c *protocol.Call) string {
	return c.Context.SessionKey + "\n" + c.Context.SessionID + "\n" + c.Agent()
}

// any draws a call: a few tools, commands, conversations and ids, so that they meet; or one that was sent before, as it
// was.
func (h *history) any(label string) *protocol.Call {
	draw := func(of string, from ...string) string { return rapid.SampledFrom(from).Draw(h.rt, label+" "+of) }
	if len(h.sent) > 0 && rapid.IntRange(0, 4).Draw(h.rt, label+" again") == 0 {
		return rapid.SampledFrom(h.sent).Draw(h.rt, label)
	}
	h.n++
	c := named(h.t, fmt.Sprint("request-", h.n), draw("tool", "read", "exec", "exec", "write", "web_fetch"),
		`{"command":"run `+draw("command", "0", "1")+`"}`, `"sessionKey":"agent:main:`+draw("conversation", "a",
			"b")+`",`+
			draw("run", "", `"runId":"r1",`, `"runId":"r2",`)+
			draw("who", `"senderId":"1","senderIsOwner":true`, `"senderId":"9"`,
				`"senderId":"1","senderIsOwner":true,"sessionId":"s"`)+`,"waitMs":1`)
	h.sent = append(h.sent, c)
	return c
}

// call makes up to four at the same time.
func (h *history) call(rt *rapid.T) {
	h.rt = rt
	var calls []*protocol.Call
	var at []*process
	for i := range rapid.IntRange(1, 4).Draw(rt, "at once") {
		calls, at = append(calls, h.any(fmt.Sprint("call ", i))), append(at, h.one(fmt.Sprint("call ", i, " at")))
	}
	refs := make([]string, len(calls))
	var wg sync.WaitGroup
	for i, c := range calls {
		wg.Go(func() {
			one := *c
			if d := at[i].verify(&one); !d.Allow && strings.HasPrefix(d.Reason, "Owner approval required") {
				refs[i] = d.Ref
			}
		})
	}
	wg.Wait()
	for i, ref := range refs {
		if ref != "" {
			h.open[ref] = asked{calls[i].Digest(), where(calls[i]), calls[i].Context.RunID, calls[i].Tool}
		}
	}
	h.look(len(calls) == 1)
}

// tap answers a card that was shown, however old it is, once or at two places at the same moment.
func (h *history) tap(rt *rapid.T) {
	if len(h.open) == 0 {
		return
	}
	h.rt = rt
	ref := rapid.SampledFrom(slices.Sorted(maps.Keys(h.open))).Draw(rt, "card")
	taps := make([]*tap, rapid.IntRange(1, 2).Draw(rt, "taps"))
	for i := range taps {
		taps[i] = &tap{at: h.one("tap at"), allow: rapid.Bool().Draw(rt, "allow"), scope: rapid.SampledFrom(
			[]approval.Scope{{}, {}, {Minutes: 1}, {Minutes: 30}, {Turn: true}}).Draw(rt, "scope")}
	}
	var wg sync.WaitGroup
	for _, one := range taps {
		wg.Go(func() { one.kind, one.err = one.at.answer(ref, one.allow, one.scope) })
	}
	wg.Wait()
	counted := 0
	for _, one := range taps {
		if one.err != nil {
			rt.Fatal(one.err)
		}
		if one.kind == approval.Counted {
			counted++
			h.said(h.open[ref], one)
		}
	}
	if counted > 1 {
		rt.Fatalf("%d answers to one card counted", counted)
	}
}

// tap is one answer, and what became of it.
type tap struct {
	at    *process
	allow bool
	scope approval.Scope
	kind  approval.Kind
	err   error
}

// said keeps what an answer that counts allows.
func (h *history) said(to asked, t *tap) {
	if !t.allow {
		return
	}
	h.yeses[to.digest]++
	lasts := time.Duration(t.scope.Minutes) * time.Minute
	if t.scope.Turn {
		lasts = 24 * time.Hour
	}
	if key, until := to.grant(t.scope.Turn), h.now().Add(lasts); lasts > 0 && until.After(h.grants[key]) {
		h.grants[key] = until
	}
}

// type types a line as the owner.
func (h *history) typed(rt *rapid.T, text string) {
	h.rt = rt
	a := approval.Answer{ID: ownerID, Via: "terminal", Text: text}
	if _, err := h.one("typed at").desk.Answer(context.Background(), a); err != nil {
		rt.Fatal(err)
	}
}

// halt pauses the agent, or lets it go on.
func (h *history) halt(rt *rapid.T) {
	h.typed(rt, map[bool]string{true: ".resume", false: ".pause"}[h.paused])
	h.paused = !h.paused
}

// revoke ends every grant.
func (h *history) revoke(rt *rapid.T) {
	h.typed(rt, ".revoke all")
	clear(h.grants)
}

func (h *history) wait(rt *rapid.T) {
	h.advance(rapid.SampledFrom([]time.Duration{time.Second, approval.DefaultTTL + time.Second, 31 * time.Minute}).
		Draw(rt, "time"))
}

// die ends a process without a word and starts another.
func (h *history) die(rt *rapid.T) {
	i := rapid.IntRange(0, len(h.all)-1).Draw(rt, "dies")
	h.all[i].end()
	h.all[i] = h.start(h.t, nil)
}

// look checks what the record says was allowed since it last looked, and that levels only got worse where no calls were
// made at the same time.
func (h *history) look(alone bool) {
	h.record.mu.Lock()
	defer h.record.mu.Unlock()
	for _, e := range h.record.entries[h.seen:] {
		if e.Kind != record.KindDecision {
			continue
		}
		if e.Decision == record.Allow {
			h.ground(e)
		}
		var l taint.Level
		if e.Level == "" || e.Replay || l.UnmarshalText([]byte(e.Level)) != nil {
			continue
		}
		key := e.Session + "\n" + e.SessionID
		if alone && l < h.levels[key] {
			h.rt.Fatalf("%q went from %s to %s", key, h.levels[key], l)
		}
		h.levels[key] = max(l, h.levels[key])
	}
	h.seen = len(h.record.entries)
}

// ground: no sequence of events leads from confirm to allow without an approver's answer; a yes is for its digest,
// once; a grant ends with its time, or when it is revoked, and is for its tool and conversation, or a turn in it; and
// under a pause nothing passes that acts.
func (h *history) ground(e record.Entry) {
	if h.paused && (e.Tool == "exec" || e.Tool == "write") {
		h.rt.Fatalf("it passed under a pause: %+v", e)
	}
	to := asked{conversation: strings.Join([]string{e.Session, e.SessionID, e.Agent}, "\n"), run: e.Run, tool: e.Tool}
	switch {
	case e.Replay:
		if !slices.ContainsFunc(h.record.entries, func(first record.Entry) bool {
			return first.RequestID == e.RequestID && first.Decision == record.Allow && !first.Replay
		}) {
			h.rt.Fatalf("a replay of what was never allowed: %+v", e)
		}
	case e.By == "person":
		uses := 0
		for _, x := range h.record.entries {
			if x.Decision == record.Allow && x.By == "person" && x.Digest == e.Digest && !x.Replay {
				uses++
			}
		}
		if uses > h.yeses[e.Digest] {
			h.rt.Fatalf("%d calls passed by %d yeses: %+v", uses, h.yeses[e.Digest], e)
		}
	case e.By == "grant":
		now := h.now()
		if !now.Before(h.grants[to.grant(false)]) && (e.Run == "" || !now.Before(h.grants[to.grant(true)])) {
			h.rt.Fatalf("no grant covers it now: %+v", e)
		}
	case e.Mode != "allow":
		h.rt.Fatalf("allowed by %s, and the policy says %s: %+v", e.By, e.Mode, e)
	}
}

// TestNoHistoryAllowsWhatNobodyAllowed: whatever is called, replayed, answered, waited for, paused, revoked and
// crashed, in any order and at the same time, at two processes that share a store.
func TestNoHistoryAllowsWhatNobodyAllowed(t *testing.T) {
	for name, open := range labs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				h := &history{
					lab: open(t), t: t, rt: rt, open: map[string]asked{}, yeses: map[string]int{},
					grants: map[string]time.Time{}, levels: map[string]taint.Level{},
				}
				for range 2 {
					h.all = append(h.all, h.start(t, nil))
				}
				defer func() {
					for _, p := range h.all {
						p.end()
					}
				}()
				acts := []func(*rapid.T){h.call, h.call, h.call, h.call, h.tap, h.tap, h.tap, h.wait, h.die, h.halt, h.revoke}
				for range rapid.IntRange(1, 14).Draw(rt, "length") {
					acts[rapid.IntRange(0, len(acts)-1).Draw(rt, "act")](rt)
				}
			})
		})
	}
}
