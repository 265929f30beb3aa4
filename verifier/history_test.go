package verifier_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// history is a random one, and what its owner has said in it.
type history struct {
	*lab
	t      *testing.T
	rt     *rapid.T
	n      int
	sent   []*toolcall.Call
	all    []*process
	open   map[string][]asked // by reference: calls that wait together are on one card
	yeses  map[string]int     // to a call, by its digest
	grants map[string]time.Time
	paused bool
	seen   int // entries of the record that were looked at
}

// asked is what a card is about.
type asked struct{ digest, conversation, run, tool string }

// grant is where one of those minutes, or of that turn, is kept.
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

func where(c *toolcall.Call) string {
	return c.Context.SessionKey + "\n" + c.Context.SessionID + "\n" + c.Agent()
}

// any draws a call: a few tools, commands, conversations and ids, so that they
// meet; or one that was sent before, as it was.
func (h *history) any(label string) *toolcall.Call {
	if len(h.sent) > 0 && rapid.IntRange(0, 4).Draw(h.rt, label+" again") == 0 {
		return rapid.SampledFrom(h.sent).Draw(h.rt, label)
	}
	tool := rapid.SampledFrom([]string{"read", "exec", "exec", "write", "web_fetch"}).Draw(h.rt, label+" tool")
	params := fmt.Sprintf(`{"command":"run %d"}`, rapid.IntRange(0, 1).Draw(h.rt, label+" command"))
	who := rapid.SampledFrom([]string{`"senderId":"1","senderIsOwner":true`, `"senderId":"9"`, `"senderId":"1","senderIsOwner":true,"sessionId":"s"`}).Draw(h.rt, label+" who")
	run := rapid.SampledFrom([]string{"", `"runId":"r1",`, `"runId":"r2",`}).Draw(h.rt, label+" run")
	h.n++
	c := named(h.t, fmt.Sprint("request-", h.n), tool, params, fmt.Sprintf(`"sessionKey":"agent:main:%s",%s%s,"waitMs":1`,
		rapid.SampledFrom([]string{"a", "b"}).Draw(h.rt, label+" conversation"), run, who))
	h.sent = append(h.sent, c)
	return c
}

// call makes up to four at the same time.
func (h *history) call(rt *rapid.T) {
	h.rt = rt
	var calls []*toolcall.Call
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
			if to := (asked{calls[i].Digest().String(), where(calls[i]), calls[i].Context.RunID, calls[i].Tool}); !slices.Contains(h.open[ref], to) {
				h.open[ref] = append(h.open[ref], to)
			}
		}
	}
	h.look()
}

// tap answers a card that was shown, however old it is, once or at two places at
// the same moment.
func (h *history) tap(rt *rapid.T) {
	if len(h.open) == 0 {
		return
	}
	h.rt = rt
	refs := slices.Sorted(maps.Keys(h.open))
	ref := refs[rapid.IntRange(0, len(refs)-1).Draw(rt, "card")]
	taps := make([]*tap, rapid.IntRange(1, 2).Draw(rt, "taps"))
	for i := range taps {
		taps[i] = &tap{at: h.one("tap at"), allow: rapid.Bool().Draw(rt, "allow")}
		taps[i].scope = rapid.SampledFrom([]approval.Scope{{}, {}, {Minutes: 1}, {Minutes: 30}, {Turn: true}}).Draw(rt, "scope")
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
			for _, to := range h.open[ref] {
				h.said(to, one)
			}
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

// halt pauses the agent, or lets it go on.
func (h *history) halt(rt *rapid.T) {
	h.rt = rt
	word := ".pause"
	if h.paused {
		word = ".resume"
	}
	if _, err := h.one("pause at").desk.Answer(context.Background(), approval.Answer{ID: ownerID, Via: "terminal", Text: word}); err != nil {
		rt.Fatal(err)
	}
	h.paused = !h.paused
}

// revoke ends every grant.
func (h *history) revoke(rt *rapid.T) {
	h.rt = rt
	if _, err := h.one("revoke at").desk.Grants.Revoke(context.Background(), approval.Answer{ID: ownerID, Via: "terminal"}, approval.AllGrants); err != nil {
		rt.Fatal(err)
	}
	clear(h.grants)
}

func (h *history) wait(rt *rapid.T) {
	h.advance(rapid.SampledFrom([]time.Duration{time.Second, questionTTL + time.Second, 31 * time.Minute}).Draw(rt, "time"))
}

// die ends a process without a word and starts another.
func (h *history) die(rt *rapid.T) {
	i := rapid.IntRange(0, len(h.all)-1).Draw(rt, "dies")
	h.all[i].desk.Close()
	var err error
	if h.all[i], err = h.start(); err != nil {
		rt.Fatal(err)
	}
}

// look checks what the record says was allowed since it last looked.
func (h *history) look() {
	h.record.mu.Lock()
	defer h.record.mu.Unlock()
	for _, e := range h.record.entries[h.seen:] {
		if e.Kind == record.KindDecision && e.Decision == record.Allow {
			h.ground(e)
		}
	}
	h.seen = len(h.record.entries)
	h.monotone()
}

// ground: no sequence of events leads from confirm to allow without an
// approver's answer; a yes is for its digest, once; a grant ends with its time,
// or when it is revoked, and is for its tool and conversation, or a turn in it;
// and under a pause nothing passes that acts.
func (h *history) ground(e record.Entry) {
	if h.paused && (e.Tool == "exec" || e.Tool == "write") {
		h.rt.Fatalf("it passed under a pause: %+v", e)
	}
	to := asked{conversation: strings.Join([]string{e.Session, e.SessionID, e.Agent}, "\n"), run: e.Run, tool: e.Tool}
	if e.Replay && !slices.ContainsFunc(h.record.entries, func(first record.Entry) bool {
		return first.RequestID == e.RequestID && first.Decision == record.Allow && !first.Replay
	}) {
		h.rt.Fatalf("a replay of what was never allowed: %+v", e)
	}
	switch {
	case e.Replay && e.By == "replay":
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
	case e.By == "grant", e.By == "destination":
		if now := h.now(); !now.Before(h.grants[to.grant(false)]) && (e.Run == "" || !now.Before(h.grants[to.grant(true)])) {
			h.rt.Fatalf("no grant covers it now: %+v", e)
		}
	case e.Mode != "allow":
		h.rt.Fatalf("allowed by %s, and the policy says %s: %+v", e.By, e.Mode, e)
	}
}

// monotone: in the order in which the store took them, the calls of a session saw
// levels that only got worse.
func (h *history) monotone() {
	type point struct {
		step  int64
		level taint.Level
	}
	by := map[string][]point{}
	for _, e := range h.record.entries {
		var l taint.Level
		if e.Kind != record.KindDecision || e.Level == "" || e.Replay || l.UnmarshalText([]byte(e.Level)) != nil {
			continue
		}
		key := e.Session + "\n" + e.SessionID
		by[key] = append(by[key], point{e.Step, l})
	}
	for key, points := range by {
		slices.SortStableFunc(points, func(a, b point) int { return int(a.step - b.step) })
		for i := 1; i < len(points); i++ {
			if points[i].step > points[i-1].step && points[i].level < points[i-1].level {
				h.rt.Fatalf("%q went from %s to %s at step %d", key, points[i-1].level, points[i].level, points[i].step)
			}
		}
	}
}

// TestNoHistoryAllowsWhatNobodyAllowed: whatever is called, replayed, answered,
// waited for, paused, revoked and crashed, in any order and at the same time, at
// two processes that share a store.
func TestNoHistoryAllowsWhatNobodyAllowed(t *testing.T) {
	for name, open := range labs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				dir, err := os.MkdirTemp(t.TempDir(), "") //nolint:usetesting // one for each history
				if err != nil {
					rt.Fatal(err)
				}
				l, done, err := open(dir)
				if err != nil {
					rt.Fatal(err)
				}
				defer done()
				h := &history{lab: l, t: t, rt: rt, open: map[string][]asked{}, yeses: map[string]int{}, grants: map[string]time.Time{}}
				defer func() {
					for _, p := range h.all {
						p.desk.Close()
					}
				}()
				for range 2 {
					p, err := l.start()
					if err != nil {
						rt.Fatal(err)
					}
					h.all = append(h.all, p)
				}
				acts := []func(*rapid.T){h.call, h.call, h.call, h.call, h.tap, h.tap, h.tap, h.wait, h.die, h.halt, h.revoke}
				for range rapid.IntRange(1, 14).Draw(rt, "length") {
					acts[rapid.IntRange(0, len(acts)-1).Draw(rt, "act")](rt)
				}
			})
		})
	}
}
