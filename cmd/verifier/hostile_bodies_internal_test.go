package main

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

// fileWrites are calls that write to files, and the lines that a card shows of each.
var fileWrites = []struct {
	call  call
	lines []string
}{
	{call{tool: "write", params: `{"path":"a.py","content":"def one():\n            return 1\n\n\nprint('h183-body')\n"}`}, []string{"│ def one():", "│             return 1", "│ print('h183-body')"}},
	{call{tool: "edit", params: `{"path":"a.py","edits":[{"oldText":"h183-body","newText":"h183-body-2\nmore"}]}`}, []string{"│ - h183-body\n", "│ + h183-body-2\n", "│ + more\n"}},
	{call{tool: "Edit", params: `{"file_path":"a.py","old_string":"h183-body","new_string":"h183-body-3"}`}, []string{"│ a.py\n", "│ - h183-body\n", "│ + h183-body-3\n"}},
	{call{tool: "apply_patch", params: `{"input":"*** Begin Patch\n*** Update File: a.py\n-h183-body\n+h183-body-4\n*** End Patch"}`}, []string{"│ *** Update File: a.py", "│ -h183-body\n", "│ +h183-body-4\n"}},
	{call{tool: "write", params: `{"path":"b.py","content":"h183-body\nAPI_KEY=h183-2f9c03b7d24a86e1"}`}, []string{"│ h183-body\n", "API_KEY=[REDACTED: "}},
}

// TestH183WhatIsWrittenIsOnTheCardAndNotInTheRecord with nothing configured. What looks secret in it is hidden everywhere.
func TestH183WhatIsWrittenIsOnTheCardAndNotInTheRecord(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		for _, w := range fileWrites {
			card := r.writesFile(w.call)
			for _, line := range w.lines {
				if !strings.Contains(card.Text, line) {
					t.Errorf("%q is not on the card:\n%s", line, card.Text)
				}
			}
			if hides := strings.Contains(w.call.params, "API_KEY"); strings.Contains(card.Text, "NOT FULLY VISIBLE") != hides {
				t.Errorf("what is hidden is not told:\n%s", card.Text)
			}
		}
		r.keepsNoBodies()
	})
}

// TestH183CardsHideWhatIsWrittenIfTheOwnerSaysSo and then the card says so.
func TestH183CardsHideWhatIsWrittenIfTheOwnerSaysSo(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) { c.Redact.ShowFileBodies = false })
	for _, w := range fileWrites {
		if card := r.writesFile(w.call); strings.Contains(card.Text, "h183-body") || !strings.Contains(card.Text, "NOT FULLY VISIBLE") {
			t.Errorf("the card shows what it must hide, or does not say that it hides:\n%s", card.Text)
		}
	}
	r.keepsNoBodies()
}

// TestH211AFilesTextIsNotInTheRecordWhateverItsParamIsCalled: clients and MCP servers call it differently. A tool that the name
// does not show to write files keeps what it says in the record.
func TestH211AFilesTextIsNotInTheRecordWhateverItsParamIsCalled(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		for _, c := range []call{
			{tool: "write", params: `{"path":"a.py","contents":"h183-body"}`},
			{tool: "write", params: `{"file_path":"a.py","text":"h183-body","overwrite":true}`},
			{tool: "write", params: `{"path":"a.py","data":["h183-body"]}`},
			{tool: "Edit", params: `{"file_path":"a.py","before":"h183-body","after":"h183-body"}`},
			{tool: "create_file", params: `{"path":"a.py","file_text":"h183-body"}`},
			{tool: "NotebookEdit", params: `{"notebook_path":"a.ipynb","new_source":"h183-body"}`},
			{tool: "mcp__filesystem__write_file", params: `{"path":"a.py","body":"h183-body"}`},
		} {
			if card := r.writesFile(c); !strings.Contains(card.Text, "h183-body") {
				t.Errorf("%s: the card does not show what is written:\n%s", c.tool, card.Text)
			}
		}
		r.keepsNoBodies()
		if !strings.Contains(r.record(), "a.ipynb") {
			t.Error("the record does not say which file was written")
		}
		r.writesFile(call{tool: "send_note", params: `{"to":"bob","text":"h211-note"}`})
		if !strings.Contains(r.record(), "h211-note") {
			t.Error("the record does not hold what was sent")
		}
	})
}

// writesFile asks about a call that writes, approves it and returns its card.
func (r *rig) writesFile(c call) shown {
	r.t.Helper()
	c.context = unvouched("h183")
	held := r.hold(c)
	card := r.waits()
	r.more(card.Ref) // what the config hides on cards is read before it is allowed
	r.approve(card.Ref, 0)
	if a := <-held; !a.allowed() {
		r.t.Errorf("%s: %s", c.params, a.raw)
	}
	redistest.Eventually(r.t, "the card is settled", func() bool { return len(r.pending()) == 0 })
	return card
}

// keepsNoBodies looks for what was written wherever something is kept or told that is not a card.
func (r *rig) keepsNoBodies() {
	r.t.Helper()
	for place, text := range map[string]string{"log": r.log.String(), "record": r.record(), "metrics": r.page("/metrics"), "health": r.page("/readyz")} {
		if strings.Contains(text, "h183-body") || strings.Contains(text, "h183-2f9c03b7d24a86e1") {
			r.t.Errorf("the %s holds what was written to a file", place)
		}
	}
	if n := strings.Count(r.record(), "[REDACTED: "); n < 2*len(fileWrites) {
		r.t.Errorf("%d masks in the record, want one for each question and each decision", n)
	}
	if strings.Contains(r.screen.String(), "h183-2f9c03b7d24a86e1") {
		r.t.Error("a secret is on the screen")
	}
}
