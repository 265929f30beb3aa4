// Command cards draws the cards that people see on each chat platform, in each
// state, from the golden files of the channels' tests, so that the pictures in
// the documentation are what the program sends.
//
// It writes docs/images/cards/*.svg and docs/cards.md. Its test fails when they
// differ from what it would write. It refuses to draw a card that no test has
// drawn: there is no text of its own in a picture.
package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	files, err := draw(os.DirFS("."))
	if err == nil {
		err = write(files)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func write(files map[string][]byte) error {
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			return err
		}
		if err := os.WriteFile(name, text, 0o644); err != nil { //nolint:gosec // documentation is for everybody
			return err
		}
	}
	return nil
}

// state is one that a card can be in, by the name of its golden file.
type state struct{ file, says string }

var states = []state{
	{"open", "A call waits. Allow once is for this very call. Longer answers are behind More…"},
	{"open-details-kind", "What More… shows of a command that can be read to the end. A yes for minutes is for commands that do the same."},
	{"open-list", "Calls of one turn that came together, each with its own Allow."},
	{"open-details", "What More… shows: all there is to see, and every answer that can be given."},
	{"hidden-file", "Something is hidden, so there is no one-tap Allow: tap More…, or type the code."},
	{"shown-file", "A file is written: the card shows what. `redact.showFileBodies: false` hides it."},
	{"shown-edit", "A file is changed: what goes and what comes."},
	{"not-lasting", "A call that gets no lasting grant: dangerous, destructive, or not fully visible."},
	{"partly-approved", "Two people must approve, and one has."},
	{"allowed", "Allowed once."},
	{"allowed-30", "Allowed for a while."},
	{"denied", "Denied."},
	{"denied-reason", "Denied, with a reason that the agent reads."},
	{"denied-list", "A list that was denied as a whole."},
	{"expired", "No answer came in time."},
	{"withdrawn", "Taken back: the question could not be put."},
	{"stopped", "The gateway was stopped while the call waited."},
	{"attack-h15-lookalike", "A tool whose name only looks like another."},
	{"attack-h38-invisible", "Characters that can't be seen are written out."},
	{"attack-h39-long", "A long command: head, tail and length; the whole is attached."},
}

const (
	pictures = "docs/images/cards"
	page     = "docs/cards.md"
)

// draw makes all files, by name. A state that a platform's tests do not draw is
// left out there.
func draw(root fs.FS) (map[string][]byte, error) {
	all, err := platforms(root)
	if err != nil {
		return nil, err
	}
	out := make(map[string][]byte)
	var doc bytes.Buffer
	doc.WriteString("# The cards\n\nWhat people see on each platform, drawn by `make docs` from the files that the channels' tests compare with (`channels/*/testdata`). The pictures are ours; fonts and spacing differ on a phone.\n")
	for _, s := range states {
		var row []string
		for _, p := range all {
			golden, err := fs.ReadFile(root, "channels/"+p.name+"/testdata/"+s.file+".golden")
			if err != nil {
				continue
			}
			name := p.name + "-" + s.file + ".svg"
			out[pictures+"/"+name] = p.picture(string(golden))
			row = append(row, fmt.Sprintf("![%s: %s](images/cards/%s)", p.title, s.file, name))
		}
		if len(row) > 0 {
			fmt.Fprintf(&doc, "\n## %s\n\n%s\n\n%s\n", strings.ReplaceAll(s.file, "-", " "), s.says, strings.Join(row, "\n"))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no golden file was found: run this in the root of the repository")
	}
	out[page] = doc.Bytes()
	return out, nil
}
