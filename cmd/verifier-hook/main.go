// Verifier-hook is what coding agents run before and after each tool call: the same as "verifier hook", in a program that
// starts faster because it holds nothing else. Where the gateway can only be found by its config, it hands over to the
// program verifier beside it.
//
// It ends with 0 where the gateway has answered, and with 2 and words on standard error in every other case.
//
// "verifier-hook send" is "verifier send" in the same way, with the exit codes of that.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/openclaw-verifier/verifier/hook"
)

const refused = 2

func main() {
	signal.Ignore(syscall.SIGPIPE) // a reader that has gone must not end us by a signal: that would let the call pass
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	do, args := run, os.Args[1:]
	if len(args) > 0 && args[0] == "send" {
		do, args = send, args[1:]
	}
	code := do(ctx, args)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string) int {
	agent, flags, err := parse(args)
	if err != nil {
		return refuse(err.Error())
	}
	flags.FromEnv(os.Getenv)
	if !flags.Simple() {
		return handOver(ctx, args)
	}
	return hook.Run(ctx, hook.Options{
		Agent:   agent,
		Gateway: func() (hook.Gateway, error) { return flags.Find(os.Getenv) },
		Notes:   func() (string, error) { return flags.NotesDir(os.Getenv) },
		Timeout: flags.Timeout, Owner: flags.Owner, Dialogs: flags.Dialogs, Edits: flags.Edits,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Getenv,
	})
}

func refuse(words string) int {
	fmt.Fprintln(os.Stderr, words) // the code says it as well
	return refused
}

// parse reads the command line: the agent's name and flags, in any order.
func parse(args []string) (agent string, f hook.Flags, err error) {
	set := flag.NewFlagSet("verifier-hook", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	for name, to := range map[string]*string{"config": &f.Config, "c": &f.Config, "state": &f.State, "url": &f.URL, "secret-file": &f.SecretFile, "ca": &f.CA, "notes": &f.Notes} {
		set.StringVar(to, name, "", "")
	}
	set.DurationVar(&f.Timeout, "timeout", 0, "")
	set.BoolVar(&f.Owner, "owner", false, "")
	set.BoolVar(&f.Dialogs, "dialogs", false, "")
	set.BoolVar(&f.Edits, "edits", false, "")
	for len(args) > 0 {
		if err := set.Parse(args); err != nil {
			return "", f, fmt.Errorf("verifier-hook: %w. Nothing was run. `verifier hook --help` says how it is called", err)
		}
		if args = set.Args(); len(args) > 0 {
			if agent != "" {
				return "", f, errors.New("verifier-hook: name one agent. Nothing was run")
			}
			agent, args = args[0], args[1:]
		}
	}
	if agent == "" {
		return "", f, errors.New("verifier-hook: name the agent: " + strings.Join(hook.Agents(), ", ") + ". Nothing was run")
	}
	return agent, f, nil
}

// handOver lets the whole program do it, which knows configs.
func handOver(ctx context.Context, args []string) int {
	switch code, started := whole(ctx, append([]string{"hook"}, args...)); {
	case !started:
		return refuse("The verifier's hook needs the program verifier beside it, to read a config. Nothing was run.")
	case code == 0 || code == refused:
		return code
	}
	return refuse("The verifier's hook was stopped before there was an answer. Nothing was run.")
}

// whole runs the program verifier beside this one, and returns its exit code.
func whole(ctx context.Context, args []string) (code int, started bool) {
	own, err := os.Executable()
	if err != nil {
		return 0, false
	}
	c := exec.CommandContext(ctx, filepath.Join(filepath.Dir(own), "verifier"), args...) //nolint:gosec // it is beside this program
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	err = c.Run()
	switch {
	case c.ProcessState == nil:
		return 0, false
	case err != nil && c.ProcessState.Success():
		return -1, true
	}
	return c.ProcessState.ExitCode(), true
}
