// Package channeltest is the suite that every chat channel passes, and the
// cards whose looks every channel keeps in golden files.
//
// The suite drives a real desk on a real store through a channel that talks to
// a fake of its platform over the wire. It knows the platform only by what a
// person there sees and does: [Platform]. What it proves is the same for all:
// who may answer, what a card shows, what becomes of it, and what happens when
// the platform fails. It is for tests only.
package channeltest

import (
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// Platform is a fake chat service that speaks the wire protocol, with one chat
// in it where the cards go. Its methods are safe for concurrent use.
type Platform interface {
	// Name is the channel's name, and what the ids of its users begin with.
	Name() string

	// People are those who are in the chat.
	People() People

	// Open gives a channel that is connected to the fake. Each call is another
	// process: a replica, or the same one after a restart. The channel is closed
	// with the test.
	Open(t testing.TB, d delivery.Deps) approval.Channel

	// Messages are what the bot has written and not deleted, in the chat and to
	// people alone, oldest first, each as it is now.
	Messages() []Message

	// Tap presses a button and returns what the person alone reads, once the
	// platform has been answered; "" if nothing was said.
	Tap(t testing.TB, who User, m Message, b Button) string

	// Say writes a line and returns its id, which the bot's answer names.
	Say(t testing.TB, who User, where Place, text string) string

	// Break makes the API fail from now on, for all that the channel sends; the
	// zero Fault mends it. Updates still come.
	Break(f Fault)

	// Hold lets what is sent take effect and keeps the API's answers back until
	// release is called.
	Hold() (release func())

	// Secrets are what must never show anywhere: first the token that the API is
	// called with, then parts of it, signing secrets and the like.
	Secrets() []string
}

// User is someone on the platform.
type User struct {
	ID   string // the platform's own, which never changes
	Name string // what others see
	Bot  bool
}

// People are who the suite needs. Alice and Bob may approve; Mallory is in the
// chat, calls herself as Alice does, and may not; Robot is a bot with Alice's
// powers on the list of approvers, which must not help it.
type People struct {
	Alice, Bob, Mallory, Robot User
}

// Place is where a line is written.
type Place struct {
	Direct  bool   // to the bot alone
	ReplyTo string // in the chat, in reply to this message
}

// Button is a button as the platform shows it.
type Button struct {
	Label string
	Data  string // what it carries
	URL   string // what it opens instead
}

// File is an attachment.
type File struct {
	Name string
	Text string
}

// Message is a message as a person sees it.
type Message struct {
	ID      string
	Text    string   // all that can be read, without the platform's own signs for formatting
	Active  []string // what links, mentions or shows a preview in it; must stay empty
	Mono    []string // the parts that are shown with every sign in its place
	Buttons []Button
	Files   []File
	ReplyTo string // the line or message that it answers
	Only    string // who alone sees it; "" if all do
}

// Button finds a button by its label.
func (m Message) Button(label string) (Button, bool) {
	for _, b := range m.Buttons {
		if b.Label == label {
			return b, true
		}
	}
	return Button{}, false
}

// Fault is what an API does instead of its work.
type Fault struct {
	Kind  FaultKind
	After time.Duration // Limited: how long it asks to wait, in whole seconds
	Times int           // how many calls it meets; 0 is all
	Says  string        // Refused: its words; Moved: an address
}

// FaultKind is a way to fail.
type FaultKind uint8

// The faults. The zero FaultKind is none.
const (
	None         FaultKind = iota
	Down                   // the connection breaks
	Hangs                  // no answer comes
	Unauthorized           // the token is wrong
	Forbidden              // the bot may not write here
	Limited                // too many requests
	Malformed              // an answer that is none
	Broken                 // an error of the server's own
	Refused                // a refusal for an unknown reason
	Moved                  // a redirect to Says
)
