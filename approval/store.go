package approval

import (
	"context"
	"errors"
	"time"

	"github.com/openclaw-verifier/verifier/session"
)

// Store is where cards wait. It knows a card as bytes with a version; what they
// mean is decided in this package alone, so that no two stores can differ on
// who won. Every method is atomic and returns an error rather than a guess. The
// clock is the store's own.
type Store interface {
	// Admit makes a conversation known: a card belongs to one. Agents' calls have been admitted before they are asked about.
	Admit(ctx context.Context, a session.Admission) (session.View, error)

	// Place puts a new card up, unless a live card already asks about the same
	// digest in the same conversation, or the conversation has MaxOpen live
	// cards. See Placement.
	Place(ctx context.Context, d Draft) (Placement, error)

	// Load reads cards, expired ones too for as long as Retention. A card that
	// is gone is left out.
	Load(ctx context.Context, ids ...string) (cards []Stored, now time.Time, err error)

	// Versions is Load without the blobs, for thousands of cards at a time.
	Versions(ctx context.Context, ids ...string) (cards []Stored, now time.Time, err error)

	// Swap replaces a card if it still has the version that was read, with all
	// its effects or none, and wakes those who wait for it, in any process.
	// ErrStale says that someone else was first, ErrGone that there is no such
	// card, ErrLate that the change came after its deadline.
	Swap(ctx context.Context, c Change) error

	// Find gives the id of the card behind a sealed code, live or expired within
	// Retention; "" if none.
	Find(ctx context.Context, codeSeal string) (id string, err error)

	// Open lists the ids of live cards that are not closed, oldest first.
	Open(ctx context.Context) ([]string, error)

	// Count counts one more of something under a name, such as a wrong code of a
	// person, and says how many there were in the window that the first of them
	// opened. With add false it only looks. A message that a runtime relays is
	// counted under a name that no person has: it is taken the first time.
	Count(ctx context.Context, name string, window time.Duration, add bool) (int, error)

	// Spend notes one more question of an agent, if it has asked fewer than most
	// within the last window, which is the same at every call.
	Spend(ctx context.Context, agent string, most int, window time.Duration) (Spending, error)

	// Refund takes back the last question of an agent that was noted: it was not
	// put to anyone.
	Refund(ctx context.Context, agent string) error

	// Forgive forgets the questions of agents; without any, of all.
	Forgive(ctx context.Context, agents ...string) error

	// Pause puts a word under a scope where every Admit and Settle sees it, and
	// wakes all processes with PauseWake. An error may leave it half done: say
	// it again.
	Pause(ctx context.Context, scope, word string) error

	// RestorePause is Pause only where the scope still has the text that was
	// found there, so that it never takes the place of a later word.
	RestorePause(ctx context.Context, scope, found, word string) error

	// Pauses are the words by their scopes. Whether they count is for
	// session.Pauses to say.
	Pauses(ctx context.Context) (map[string]string, error)

	// Reset forgets a conversation's level and ends its grants; children share
	// both. The conversation is found by the beginning of its hash (upper or
	// lower case). ErrUnknown says there is none, ErrAmbiguous that there are
	// several.
	Reset(ctx context.Context, ref string) (session.Conversation, error)

	// Grants lists grants that have not ended, those that end last first: of one
	// conversation, by its hash, or of all where that is empty, and at most so
	// many. A value begins with the Unix second in which it ends; one that does
	// not say so is not listed.
	Grants(ctx context.Context, conversation string, most int) (grants []StoredGrant, now time.Time, err error)

	// Revoke ends grants of a conversation, by its hash: those under these fields,
	// or without any all of them. An allow that was judged before and is not
	// settled yet is stale then. It says how many it ended.
	Revoke(ctx context.Context, conversation string, fields ...string) (ended int, err error)

	// Influences are those that had a say in a conversation, found as by Reset.
	Influences(ctx context.Context, ref string) (session.Account, error)

	// Note and Notes keep lists that may be lost, as in verifier.Store.
	Note(ctx context.Context, notes ...session.Note) error
	Notes(ctx context.Context, list string) ([][]byte, error)

	// Wakes calls woke with the id of each card that any process swaps, until
	// ctx ends. It is a hint: calls may be lost or come twice.
	Wakes(ctx context.Context, woke func(id string)) error
}

// PauseWake is what Wakes calls instead of a card's id when a pause changed.
const PauseWake = "pause"

// Retention is how long a card outlives its last deadline, so that a late
// answer can be told the truth.
const Retention = 10 * time.Minute

// Errors of a Store.
var (
	ErrStale     = errors.New("approval: the card changed since it was read")
	ErrGone      = errors.New("approval: there is no such card")
	ErrLate      = errors.New("approval: the card has expired")
	ErrCodeTaken = errors.New("approval: another live card has the same code")
	ErrUnknown   = errors.New("approval: no conversation has this reference")
	ErrAmbiguous = errors.New("approval: several conversations match this reference")
)

// Spending is whether an agent may ask. The zero Spending is no.
type Spending struct {
	OK    bool
	Room  time.Time // where not: when there will be room
	First bool      // where not: it is the first that was turned away within the window
}

// Draft is a card about to be put up.
type Draft struct {
	ID           string // two hex digits of the conversation's hash, then 128 random bits in hex
	Conversation session.Conversation
	Digests      []string // what it asks about
	Instead      string   // a card that asked about the same and can no longer serve: it is not shared
	Blob         []byte
	CodeSeal     string        // the code, sealed with the server key
	Live         time.Duration // how long it may be answered
	MaxOpen      int
	Batch        bool // the one card that collects what MaxOpen keeps out; MaxOpen does not count for it
}

// Placed is what became of a draft. The zero value is no card.
type Placed uint8

// The outcomes of Place.
const (
	Full   Placed = iota // MaxOpen cards are live; for a batch: another batch is live
	New                  // the card is up
	Shared               // a live card asks about this already
)

// Placement is the answer to a draft.
type Placement struct {
	State Placed
	ID    string    // the new card, or the one that is shared; where Full, the conversation's live batch card, if any
	Until time.Time // when the card in ID expires
}

// Stored is a card as the store keeps it.
type Stored struct {
	ID      string
	Version int64
	Blob    []byte
	Until   time.Time // when it can no longer be answered
}

// StoredGrant is a grant as the store keeps it.
type StoredGrant struct {
	Conversation string // its hash
	Field, Value string
}

// Change replaces a stored card.
type Change struct {
	ID           string
	Version      int64 // as it was read
	Conversation session.Conversation
	Blob         []byte
	NotAfter     time.Time            // refuse with ErrLate after this; zero: no limit
	Grants       map[string]string    // fields and values to add to the conversation
	Waiting      map[string]time.Time // digests this card asks about, and until when each finds it
	Closed       bool                 // nothing on it waits for an answer any more
}
