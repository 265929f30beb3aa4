package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// axis is something that grows in use and must not make an allow dearer.
type axis struct {
	name   string
	title  string
	points []int                                  // the first is the unit
	short  int                                    // how many of them a short run measures
	lay    func(g *gateway, p place, n int) error // makes the gateway that large before it is wired
}

// maxGrowth is how much dearer an allow may be at any point than at the first.
const maxGrowth = 1.3

var axes = []axis{
	{name: "rules", title: "policies of the owner's", points: []int{1, 10, 100, 1000}, short: 4, lay: manyRules},
	{name: "tools", title: "tools that the config names", points: []int{1, 10, 100}, short: 3, lay: manyTools},
	{name: "conversations", title: "conversations in Redis", points: []int{1, 1000, 1_000_000}, short: 2, lay: manyConversations},
	{name: "record", title: "MB in the record", points: []int{0, 100, 1000, 10_000}, short: 2, lay: longRecord},
}

// grown are the roles of an axis: our server with Redis, at each point.
func (a *axis) grown(short bool) []role {
	points := a.points
	if short {
		points = points[:a.short]
	}
	out := make([]role, len(points))
	for i, n := range points {
		out[i] = role{
			name: a.name + "-" + strconv.Itoa(n), title: fmt.Sprintf("%d %s", n, a.title), redis: true,
			open: func(p place) (running, error) { return a.open(p, i+1, n) },
		}
		if a.name == "conversations" {
			out[i].conversations = n
		}
	}
	return out
}

// open has a database of Redis to itself.
func (a *axis) open(p place, db, n int) (running, error) {
	s, err := redisStore(p, db)
	if err != nil {
		return running{}, err
	}
	g := &gateway{store: s}
	if err := a.lay(g, p, n); err != nil {
		return running{}, errors.Join(err, g.close())
	}
	return g.open(p)
}

func manyRules(g *gateway, _ place, n int) error {
	for i := range n {
		tool := fmt.Sprintf("tool_%d", i)
		g.policies = append(g.policies, policy.Declared{
			Name:   "ask before " + tool,
			When:   policy.When{Tool: []string{tool}, ContextTaintIncludes: []taint.Level{taint.External}},
			Action: policy.Action{ConfirmTools: []string{tool}, Reason: "it acts outside"},
		})
	}
	return nil
}

func manyTools(g *gateway, _ place, n int) error {
	g.tools = map[string]policy.Tool{}
	yes := true
	for i := range n {
		g.tools[fmt.Sprintf("tool_%d", i)] = policy.Tool{Source: &yes, Sink: &yes, Destinations: []string{"to"}}
	}
	return nil
}

// manyConversations lets each be seen once.
func manyConversations(g *gateway, _ place, n int) error {
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range 64 {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && ctx.Err() == nil; i = next.Add(1) - 1 {
				_, err := g.store.Admit(ctx, session.Admission{
					Conversation: session.Conversation{Client: "default", Key: conversationKey(int(i))}, Session: sessionID(int(i)),
					RequestID: "laid-" + strconv.FormatInt(i, 10), Initial: taint.Owner, Birth: taint.Owner,
					Final: true, Decision: "p", Keep: time.Second,
				})
				if err != nil {
					stop(err)
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// longRecord writes entries until the record has as many megabytes.
func longRecord(g *gateway, p place, n int) error {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	g.recordKey = key
	l, err := audit.Open(filepath.Join(p.dir, recordFile), audit.Options{Key: key})
	if err != nil {
		return err
	}
	entry := audit.Entry{Kind: audit.KindDecision, Tool: "exec", Decision: audit.Allow, Params: []byte(`{"command":"` + strings.Repeat("x", 1000) + `"}`)}
	for {
		for range 1000 {
			if err := l.Append(entry); err != nil {
				return errors.Join(err, l.Close())
			}
		}
		info, err := os.Stat(filepath.Join(p.dir, recordFile))
		if err != nil || info.Size() >= int64(n)<<20 {
			return errors.Join(err, l.Close())
		}
	}
}
