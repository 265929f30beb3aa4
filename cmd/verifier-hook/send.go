package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/openclaw-verifier/verifier/hook"
)

// denied is the exit code of `verifier send` for a no.
const denied = 3

// send does what `verifier send` does, and starts faster. What it can't answer at once it hands over: other flags, a config, a person who is asked, an error.
func send(ctx context.Context, args []string) int {
	t := hook.Typed{Params: "{}", Context: "{}"}
	set := flag.NewFlagSet("send", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	for name, to := range map[string]*string{"tool": &t.Tool, "params": &t.Params, "session": &t.Session, "context": &t.Context, "url": &t.URL, "state": &t.State, "secret": &t.Secret} {
		set.StringVar(to, name, *to, "")
	}
	asJSON := set.Bool("json", false, "")
	if set.Parse(args) == nil && set.NArg() == 0 {
		if answer, decision, reason, ok := t.Try(ctx, os.Getenv); ok {
			return say(answer, decision, reason, *asJSON)
		}
	}
	code, started := whole(ctx, append([]string{"send"}, args...))
	if !started {
		fmt.Fprintln(os.Stderr, "error: verifier-hook needs the program verifier beside it for this")
		return 1
	}
	if code < 0 { // a signal ended it
		return 1
	}
	return code
}

// say prints a final answer as `verifier send` does.
func say(answer []byte, decision, reason string, asJSON bool) int {
	text := decision
	switch {
	case asJSON:
		text = string(answer)
	case reason != "":
		text += ": " + strings.Map(func(r rune) rune {
			if unicode.IsPrint(r) {
				return r
			}
			return unicode.ReplacementChar
		}, reason)
	}
	if _, err := fmt.Println(text); err != nil {
		return 1
	}
	if decision != "allow" {
		return denied
	}
	return 0
}
