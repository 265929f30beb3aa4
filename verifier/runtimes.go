package verifier

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/loop"
)

// Runtime is what a runtime's plugin says of itself when the runtime starts, and
// again every few minutes. It proves that the plugin is loaded where calls are made.
type Runtime struct {
	Client string
	loop.Hello
	First time.Time // when this instance was first heard
	Last  time.Time
}

// silence is how long a plugin may be quiet. It says hello every five minutes.
const silence = 15 * time.Minute

// Says is how it does, for people: what it was heard of, or what is wrong.
func (r *Runtime) Says(now time.Time) (good, fault string) {
	ago := max(0, now.Sub(r.Last)).Round(time.Second)
	switch {
	case r.Off:
		return "", "is switched off (enabled: false): tool calls run unasked. To switch it on, set enabled to true and restart the gateway of " + r.Name
	case ago > silence && r.Instance != "": // a coding agent comes and goes, and names none
		return "", "was last heard " + ago.Round(time.Minute).String() + " ago. Is the gateway of " + r.Name + " running, and is the plugin enabled there?"
	}
	good = "client " + r.Client + ", heard " + ago.String() + " ago: version " + r.Version + ", asks about " + cmp.Or(r.Scope, "every tool") + ", failMode " + cmp.Or(r.FailMode, "unknown")
	if r.Blind {
		good += "; it does not see what starts a run (allowConversationAccess is off)"
	}
	return good, ""
}

// runtimes are those that have said hello to this process.
type runtimes struct {
	o    *Options
	hide *hiding

	mu  sync.Mutex
	all []Runtime
}

// mostRuntimes bounds what clients can make us remember.
const mostRuntimes = 64

// Runtimes are those that have said hello to this process, by client and name.
func (v *Verifier) Runtimes() []Runtime {
	v.runtimes.mu.Lock()
	defer v.runtimes.mu.Unlock()
	out := slices.Clone(v.runtimes.all)
	slices.SortFunc(out, func(a, b Runtime) int {
		return cmp.Or(cmp.Compare(a.Client, b.Client), cmp.Compare(a.Name, b.Name), b.Last.Compare(a.Last))
	})
	return out
}

// greet takes in a hello. A new instance of a client's runtime replaces the old.
func (s *runtimes) greet(ctx context.Context, e *loop.Event) loop.Answer {
	r := Runtime{Client: e.Call.Client, Hello: e.Hello, Last: time.Now()}
	s.hide.redactor().Lines(&r.Name, &r.Version, &r.Instance, &r.FailMode, &r.Scope)
	r.First = r.Last
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.all, func(o Runtime) bool { return o.Client == r.Client && strings.EqualFold(o.Name, r.Name) })
	switch {
	case at >= 0 && s.all[at].Instance == r.Instance:
		r.First = s.all[at].First
		s.all[at] = r
		return loop.Answer{Accepted: true}
	case at >= 0:
		s.all[at] = r
	case len(s.all) >= mostRuntimes:
		return Refused(e.Name, "Too many runtimes have said hello.")
	default:
		s.all = append(s.all, r)
	}
	s.o.Log.InfoContext(ctx, "a runtime said hello", "client", r.Client, "runtime", r.Name, "version", r.Version, "failMode", r.FailMode, "off", r.Off)
	return loop.Answer{Accepted: true}
}
