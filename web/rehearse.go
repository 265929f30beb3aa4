package web

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/channels"
)

// Rehearsal plays the owner's own record against a changed policy. It saves
// nothing and puts nothing in force.
type Rehearsal interface {
	// Text is the policy in force, to be changed.
	Text() (string, error)
	// Play says what another policy would have done; a Refused error is for the
	// person.
	Play(ctx context.Context, text string) (Played, error)
}

// Refused says what is wrong with a policy, in words for the person who wrote it.
type Refused struct{ Text string }

func (r *Refused) Error() string { return r.Text }

// Played is what a changed policy would have done with the calls of the record.
type Played struct {
	Sessions, Calls int
	Before, After   map[string]int // calls by how they fared
	Differences     []Difference   // the first of them
	More            int            // the others
}

// Difference is a call that would have fared otherwise.
type Difference struct {
	Session, Tool string
	Params        jsontext.Value // as they are in the record
	Before, After string
}

// maxDifferences is how many are shown.
const maxDifferences = 50

// Add adds one, or counts it.
func (p *Played) Add(d Difference) {
	if len(p.Differences) == maxDifferences {
		p.More++
		return
	}
	p.Differences = append(p.Differences, d)
}

// Bounds of a rehearsal.
const (
	maxPolicy     = 64 << 10
	rehearsalTime = 30 * time.Second
)

// rehearsing lets one run at a time: it plays the record twice.
var rehearsing sync.Mutex

// rehearsalView is a changed policy and what it would have done.
type rehearsalView struct {
	Text   string
	Fault  string
	Played *playedView
}

type playedView struct {
	Sessions, Calls, More int
	Fates                 []fateView
	Differences           []differenceView
}

type fateView struct {
	Name          string
	Before, After int
}

type differenceView struct{ Talk, Tool, Text, Before, After string }

// rehearse plays the record against the policy that was sent.
func (p *policies) rehearse(w http.ResponseWriter, r *http.Request, m *member) {
	v := p.matrix()
	if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(rehearsalTime + writeTimeout)); err != nil {
		p.o.Log.DebugContext(r.Context(), "a replay has no time limit of its own", "err", err)
	}
	v.Rehearsal = p.rehearsal(r, r.PostFormValue("policy"))
	p.show(w, r, m, "policy", view{Title: "Policy", At: "policy", Policy: v})
}

func (p *policies) rehearsal(r *http.Request, text string) rehearsalView {
	v := rehearsalView{Text: text}
	if !rehearsing.TryLock() {
		v.Fault = "A replay is running. Ask again in a moment."
		return v
	}
	defer rehearsing.Unlock()
	ctx, cancel := context.WithTimeout(r.Context(), rehearsalTime)
	defer cancel()
	played, err := p.o.Rehearsal.Play(ctx, text)
	refused, isRefused := errors.AsType[*Refused](err)
	switch {
	case isRefused:
		v.Fault, _ = channels.Safe(refused.Text, channels.Form{Lines: true, Limit: 2000})
	case err != nil:
		p.o.Log.WarnContext(r.Context(), "the record could not be played against a changed policy", "err", err)
		v.Fault = "It could not be played to the end. The log says why."
	default:
		v.Played = viewPlayed(&played)
	}
	return v
}

func viewPlayed(p *Played) *playedView {
	v := &playedView{Sessions: p.Sessions, Calls: p.Calls, More: p.More}
	for _, name := range []string{"passes", "asks", "is refused"} {
		v.Fates = append(v.Fates, fateView{name, p.Before[name], p.After[name]})
	}
	for _, d := range p.Differences {
		v.Differences = append(v.Differences, differenceView{foreign(d.Session), toolName(d.Tool), channels.Brief(&approval.Ask{Tool: d.Tool, Shown: d.Params}), d.Before, d.After})
	}
	return v
}
