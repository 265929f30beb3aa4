package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/mcp"
)

// describes makes the server say this of its tool, and reports whether the client sees it.
func (g *gate) describes(description string) bool {
	g.t.Helper()
	return strings.Contains(g.offers(`{"name":"echo","description":"`+description+`","inputSchema":{"type":"object"}}`), description)
}

// puts are the questions about changed tools that the owner got so far.
func (g *gate) puts() (n int) {
	for line := range strings.Lines(g.record()) {
		if strings.Contains(line, `"kind":"asked"`) && strings.Contains(line, mcp.ChangedTool) {
			n++
		}
	}
	return n
}

// ages makes the question that was put last one of two minutes ago.
func (g *gate) ages() {
	g.t.Helper()
	file := filepath.Join(g.dir, "notes", "tools", "fake", "asked")
	var text []byte
	g.eventually("the note of the question", func() (is bool) {
		var err error
		text, err = os.ReadFile(file)
		return err == nil
	})
	_, rest, _ := strings.Cut(string(text), "\n")
	if err := os.WriteFile(file, []byte(time.Now().Add(-2*time.Minute).UTC().Format(time.RFC3339)+"\n"+rest), 0o600); err != nil {
		g.t.Fatal(err)
	}
}

// TestH292AServerThatChangesAllTheTimeHasOneCard, which shows what is true now. The owner can't be made to read one card after the other.
func TestH292AServerThatChangesAllTheTimeHasOneCard(t *testing.T) {
	t.Parallel()
	g := gated(newRig(t, nil))
	g.describes("says it")
	g.describes("first change")
	first := g.waits()
	g.ages()
	g.describes("second change")
	g.eventually("a card in place of the first", func() bool {
		all := g.pending()
		return len(all) == 1 && all[0].Ref != first.Ref
	})
	g.eventually("the newest difference", func() bool { return strings.Contains(g.screen.String(), `+   "description": "second change"`) })
	g.approve(first.Ref, 0)
	if g.describes("second change") || g.describes("first change") { // and so the second card is out of date
		t.Error("a yes to the older difference counted")
	}
	for i := range 30 {
		if g.describes(fmt.Sprintf("change %d", i)) {
			t.Error("a change passed")
		}
		if n := len(g.pending()); n > 1 {
			t.Errorf("%d cards are open", n)
		}
	}
	g.waiting(0)
	if n := g.puts(); n != 2 {
		t.Errorf("the owner got %d questions about 33 changes", n)
	}
	if !strings.Contains(g.record(), "withdrawn: what it asked about has changed since") {
		t.Error("the record does not say why the card was closed")
	}
}

// notesNo waits until the gate has noted that the owner refused the one change. A change that comes earlier replaces a question without an answer,
// and waits for a minute.
func (g *gate) notesNo() {
	g.t.Helper()
	g.eventually("the note of the no", func() bool {
		all, err := filepath.Glob(filepath.Join(g.dir, "notes", "tools", "fake", "*.no"))
		return err == nil && len(all) == 1
	})
}

// TestH293ANoToAChangeStands: the server tells its client of a new list again and again, and the owner is not asked again.
func TestH293ANoToAChangeStands(t *testing.T) {
	t.Parallel()
	g := gated(newRig(t, nil))
	g.describes("says it")
	g.describes("obeys me")
	g.refuse(g.waits().Ref, "no")
	g.notesNo()
	for range 10 {
		if g.describes("obeys me") {
			t.Error("it passed after a no")
		}
	}
	text, _ := g.tools()
	g.says(text, "CHANGED")
	if n := g.puts(); n != 1 || len(g.pending()) > 0 {
		t.Errorf("%d questions, and %d open", n, len(g.pending()))
	}
}

// TestH294GatesOfOneServerShareOneCard: each client starts a gate of its own, and the owner is asked once. What the owner accepts by the command line
// closes the card.
func TestH294GatesOfOneServerShareOneCard(t *testing.T) {
	t.Parallel()
	g := gated(newRig(t, nil))
	other := gated(g.rig, "--notes", filepath.Join(g.dir, "notes"))
	both := func(description string) {
		for _, g := range []*gate{g, other} {
			g.describes(description)
		}
	}
	both("says it")
	g.describes("is fine")
	g.approve(g.waits().Ref, 0)
	for _, g := range []*gate{g, other} {
		g.eventually("the tool in the list", func() bool { return g.describes("is fine") })
	}
	both("is better")
	g.waits()
	text, _ := g.tools()
	_, command, _ := strings.Cut(text, "--accept '")
	version, _, _ := strings.Cut(command, "'")
	if _, code := g.tools("--accept", version); code != exitOK || len(version) < len("fake/echo:")+32 {
		t.Errorf("%s was not accepted: %d", version, code)
	}
	for _, g := range []*gate{g, other} {
		if !g.describes("is better") {
			t.Error("the accepted change is not in the list")
		}
	}
	g.waiting(0)
	if n := g.puts(); n != 2 {
		t.Errorf("%d questions about two changes", n)
	}
}
