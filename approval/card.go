package approval

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// Card is one or more questions put to people together, under one code.
type Card struct {
	ID        string     `json:"id"`
	Batch     bool       `json:"batch,omitzero"`  // collects what MaxOpen kept out
	Frozen    bool       `json:"frozen,omitzero"` // sent: nothing is added any more
	Questions []Question `json:"questions"`
	Copies    []Copy     `json:"copies,omitzero"`
	Listed    string     `json:"listed,omitzero"` // seals what a batch card asks about, once it is frozen
	Ended     bool       `json:"ended,omitzero"`  // a process tells of its expiry, or has

	Code    string `json:"-"` // for people only: never stored, logged or recorded
	version int64
	notice  string
	key     hmac.Key     // what handles are made with; only on a card that a desk has opened
	longest int          // the most minutes a yes may last; 0: not known
	entry   int          // of [Card.Entry]: which call of the list, from 1
	likely  *LikePreview // where it is to be shown what a yes to calls like it would cover
}

// Copy is where a card is shown.
type Copy struct {
	Channel string `json:"channel"`
	Ref     string `json:"ref"`
}

// Ask is what is asked about one call: all that a person is shown and all that
// their yes is bound to. It is sealed when the card is made.
type Ask struct {
	Conversation session.Conversation `json:"conversation"` // whose state it is: the root's
	SessionKey   string               `json:"sessionKey"`   // as the call named it
	SessionID    string               `json:"sessionId"`
	// what a grant is bound to: the session id, and the key of a spawned session
	Window    string `json:"window"`
	Agent     string `json:"agent"`
	Directory string `json:"directory,omitzero"` // where the agent works; empty: it did not say
	Run       string `json:"run"`
	Tool      string `json:"tool"`
	Sent      string `json:"sent,omitzero"` // the tool's name as sent, where it differs
	// of the question: the call, and the directory where the agent names one
	Digest string `json:"digest"`
	Call   string `json:"call,omitzero"` // the call's own digest, as the record has it
	// what the auditor stopped, in two words: no call waits for the answer
	Blocked string      `json:"blocked,omitzero"`
	Unheard bool        `json:"unheard,omitzero"` // and it did so because the auditor gave no answer
	Auditor string      `json:"auditor,omitzero"` // what the auditor says of it
	Level   taint.Level `json:"level"`
	Rule    string      `json:"rule"`
	Why     []string    `json:"why"`
	Reasons []string    `json:"reasons,omitzero"` // the worst of Why in plain words, two at most
	// what to notice first, in a few words each, the worst first
	Risks []string `json:"risks,omitzero"`
	// we don't know what it does, or it sends something away
	Unclear bool           `json:"unclear,omitzero"`
	Effect  Effect         `json:"effect,omitzero"`  // what a tool that we don't know says of itself
	Origins []Origin       `json:"origins,omitzero"` // where its arguments came from, the worst first
	Started string         `json:"started"`          // who started the run
	Said    []string       `json:"said,omitzero"`
	Shown   jsontext.Value `json:"shown"`           // redacted params
	Hidden  int            `json:"hidden,omitzero"` // values a person can't see
	// of them, texts for files that the config hides on cards: see [Opening]
	Bodies  int  `json:"bodies,omitzero"`
	Lasting bool `json:"lasting,omitzero"`
	Shell   bool `json:"shell,omitzero"` // it runs a command
	// of a shell: a yes for a while may cover every command that reaches no network and bears no mark
	Every bool `json:"every,omitzero"`
	// what calls like it have in common; empty: those can't be allowed together
	Like string `json:"like,omitzero"`
	// what a standing consent names that covers it, see [session.StandingLike]; empty: none can
	Always string `json:"always,omitzero"`
	// what tells it from others of its tool however it is spelled, see [lineage.Spelled]
	Spelled string   `json:"spelled,omitzero"`
	Targets []string `json:"where,omitzero"` // and where they go, to be read
	// the params that say where this one goes, also where Targets is empty
	TargetParams []string `json:"goes,omitzero"`
	Unsure       bool     `json:"unsure,omitzero"` // no label says which of its params these are
	// outside content could drive it: no notification allows it
	Tainted bool `json:"tainted,omitzero"`
	// the client hid params: only the waiting request may be released
	HeldOnly  bool      `json:"heldOnly,omitzero"`
	Senders   []string  `json:"senders,omitzero"`   // who started it, by ids on platforms
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

// Marked reports whether something about the call has to be noticed first: it bears the mark of a risk, more than a yes
// is at stake, or we don't know what it does.
func (a *Ask) Marked() bool {
	return len(a.Risks) > 0 || a.Unclear
}

// CallDigest is the call's own digest.
func (a *Ask) CallDigest() string { return cmp.Or(a.Call, a.Digest) }

// Name is a name that the client chose, such as the agent's, as people may read it.
// The name itself may hold a secret: what decides needs it as it came.
func (a *Ask) Name(s string) string {
	if a.hide == nil {
		return redact.Line(s)
	}
	return a.hide(s)
}

// Reach says how far a yes with this scope reaches: "for 30 minutes".
func (a *Ask) Reach(s Scope) string {
	if s = a.Bound(s); s.Turn && s.Like {
		return s.String() + "," + LikeOnly(&session.Grant{Like: a.Like})
	}
	return s.String()
}

// Bound is a scope as it counts. A yes until the run ends is for calls that go to the same destinations. Where no label
// says which arguments say where a call goes, or that can't be kept, it is for exactly this call.
func (a *Ask) Bound(s Scope) Scope {
	if !s.Turn || s.Exactly || s.Like || a.Shell {
		return s
	}
	s.Like = a.Like != ""
	s.Exactly = !s.Like && (len(a.TargetParams) > 0 || a.Unsure)
	return s
}

// Origin is where one argument came from.
type Origin struct {
	Argument string `json:"argument"` // its path among the params
	session.Origin
}

// Question is an Ask with what became of it.
type Question struct {
	Ask  Ask    `json:"ask"`
	Seal string `json:"seal"`
	// requests that wait for it, with the process that holds each, earliest first
	Holders []string `json:"holders,omitzero"`
	Votes   []Vote   `json:"votes,omitzero"`
	Used    string   `json:"used,omitzero"` // the request that took the yes

	Openings []Opening `json:"openings,omitzero"`

	card string   // the id of the card that it is on
	key  hmac.Key // what its votes are sealed with; without one, no vote counts
}

// Vote is one person's answer.
type Vote struct {
	Person string `json:"person"`
	// what the platform calls a person of whom the config knows only an id; for people to read
	Called string `json:"called,omitzero"`
	ID     string `json:"id,omitzero"` // which of their ids said it
	Via    string `json:"via"`
	Allow  bool   `json:"allow"`
	Scope  Scope  `json:"scope,omitzero"`
	Seen   bool   `json:"seen,omitzero"` // the details showed all of the call beside the button
	Reason string `json:"reason,omitzero"`
	For    string `json:"for,omitzero"` // the waiting request that the yes is kept for
	// the digest of the call that the person made of it: the yes is for that one
	Edited string    `json:"edited,omitzero"`
	At     time.Time `json:"at"`
	Seal   string    `json:"seal"`
}

// Who is the person's name as others know it.
func (v *Vote) Who() string { return cmp.Or(v.Called, v.Person) }

// Scope is how far a yes reaches. The zero Scope is this call, once.
type Scope struct {
	Turn    bool `json:"turn,omitzero"`    // that tool until the run ends, to the same destinations: see [Ask.Bound]
	Like    bool `json:"like,omitzero"`    // only calls like it, to the same destination
	Exactly bool `json:"exactly,omitzero"` // only this very call, as often as it comes
	// that tool in that conversation until then; with Turn, whichever comes first
	Minutes int `json:"minutes,omitzero"`
}

// Lasting reports whether the scope outlives the call.
func (s Scope) Lasting() bool { return s.Turn || s.Minutes > 0 }

// String says the scope in words.
func (s Scope) String() string {
	switch {
	case s.Exactly:
		s.Exactly = false
		return "exactly this " + s.String()
	case s.Like:
		s.Like = false
		return "like this " + s.String()
	}
	switch {
	case s.Turn && s.Minutes > 0:
		return fmt.Sprintf("until the run ends, at most %d minutes", s.Minutes)
	case s.Turn:
		return "until the run ends"
	case s.Minutes == 1:
		return "for 1 minute"
	case s.Minutes > 0:
		return fmt.Sprintf("for %d minutes", s.Minutes)
	}
	return "once"
}

// narrower is the scope that grants less.
func narrower(a, b Scope) Scope {
	if !a.Lasting() || !b.Lasting() {
		return Scope{}
	}
	s := Scope{
		Like:    a.Like || b.Like,
		Exactly: a.Exactly || b.Exactly,
		Turn:    a.Turn || b.Turn,
		Minutes: min(a.Minutes, b.Minutes),
	}
	if s.Minutes == 0 { // a turn without a limit of its own
		s.Minutes = max(a.Minutes, b.Minutes)
	}
	return s
}

// Entry is the card as if it asked about one call of its list alone: its buttons are for that call. It has no code,
// which is for the list.
func (c *Card) Entry(at int) *Card {
	one := *c
	one.Questions, one.entry, one.Code, one.likely = c.Questions[at:at+1:at+1], at+1, "", nil
	return &one
}

// IsEntry reports whether the card is one call of a list, see [Card.Entry].
func (c *Card) IsEntry() bool { return c.entry > 0 }

// Ref is the card's short name. The agent may read it; it approves nothing.
func (c *Card) Ref() string { return codes.Ref(c.ID) }

// Until is when the card can no longer be answered.
func (c *Card) Until() time.Time {
	if len(c.Questions) == 0 {
		return time.Time{}
	}
	return c.Questions[0].Ask.Until
}

// list is what a batch card asks about, for its seal.
func (c *Card) list() []string {
	out := []string{c.ID}
	for i := range c.Questions {
		out = append(out, c.Questions[i].Ask.Digest)
	}
	return out
}

// whole reports whether a card may be answered: it asks about one call, or it
// was frozen with just these.
func (c *Card) whole() bool {
	if !c.Frozen {
		return false
	}
	return !c.Batch && len(c.Questions) == 1 || c.Batch && c.key.Check(c.Listed, "list", c.list()...)
}

// question finds what the card asks about a digest.
func (c *Card) question(digest string) *Question {
	if at := slices.IndexFunc(c.Questions, func(q Question) bool { return q.Ask.Digest == digest }); at >= 0 {
		return &c.Questions[at]
	}
	return nil
}

// encode writes the card for the store.
func (c *Card) encode() ([]byte, error) { return json.Marshal(c) }

func sealedAsk(id string, a *Ask) ([]string, error) {
	text, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("seal question: %w", err)
	}
	return []string{id, string(text)}, nil
}

// pose makes a sealed question of an ask.
func pose(key hmac.Key, id string, a Ask, holder string) (Question, error) {
	parts, err := sealedAsk(id, &a)
	if err != nil {
		return Question{}, err
	}
	return Question{Ask: a, Seal: key.Seal("question", parts...), Holders: []string{holder}, card: id, key: key}, nil
}

func (v *Vote) sealed(id, digest string) []string {
	parts := []string{
		id, digest, v.Person, v.ID, v.Via, fmt.Sprint(v.Allow), fmt.Sprint(v.Scope.Turn, v.Scope.Minutes, v.Scope.Like, v.Scope.Exactly), v.Reason, v.For,
		v.At.UTC().Format(time.RFC3339Nano),
	}
	if v.Seen {
		parts = append(parts, "seen")
	}
	if v.Called != "" {
		parts = append(parts, "called "+v.Called)
	}
	if v.Edited != "" {
		parts = append(parts, "edited "+v.Edited)
	}
	return parts
}
