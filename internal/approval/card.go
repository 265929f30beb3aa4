package approval

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/lineage"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/taint"
)

// Card is a call put to people, under one code.
type Card struct {
	ID      string         `json:"-"`
	Ask     Ask            `json:"-"`
	Text    jsontext.Value `json:"ask"`     // the ask as it was put
	Request string         `json:"request"` // which put it
	State   State          `json:"state,omitzero"`
	Votes   []Vote         `json:"votes,omitzero"`
	Copies  []Copy         `json:"copies,omitzero"`
	// who was shown what the config hides of it, and whether nothing of the call was hidden from them then
	Readers map[string]bool `json:"readers,omitzero"`
	Used    string          `json:"used,omitzero"` // the request that took the yes

	Code    string `json:"-"` // for people only: never stored, logged or recorded
	kept    *store.Card
	notice  string
	key     hmac.Key // what buttons are made with; only on a card that a desk has opened
	longest int      // the most minutes a yes may last; 0: not known
}

// Copy is where a card is shown, and since when.
type Copy struct {
	Channel string    `json:"channel"`
	Ref     string    `json:"ref"`
	At      time.Time `json:"at,omitzero"`
}

// Ask is what is asked about one call: all that a person is shown and all that their yes is bound to.
type Ask struct {
	Conversation store.Name `json:"conversation"` // whose state it is: the root's
	SessionKey   string     `json:"sessionKey"`   // as the call named it
	SessionID    string     `json:"sessionId"`
	Window       string     `json:"window"` // what a grant is bound to: session id, and key of a spawned session
	Agent        string     `json:"agent"`
	Directory    string     `json:"directory,omitzero"` // where the agent works; empty: it did not say
	Run          string     `json:"run"`
	Tool         string     `json:"tool"`
	Sent         string     `json:"sent,omitzero"` // the tool's name as sent, where it differs
	Digest       string     `json:"digest"`        // what a yes is bound to
	// what the auditor stopped, in two words: no call waits for the answer
	Blocked string      `json:"blocked,omitzero"`
	Unheard bool        `json:"unheard,omitzero"` // and it did so because the auditor gave no answer
	Auditor string      `json:"auditor,omitzero"` // what the auditor says of it
	Level   taint.Level `json:"level"`
	Rule    string      `json:"rule"`
	Why     []string    `json:"why"`
	Reasons []string    `json:"reasons,omitzero"` // the worst of Why in plain words, two at most
	Risks   []string    `json:"risks,omitzero"`   // what to notice first, in a few words each, the worst first
	Marked  bool        `json:"marked,omitzero"`  // marked as a risk, or a dangerous tool
	Unclear bool        `json:"unclear,omitzero"` // we don't know what it does, or it sends something away
	Effect  Effect      `json:"effect,omitzero"`  // what a tool that we don't know says of itself
	Origins []Origin    `json:"origins,omitzero"` // where its arguments came from, the worst first
	Started string      `json:"started"`          // who started the run
	Said    []string    `json:"said,omitzero"`

	Shown  jsontext.Value `json:"shown"`           // redacted params
	Hidden int            `json:"hidden,omitzero"` // values a person can't see
	Bodies int            `json:"bodies,omitzero"` // of them, texts for files that the config hides

	// what a longer yes may cover, see [Ask.Bound] and [Desk.Granted]
	Lasting bool   `json:"lasting,omitzero"` // nothing about the call speaks against one
	Direct  bool   `json:"direct,omitzero"`  // the owner or the runtime started the run directly, and not in a group
	Owner   bool   `json:"owner,omitzero"`   // the owner did
	Holds   bool   `json:"holds,omitzero"`   // the conversation holds a secret
	Unseen  bool   `json:"unseen,omitzero"`  // a command other than Look, and files were written unseen
	Shell   bool   `json:"shell,omitzero"`   // it runs a command
	Network bool   `json:"network,omitzero"` // that reaches the network
	Same    string `json:"same,omitzero"`    // what is equal in calls to the same recipients; empty: can't be told
	Always  string `json:"always,omitzero"`  // the target of an always grant that covers it; empty: none can

	Goes         []string `json:"where,omitzero"`  // where it goes, to be read
	TargetParams []string `json:"goes,omitzero"`   // the params that say where, also where Goes is empty
	Unsure       bool     `json:"unsure,omitzero"` // no label says which of its params these are
	// outside content could drive it: no notification allows it
	Tainted bool `json:"tainted,omitzero"`
	// the client hid params: only the waiting request may be released
	HeldOnly bool     `json:"heldOnly,omitzero"`
	Senders  []string `json:"senders,omitzero"` // who started it, by ids on platforms

	// fixed when the card is put up
	Approvals int       `json:"approvals"`          // how many must allow it
	Approvers []string  `json:"approvers,omitzero"` // who may answer, by name; nil: every approver
	Channels  []string  `json:"channels,omitzero"`  // where it is put, by name; nil: in all of them
	Created   time.Time `json:"created"`
	Until     time.Time `json:"until"`

	hide func(string) string // only on a card that a desk has opened
}

// Effect is what a tool's own definition claims. It is shown as a claim and decides nothing.
type Effect string

// The effects. The zero Effect is that the tool says nothing.
const (
	OnlyReads Effect = "reads"
	Changes   Effect = "changes"
	Destroys  Effect = "destroys"
)

// Origin is where one argument came from.
type Origin struct {
	Argument string `json:"argument"` // its path among the params
	lineage.Origin
}

// Vote is one person's answer.
type Vote struct {
	Person string `json:"person"` // empty: the question was taken back
	// what the platform calls a person of whom the config knows only an id; for people to read
	Called string    `json:"called,omitzero"`
	ID     string    `json:"id,omitzero"` // which of their ids said it
	Via    string    `json:"via"`
	Allow  bool      `json:"allow"`
	Scope  Scope     `json:"scope,omitzero"`
	Seen   bool      `json:"seen,omitzero"` // all of the call was in view beside the button
	Reason string    `json:"reason,omitzero"`
	Edited string    `json:"edited,omitzero"` // the digest of the call that the person made of it
	At     time.Time `json:"at"`
}

// Who is the person's name as others know it.
func (v *Vote) Who() string { return cmp.Or(v.Called, v.Person) }

// Target is which calls a yes is for. The zero Target is every call of the tool.
type Target uint8

// The targets, the narrowest last.
const (
	AnyCall Target = iota
	Same           // calls to the same recipients
	Exactly        // this very call
)

// Scope is how far a yes reaches. The zero Scope is this call, once.
type Scope struct {
	Target  Target `json:"target,omitzero"`
	Turn    bool   `json:"turn,omitzero"`    // until the run ends
	Minutes int    `json:"minutes,omitzero"` // for so long; with Turn, whichever comes first
	// in all conversations of the agent for so many days: exactly this call, or its recipients, see [Ask.Always]
	Days int `json:"days,omitzero"`
}

// Lasting reports whether the scope outlives the call.
func (s Scope) Lasting() bool { return s.lastsHere() || s.Days > 0 }

// lastsHere reports whether it outlives the call in its conversation.
func (s Scope) lastsHere() bool { return s.Turn || s.Minutes > 0 }

// String says the scope in words.
func (s Scope) String() string {
	what := [...]string{"", "to the same recipients ", "exactly this "}[min(s.Target, Exactly)]
	switch {
	case s.Days > 0:
		return "always, for " + Count(s.Days, "day", "days")
	case s.Turn && s.Minutes > 0:
		return what + fmt.Sprintf("until the run ends, at most %d minutes", s.Minutes)
	case s.Turn:
		return what + "until the run ends"
	case s.Minutes > 0:
		return what + "for " + Count(s.Minutes, "minute", "minutes")
	}
	return "once"
}

// narrower is the scope that grants less, of two that were limited.
func narrower(a, b Scope) Scope {
	if !a.Lasting() || !b.Lasting() || (a.Days > 0) != (b.Days > 0) {
		return Scope{}
	}
	return Scope{max(a.Target, b.Target), a.Turn || b.Turn, min(a.Minutes, b.Minutes), min(a.Days, b.Days)}
}

// Name is a name that the client chose, such as the agent's, as people may read it. The name itself may hold a
// secret: what decides needs it as it came.
func (a *Ask) Name(s string) string {
	if a.hide == nil {
		return redact.Line(s)
	}
	return a.hide(s)
}

// grantable reports whether a longer yes may cover the call at all.
func (a *Ask) grantable() bool {
	return a.Lasting && a.Direct && !a.Marked && a.Hidden == 0 && !a.HeldOnly && a.Blocked == "" &&
		a.SessionKey != "" && a.Conversation.Lasting()
}

// Bound is a scope as it counts for this call. A yes to any call of a tool that has recipients is for calls to the
// same ones, or for exactly this call where these can't be told; so is one to a command that others of its tool could
// not use.
func (a *Ask) Bound(s Scope) Scope {
	switch {
	case !s.Lasting():
		return Scope{}
	case s.Target != AnyCall || s.Days > 0:
	case a.Shell && (a.Network || !a.grantable()):
		s.Target = Exactly
	case a.Shell:
	case a.Same != "":
		s.Target = Same
	case len(a.TargetParams) > 0 || a.Unsure:
		s.Target = Exactly
	}
	return s
}

// Reach says how far a yes with this scope reaches: "for 30 minutes".
func (a *Ask) Reach(s Scope) string {
	s = a.Bound(s)
	if s.Target == Same && len(a.Goes) > 0 {
		return s.String() + ", only to " + quoted(a.Goes)
	}
	return s.String()
}

// limit cuts a scope down to what the call may be granted, and says so.
func (a *Ask) limit(s Scope, most int) (Scope, string) {
	switch {
	case !s.lastsHere():
		return Scope{Days: s.Days}, ""
	case !a.grantable():
		return Scope{}, " This call can't get a lasting grant, so the yes is for this call only."
	case s.Target == Same && a.Same == "":
		return Scope{}, " We can't tell where such calls go, so the yes is for this call only."
	case s.Turn && a.Run == "":
		return Scope{}, " The agent's runtime names no run, so the yes is for this call only."
	}
	said, bound := "", a.Bound(s)
	switch {
	case bound.Target == Exactly && s.Target == AnyCall:
		said = " Another such call could do anything, so the yes is for exactly this one."
	case bound.Target == Same && s.Target == AnyCall:
		said = " It is for calls to the same recipients: " + quoted(a.Goes) + "."
	case bound.Target == AnyCall && a.Shell:
		said = " It covers every " + quote(a.Tool) + " in this conversation, except what reaches the network, " +
			"deletes, publishes or names secrets. A page that is read meanwhile may use it."
	}
	switch {
	case s.Turn:
		bound.Minutes = most
	case s.Minutes > most:
		bound.Minutes = most
		said += fmt.Sprintf(" %d minutes is the most, so it is %d.", most, most)
	}
	return bound, said
}

// Ref is the card's short name. The agent may read it; it approves nothing.
func (c *Card) Ref() string { return codes.Ref(c.ID) }

// Notice is a card that asks nothing and tells something.
func (c *Card) Notice() string { return c.notice }

// TestCard is a card that asks nothing.
func TestCard() *Card {
	return &Card{notice: "Test: cards from verifier arrive here. There is nothing to answer."}
}

// Minutes is how long the button that allows for a while does so.
func (c *Card) Minutes() int {
	if c.longest > 0 {
		return min(tapMinutes, c.longest)
	}
	return tapMinutes
}

// TypedTool is what `.approve` names: the tool, or "all" where its name can't go into a line that people copy, perhaps
// into a shell by mistake.
func (c *Card) TypedTool() string {
	const plain = "abcdefghijklmnopqrstuvwxyz0123456789_-.:/"
	if tool := c.Ask.Tool; tool != "" && len(tool) <= 40 && strings.Trim(tool, plain) == "" {
		return tool
	}
	return "all"
}

// Count is a number of things in words.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// maxQuoted is how many characters of a name fit into a sentence.
const maxQuoted = 80

// quote shows an untrusted name in a sentence: no secret, and nothing beyond ASCII as itself.
func quote(s string) string {
	s = redact.Line(s)
	if r := []rune(s); len(r) > maxQuoted {
		return strconv.QuoteToASCII(string(r[:maxQuoted])) + "…"
	}
	return strconv.QuoteToASCII(s)
}

func quoted(all []string) string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = quote(s)
	}
	return strings.Join(out, ", ")
}
