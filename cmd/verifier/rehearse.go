package main

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/replay"
	"github.com/openclaw-verifier/verifier/web"
)

// rehearsal plays the owner's own record against the policy in force and against
// a changed one, on stores of its own. Nothing of it is kept or put in force.
type rehearsal struct {
	g      *gateway
	ledger ledger
}

// Bounds of one rehearsal.
const (
	rehearsed     = 1000 // decisions, the latest
	rehearsedScan = 50_000
)

// Text implements web.Rehearsal.
func (r rehearsal) Text() (string, error) { return config.WritePolicy(r.g.live.Load().config.Policy) }

// Play implements web.Rehearsal.
func (r rehearsal) Play(ctx context.Context, text string) (web.Played, error) {
	changed, err := config.ParsePolicy([]byte(text))
	if err != nil {
		return web.Played{}, &web.Refused{Text: withHints(err)}
	}
	now := r.g.live.Load()
	changed.Guard = now.guard
	after, _, err := policy.New(changed)
	if err != nil {
		return web.Played{}, &web.Refused{Text: err.Error()}
	}
	sessions, err := r.sessions()
	if err != nil {
		return web.Played{}, err
	}
	before, err := r.play(ctx, sessions, now.policy)
	if err != nil {
		return web.Played{}, err
	}
	then, err := r.play(ctx, sessions, after)
	if err != nil {
		return web.Played{}, err
	}
	return compare(sessions, before, then), nil
}

// withHints is what is wrong with a config, each with what to do.
func withHints(err error) string {
	all, ok := errors.AsType[config.Errors](err)
	if !ok {
		return err.Error()
	}
	var lines []string
	for _, e := range all {
		lines = append(lines, e.Error())
		if e.Hint != "" {
			lines = append(lines, "hint: "+e.Hint)
		}
	}
	return strings.Join(lines, "\n")
}

// sessions are the latest decisions of the record, by conversation.
func (r rehearsal) sessions() ([]replay.Session, error) {
	var latest []audit.Entry
	scanned := 0
	for l, err := range r.ledger.Backward(func(raw []byte) bool {
		scanned++
		return scanned > rehearsedScan || bytes.Contains(raw, []byte(`"kind":"decision"`))
	}) {
		if err != nil {
			return nil, err
		}
		if scanned > rehearsedScan || len(latest) == rehearsed {
			break
		}
		latest = append(latest, l.Entry)
	}
	slices.Reverse(latest)
	var lines bytes.Buffer
	for i := range latest {
		line, err := json.Marshal(&latest[i])
		if err != nil {
			return nil, err
		}
		lines.Write(append(line, '\n'))
	}
	return replay.Read(&lines)
}

// fates are how calls fared, by session and call.
type fates map[[2]int]replay.Fate

func (r rehearsal) play(ctx context.Context, sessions []replay.Session, rules *policy.Policy) (out fates, err error) {
	out = fates{}
	var mu sync.Mutex
	_, err = playOn(ctx, sessions, replay.Options{
		Policy: rules, Redactor: r.g.live.Load().redactor,
		Watch: func(s, c int, f replay.Fate) {
			mu.Lock()
			defer mu.Unlock()
			out[[2]int{s, c}] = f
		},
	})
	return out, err
}

// compare says what would be different.
func compare(sessions []replay.Session, before, after fates) web.Played {
	p := web.Played{Sessions: len(sessions), Before: map[string]int{}, After: map[string]int{}}
	for i := range sessions {
		for n := range sessions[i].Calls {
			at, c := [2]int{i, n}, &sessions[i].Calls[n]
			p.Calls++
			p.Before[string(before[at])]++
			p.After[string(after[at])]++
			if before[at] != after[at] {
				p.Add(web.Difference{Session: sessions[i].ID, Tool: c.Tool, Params: c.Params, Before: string(before[at]), After: string(after[at])})
			}
		}
	}
	return p
}
