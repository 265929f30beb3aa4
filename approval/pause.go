package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/session"
)

// Pauses are the owner's pauses of agents: it takes them, lifts them and keeps up with those of other processes.
type Pauses struct{ *cardStore }

// View is what this process knows of the pauses that bind an agent's calls.
func (ps *Pauses) View(agent string) session.PauseView { return ps.o.Pauses.View(agent) }

// Changed takes note of what the store holds where a view says otherwise. After
// it the view is right, or the store failed.
func (ps *Pauses) Changed(ctx context.Context, b session.PauseView, stand [2]string) error {
	if err := ps.learn(ctx, session.AllAgents, stand[0], b.Seen); err != nil {
		return err
	}
	return ps.learn(ctx, b.Agent, stand[1], b.Seen)
}

// learn takes over what the store holds under a scope, or puts the owner's word
// back where somebody took it away. seen is how much was known when it was asked.
func (ps *Pauses) learn(ctx context.Context, scope, text string, seen int64) error {
	lesson := ps.o.Pauses.Heard(scope, text, seen, time.Now())
	if lesson.Strange != "" {
		ps.o.Log.ErrorContext(ctx, "someone else writes to the store: "+lesson.Strange, "scope", scope)
		ps.note(ctx, record.Entry{Kind: record.KindNote, Note: lesson.Strange + " (" + scope + ")"})
	}
	if lesson.Put != "" {
		return ps.o.Store.RestorePause(ctx, scope, text, lesson.Put)
	}
	return nil
}

// hearPauses reads all pauses anew, and ends the waits of the agents that one binds.
func (ps *Pauses) hearPauses(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	known, seen := ps.o.Pauses.Scopes() // first: a word that is said meanwhile is not missing
	words, err := ps.o.Store.Pauses(ctx)
	if err != nil {
		return err
	}
	for _, scope := range known {
		if _, kept := words[scope]; !kept {
			words[scope] = ""
		}
	}
	for scope, text := range words {
		if err := ps.learn(ctx, scope, text, seen); err != nil {
			return err
		}
	}
	ps.wakePaused()
	return nil
}

// wakePaused ends the waits of the agents that a pause binds.
func (ps *Pauses) wakePaused() {
	ps.waiters.wakePaused(func(agent string) bool { return ps.View(agent).On })
}

// pause stops an agent, or all: nothing but what is harmless passes from now on,
// in every process that shares the store.
func (ps *Pauses) pause(ctx context.Context, person, via, agent string) (Outcome, error) {
	scopes := []string{session.AllAgents}
	if agent != "" {
		scopes = []string{session.AgentScope(agent), session.NoAgent}
	}
	if err := ps.say(ctx, person, scopes, true); err != nil {
		return Outcome{Text: "The store can't be reached. The pause holds on this instance, which will pass it on; say it again to be sure of the others."}, err
	}
	text := fmt.Sprintf("%s paused by %s (%s). Only harmless tools run until `.resume`.", whom(ps.o.Hide(agent)), person, via)
	ps.note(ctx, spokenEntry(record.KindPause, person, via, agent))
	ps.o.Log.WarnContext(ctx, text)
	ps.Tell(ctx, text)
	return Outcome{Kind: Replied, Text: text}, nil
}

// resume lifts what binds an agent, or all, and lets it ask again. It is recorded
// first: what can't be recorded is not lifted.
func (ps *Pauses) resume(ctx context.Context, person, via, agent string) (Outcome, error) {
	const failed = "The store can't be reached. The pause may still hold; say it again."
	if err := ps.hearPauses(ctx); err != nil {
		return Outcome{Text: failed}, err
	}
	scopes, asked := ps.lifted(agent)
	e := spokenEntry(record.KindResume, person, via, agent)
	if err := ps.o.Record.Append(e); err != nil {
		return Outcome{Text: "The record can't be written. Nothing was lifted; try again."}, err
	}
	err := ps.say(ctx, person, scopes, false)
	if err == nil {
		err = ps.o.Store.Forgive(ctx, asked...)
	}
	if err != nil {
		return Outcome{Text: failed}, err
	}
	text := fmt.Sprintf("%s resumed by %s (%s).", whom(ps.o.Hide(agent)), person, via)
	if agent != "" && ps.View(agent).On {
		text += " A pause of all agents still holds; `.resume` lifts it."
	}
	ps.Tell(ctx, text)
	return Outcome{Kind: Replied, Text: text}, nil
}

// lifted are the scopes whose pause ends with an agent's, and whose questions
// are forgiven; without an agent, all of them. Calls that name no agent are bound
// as long as any agent is.
func (ps *Pauses) lifted(agent string) (scopes, asked []string) {
	var on []string
	for _, p := range ps.o.Pauses.Active() {
		on = append(on, p.Scope)
	}
	if agent == "" {
		return on, nil
	}
	own := session.AgentScope(agent)
	scopes = []string{own}
	others := slices.ContainsFunc(on, func(s string) bool { return s != own && s != session.NoAgent && s != session.AllAgents })
	if !others && slices.Contains(on, session.NoAgent) {
		scopes = append(scopes, session.NoAgent)
	}
	return scopes, []string{own}
}

// say puts the owner's word under each scope. A pause counts here before the
// store has it, and whatever the store does: a word that is missing there is put
// there. That one is lifted counts once the store has it.
func (ps *Pauses) say(ctx context.Context, person string, scopes []string, on bool) error {
	defer ps.wakePaused()
	var failed []error
	for _, scope := range scopes {
		p := ps.o.Pauses.Next(scope, on, person, time.Now())
		word := p.Value(ps.o.Key)
		if on {
			ps.o.Pauses.Say(p)
		}
		if err := ps.o.Store.Pause(ctx, scope, word); err != nil {
			failed = append(failed, err)
			continue
		}
		ps.o.Pauses.Learn(scope, word)
	}
	return errors.Join(failed...)
}

func spokenEntry(kind record.Kind, person, via, agent string) record.Entry {
	return record.Entry{Kind: kind, Agent: agent, Note: whom(agent), People: []record.Person{{Name: person, Via: via, At: time.Now().UTC()}}}
}

func whom(agent string) string {
	if agent == "" {
		return "All agents"
	}
	return "The agent " + quote(agent)
}

// Text says what is paused and by whom; nothing if nothing is.
func (ps *Pauses) Text() string {
	var lines []string
	for _, p := range ps.List() {
		agent := p.Scope
		if p.Scope == session.AllAgents {
			agent = ""
		}
		by := "by someone who is not known here"
		if !p.At.IsZero() {
			by = fmt.Sprintf("by %s since %s", p.By, p.At.UTC().Format("2006-01-02 15:04:05 UTC"))
		}
		lines = append(lines, fmt.Sprintf("PAUSED: %s, %s. `.resume` lifts it.", whom(ps.o.Hide(agent)), by))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// List gives the pauses that hold. The one of calls that name no agent is left out: it
// comes with an agent's.
func (ps *Pauses) List() []session.Pause {
	return slices.DeleteFunc(ps.o.Pauses.Active(), func(p session.Pause) bool { return p.Scope == session.NoAgent })
}
