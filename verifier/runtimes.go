package verifier

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/internal/protocol"
)

// Runtime is what a runtime's plugin says of itself when the runtime starts, and again every few minutes. It proves
// that the plugin is loaded where calls are made.
type Runtime struct {
	Client string
	protocol.Hello
	Last time.Time
}

const (
	silence      = 15 * time.Minute // how long a plugin may be quiet: it says hello every five minutes
	mostRuntimes = 64
)

// Says is how it does, for people: what it was heard of, or what is wrong.
func (r *Runtime) Says(now time.Time) (good, fault string) {
	ago := max(0, now.Sub(r.Last)).Round(time.Second)
	switch {
	case r.Off:
		return "", "is switched off (enabled: false): tool calls run unasked. To switch it on, set enabled to true " +
			"and restart the gateway of " + r.Name
	case ago > silence && r.Instance != "": // a coding agent comes and goes, and names none
		return "", "was last heard " + ago.Round(time.Minute).String() + " ago. Is the gateway of " + r.Name +
			" running, and is the plugin enabled there?"
	}
	good = "client " + r.Client + ", heard " + ago.String() + " ago: version " + r.Version + ", asks about " +
		cmp.Or(r.Scope, "every tool") + ", failMode " + cmp.Or(r.FailMode, "unknown")
	if r.Blind {
		good += "; it does not see what starts a run (allowConversationAccess is off)"
	}
	return good, ""
}

// runtimes are those that have said hello to this process, by client and name.
type runtimes struct {
	mu  sync.Mutex
	all map[[2]string]Runtime
}

// Runtimes are those that have said hello to this process, by client and name.
func (v *Verifier) Runtimes() []Runtime {
	v.runtimes.mu.Lock()
	defer v.runtimes.mu.Unlock()
	return slices.SortedFunc(maps.Values(v.runtimes.all), func(a, b Runtime) int {
		return cmp.Or(cmp.Compare(a.Client, b.Client), cmp.Compare(a.Name, b.Name))
	})
}

// greet takes in a hello. A new instance of a client's runtime replaces the old.
func (s *runtimes) greet(e *protocol.Event, t *Terms) protocol.Answer {
	r := Runtime{Client: e.Call.Client, Hello: e.Hello, Last: time.Now()}
	t.Redactor.Lines(&r.Name, &r.Version, &r.Instance, &r.FailMode, &r.Scope)
	key := [2]string{r.Client, strings.ToLower(r.Name)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.all[key]; !known && len(s.all) >= mostRuntimes {
		return Refused(e.Name, "Too many runtimes have said hello.")
	}
	s.all[key] = r
	return protocol.Answer{Accepted: true}
}
