package approval

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
)

// Pauses are the owner's pauses of agents. What binds a call is read in the update that allows it; what is known here
// ends waits, and is shown.
type Pauses struct{ *cards }

// pauses are those that this process knows of.
func (c *core) pauses() []store.Pause {
	if p := c.paused.Load(); p != nil {
		return *p
	}
	return nil
}

// binds reports whether one of the pauses binds an agent's calls. Calls that name no agent are bound by any.
func binds(all []store.Pause, agent string) bool {
	return slices.ContainsFunc(all, func(p store.Pause) bool {
		return p.On && (p.Agent == "" || agent == "" || strings.EqualFold(p.Agent, agent))
	})
}

// hear reads the pauses anew, and ends the waits of the agents that one binds.
func (ps *Pauses) hear(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	all, err := ps.o.Store.Pauses(ctx)
	if err != nil {
		if ctx.Err() == nil {
			ps.o.Log.WarnContext(ctx, "the pauses could not be read", "err", err)
		}
		return
	}
	all = slices.DeleteFunc(all, func(p store.Pause) bool { return !p.On })
	ps.paused.Store(&all)
	if len(all) > 0 {
		ps.waiters.pause(all)
	}
}

// pause stops an agent, or all: nothing but what is harmless passes from now on, in every process that shares the
// store.
func (ps *Pauses) pause(ctx context.Context, person, via, agent string) (Outcome, error) {
	err := ps.o.Store.Pause(ctx, store.Pause{Agent: agent, On: true, By: person, At: time.Now()})
	ps.hear(ctx)
	if err != nil {
		return Outcome{Text: "The store can't be reached. The pause may not hold everywhere; say it again."}, err
	}
	text := fmt.Sprintf("%s paused by %s (%s). Only harmless tools run until `.resume`.",
		whom(ps.o.Hide(agent)), person, via)
	ps.note(ctx, spoken(record.KindPause, person, via, agent))
	ps.o.Log.WarnContext(ctx, text)
	ps.Tell(ctx, text)
	return replied("%s", text), nil
}

// resume lifts what binds an agent, or all, and lets it ask again. It is recorded first: what can't be recorded is
// not lifted.
func (ps *Pauses) resume(ctx context.Context, person, via, agent string) (Outcome, error) {
	if err := ps.o.Record.Append(spoken(record.KindResume, person, via, agent)); err != nil {
		return Outcome{Text: "The record can't be written. Nothing was lifted; try again."}, err
	}
	err := ps.o.Store.Pause(ctx, store.Pause{Agent: agent, By: person, At: time.Now()})
	if err == nil {
		err = ps.o.Store.Forgive(ctx, agent)
	}
	ps.hear(ctx)
	if err != nil {
		return Outcome{Text: "The store can't be reached. The pause may still hold; say it again."}, err
	}
	text := fmt.Sprintf("%s resumed by %s (%s).", whom(ps.o.Hide(agent)), person, via)
	if agent != "" && binds(ps.pauses(), agent) {
		text += " A pause of all agents still holds; `.resume` lifts it."
	}
	ps.Tell(ctx, text)
	return replied("%s", text), nil
}

func spoken(kind record.Kind, person, via, agent string) record.Entry {
	by := []record.Person{{Name: person, Via: via, At: time.Now().UTC()}}
	return record.Entry{Kind: kind, Agent: agent, Note: whom(agent), People: by}
}

func whom(agent string) string {
	if agent == "" {
		return "All agents"
	}
	return "The agent " + quote(agent)
}

// List gives the pauses that hold, as they were read last.
func (ps *Pauses) List() []store.Pause { return ps.pauses() }

// Text says what is paused and by whom; nothing if nothing is.
func (ps *Pauses) Text() string {
	var lines []string
	for _, p := range ps.pauses() {
		lines = append(lines, fmt.Sprintf("PAUSED: %s, by %s since %s UTC. `.resume` lifts it.",
			whom(ps.o.Hide(p.Agent)), p.By, p.At.UTC().Format(time.DateTime)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
