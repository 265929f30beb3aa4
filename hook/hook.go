// Package hook connects a coding agent with the gateway: the agent runs it before and after each tool call, it asks the
// gateway by the signed protocol, and answers in the agent's own form.
//
// It fails closed. A call passes only on an answer that the gateway has signed for this very request. Everything else
// ends with exit code 2 and words on standard error, which is the one way by which every agent stops a call: no
// gateway, a wrong secret, input that can't be read, a signal, a panic, a reader that has gone. It never ends with exit
// code 1, and never without words for a call that was not decided.
//
// It decides nothing itself, and it sends no text that a tool returned: only fingerprints of it. What it knows of the
// agent's process it takes from the system and not from the environment, which an injected shell could set.
package hook

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"
)

// Options are what a hook is run with.
type Options struct {
	// Agent is whose hook it is: one of [Agents].
	Agent string
	// Gateway says where the gateway is. It is called once.
	Gateway func() (Gateway, error)
	// Notes is the directory where hooks leave word for later ones. The agent must not write there.
	Notes func() (string, error)
	// Timeout is how long the agent waits for the hook. 0: as long as it does without settings.
	Timeout time.Duration
	// Owner says that what starts a run is the owner's own words even where no person sits at the terminal.
	Owner bool
	// Dialogs says that the agent shows its own dialog where a hook tells it to ask, for the tools that are known for
	// it.
	Dialogs bool
	// Edits says that the agent runs the input of an answer instead of its own. A plugin of ours says it in its events.
	Edits bool

	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Env            func(string) string
}

// What a hook ends with. There is no other code.
const (
	decided = 0
	refused = 2
)

const (
	// margin is how long before the agent's own timeout the hook gives up: an agent lets a call pass that it has
	// waited too long for.
	margin = 10 * time.Second
	// readWithin is how long the agent may take to say what it is about.
	readWithin = 10 * time.Second
	maxInput   = 32 << 20
)

// Agents are the names of the agents that have a hook.
func Agents() []string { return []string{claudeCode, codex, gemini, opencode} }

// run is one run of the hook.
type run struct {
	Options
	agent   *agent
	in      input
	gateway Gateway
	notes   notes
	who     who
	until   time.Time
	noID    bool // the agent has no ids for its calls, and CallID is one of ours
}

// failure is why a call is refused, in words for the agent and its owner.
type failure string

func (f failure) Error() string { return string(f) }

// Refusal is an error whose words the agent and its owner may read.
func Refusal(words string) error { return failure(words) }

// Words are those of a [Refusal].
func Words(err error) (string, bool) {
	words, ok := errors.AsType[failure](err)
	return string(words), ok
}

// Run answers one event of the agent and returns the exit code. It returns by itself when ctx ends.
func Run(ctx context.Context, o Options) int {
	done := make(chan int, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil { // what it says may hold a part of the call
				done <- o.refuse("The verifier's hook failed. Nothing was run.")
			}
		}()
		done <- o.run(ctx)
	}()
	words := "The verifier's hook was stopped before there was an answer. Nothing was run."
	late := time.NewTimer(o.within() + time.Second)
	defer late.Stop()
	select {
	case code := <-done:
		return code
	case <-ctx.Done():
	case <-late.C: // what it waits for takes no notice of a context: a file that is a pipe, a disk that does not answer
		words = "The verifier's hook did not get done in time. Nothing was run."
	}
	select { // it may be writing its answer
	case code := <-done:
		return code
	case <-time.After(time.Second):
		return o.refuse(words)
	}
}

// within is how long the hook may take, so that it ends before the agent gives up waiting.
func (o *Options) within() time.Duration {
	timeout := o.Timeout
	if a := agents[o.Agent]; a != nil {
		timeout = cmp.Or(timeout, a.timeout)
	}
	return max(timeout-margin, time.Second)
}

func (o *Options) run(ctx context.Context) int {
	r := &run{Options: *o, agent: agents[o.Agent]}
	if r.agent == nil {
		return o.refuse(
			"verifier hook: there is no agent of this name. Use one of: " + strings.Join(Agents(), ", ") + ".",
		)
	}
	r.until = time.Now().Add(o.within())
	ctx, cancel := context.WithDeadline(ctx, r.until)
	defer cancel()
	answer, err := r.answer(ctx)
	if words, ok := errors.AsType[failure](err); ok {
		return o.refuse(string(words))
	}
	if err != nil {
		return o.refuse("The verifier's hook failed. Nothing was run.")
	}
	if n, err := o.Stdout.Write(answer); err != nil || n < len(answer) || n == 0 {
		return o.refuse("The verifier's answer could not be handed to the agent. Nothing was run.")
	}
	return decided
}

// refuse says why, and returns the code that stops a call. Some agents let a call pass where nothing is said.
func (o *Options) refuse(words string) int {
	io.WriteString(o.Stderr, words+"\n") //nolint:errcheck // the code says it as well
	return refused
}

// answer reads the event and does what it asks for.
func (r *run) answer(ctx context.Context) ([]byte, error) {
	text, err := r.read(ctx)
	if err == nil {
		err = r.in.decode(text)
	}
	if err != nil {
		return r.unread(ctx, text, err)
	}
	kind, known := r.agent.events[r.in.Event]
	if r.in.CallID == "" && (kind == call || kind == returned || kind == failed) {
		r.noID = true
		_, r.in.CallID = r.judged()
	}
	if !known {
		return nil, failure(
			"The verifier's hook does not know the event \"" + printable(
				r.in.Event,
			) + "\" of " + r.Agent + ". Take the hook off that event.",
		)
	}
	if err := r.prepare(); err != nil {
		if kind.asks() {
			return nil, err
		}
		return r.untold(kind, err)
	}
	switch kind {
	case call:
		return r.beforeCall(ctx)
	case permission:
		return r.permission(ctx)
	default:
		if err := r.tell(ctx, kind); err != nil {
			return r.untold(kind, err)
		}
		return []byte("{}\n"), nil
	}
}

// prepare finds out where to ask, and what the agent's process is.
func (r *run) prepare() (err error) {
	if r.gateway, err = r.Gateway(); err != nil {
		return err
	}
	dir, err := r.Notes()
	if err != nil {
		return err
	}
	if r.notes, err = openNotes(dir); err != nil {
		return err
	}
	if err := r.identify(); err != nil || r.in.CWD == "" || r.in.SessionID == "" {
		return err
	}
	kind := r.agent.events[r.in.Event]
	return r.notes.starts(
		r.key(r.in.SessionID),
		r.in.CWD,
		kind == began && (r.in.Source == "startup" || r.in.Source == "resume"),
	)
}

// unread is for an event that can't be read: too large, too deep, broken. What a tool returned is in the agent's
// context all the same, so it is reported as outside content that bears a secret. Anything else is refused.
func (r *run) unread(ctx context.Context, text []byte, why error) ([]byte, error) {
	r.in = input{cut: true}
	r.in.decodeHead(text)
	kind := r.agent.events[r.in.Event]
	if kind != returned && kind != failed {
		return nil, why
	}
	err := r.prepare()
	if err == nil {
		err = r.tell(ctx, kind)
	}
	if err != nil {
		return r.untold(kind, err)
	}
	return []byte("{}\n"), nil
}

// read reads all that the agent says, or the beginning of what is too large.
func (r *run) read(ctx context.Context) ([]byte, error) {
	type said struct {
		text []byte
		err  error
	}
	all := make(chan said, 1)
	go func() {
		text, err := io.ReadAll(io.LimitReader(r.Stdin, maxInput+1))
		all <- said{text, err}
	}()
	select {
	case s := <-all:
		switch {
		case s.err != nil && !errors.Is(s.err, os.ErrClosed):
			return nil, failure("The verifier's hook could not read what the agent says. Nothing was run.")
		case len(s.text) > maxInput:
			return s.text, failure("The call is too large to be verified. Nothing was run.")
		case len(s.text) == 0:
			return nil, failure("The agent sent nothing to the verifier's hook. Nothing was run.")
		}
		return s.text, nil
	case <-time.After(readWithin):
	case <-ctx.Done():
	}
	return nil, failure("The agent did not tell the verifier's hook in time what it is about. Nothing was run.")
}

// printable keeps a foreign word from moving the cursor, and short.
func printable(s string) string {
	s = strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, s)
	return s[:min(len(s), 80)]
}
