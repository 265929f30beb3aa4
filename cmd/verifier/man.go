package main

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// ManCmd prints the manual.
type ManCmd struct{}

// Help is the long help.
func (*ManCmd) Help() string {
	return `It says what --help says of every command, in one page.

    $ verifier man | man -l -
    $ verifier man > /usr/local/share/man/man1/verifier.1`
}

// Run prints.
func (*ManCmd) Run(a *app, k *kong.Context) error {
	a.printf("%s", manual(k.Model, version()))
	return nil
}

// entry is a name and what it means, in lists of the manual.
type entry struct{ name, text string }

// manFiles are the files that a reader may meet. What the server keeps in its
// state directory stands in config.State.
var manFiles = []entry{
	{"verifier.yaml", "The config. It is optional, and a file that holds a secret must be readable by its owner alone."},
	{"verifier.schema.json", "The config's JSON schema, beside it, for editors."},
	{"~/.local/state/verifier", "The state directory; another one by --state, VERIFIER_STATE or STATE_DIRECTORY. Anyone who can read it can approve."},
	{"webhook.secret, owner.token, server.key, record.key", "In the state directory: what the agent's runtime signs with, the owner's token, and the server's own keys. Made on the first start."},
	{"verifier.db, epoch", "In the state directory: the embedded store, and which store this is."},
	{"record.jsonl", "In the state directory: the record of every decision."},
	{"address", "In the state directory: where the server listens, for the other commands."},
	{"pauses", "In the state directory: what the owner paused, as this server last knew it."},
	{"devices", "In the state directory: the devices that get notifications, under the server's seal."},
	{"passkeys", "In the state directory: the public keys of people's passkeys, under the server's seal."},
}

// manEnvironment is what is read without a flag that says so.
var manEnvironment = []entry{
	{"VERIFIER_OWNER_TOKEN", "The owner token, for the commands that look at what waits and answer it."},
	{"STATE_DIRECTORY", "The state directory, as systemd names it, where VERIFIER_STATE is not set."},
	{"XDG_STATE_HOME", "Its directory verifier is the state directory, where neither is set."},
}

// manual is the page: the program, every command, and what is common to all.
func manual(app *kong.Application, b build) string {
	all := commandsOf(app)
	var p roff
	p.macro(".TH", "VERIFIER", "1", b.Date, "verifier "+b.Version, "User Commands")
	what, rest, _ := strings.Cut(app.Help, "\n\n")
	p.macro(".SH", "NAME")
	p.line("verifier - " + strings.TrimSuffix(lowerFirst(what), "."))
	p.macro(".SH", "SYNOPSIS")
	p.raw(`\fBverifier\fR \fIcommand\fR [\fIflags\fR]`)
	p.macro(".SH", "DESCRIPTION")
	p.prose(what + "\n\n" + rest)
	p.item(flagTerm(app.HelpFlag), "With any command: print its part of this page.")
	p.macro(".SH", "COMMANDS")
	for _, c := range all[1:] {
		p.command(c)
	}
	p.macro(".SH", "EXIT STATUS")
	for part := range strings.SplitSeq(exitCodes, ", ") {
		code, text, _ := strings.Cut(part, " ")
		p.item(bold(code), text)
	}
	p.list("ENVIRONMENT", environment(all))
	p.list("FILES", manFiles)
	p.macro(".SH", "SEE ALSO")
	p.line("README.md and docs/ of the release: protocol, configuration, installation.")
	return p.String()
}

// environment are the variables that flags read, and the others.
func environment(all []command) []entry {
	var out []entry
	for _, c := range all {
		for _, f := range c.flags {
			for _, name := range f.Envs {
				if !slices.ContainsFunc(out, func(e entry) bool { return e.name == name }) {
					out = append(out, entry{name, "Instead of --" + f.Name + ": " + lowerFirst(f.Help)})
				}
			}
		}
	}
	out = append(out, manEnvironment...)
	slices.SortFunc(out, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return out
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
