package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/config"
)

// failure is an error with what to do about it.
type failure struct {
	text string
	hint string
}

func (f *failure) Error() string { return f.text }

// exit ends the program with a code and no further word: what there is to say
// was printed.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// report prints an error as people read it. A config may have several.
func report(w io.Writer, err error) {
	if all, ok := errors.AsType[config.Errors](err); ok {
		for _, e := range all {
			line(w, e.Error(), e.Hint)
		}
		return
	}
	line(w, err.Error(), hintOf(err))
}

func line(w io.Writer, text, hint string) {
	if hint != "" {
		text += "\nhint: " + hint
	}
	fmt.Fprintf(w, "error: %s\n", text) //nolint:errcheck // nowhere left to say it
}

// hintOf finds the hint of whichever package refused.
func hintOf(err error) string {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.hint
	}
	if s, ok := errors.AsType[*config.StateError](err); ok {
		return s.Hint
	}
	if o, ok := errors.AsType[*audit.OpenError](err); ok {
		return o.Hint
	}
	return ""
}
