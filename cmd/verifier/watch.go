package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/openclaw-verifier/verifier/channels"
)

// WatchCmd shows what waits, live, and takes answers.
type WatchCmd struct {
	Minutes int `help:"How long the answer m is for." default:"30" placeholder:"N"`
	owner
}

const (
	watchPause = time.Second            // between two looks at what waits
	tooSoon    = 700 * time.Millisecond // after a question came up: no person reads faster
	watchedMax = 8                      // keys that are kept while the server is asked
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
	in, ok := a.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return &failure{"watch reads keys, and there is no terminal to press them at", "run it in a terminal; for scripts there is `verifier pending --json`"}
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return fmt.Errorf("read single keys: %w", err)
	}
	defer term.Restore(int(in.Fd()), before) //nolint:errcheck // nothing is left to do about it; a panic comes by here, too
	raw := *a
	raw.stdout, raw.stderr = crlf{a.stdout}, crlf{a.stderr}
	return c.watch(&raw, in, func() (width, height int, err error) { return term.GetSize(int(in.Fd())) })
}

// watch is Run once single keys can be read.
func (c *WatchCmd) watch(a *app, keyboard io.Reader, size screenSize) error {
	t, err := c.target(a, c.URL)
	if err != nil {
		return err
	}
	t.warn(a)
	w := watcher{WatchCmd: c, app: a, target: t, size: size, done: map[string]bool{}}
	ctx, stop := context.WithCancel(a.ctx)
	defer stop()
	return w.run(w.keys(ctx, keyboard))
}

// crlf writes for a terminal in raw mode, which needs \r before \n.
type crlf struct{ io.Writer }

func (w crlf) Write(p []byte) (int, error) {
	_, err := w.Writer.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n")))
	return len(p), err
}

// screenSize asks a terminal for its size, in characters.
type screenSize func() (width, height int, err error)

// fits reports whether a text and the line for its keys are on the screen at once. Where the size can't be told they are not.
func (size screenSize) fits(text string) bool {
	width, height, err := size()
	if err != nil || width < 1 {
		return false
	}
	rows := 3 // an empty line, the keys, and the line of the cursor
	for line := range strings.SplitSeq(text, "\n") {
		rows += 1 + max(channels.Columns(line)-1, 0)/width
	}
	return rows <= height
}

// watcher is one run of the command.
type watcher struct {
	*WatchCmd
	app    *app
	target *target
	size   screenSize

	shown waitingCard // the question on the screen; without a reference: none
	since time.Time   // when it came there
	view  atomic.Int64
	done  map[string]bool // references that were skipped or answered here
	quiet bool            // it has said that nothing waits, or that no server answers
}

// key is one that was pressed, when, and which view was on the screen then.
type key struct {
	char byte
	view int64
	at   time.Time
}

// keys are those that are pressed, until there are no more. They are read all the time, so that each belongs to what was on
// the screen. Several at once are no key: someone pasted, or it is an arrow.
func (w *watcher) keys(ctx context.Context, keyboard io.Reader) <-chan key {
	out := make(chan key, watchedMax)
	go func() {
		defer close(out)
		var read [64]byte
		for {
			n, err := keyboard.Read(read[:])
			if n == 1 {
				select {
				case out <- key{read[0], w.view.Load(), time.Now()}:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return out
}

func (w *watcher) run(keys <-chan key) error {
	if err := w.look(); err != nil { // later it may go away, and come back
		return err
	}
	tick := time.NewTicker(watchPause)
	defer tick.Stop()
	for {
		select {
		case <-w.app.ctx.Done():
			return nil
		case <-tick.C:
		case k, more := <-keys:
			if !more || k.char == 'q' || k.char == ctrlC || k.char == ctrlD {
				return nil
			}
			w.press(k)
		}
		if err := w.look(); err != nil && w.app.ctx.Err() == nil {
			w.lost(err)
		}
	}
}

const (
	ctrlC = 3
	ctrlD = 4
)

// show puts a question on the screen, or takes the one away that is there: keys that were pressed before count no more.
func (w *watcher) show(card waitingCard) {
	w.shown, w.since = card, time.Now()
	w.view.Add(1)
}

// lost says once that the server does not answer. What is on the screen can't be answered then.
func (w *watcher) lost(err error) {
	if w.show(waitingCard{}); !w.quiet {
		w.app.warnf("%s. Trying again; q quits.\n", printable(err.Error()))
	}
	w.quiet = true
}

// look asks what waits, and shows the first question if none is on the screen.
func (w *watcher) look() error {
	var waits waiting
	if err := w.ask(http.MethodGet, pendingPath, nil, &waits); err != nil {
		return err
	}
	var next waitingCard
	for _, card := range waits.Cards {
		switch {
		case card.Ref == w.shown.Ref:
			return nil
		case next.Ref == "" && !w.done[card.Ref]:
			next = card
		}
	}
	if w.shown.Ref != "" {
		w.app.printf("%s is no longer open.\n", printable(w.shown.Ref))
	}
	switch {
	case next.Ref != "":
		next.tooLong = !w.size.fits(block(next.Short))
		w.app.printf("%s\n\n  %s\n", block(next.Short), w.choices(next))
	case !w.quiet:
		w.app.printf("Nothing waits. Questions appear here; q quits.\n")
	}
	if w.show(next); next.Ref != "" {
		w.app.printf("\a")
	}
	w.quiet = next.Ref == ""
	return nil
}

// choices are the keys that count for a question.
func (w *watcher) choices(card waitingCard) string {
	if card.tooLong {
		return "Longer than your screen: scroll up to read it · n deny · s skip · q quit"
	}
	if !card.oneTap() {
		return "n deny · s skip · q quit"
	}
	return fmt.Sprintf("y allow once · n deny · m allow %d min · s skip · q quit", w.Minutes)
}

// press takes a key.
func (w *watcher) press(k key) {
	card := w.shown
	if card.Ref == "" || k.view != w.view.Load() || k.at.Sub(w.since) < tooSoon {
		return
	}
	switch char := k.char; {
	case char == 'n':
		w.send(card, reply{Handle: card.Deny})
	case char == 's':
		w.app.printf("Skipped %s.\n", printable(card.Ref))
		w.settle(card)
	case char == '\r', char == '\n', char == ' ':
	case (char == 'y' || char == 'm') && !card.oneTap():
		w.app.printf("%s\n", card.elsewhere())
	case char == 'y':
		w.send(card, reply{Handle: card.Once})
	case char == 'm':
		w.send(card, reply{Handle: card.Longer, Minutes: w.Minutes})
	default:
		w.app.printf("%s\n", w.choices(card))
	}
}

func (w *watcher) send(card waitingCard, in reply) {
	var out outcome
	if err := w.ask(http.MethodPost, answerPath, in, &out); err != nil {
		w.app.warnf("%s. Nothing was answered.\n", printable(err.Error()))
		return
	}
	w.app.printf("%s\n", block(out.Text))
	w.settle(card) // what did not count can be tried elsewhere
}

// settle takes a question from the screen for good.
func (w *watcher) settle(card waitingCard) {
	w.done[card.Ref] = true
	w.show(waitingCard{})
}

func (w *watcher) ask(method, path string, in, out any) error {
	r, err := w.fetchFrom(w.app, w.target, method, path, in)
	if err != nil {
		return err
	}
	return r.decode(out)
}

// oneTap reports whether a key may allow it: all of it is on the screen.
func (c *waitingCard) oneTap() bool {
	return c.Full && !c.tooLong && c.Once != "" && c.Longer != ""
}

// elsewhere says why a single key does not allow it, and what does.
func (c *waitingCard) elsewhere() string {
	why := "Not all of this call is visible here."
	if c.tooLong {
		why = "This question is longer than your screen."
	}
	return fmt.Sprintf("%s `verifier pending %[2]s` shows all of it, `verifier approve %[2]s` allows it.", why, printable(c.Ref))
}
