package main

import (
	"strings"

	"github.com/alecthomas/kong"
)

// CompletionCmd prints what a shell needs to complete our command line.
type CompletionCmd struct {
	Shell string `arg:"" help:"bash, zsh or fish." enum:"bash,zsh,fish"`
}

// Help is the long help.
func (*CompletionCmd) Help() string {
	return `The script knows every command, flag and fixed value; print it again after an update. For the references of questions and grants it asks the server, with "verifier pending --json" and "verifier grants --json".

    $ verifier completion bash > ~/.local/share/bash-completion/completions/verifier
    $ verifier completion zsh > "${fpath[1]}/_verifier"
    $ verifier completion fish > ~/.config/fish/completions/verifier.fish

To try it in this shell only:

    $ source <(verifier completion bash)`
}

// Run prints.
func (c *CompletionCmd) Run(a *app, k *kong.Context) error {
	script := map[string]func([]command) string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[c.Shell]
	a.printf("%s", script(commandsOf(k.Model)))
	return nil
}

// lines is a text that grows by lines.
type lines struct{ strings.Builder }

func (l *lines) add(parts ...string) {
	for _, p := range parts {
		l.WriteString(p)
	}
	l.WriteByte('\n')
}

// single quotes a word for any of the three shells.
func single(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// pathPatterns is every path below the program as one pattern of a case.
func pathPatterns(all []command, quote func(string) string, between string) string {
	var out []string
	for _, c := range all[1:] {
		out = append(out, quote(c.path))
	}
	return strings.Join(out, between)
}

// flagPatterns is each way to write a flag of a command, as "path --flag".
func flagPatterns(c command, f *kong.Flag) string {
	var out []string
	for _, s := range spellings(f) {
		out = append(out, single(c.path+" "+s))
	}
	return strings.Join(out, " | ")
}
