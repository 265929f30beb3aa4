package replay

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/lineage"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/verifier"
)

// Options are what a run needs.
type Options struct {
	Policy   *policy.Policy
	Redactor *redact.Redactor
	Store    *store.Store             // empty, and of no use afterwards
	Visible  func(*approval.Ask) bool // whether a card shows all of a call
	Progress func(done, of int)       // called now and then; may be nil
}

// Key is what a replay's store is sealed with.
var Key = hmac.Key("replayed: nothing of this is ever served")

// Run plays the sessions and reports.
func Run(ctx context.Context, sessions []Session, o Options) (Report, error) {
	p := &player{o: o, owner: &owner{plays: map[string]*played{}}}
	terms := &verifier.Terms{
		Policy: o.Policy, Redactor: o.Redactor, Cards: o.Redactor, Bodies: o.Redactor, Keep: time.Hour, Names: true,
		Lineage: func(string) []lineage.Key { return nil },
	}
	p.v = verifier.New(verifier.Options{
		Terms: func() *verifier.Terms { return terms }, Store: o.Store, Record: p, Desk: p.owner, Visible: o.Visible,
		Key: Key,
	})
	if err := p.playAll(ctx, sessions); err != nil {
		return Report{}, err
	}
	p.report.finish()
	return p.report, nil
}

// player plays sessions. It is also the record, which tells which decisions failed.
type player struct {
	o     Options
	owner *owner
	v     *verifier.Verifier

	report Report

	mu     sync.Mutex
	failed map[string]bool // of the requests that are being played
}

// faults are denials that say nothing about the policy.
var faults = map[string]bool{
	"store": true, "record": true, "panic": true, "gone": true, "moved": true, "conflict": true, "nobody": true,
}

// Append implements verifier.Recorder.
func (p *player) Append(e record.Entry) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed[e.RequestID] = faults[e.Error]
	return nil
}

func (p *player) hasFailed(request string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	failed := p.failed[request]
	delete(p.failed, request)
	return failed
}

// playAll plays several at once: sessions share nothing.
func (p *player) playAll(ctx context.Context, sessions []Session) error {
	p.report.asked, p.failed = map[string]int{}, map[string]bool{}
	var all sync.WaitGroup
	var counted sync.Mutex
	failed, places := ctx.Err(), make(chan struct{}, 2*runtime.GOMAXPROCS(0))
	for i := range sessions {
		places <- struct{}{}
		all.Go(func() {
			o, err := p.playUndisturbed(ctx, i, &sessions[i])
			<-places
			counted.Lock()
			defer counted.Unlock()
			if err != nil {
				failed = err
				return
			}
			p.report.add(&sessions[i], o)
			if n := p.report.Sessions; p.o.Progress != nil && (n%50 == 0 || n == len(sessions)) {
				p.o.Progress(n, len(sessions))
			}
		})
	}
	all.Wait()
	return failed
}

// tries is how often a session is begun again because a busy machine made the store too slow for a decision.
const tries = 5

var (
	errTold  = errors.New("a call could not be put to the gateway")
	errFault = errors.New("a decision failed, so that the numbers would mean nothing")
)

func (p *player) playUndisturbed(ctx context.Context, index int, s *Session) (o *outcome, err error) {
	for try := range tries {
		if o, err = p.play(ctx, fmt.Sprintf("%d-%d", index, try), s); !errors.Is(err, errFault) || ctx.Err() != nil {
			break
		}
	}
	return o, err
}

// play plays one session from its first call to its last.
func (p *player) play(ctx context.Context, name string, s *Session) (*outcome, error) {
	out := &outcome{}
	for n := range s.Calls {
		c := &s.Calls[n]
		call, err := told(name, n, s, c)
		if err != nil {
			return nil, fmt.Errorf("session %s: %w: %w", s.ID, errTold, err)
		}
		one := &played{injected: c.Injected}
		p.owner.begin(call.RequestID, one)
		decision := p.v.Verify(ctx, call)
		p.owner.end(call.RequestID)
		if p.hasFailed(call.RequestID) {
			return nil, fmt.Errorf("session %s: %w", s.ID, errFault)
		}
		out.count(c, one.asked, decision.Allow)
	}
	return out, nil
}

func (o *outcome) count(c *Call, asked, allowed bool) {
	o.calls++
	if c.Injected {
		o.injected++
	}
	switch {
	case asked:
		o.asked = append(o.asked, c.Tool)
	case allowed && c.Injected:
		o.leaked++
	case !allowed:
		o.refused++
	}
}

// told is the call as an agent's runtime would send it.
func told(name string, n int, s *Session, c *Call) (*protocol.Call, error) {
	key := "agent:main:replay-" + name
	messages := make([]protocol.UserMessage, len(s.User))
	for i, text := range s.User {
		messages[i] = protocol.UserMessage{Text: text, SenderIsOwner: true}
	}
	body, err := json.Marshal(map[string]any{
		"version": 1, "timestamp": time.Now().UTC().Format(time.RFC3339), "requestId": fmt.Sprintf("%s.%d", name, n),
		"tool": map[string]any{"name": c.Tool, "params": c.Params},
		"context": protocol.Context{
			SessionKey: key, RunID: key, Iteration: &c.Iteration, SenderID: "owner", SenderIsOwner: true,
			UserMessages: messages, WaitMs: 1,
		},
	})
	if err != nil {
		return nil, err
	}
	call, err := protocol.Decode(body)
	call.Client = key // what a client writes counts in its other conversations too: sessions share nothing
	return &call, err
}
