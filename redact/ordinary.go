package redact

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"
)

// ordinary remembers the names of members that neither hide their value nor hold
// a secret themselves, each with its role: calls use the same few all the time,
// and to look one up is much quicker than to look at it.
type ordinary struct {
	known atomic.Pointer[map[string]role]
	write sync.Mutex
}

const (
	maxOrdinary     = 512 // names that are remembered; whoever sends more gains nothing by it
	maxOrdinaryName = 32  // bytes
)

// role is what a name says of its value and of the members beside it; 0: nothing.
type role uint8

const (
	ofProgram   role = 1 << iota // the value names a program
	ofArguments                  // an array holds the arguments of the program beside it
	ofName                       // the value names the one beside it
	ofValue                      // the value is what such a name is for
)

// roles are by squashed name.
var roles = map[string]role{
	"command": ofProgram | ofArguments, "cmd": ofProgram | ofArguments,
	"program": ofProgram, "executable": ofProgram, "file": ofProgram, "bin": ofProgram, "binary": ofProgram, "exe": ofProgram,
	"args": ofArguments, "argv": ofArguments, "arguments": ofArguments,
	"name": ofName, "key": ofName, "header": ofName, "field": ofName, "k": ofName, "id": ofName, "variable": ofName, "env": ofName,
	"value": ofValue, "val": ofValue, "v": ofValue, "values": ofValue,
}

// roleOf reports whether the name is remembered, and as what.
func (o *ordinary) roleOf(name string) (r role, known bool) {
	r, known = o.all()[name]
	return r, known
}

func (o *ordinary) all() map[string]role {
	if known := o.known.Load(); known != nil {
		return *known
	}
	return nil
}

func (o *ordinary) full() bool { return len(o.all()) >= maxOrdinary }

func (o *ordinary) add(name string, r role) {
	o.write.Lock()
	defer o.write.Unlock()
	if o.full() {
		return
	}
	known := maps.Clone(o.all())
	if known == nil {
		known = map[string]role{}
	}
	known[strings.Clone(name)] = r
	o.known.Store(&known)
}

// remember keeps a name in which no secret was found, unless its value may be
// hidden because of it, in some tool.
func (r *Redactor) remember(name string) {
	if len(name) > maxOrdinaryName || r.ordinary.full() {
		return
	}
	squashed := squash(name)
	if !bodyFields[squashed] && !isCode(squashed) && !mayLogIn(squashed) && r.kindOf("", name, squashed, 0) == "" {
		r.ordinary.add(name, roles[squashed])
	}
}
