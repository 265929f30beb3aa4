package store

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/taint"
)

// Name is a conversation's: a client and the session key that its agent gave. The session id and the agent are
// attributes of a call, so leaving one out or changing it sheds nothing.
type Name struct {
	Client string `json:"client,omitzero"` // whose secret signed the calls
	Key    string `json:"key,omitzero"`    // the session key; empty when the client gave none
}

// Hash is its name in documents and cards: 32 hex digits.
func (n Name) Hash() string { return hashOf(n.Client, n.Key) }

// Ref is its short name for people: enough of its hash to find it again, and nothing of what it is called.
func (n Name) Ref() string { return strings.ToUpper(n.Hash()[:8]) }

// Lasting reports whether a grant may outlive one call here. Calls without a session key share one conversation and
// can't be told apart.
func (n Name) Lasting() bool { return n.Key != "" }

// Jobs names the conversation that keeps what the scheduled jobs of an agent are worth. No call comes from it.
func Jobs(client, agent string) Name { return Name{Client: client, Key: "(jobs) " + agent} }

// Conversation is what is known of one conversation. Update gives a copy: what is changed in it is written with all
// else, or not at all. Call Changed before you change a field yourself; the methods do.
type Conversation struct {
	Name
	Root   *Name                  `json:"root,omitzero"`   // the conversation whose trust this one shares
	Under  string                 `json:"under,omitzero"`  // under which session id of the root's; "" counts for all
	Levels map[string]taint.Level `json:"levels,omitzero"` // by session id; "" counts for all
	Causes []Cause                `json:"causes,omitzero"` // what last made it worse, oldest first
	Called bool                   `json:"called,omitzero"` // a call was decided here
	Reset  time.Time              `json:"reset,omitzero"`  // when its owner last reset it
	// by session id ("" for all): what was read that holds secrets
	Secrets map[string]string   `json:"secrets,omitzero"`
	Caution []string            `json:"caution,omitzero"` // tools whose results need caution
	Footer  map[string][]string `json:"footer,omitzero"`  // by run: lines below the agent's next message
	Grants  []Grant             `json:"grants,omitzero"`  // those that hold
	Open    []OpenCard          `json:"open,omitzero"`    // cards that wait
	Fresh   Fresh               `json:"fresh,omitzero"`   // what the owner's /new needs
	Order   []string            `json:"order,omitzero"`   // the session ids, in the order in which they came
	Epoch   string              `json:"epoch,omitzero"`   // of the store in which it was written
	Era     int64               `json:"era,omitzero"`     // in another one no card and no grant of it counts
	Written time.Time           `json:"written,omitzero"` // roughly: one in use is written again, so that it is kept

	key     string // of its document
	lost    bool   // what was known of it is gone
	changed bool   // it is to be written, and its maps are its own
	granted bool   // its grants changed
}

// Cause is what made a conversation worse.
type Cause struct {
	Level   taint.Level `json:"level"`
	What    string      `json:"what"`
	At      time.Time   `json:"at"`
	Session string      `json:"session,omitzero"`
}

// Fresh is what is known of the owner's /new. The rules are the verifier's.
type Fresh struct {
	Owners  []string       `json:"owners,omitzero"`
	Asked   time.Time      `json:"asked,omitzero"`
	Ended   time.Time      `json:"ended,omitzero"`
	Count   int            `json:"count,omitzero"`
	Session string         `json:"session,omitzero"`
	Runs    map[string]int `json:"runs,omitzero"`
}

// Grant lets calls pass that would ask otherwise.
type Grant struct {
	ID      string      `json:"id"` // the card's on which it was given
	Tool    string      `json:"tool"`
	Agent   string      `json:"agent"`
	Session string      `json:"session,omitzero"`
	Run     string      `json:"run,omitzero"`    // it ends with the run
	Target  string      `json:"target,omitzero"` // "" any call of the tool; "exact <digest>"; "same <destinations>"
	Shown   string      `json:"shown"`           // for people: the call, or where it goes
	By      []string    `json:"by"`              // the people
	IDs     []string    `json:"ids"`             // with which id each said yes
	Level   taint.Level `json:"level"`
	Until   time.Time   `json:"until"`
}

// OpenCard is a card that waits or was answered lately, as its conversation lists it.
type OpenCard struct {
	ID     string    `json:"id"`
	Digest string    `json:"digest"`
	Until  time.Time `json:"until"`
	Closed bool      `json:"closed,omitzero"` // answered: until then an identical call finds what was said
}

// MostSessions is how many session ids of a conversation are known. What falls out is not known any more, and so
// untrusted unless its runtime says that it began empty. The others are bounds too.
const (
	MostSessions = 200
	mostCauses   = 12
	mostCaution  = 8
	mostFooters  = 8
	mostLines    = 5
	mostGrants   = 200
	keepLong     = 365 * 24 * time.Hour
	rewriteAfter = 30 * 24 * time.Hour
	lostCause    = "The store has lost what it knew"
	lostUnseen   = "the store, which has lost what it knew"
)

// Changed notes that the conversation is about to change. From then on its maps and slices may be written to: before,
// they are shared with what this process remembers.
func (c *Conversation) Changed() {
	if c.changed {
		return
	}
	c.changed = true
	c.Levels, c.Secrets = maps.Clone(c.Levels), maps.Clone(c.Secrets)
	c.Footer, c.Fresh.Runs = maps.Clone(c.Footer), maps.Clone(c.Fresh.Runs)
	c.Causes, c.Caution, c.Order = slices.Clone(c.Causes), slices.Clone(c.Caution), slices.Clone(c.Order)
	c.Grants, c.Open, c.Fresh.Owners = slices.Clone(c.Grants), slices.Clone(c.Open), slices.Clone(c.Fresh.Owners)
}

// Level is how far a session id is trusted: the worse of its own and of what came without one. Without a session id it
// is the worst of all.
func (c *Conversation) Level(session string) taint.Level {
	if session == "" {
		return c.Worst()
	}
	return taint.Worse(c.Levels[""], c.Levels[session])
}

// Worst is the worst level of all session ids.
func (c *Conversation) Worst() (worst taint.Level) {
	for _, level := range c.Levels {
		worst = taint.Worse(worst, level)
	}
	return worst
}

// Met reports whether a session id is known here.
func (c *Conversation) Met(session string) bool {
	_, known := c.Levels[session]
	return known || session == ""
}

// Raise makes a session id ("" for all) at least as bad as a level, and notes what did it. It changes nothing where it
// was so already; a session id that is not known is from then on.
func (c *Conversation) Raise(session string, level taint.Level, what string, now time.Time) {
	if c.Met(session) && c.Levels[session] >= level {
		return
	}
	c.Changed()
	if level > taint.Worse(c.Levels[""], c.Levels[session]) {
		c.Causes = last(append(c.Causes, Cause{Level: level, What: what, At: now, Session: session}), mostCauses)
	}
	if !c.Met(session) {
		c.Order = append(c.Order, session)
	}
	for ; len(c.Order) > MostSessions; c.Order = c.Order[1:] {
		delete(c.Levels, c.Order[0])
	}
	if c.Levels == nil {
		c.Levels = map[string]taint.Level{}
	}
	c.Levels[session] = taint.Worse(c.Levels[session], level)
}

// Cause is what made a session id as bad as it is; nil: not known.
func (c *Conversation) Cause(session string) *Cause {
	level := c.Level(session)
	for _, k := range slices.Backward(c.Causes) {
		if k.Level == level && (session == "" || k.Session == "" || k.Session == session) {
			return &k
		}
	}
	return nil
}

// Expose notes that something was read that holds secrets.
func (c *Conversation) Expose(session, what string) {
	if c.Secrets[session] != "" || what == "" {
		return
	}
	c.Changed()
	if c.Secrets == nil || len(c.Secrets) >= MostSessions { // then it counts for all
		c.Secrets, session = map[string]string{}, pick(c.Secrets == nil, session, "")
	}
	c.Secrets[session] = what
}

// Secret is what was read that holds secrets, "" if nothing was. Without a session id, that of any counts.
func (c *Conversation) Secret(session string) string {
	if what := c.Secrets[""]; what != "" || session != "" {
		return pick(what != "", what, c.Secrets[session])
	}
	for _, what := range c.Secrets {
		return what
	}
	return ""
}

// NeedsCaution notes that a tool's results need caution.
func (c *Conversation) NeedsCaution(tool string) {
	if slices.Contains(c.Caution, tool) {
		return
	}
	c.Changed()
	c.Caution = last(append(c.Caution, tool), mostCaution)
}

// AddFooter adds a line to what stands below the next message of a run.
func (c *Conversation) AddFooter(run, line string) {
	if lines := c.Footer[run]; len(lines) >= mostLines || slices.Contains(lines, line) {
		return
	}
	c.Changed()
	if c.Footer == nil || c.Footer[run] == nil && len(c.Footer) >= mostFooters {
		c.Footer = map[string][]string{} // lines of runs that never said anything
	}
	c.Footer[run] = append(slices.Clone(c.Footer[run]), line)
}

// TakeFooter gives the lines of a run and forgets them.
func (c *Conversation) TakeFooter(run string) []string {
	lines := c.Footer[run]
	if len(lines) > 0 {
		c.Changed()
		delete(c.Footer, run)
	}
	return lines
}

// Grant adds a grant.
func (c *Conversation) Grant(g Grant) { //nolint:gocritic // it is kept
	c.Changed()
	c.granted = true
	c.Grants = last(append(c.Grants, g), mostGrants)
}

// EndGrants ends the grants of which over says so.
func (c *Conversation) EndGrants(over func(*Grant) bool) {
	if keep := those(c.Grants, func(g *Grant) bool { return !over(g) }); len(keep) < len(c.Grants) {
		c.Changed()
		c.Grants, c.granted = keep, true
	}
}

// Forget is the owner's reset: what was read no longer counts, and grants end. The session ids stay known.
func (c *Conversation) Forget(now time.Time) {
	c.Changed()
	for session := range c.Levels {
		c.Levels[session] = taint.System
	}
	c.Causes, c.Secrets, c.Caution, c.Footer = nil, nil, nil, nil
	c.Grants, c.granted, c.Reset = nil, true, now
}

// last keeps the last of a list.
func last[T any](list []T, most int) []T { return list[max(0, len(list)-most):] }

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}
