package channels

import (
	"strings"

	"github.com/openclaw-verifier/verifier/internal/approval"
)

// What a notification has room for. A phone shows that much of one that was opened.
const (
	notificationWidth = 160
	notificationLines = 4
)

// Notification is a card as a phone shows it on its lock screen. Others may look on:
// secrets are hidden in it, as on the card, and it carries no code and no handle.
type Notification struct {
	Title string // the card's first line
	Text  string // all that will run; empty where it does not fit
	// OneTap reports whether a person who sees it may allow the call by a tap there, if
	// the owner wants that: all that will run is in Text, its tool has a label, its
	// command is understood, nothing about it has to be noticed first, outside content
	// can't drive it, and it can be undone.
	OneTap bool
}

// Notify is the notification of an open card.
func Notify(c *approval.Card) Notification {
	var d Document
	d.head(c, false)
	n := Notification{Title: d.FirstLine()}
	a := &c.Ask
	if all, _ := FullyVisible(a); !all || a.HeldOnly || a.Bodies > 0 {
		return n
	}
	text, fits := shortCall(c)
	if !fits {
		return n
	}
	n.Text = text
	n.OneTap = a.Lasting && !a.Tainted && !a.Marked && len(a.Risks) == 0 && !a.Unclear && a.Blocked == ""
	return n
}

// shortCall is all that will run, if it fits a notification.
func shortCall(c *approval.Card) (string, bool) {
	var lines []string
	for _, b := range Call(c) {
		switch {
		case b.Part != OfCall:
			continue
		case b.Kind == Warning:
			return "", false
		case b.Text == "":
			lines = append(lines, b.Label)
		default:
			lines = append(lines, strings.Split(b.Label+": "+b.Text, "\n")...)
		}
	}
	wide := 0
	for _, l := range lines {
		wide += width(l)
	}
	return strings.Join(lines, "\n"), len(lines) <= notificationLines && wide <= notificationWidth
}
