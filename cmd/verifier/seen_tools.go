package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/openclaw-verifier/verifier/label"
	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/toolcall"
	"github.com/openclaw-verifier/verifier/verifier"
)

// seenToolsFile is where the gateway keeps which tools agents have called and were offered, in its state directory.
func seenToolsFile(state string) string { return filepath.Join(state, "tools.json") }

// seeing notes the tools of calls that hooks, plugins and gates ask about, for `verifier label --seen`.
type seeing struct {
	*verifier.Verifier
	seen *label.Seen
}

// seeing starts from what was seen before the last restart.
func (g *gateway) seeing(decider *verifier.Verifier) seeing {
	path := seenToolsFile(g.state.Dir())
	if err := g.seen.Load(path); err != nil {
		g.log.Warn("the tools that were seen before are not known", "err", err)
	}
	if err := os.Chmod(path, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) { // others may have been let in since
		g.log.Warn("others may read which tools were seen", "file", path, "err", err)
	}
	g.seen.Plain = func(name string) bool {
		shown := name
		g.live.Load().redactor.Lines(&shown)
		return shown == name
	}
	return seeing{decider, &g.seen}
}

// VerifyOrHold implements server.Verifier.
func (s seeing) VerifyOrHold(ctx context.Context, c *toolcall.Call) (verifier.Decision, func(context.Context) verifier.Decision) {
	s.seen.Note(c.Tool, c.Sent, c.Params)
	return s.Verifier.VerifyOrHold(ctx, c)
}

// Notice implements server.Loop.
func (s seeing) Notice(ctx context.Context, c *toolcall.Call) loop.Answer {
	s.seen.Note(c.Tool, c.Sent, c.Params)
	return s.Verifier.Notice(ctx, c)
}

// Hear implements server.Loop. A runtime tells which tools a model is offered.
func (s seeing) Hear(ctx context.Context, e *loop.Event) loop.Answer {
	for _, name := range e.Tools {
		s.seen.Note(toolcall.Canonical(name), name, nil)
	}
	return s.Verifier.Hear(ctx, e)
}

// keepSeen writes what was seen, now and then and at the end.
func (g *gateway) keepSeen(ctx context.Context) {
	tick := time.NewTicker(turnsEvery)
	defer tick.Stop()
	for done := false; !done; {
		select {
		case <-ctx.Done():
			done = true
		case <-tick.C:
		}
		if err := g.seen.Save(seenToolsFile(g.state.Dir())); err != nil {
			g.log.WarnContext(ctx, "the tools that were seen could not be kept", "err", err)
		}
	}
}
