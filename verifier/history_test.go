package verifier_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/audit"
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
	open   map[string]asked // by reference
	yeses  map[string]int   // to a call, by its digest
	grants map[string]time.Time
	seen   int // entries of the record that were looked at
}

// asked is what a card is about.
type asked struct{ digest, conversation, tool string }

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
	h.n++
	c := named(h.t, fmt.Sprint("request-", h.n), tool, params, fmt.Sprintf(`"sessionKey":"agent:main:%s",%s,"waitMs":1`,
		rapid.SampledFrom([]string{"a", "b"}).Draw(h.rt, label+" conversation"), who))
	h.sent = append(h.sent, c)
	return c
}

// call makes up to four at the same time.
func (h *history) call(rt *rapid.T) {
	h.rt = rt
	var calls []*toolcall.Call
	for i := range rapid.IntRange(1, 4).Draw(rt, "at once") {
		calls = append(calls, h.any(fmt.Sprint("call ", i)))
	}
	refs := make([]string, len(calls))
	var wg sync.WaitGroup
	for i, c := range calls {
		wg.Go(func() {
			one := *c
			if d := h.verify(&one); !d.Allow && strings.HasPrefix(d.Reason, "Owner approval required") {
				refs[i] = d.Ref
			}
		})
	}
	wg.Wait()
	for i, ref := range refs {
		if ref != "" {
			h.open[ref] = asked{calls[i].Digest().String(), where(calls[i]), calls[i].Tool}
		}
	}
	h.look()
}

// tap answers a card that was shown, however old it is.
func (h *history) tap(rt *rapid.T) {
	if len(h.open) == 0 {
		return
	}
	refs := make([]string, 0, len(h.open))
	for ref := range h.open {
		refs = append(refs, ref)
	}
	slices.Sort(refs)
	ref := rapid.SampledFrom(refs).Draw(rt, "card")
	allow, minutes := rapid.Bool().Draw(rt, "allow"), rapid.SampledFrom([]int{0, 0, 1, 30}).Draw(rt, "minutes")
	kind, err := h.answer(ref, allow, minutes)
	if err != nil {
		rt.Fatal(err)
	}
	if kind == approval.Counted && allow {
		h.yeses[h.open[ref].digest]++
		if minutes > 0 {
			key := h.open[ref].conversation + "\n" + h.open[ref].tool
			if until := h.now().Add(time.Duration(minutes) * time.Minute); until.After(h.grants[key]) {
				h.grants[key] = until
			}
		}
	}
}

func (h *history) wait(rt *rapid.T) {
	h.advance(rapid.SampledFrom([]time.Duration{time.Second, questionTTL + time.Second, 31 * time.Minute}).Draw(rt, "time"))
}

func (h *history) die(rt *rapid.T) {
	if err := h.crash(); err != nil {
		rt.Fatal(err)
	}
}

// look checks what the record says was allowed since it last looked.
func (h *history) look() {
	h.record.mu.Lock()
	defer h.record.mu.Unlock()
	for _, e := range h.record.entries[h.seen:] {
		if e.Kind == audit.KindDecision && e.Decision == audit.Allow {
			h.ground(e)
		}
	}
	h.seen = len(h.record.entries)
	h.monotone()
}

// ground: no sequence of events leads from confirm to allow without an
// approver's answer; a yes is for its digest, once; a grant ends with its time
// and is for its tool and conversation.
func (h *history) ground(e audit.Entry) {
	in := strings.Join([]string{e.Session, e.SessionID, e.Agent, e.Tool}, "\n")
	if e.Replay && !slices.ContainsFunc(h.record.entries, func(first audit.Entry) bool {
		return first.RequestID == e.RequestID && first.Decision == audit.Allow && !first.Replay
	}) {
		h.rt.Fatalf("a replay of what was never allowed: %+v", e)
	}
	switch {
	case e.Replay && e.By == "replay":
	case e.By == "person":
		uses := 0
		for _, x := range h.record.entries {
			if x.Decision == audit.Allow && x.By == "person" && x.Digest == e.Digest && !x.Replay {
				uses++
			}
		}
		if uses > h.yeses[e.Digest] {
			h.rt.Fatalf("%d calls passed by %d yeses: %+v", uses, h.yeses[e.Digest], e)
		}
	case e.By == "grant":
		if until, given := h.grants[in]; !given || !h.now().Before(until) {
			h.rt.Fatalf("no grant covers it now (%v, until %v): %+v", given, until, e)
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
		if e.Kind != audit.KindDecision || e.Level == "" || e.Replay || l.UnmarshalText([]byte(e.Level)) != nil {
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
// waited for and crashed, in any order and at the same time.
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
				if err := l.begin(); err != nil {
					rt.Fatal(err)
				}
				defer func() { l.desk.Close() }()
				h := &history{lab: l, t: t, rt: rt, open: map[string]asked{}, yeses: map[string]int{}, grants: map[string]time.Time{}}
				acts := []func(*rapid.T){h.call, h.call, h.call, h.tap, h.tap, h.tap, h.wait, h.die}
				for range rapid.IntRange(1, 14).Draw(rt, "length") {
					acts[rapid.IntRange(0, len(acts)-1).Draw(rt, "act")](rt)
				}
			})
		})
	}
}
