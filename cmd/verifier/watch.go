package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// WatchCmd shows what waits, live, and takes answers.
type WatchCmd struct {
	Minutes int `help:"How long the answer m is for." default:"30" placeholder:"N"`
	owner
}

// Help is the long help.
func (*WatchCmd) Help() string {
	return `Each question is shown as it comes, one after the other. Answer with one key:

    y  allow this call once
    n  deny it
    m  allow such calls for --minutes
    s  skip it: it stays open for other places
    q  quit

    $ verifier watch

A key that you press before a question has been on the screen for a moment does not count.` + ownerHelp
}

const (
	watchPause = time.Second            // between two looks at what waits
	tooSoon    = 700 * time.Millisecond // after a question came up
)

// Validate refuses what the server would.
func (c *WatchCmd) Validate() error {
	if c.Minutes < 1 {
		return &failure{text: "--minutes must be at least 1"}
	}
	return nil
}

// Run watches until q, Ctrl-C or the end of standard input.
func (c *WatchCmd) Run(a *app) error {
	if in, ok := a.stdin.(*os.File); ok && term.IsTerminal(int(in.Fd())) {
		before, err := term.MakeRaw(int(in.Fd()))
		if err != nil {
			return err
		}
		defer term.Restore(int(in.Fd()), before) //nolint:errcheck // nothing is left to do about it
		raw := *a
		raw.stdout, raw.stderr = crlf{a.stdout}, crlf{a.stderr}
		a = &raw
	}
	w := watch{WatchCmd: c, a: a, skipped: map[string]bool{}}
	return w.run(keys(a.stdin))
}

// crlf writes for a terminal that returns the carriage only when it is told to.
type crlf struct{ io.Writer }

func (w crlf) Write(p []byte) (int, error) {
	_, err := w.Writer.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n")))
	return len(p), err
}

// keys are those that are pressed, until there are no more. Whoever reads them
// may stop at any time: the program ends then.
func keys(in io.Reader) <-chan byte {
	out := make(chan byte)
	go func() {
		defer close(out)
		var key [1]byte
		for {
			if n, err := in.Read(key[:]); n == 0 && err != nil {
				return
			}
			out <- key[0]
		}
	}()
	return out
}

// watch is one run of the command.
type watch struct {
	*WatchCmd
	a       *app
	shown   string // the reference of the question on the screen; empty: none
	since   time.Time
	skipped map[string]bool
	idle    bool // it has said that nothing waits
}

func (w *watch) run(keys <-chan byte) error {
	tick := time.NewTicker(watchPause)
	defer tick.Stop()
	for {
		if err := w.look(); err != nil {
			return err
		}
		select {
		case <-w.a.ctx.Done():
			return nil
		case <-tick.C:
		case key, more := <-keys:
			if !more || key == 'q' || key == 3 || key == 4 { // Ctrl-C and Ctrl-D
				return nil
			}
			if err := w.press(key); err != nil {
				return err
			}
		}
	}
}

// look asks what waits, and shows the first question if none is on the screen.
func (w *watch) look() error {
	waiting, err := w.waiting(w.a)
	if err != nil {
		return err
	}
	next := ""
	for _, card := range waiting.Cards {
		if card.Ref == w.shown {
			return nil
		}
		if next == "" && !w.skipped[card.Ref] {
			next = card.Ref
			defer func() {
				w.a.printf("%s\n\n  y allow once · n deny · m allow %d min · s skip · q quit\n", block(card.Text), w.Minutes)
			}()
		}
	}
	if w.shown != "" {
		w.a.printf("%s is no longer open.\n", w.shown)
	}
	if w.shown, w.since = next, time.Now(); next == "" && !w.idle {
		w.a.printf("Nothing waits. Questions appear here; q quits.\n")
	}
	w.idle = next == ""
	return nil
}

// press takes a key.
func (w *watch) press(key byte) error {
	ref := w.shown
	if ref == "" || time.Since(w.since) < tooSoon {
		return nil
	}
	in := reply{Ref: ref}
	switch key {
	case 'y':
		in.Allow = true
	case 'm':
		in.Allow, in.Minutes = true, w.Minutes
	case 'n':
	case 's':
		w.a.printf("Skipped %s.\n", ref)
		w.skipped[ref], w.shown = true, ""
		return nil
	default:
		if !strings.ContainsRune("\r\n ", rune(key)) {
			w.a.printf("y, n, m, s or q.\n")
		}
		return nil
	}
	var out outcome
	if err := w.ask(w.a, http.MethodPost, answerPath, in, &out); err != nil {
		return err
	}
	w.a.printf("%s\n", block(out.Text))
	w.skipped[ref], w.shown = true, "" // what did not count can be tried elsewhere
	return nil
}
