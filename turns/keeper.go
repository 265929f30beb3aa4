// Package turns keeps the graphs of turns: what each call and event of a run adds,
// in memory first and then in the store under our seal, how a turn ended, and the
// graph that can be drawn of it by any of its names.
//
// It is evidence for people. It decides nothing: what can't be kept is logged, and
// the decision that it was about stays as it is. It refuses to keep a secret that
// someone put into a name, and to read a note that is not under our seal.
package turns

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/session"
)

// Store keeps notes, and ends what was granted for a run. Each method is that of
// verifier.Store.
type Store interface {
	Note(ctx context.Context, notes ...session.Note) error
	Notes(ctx context.Context, list string) ([][]byte, error)
	Hear(ctx context.Context, r session.Report) (session.Heard, error)
}

// Options are what a Keeper needs.
type Options struct {
	Store  Store
	Wait   time.Duration                // how long a step waits for the store
	Record func(e record.Entry) error   // writes an entry into the record
	Hide   func(facts *provenance.Fact) // hides the secrets in a fact
	Key    hmac.Key                     // seals the notes
	Log    *slog.Logger
}

// Keeper keeps turns. It is safe for concurrent use.
type Keeper struct {
	o      Options
	memory memory
}

// New makes a Keeper.
func New(o Options) *Keeper { return &Keeper{o: o} }

// When says when what is new of a turn goes to the store.
type When int

// The times to choose from.
const (
	Later When = iota // with the next that does, or with [Keeper.Keep]
	Soon              // the same, or when half of the room for it is taken
	Now
)

// News is what is new of a turn.
type News struct {
	Turn    Key
	Root    session.Conversation // whose state the turn's calls count in
	Agent   string
	Facts   []provenance.Fact
	When    When
	Ref     string        // by which the turn can be found from now on; empty: none
	Ends    bool          // nothing more is to come of the turn
	Persist bool          // its graph belongs into the record
	Offline bool          // the store has just failed: it is not asked again
	Report  time.Duration // how long the store remembers that a run is over
}

// Add keeps what is new of a turn. The end of a turn seals it, and gives its graph;
// it is nil where it could not be read. The error is that of a graph which belongs
// into the record and is not there.
func (k *Keeper) Add(ctx context.Context, news *News) (*provenance.Graph, error) {
	now, over := k.memory.add(news)
	if news.Offline {
		return nil, nil
	}
	if over != nil {
		k.supersede(ctx, over, news.Report)
	}
	if news.When == Now || news.When == Soon && k.memory.halfFull(now) {
		k.note(ctx, now, news.Ref)
	}
	if !news.Ends {
		return nil, nil
	}
	return k.seal(ctx, now)
}

// IsOver reports whether a run is known to be over: nothing that was given for it
// counts any more.
func (k *Keeper) IsOver(turn Key) bool {
	k.memory.mu.Lock()
	defer k.memory.mu.Unlock()
	n := k.memory.find(turn)
	return turn.Run != "" && n != nil && n.ended
}

// keepAtOnce is how many turns are noted at a time.
const keepAtOnce = 256

// Keep puts into the store what is known here of turns: a call that its level
// allows does not wait for that. It is to be called now and then, and at the end.
func (k *Keeper) Keep(ctx context.Context) {
	for _, n := range k.memory.waiting(keepAtOnce) {
		if ctx.Err() != nil || !k.note(ctx, n, "") {
			return // the next time
		}
	}
}

// supersede ends a turn whose conversation is in another run by now: what was
// granted for it ends too, in every instance that shares the store.
func (k *Keeper) supersede(ctx context.Context, over *turn, keep time.Duration) {
	if !k.memory.matters(over) {
		return // all of it was allowed by its level: no question was put, nothing granted
	}
	k.note(ctx, over, "")
	if _, err := k.seal(ctx, over); err != nil {
		k.o.Log.ErrorContext(ctx, "the graph of a turn could not be recorded", "turn", over.id, "err", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), k.o.Wait)
	defer cancel()
	_, err := k.o.Store.Hear(ctx, session.Report{
		Conversation: over.root, RequestID: "run over " + over.id, Body: sha256.Sum256([]byte(over.id)), // no call can have an id with a space
		Keep: keep, Ended: over.Run,
	})
	if err != nil {
		k.o.Log.WarnContext(ctx, "what was granted for a run that is over could not be ended in the store", "turn", over.id, "err", err)
	}
}

// seal logs how a turn ended, and records its graph where that is wanted; once.
// The graph is nil where it could not be read.
func (k *Keeper) seal(ctx context.Context, n *turn) (*provenance.Graph, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), k.o.Wait)
	defer cancel()
	g, err := k.graph(ctx, n.id)
	first, persist := k.memory.seal(n)
	if err != nil {
		k.o.Log.WarnContext(ctx, "a turn that is over could not be read", "turn", n.id, "err", err)
		if persist && first {
			return nil, err
		}
		return nil, nil
	}
	if !first || len(g.Nodes) == 0 {
		return g, nil
	}
	s := &g.Summary
	k.o.Log.InfoContext(ctx, "a turn ended", "turn", g.TurnID, "distrust", s.MaxTaint.String(), "outside", s.ExternalSources,
		"blocked", s.ToolsBlocked, "iterations", s.IterationCount)
	if !persist {
		return g, nil
	}
	text, err := json.Marshal(g)
	if err != nil {
		return g, err
	}
	return g, k.o.Record(record.Entry{
		Kind: record.KindGraph, Client: n.Client, Session: n.Conversation.Key, Agent: g.AgentID, Run: n.Run,
		Level: g.Summary.MaxTaint.String(), Graph: text,
	})
}
