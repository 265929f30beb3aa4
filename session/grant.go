package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/taint"
)

// Grant lets a tool pass without asking, in one conversation, for a while. It
// holds for exactly the session id, agent and run it was given for, and only
// while the level is no worse than it was then.
type Grant struct {
	Conversation Conversation
	Tool         string
	Agent        string
	Session      string
	Run          string // set for a grant that ends with the run
	// set for a grant that covers less than all calls of the tool: calls like one, by where they go and what arguments
	// they have; or [Exactly] one
	Like  string
	ID    string // of the card it was given on
	By    string // the people who gave it, as they are called
	IDs   string // the ids that each of them gave it with; empty: not known
	Until time.Time
	Level taint.Level
}

// Field is the key of a grant with this coverage in its conversation: the
// marks of its session and its run, so that a store finds those that end with
// either, and the hash of all of it.
func (g *Grant) Field() string {
	var b strings.Builder
	for _, part := range []string{g.Tool, g.Agent, g.Session, g.Run, g.Like} {
		b.WriteString(strconv.Itoa(len(part)))
		b.WriteByte(':')
		b.WriteString(part)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return GrantMark(g.Session) + GrantMark(g.Run) + hex.EncodeToString(sum[:16])
}

// MarkSize is how long each of the two marks is that a grant's field begins with:
// of its session, then of its run.
const MarkSize = 16

// GrantMark is the mark of a session or a run in a grant's field.
func GrantMark(of string) string {
	sum := sha256.Sum256([]byte(of))
	return hex.EncodeToString(sum[:MarkSize/2])
}

// Covers reports whether the grant holds at this level and time.
func (g *Grant) Covers(l taint.Level, now time.Time) bool {
	return l <= g.Level && now.Before(g.Until)
}

// Exactly is the Like of a grant for one call, by its digest.
func Exactly(digest string) string { return exactly + digest }

// ExactlyShown is Exactly with the call as people may read it, for a grant that outlives the card it was given on.
func ExactlyShown(digest, shown string) string { return exactly + digest + "\n" + shown }

// StandingLike is the Like of a standing consent for calls like one. It holds for days: in every conversation of the
// agent where the grant names none, otherwise in that one.
func StandingLike(like string) string { return standingMark + like }

const exactly, standingMark = "exactly ", "everywhere "

// IsStanding reports whether the grant is a standing consent.
func (g *Grant) IsStanding() bool {
	return len(g.Like) > len(standingMark) && strings.HasPrefix(g.Like, standingMark)
}

// Destinations is what calls to the same destinations have in common, where the grant is for those.
func (g *Grant) Destinations() string { return strings.TrimPrefix(g.Like, standingMark) }

// IsExactly reports whether the grant covers one call only.
func (g *Grant) IsExactly() bool { return strings.HasPrefix(g.Destinations(), exactly) }

// ShownCall is that call as people may read it; empty where only the card shows it.
func (g *Grant) ShownCall() string {
	if !g.IsExactly() {
		return ""
	}
	_, shown, _ := strings.Cut(g.Like, "\n")
	return shown
}

// IsDestination reports whether the grant covers calls that go to the same destinations.
func (g *Grant) IsDestination() bool {
	return g.Like != "" && !g.IsExactly()
}

// ErrForged says that a stored grant was not made with this server's key, or
// for another place.
var ErrForged = errors.New("session: a stored grant does not carry this server's seal")

// Value writes the grant for the store: when it ends (first, so that a store
// can sweep), level, card, person, seal, and what it covers.
func (g *Grant) Value(key hmac.Key) string {
	until := strconv.FormatInt(g.Until.Unix(), 10)
	level := strconv.Itoa(int(g.Level))
	return strings.Join(
		[]string{until, level, g.ID, hex.EncodeToString([]byte(g.Givers())), g.seal(key, until, level), g.cover()},
		"|",
	)
}

// Open reads a stored value into a grant that names what a call needs, and checks
// the seal and that the stored grant covers it: what was written into the store by
// anyone else is no grant.
func (g *Grant) Open(key hmac.Key, value string) error {
	read, err := ReadGrant(key, value)
	if err != nil {
		return err
	}
	if g.cover() != read.cover() {
		return ErrForged
	}
	*g = read
	return nil
}

// ReadGrant reads a stored value of any coverage: the value says what it covers,
// under the same seal.
func ReadGrant(key hmac.Key, value string) (Grant, error) {
	f := strings.Split(value, "|")
	if len(f) != 6 {
		return Grant{}, ErrForged
	}
	var g Grant
	parts, into := strings.Split(f[5], "."), g.covered()
	if len(parts) != len(into) {
		return Grant{}, ErrForged
	}
	for i, part := range parts {
		text, err := hex.DecodeString(part)
		if err != nil {
			return Grant{}, ErrForged
		}
		*into[i] = string(text)
	}
	until, errUntil := strconv.ParseInt(f[0], 10, 64)
	level, errLevel := strconv.ParseUint(f[1], 10, 8)
	by, errBy := hex.DecodeString(f[3])
	if errUntil != nil || errLevel != nil || errBy != nil || level >= taint.Levels || f[3] != hex.EncodeToString(by) ||
		bytes.HasSuffix(by, []byte("\n")) ||
		f[5] != g.cover() {
		return Grant{}, ErrForged
	}
	g.Until, g.Level, g.ID = time.Unix(until, 0), taint.Level(level), f[2]
	g.By, g.IDs, _ = strings.Cut(string(by), "\n")
	if !key.Check(f[4], "grant", g.sealed(f[0], f[1])...) {
		return Grant{}, ErrForged
	}
	return g, nil
}

// covered is what a grant is for: a new part of it goes to the end.
func (g *Grant) covered() []*string {
	return []*string{&g.Conversation.Client, &g.Conversation.Key, &g.Tool, &g.Agent, &g.Session, &g.Run, &g.Like}
}

// cover writes that down.
func (g *Grant) cover() string {
	var parts []string
	for _, part := range g.covered() {
		parts = append(parts, hex.EncodeToString([]byte(*part)))
	}
	return strings.Join(parts, ".")
}

func (g *Grant) seal(key hmac.Key, until, level string) string {
	return key.Seal("grant", g.sealed(until, level)...)
}

func (g *Grant) sealed(until, level string) []string {
	var parts []string
	for _, part := range g.covered() {
		parts = append(parts, *part)
	}
	return append(parts, g.ID, g.Givers(), until, level)
}

// Givers are those who gave it, with the ids that they did so with.
func (g *Grant) Givers() string {
	if g.IDs == "" {
		return g.By
	}
	return g.By + "\n" + g.IDs
}

// Name is what tells one grant from another: its conversation and its field.
func (g *Grant) Name() string { return g.Conversation.Hash() + ":" + g.Field() }
