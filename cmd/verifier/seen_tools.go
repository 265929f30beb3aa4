package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"

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
	log  *slog.Logger
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
	return seeing{decider, &g.seen, g.log}
}

// note keeps what a call tells of its tool. Whatever happens here, the decision comes after it.
func (s seeing) note(ctx context.Context, tool, sent string, params jsontext.Value) {
	defer func() {
		if recover() != nil {
			s.log.ErrorContext(ctx, "a tool that was seen could not be noted")
		}
	}()
	s.seen.Note(tool, sent, params)
}

// Verify implements server.Verifier.
func (s seeing) Verify(ctx context.Context, c *toolcall.Call) verifier.Decision {
	s.note(ctx, c.Tool, c.Sent, c.Params)
	return s.Verifier.Verify(ctx, c)
}

// Notice implements server.Loop.
func (s seeing) Notice(ctx context.Context, c *toolcall.Call) loop.Answer {
	s.note(ctx, c.Tool, c.Sent, c.Params)
	return s.Verifier.Notice(ctx, c)
}

// Hear implements server.Loop. A runtime tells which tools a model is offered.
func (s seeing) Hear(ctx context.Context, e *loop.Event) loop.Answer {
	for _, name := range e.Tools {
		s.note(ctx, toolcall.Canonical(name), name, nil)
	}
	return s.Verifier.Hear(ctx, e)
}

// keepSeen writes what was seen, now and then and at the end.
func (g *gateway) keepSeen(ctx context.Context) {
	save := func() {
		if err := g.seen.Save(seenToolsFile(g.state.Dir())); err != nil {
			g.log.WarnContext(ctx, "the tools that were seen could not be kept", "err", err)
		}
	}
	every(ctx, turnsEvery, save)
	save()
}
