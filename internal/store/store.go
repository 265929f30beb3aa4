// Package store keeps what decisions rest on: conversations and how far each is trusted, cards, grants, pauses, which
// requests were decided. It holds the rules over documents; a Backend (Redis or SQLite) keeps the documents and knows
// nothing of what they mean.
//
// A change is a function that sees a conversation as it is and says what becomes of it. It is committed if all that it
// saw is still so, else it runs again on what is there now. What this process remembers saves it from reading, and
// never decides: the commit finds out.
//
// The package refuses to guess. What it can't read or commit in time is an error, and the caller denies. A document
// that doesn't carry the server's MAC is ErrForged. One that this process has seen newer is lost, and so is all of a
// client whose documents are gone although this machine remembers them: such a conversation is untrusted, and no card
// or grant of it counts.
package store

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/lineage"
	"github.com/openclaw-verifier/verifier/taint"
)

// Backend keeps documents. Each method is one round trip, and fails rather than wait beyond its context.
type Backend interface {
	// Commit writes, all or nothing, if each document still has the version that it had and the time is not after By.
	// Else it gives those that have another one, also where it is late.
	Commit(ctx context.Context, c *Commit) (Result, error)

	// Watch calls heard with what commits publish, from any process, until ctx ends. It is a hint: some may be missed.
	Watch(ctx context.Context, heard func(what string)) error

	// Ready says why the backend can't be relied on, if it can't, beside what the next commit would say.
	Ready(ctx context.Context) error
	Close() error
}

// Commit is a change of documents of one client.
type Commit struct {
	Docs    []Doc     // those that it rests on, and what it writes there
	By      time.Time // after this it is too late
	Publish string    // what watchers hear; "": nothing
}

// Doc is a document: its first 8 bytes are its version. What has none is not there.
type Doc struct {
	Key   string
	Was   string        // the version that it must have; "": none
	Value []byte        // what to write, or what is there; nil: nothing
	Keep  time.Duration // from the commit on; 0: for good
}

// Result is what became of a commit.
type Result struct {
	Moved []Doc // those that have another version: nothing was written
	Late  bool  // nothing was written
	Now   time.Time
}

// Errors of this package.
var (
	ErrForged    = errors.New("store: a document was not written by this server")
	ErrBusy      = errors.New("store: too many others change this at the same time")
	ErrGone      = errors.New("store: there is no such card any more")
	ErrTaken     = errors.New("store: a card's code is in use")
	ErrUnknown   = errors.New("store: no conversation has this short name")
	ErrAmbiguous = errors.New("store: several conversations have this short name")
)

// Options are what Open takes.
type Options struct {
	Backend Backend
	Key     hmac.Key
	Clients func() []string // every client's id: for pauses of all, and to find by short name or code
	File    string          // tells a flushed store from a fresh one; "" remembers for this process only
	Wait    time.Duration   // for one Update, all its tries; 0: 400 ms
	Log     *slog.Logger    // nil: none
}

// Request is a request that was decided, for a client that asks again.
type Request struct {
	ID     string        `json:"-"`
	Body   [32]byte      `json:"body"` // of the request: another body under the same id is another request
	Allow  bool          `json:"allow,omitzero"`
	Denied bool          `json:"denied,omitzero"`
	Waits  bool          `json:"-"` // it is not decided yet, and this process will
	By     string        `json:"by,omitzero"`
	Raise  taint.Level   `json:"raise,omitzero"` // what the call's result brings in, where its event can't tell
	Reads  string        `json:"reads,omitzero"` // and the secrets that are in it
	Keep   time.Duration `json:"-"`
}

// Card is one question to people.
type Card struct {
	ID           string    `json:"id"`
	Conversation Name      `json:"conversation"`
	Digest       string    `json:"digest"`
	Until        time.Time `json:"until"`           // it can't be answered after this
	Era          int64     `json:"era,omitzero"`    // it counts in the one in which it was put
	Closed       bool      `json:"closed,omitzero"` // it no longer waits
	Data         []byte    `json:"data"`            // approval's
}

// Pause is the owner's word that an agent, or all of them ("" ), may do nothing but what is harmless; or that it may
// again.
type Pause struct {
	Agent string    `json:"agent,omitzero"`
	On    bool      `json:"on,omitzero"`
	By    string    `json:"by"`
	At    time.Time `json:"at"`
}

// Mark says that files of a client were written that no person has seen.
type Mark struct {
	Ref string    `json:"ref"` // for people: the name by which it is cleared
	By  string    `json:"by"`
	At  time.Time `json:"at"`
}

// Given is a grant and where it holds.
type Given struct {
	Grant
	Conversation Name // its client alone where Always
	Always       bool // for all conversations of the grant's agent
}

// Side is what a question needs beside the conversation: fingerprints of what the user said and of what tools brought
// in, oldest first.
type Side struct {
	Said    []lineage.Seen `json:"said,omitzero"`
	Brought []lineage.Seen `json:"brought,omitzero"`
}

// Store is safe for concurrent use, and any number of processes may share a backend.
type Store struct {
	*engine
	stop  context.CancelFunc
	ended sync.WaitGroup
}

// Open prepares a store. It fails on a bad file or key, and not because the backend can't be reached.
func Open(ctx context.Context, o Options) (*Store, error) { //nolint:gocritic // once a process
	if len(o.Key) == 0 {
		return nil, errors.New("store: the server has no key")
	}
	f, err := openFile(o.File)
	if err != nil {
		return nil, err
	}
	o.Wait, o.Log = cmp.Or(o.Wait, 400*time.Millisecond), cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	s := &Store{engine: &engine{
		o: &o, file: f, macs: newMACs(o.Key), seed: maphash.MakeSeed(), eras: make(chan struct{}, 1),
	}}
	for i := range s.locks {
		s.locks[i] = make(chan struct{}, 1)
	}
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.ended.Go(func() { s.keepTime(ctx) })
	return s, nil
}

// Ready says why the store can't be used now, if it can't.
func (s *Store) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.o.Wait)
	defer cancel()
	if err := s.o.Backend.Ready(ctx); err != nil {
		return err
	}
	return s.change(ctx, "", s.noteTime) // a replica and a full disk still answer reads
}

// Watch calls heard with "card <id>" and "pause" when these change in any process, until ctx ends. It is a hint: some
// may be missed.
func (s *Store) Watch(ctx context.Context, heard func(what string)) error {
	return s.o.Backend.Watch(ctx, func(published string) {
		for what := range strings.SplitSeq(published, "\n") {
			heard(what)
		}
	})
}

// Close ends the store and its backend.
func (s *Store) Close() error {
	s.stop()
	s.ended.Wait()
	return s.o.Backend.Close()
}
