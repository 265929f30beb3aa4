package session

import (
	"strconv"
	"time"
)

// Renewed says that the owner started a conversation anew, with OpenClaw's /new or
// /reset for example: the context is empty, and the session id is what it was.
type Renewed struct {
	Session string    `json:"session"` // by the runtime's own id
	Count   int       `json:"count"`   // how often the conversation began anew
	At      time.Time `json:"at"`
}

// RenewedList is where a store notes it, sealed.
func RenewedList(c Conversation) string { return c.Hash() + ":renewed" }

// RenewedMark is between the runtime's own session id and how often the conversation
// began anew.
const RenewedMark = "#"

// Name is the session id under which the state of the runs since then counts.
func (r Renewed) Name() string { return RenewedName(r.Session, r.Count) }

// RenewedName is the session id for runs that began when the conversation had begun
// anew so many times.
func RenewedName(id string, count int) string {
	if count == 0 || id == "" {
		return id
	}
	return id + RenewedMark + strconv.Itoa(count)
}
