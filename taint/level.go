// Package taint names how far content can be trusted and what that permits.
//
// There are six levels, from the agent's own configuration down to pages written by strangers, and three modes. A level
// only ever gets worse: callers combine levels with [Worse], and nothing here makes one better. The package holds no
// state and knows no tool.
package taint

import (
	"fmt"
	"strings"
)

// Level is the trust left in a conversation. Larger is worse.
type Level uint8

// The six levels, most trusted first.
const (
	System    Level = iota // the agent's own configuration, attested automation
	Owner                  // the owner, writing directly
	Local                  // what local tools return
	Shared                 // other agents, groups the owner takes part in
	External               // known senders who are not the owner
	Untrusted              // the web, and everyone who could not be told
)

// Levels is how many levels there are.
const Levels = 6

var levelNames = [Levels]string{"system", "owner", "local", "shared", "external", "untrusted"}

// All lists the levels, most trusted first.
func All() [Levels]Level {
	return [Levels]Level{System, Owner, Local, Shared, External, Untrusted}
}

// String is the level's name in config, record and cards.
func (l Level) String() string {
	if int(l) >= Levels {
		return fmt.Sprintf("level(%d)", uint8(l))
	}
	return levelNames[l]
}

// Valid reports whether l is one of the six.
func (l Level) Valid() bool { return int(l) < Levels }

// Worse is the less trusted of the two.
func Worse(a, b Level) Level { return max(a, b) }

// ParseLevel reads a level's name.
func ParseLevel(name string) (Level, error) {
	for l := System; l.Valid(); l++ {
		if levelNames[l] == name {
			return l, nil
		}
	}
	return Untrusted, fmt.Errorf("unknown trust level %q: use one of %s", name, strings.Join(levelNames[:], ", "))
}

// MarshalText writes the name.
func (l Level) MarshalText() ([]byte, error) {
	if !l.Valid() {
		return nil, fmt.Errorf("no trust level has the number %d", uint8(l))
	}
	return []byte(levelNames[l]), nil
}

// UnmarshalText reads the name.
func (l *Level) UnmarshalText(text []byte) (err error) {
	*l, err = ParseLevel(string(text))
	return err
}
