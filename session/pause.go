package session

import (
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
)

// Scopes of a pause. An agent's own is its id in lower case.
const (
	AllAgents = "*"
	NoAgent   = "-" // for calls that name no agent: bound wherever any agent is
)

// AgentScope is the scope of an agent's own pause. Ids are compared without
// case, as everywhere.
func AgentScope(agent string) string {
	if agent == "" {
		return NoAgent
	}
	return strings.ToLower(agent)
}

// Pause is the owner's word that an agent, or all of them, may do nothing but
// what is harmless; or that they may act again. The later word counts.
type Pause struct {
	Scope string
	On    bool
	By    string
	At    time.Time // to the millisecond
}

var errPause = errors.New("session: a stored pause does not carry this server's seal")

// Value writes the word for the store: when, which, who, seal.
func (p *Pause) Value(key hmac.Key) string {
	at, on := strconv.FormatInt(p.At.UnixMilli(), 10), onOff(p.On)
	by := hex.EncodeToString([]byte(p.By))
	return strings.Join([]string{at, on, by, key.Seal("pause", p.Scope, at, on, by)}, "|")
}

func onOff(on bool) string {
	if on {
		return "paused"
	}
	return "lifted"
}

// OpenPause reads the value that a store has for a scope. What was written there by anyone
// else is no word of the owner's.
func OpenPause(key hmac.Key, scope, value string) (Pause, error) {
	f := strings.Split(value, "|")
	if len(f) != 4 || !key.Check(f[3], "pause", scope, f[0], f[1], f[2]) {
		return Pause{}, errPause
	}
	at, errAt := strconv.ParseInt(f[0], 10, 64)
	by, errBy := hex.DecodeString(f[2])
	if errAt != nil || errBy != nil {
		return Pause{}, errPause
	}
	return Pause{Scope: scope, On: f[1] == onOff(true), By: string(by), At: time.UnixMilli(at)}, nil
}

// PauseView is what this process takes the store to hold about the pauses that
// bind a call. A store compares, and does nothing where it differs: then the
// process learns first. The zero PauseView is that the store holds none.
type PauseView struct {
	Agent string // the agent's scope
	All   string // the value under AllAgents
	Own   string // the value under Agent
	On    bool   // one of them binds the call: it may not pass
	Seen  int64  // how much this process had learned: see Pauses.Heard
}

// Pauses is what this process knows of the owner's pauses. A process that writes into
// the store can make it say "paused", and can't take back the owner's own word:
// a word that vanished, or an older one in its place, is put back; a value without
// our seal counts as a pause as long as it is there.
type Pauses struct {
	key  hmac.Key
	keep func(words map[string]string)

	some  atomic.Bool // anything is known: most processes never hear of a pause
	mu    sync.Mutex
	known map[string]knownPause
	count int64 // of all that was learned
}

// knownPause is what is known of one scope.
type knownPause struct {
	word  Pause  // the last that carries our seal; the zero Pause is none
	value string // the same as written
	text  string // what the store holds, as far as we know
	onWay bool   // the word was said here, and the store may not have it yet
	heard bool   // the word was read in one part of the store, and the others may not have it yet
	since int64  // which of all that was learned this was
}

func (s *knownPause) on() bool { return s.word.On || s.text != "" && s.text != s.value }

// NewPauses begins with the words that this process knew before it was
// restarted. Keep gets all of them whenever one changes; it may be nil.
func NewPauses(key hmac.Key, before map[string]string, keep func(words map[string]string)) *Pauses {
	p := &Pauses{key: key, keep: keep, known: make(map[string]knownPause)}
	for scope, value := range before {
		if word, err := OpenPause(key, scope, value); err == nil {
			p.known[scope] = knownPause{word: word, value: value, text: value}
			p.some.Store(true)
		}
	}
	return p
}

// View is what binds a call of this agent.
func (p *Pauses) View(agent string) PauseView {
	b := PauseView{Agent: AgentScope(agent)}
	if !p.some.Load() {
		return b
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	all, own := p.known[AllAgents], p.known[b.Agent]
	b.Seen = p.count
	b.All, b.Own, b.On = all.text, own.text, all.on() || own.on() || b.Agent == NoAgent && p.anyOn()
	return b
}

// anyOn reports whether any agent is paused: a call that names none could be
// that agent's.
func (p *Pauses) anyOn() bool {
	for _, s := range p.known {
		if s.on() {
			return true
		}
	}
	return false
}

// spreading is how long a word may be on its way to every part of the store.
const spreading = 10 * time.Second

// Lesson is what came of learning. The zero Lesson is that all is well.
type Lesson struct {
	Put     string // what the store must hold instead of what it held, if it is set: the owner's word
	Strange string // what is wrong with what the store holds, in words for the log
}

// Say takes the owner's word, which is on its way to the store: until it is seen
// there, it was not taken away.
func (p *Pauses) Say(w Pause) {
	p.mu.Lock()
	defer p.mu.Unlock()
	value := w.Value(p.key)
	p.note(w.Scope, knownPause{word: w, value: value, text: value, onWay: true})
	p.changed()
}

// Heard takes note of what the store held under a scope when it was asked, while
// this process had learned so much. Where it has learned something of the scope
// since, the answer may be the older of the two, and says nothing. A word is written
// into one part of the store after the other: for a while, a part without it was not
// changed by others.
func (p *Pauses) Heard(scope, text string, seen int64, now time.Time) Lesson {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known[scope].since > seen {
		return Lesson{}
	}
	lesson := p.learn(scope, text, true)
	if s := p.known[scope]; lesson.Put != "" && s.heard && now.Sub(s.word.At).Abs() < spreading {
		lesson.Strange = ""
	}
	return lesson
}

// Learn takes note of what every part of the store holds under a scope.
func (p *Pauses) Learn(scope, text string) Lesson {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.learn(scope, text, false)
}

func (p *Pauses) learn(scope, text string, heard bool) Lesson {
	s := p.known[scope]
	word, err := OpenPause(p.key, scope, text)
	switch {
	case text == s.value:
		heard = heard && (s.heard || s.onWay)
		if text == s.text && !s.onWay && heard == s.heard {
			return Lesson{}
		}
		s.onWay, s.heard = false, heard
	case err == nil && s.older(word):
		p.note(scope, knownPause{word: word, value: text, text: text, heard: heard})
		p.changed()
		return Lesson{}
	case s.onWay && (err == nil || text == ""):
		return Lesson{Put: s.value}
	case err == nil:
		return Lesson{Put: s.value, Strange: "an older word about a pause was put back into the store"}
	case text == "" && s.word.On:
		return Lesson{Put: s.value, Strange: "a pause vanished from the store without the owner's word"}
	}
	s.text = text
	p.note(scope, s)
	if text != "" && text != s.value {
		return Lesson{Strange: "the store holds a pause that this server did not write"}
	}
	return Lesson{}
}

func (p *Pauses) note(scope string, s knownPause) {
	p.count++
	if s.value == "" && s.text == "" {
		delete(p.known, scope)
		return
	}
	s.since = p.count
	p.known[scope] = s
	p.some.Store(true)
}

// older reports whether a word counts more than the one that is known. Of two
// at one time the pause does.
func (s *knownPause) older(w Pause) bool {
	return w.At.After(s.word.At) || w.On && w.At.Equal(s.word.At)
}

// changed passes the words to Keep. The caller holds the lock.
func (p *Pauses) changed() {
	if p.keep == nil {
		return
	}
	words := make(map[string]string, len(p.known))
	for scope, s := range p.known {
		if s.value != "" {
			words[scope] = s.value
		}
	}
	p.keep(words)
}

// Next is the owner's next word about a scope: later than any before.
func (p *Pauses) Next(scope string, on bool, by string, now time.Time) Pause {
	p.mu.Lock()
	defer p.mu.Unlock()
	now = now.Truncate(time.Millisecond)
	if last := p.known[scope].word.At; !now.After(last) {
		now = last.Add(time.Millisecond)
	}
	return Pause{Scope: scope, On: on, By: by, At: now}
}

// Active lists the scopes that are paused now, with the word that did it; one
// without a time comes from a value without our seal.
func (p *Pauses) Active() []Pause {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []Pause
	for scope, s := range p.known {
		switch {
		case s.word.On:
			out = append(out, s.word)
		case s.on():
			out = append(out, Pause{Scope: scope, On: true})
		}
	}
	return out
}

// Scopes are all of which anything is known, and how much was learned so far.
func (p *Pauses) Scopes() (scopes []string, seen int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.known)), p.count
}
