package main

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/openclaw-verifier/verifier/hook"
)

// HookCmd is what a coding agent runs before and after each tool call.
type HookCmd struct {
	Agent string `arg:"" help:"Whose hook it is: claude-code, codex, gemini or opencode."`
	hook.Flags
}

// refusedCall is the exit code that stops a call in every agent.
const refusedCall = 2

// Run answers one event. It ends with 0 or 2 and nothing else.
func (c *HookCmd) Run(a *app) error {
	signal.Ignore(syscall.SIGPIPE) // a reader that has gone must not end us by a signal: that would let the call pass
	ctx, stop := signal.NotifyContext(a.ctx, syscall.SIGHUP)
	defer stop()
	c.FromEnv(os.Getenv)
	code := hook.Run(ctx, hook.Options{
		Agent: c.Agent, Timeout: c.Timeout, Owner: c.Owner, Dialogs: c.Dialogs, Edits: c.Edits,
		Gateway: func() (hook.Gateway, error) { return c.gateway(a) },
		Notes:   func() (string, error) { return c.NotesDir(os.Getenv) },
		Stdin:   os.Stdin, Stdout: a.stdout, Stderr: a.stderr, Env: os.Getenv,
	})
	if code != exitOK {
		return exit(refusedCall)
	}
	return nil
}

// gateway finds the gateway, as the other commands do.
func (c *HookCmd) gateway(a *app) (hook.Gateway, error) {
	if c.Simple() {
		return c.Find(os.Getenv)
	}
	w := where{configFlag: configFlag{Config: c.Config, notHere: true}, State: c.State, CA: c.CA}
	t, err := w.target(a, c.URL)
	if err != nil {
		return hook.Gateway{}, c.unfound(err)
	}
	g := hook.Gateway{URL: t.verifyURL(), TLS: t.tls, Bearer: t.config.Webhook.Bearer.Reveal()}
	if c.SecretFile != "" {
		g.Secret, err = hook.ReadSecret(c.SecretFile)
		return g, err
	}
	secret, err := t.secret("")
	if err != nil {
		return hook.Gateway{}, c.unfound(err)
	}
	g.Secret = []byte(secret.Reveal())
	return g, nil
}

// unfound says in the hook's words why there is no gateway.
func (c *HookCmd) unfound(err error) error {
	if f, ok := errors.AsType[*failure](err); ok {
		return hook.Refusal(f.text + ". Nothing was run. To do: " + f.hint + ".")
	}
	return hook.Refusal(err.Error() + ". Nothing was run.")
}
