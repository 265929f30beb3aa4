package main

import (
	_ "embed"
	"slices"
	"strings"
	"text/template"

	"github.com/alecthomas/kong"

	"github.com/openclaw-verifier/verifier/taint"
)

// CompletionCmd prints what a shell needs to complete our command line.
type CompletionCmd struct {
	Shell string `arg:"" help:"bash, zsh or fish." enum:"bash,zsh,fish"`
}

// The scripts. That of bash needs nothing but bash 3.2, which macOS has: neither the bash-completion package nor
// mapfile. That of zsh works as a file in $fpath and when it is sourced.
var (
	//go:embed completion.bash.in
	bashScript string
	//go:embed completion.zsh.in
	zshScript string
	//go:embed completion.fish.in
	fishScript string
)

// Run prints.
func (c *CompletionCmd) Run(a *app, k *kong.Context) error {
	script := map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[c.Shell]
	quote := single
	if c.Shell == "fish" {
		quote = fishQuote
	}
	t, err := template.New(c.Shell).Funcs(template.FuncMap{
		"quote": quote, "join": strings.Join,
		"paths": func(all []command, between string) string { // every path below the program, as one pattern of a case
			var out []string
			for _, c := range all[1:] {
				out = append(out, quote(c.Path))
			}
			return strings.Join(out, between)
		},
		"patterns": func(c command, f option) string { // each way to write a flag of a command
			var out []string
			for _, s := range f.Spellings() {
				out = append(out, quote(c.Path+" "+s))
			}
			return strings.Join(out, " | ")
		},
	}).Parse(script)
	if err != nil {
		return err
	}
	return t.Execute(a.stdout, commandsOf(k.Model))
}

// single quotes a word for bash and zsh.
func single(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// fishQuote knows fish's own escapes inside single quotes.
func fishQuote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// command is one command as completions and the manual see it. Both are made
// from the same model as --help, so that neither can forget one.
type command struct {
	*kong.Node
	Path     string   // "verifier audit verify"
	AllFlags []option // its own and those of the commands above it
}

// commandsOf lists the program and every command below it, in the order of the
// help.
func commandsOf(app *kong.Application) []command {
	var out []command
	var walk func(n *kong.Node, path string)
	walk = func(n *kong.Node, path string) {
		c := command{Node: n, Path: path}
		for _, f := range slices.Concat(n.AllFlags(true)...) {
			c.AllFlags = append(c.AllFlags, option{f})
		}
		out = append(out, c)
		for _, child := range c.Commands() {
			walk(child, path+" "+child.Name)
		}
	}
	walk(app.Node, app.Name)
	return out
}

// Commands are those right below this one.
func (c command) Commands() []*kong.Node {
	return slices.DeleteFunc(slices.Clone(c.Children), func(n *kong.Node) bool { return n.Hidden })
}

// Names are those of Commands.
func (c command) Names() []string {
	var out []string
	for _, n := range c.Commands() {
		out = append(out, n.Name)
	}
	return out
}

// Words are all that can follow the command but files and references.
func (c command) Words() []string {
	out := append(c.Names(), c.Argument().Words...)
	for _, f := range c.AllFlags {
		out = append(out, f.Spellings()...)
	}
	return out
}

// choice is what can be where a value is expected.
type choice struct {
	Words []string
	Files bool
	Dirs  bool
	Refs  string // a shell command that prints references, one a line
}

// choiceOf reads it off the tags: enum lists the words, and the placeholder
// names the kind. Any other kind is free text.
func choiceOf(v *kong.Value, placeholder string) choice {
	if v.Enum != "" {
		return choice{Words: slices.DeleteFunc(v.EnumSlice(), func(w string) bool { return w == "" })}
	}
	switch strings.ToUpper(placeholder) {
	case "FILE":
		return choice{Files: true}
	case "DIR":
		return choice{Dirs: true}
	case "LEVEL":
		var c choice
		for _, l := range taint.All() {
			c.Words = append(c.Words, l.String())
		}
		return c
	}
	return choice{}
}

// Argument is what the first positional argument can be.
func (c command) Argument() choice {
	if len(c.Positional) == 0 {
		return choice{}
	}
	out := choiceOf(c.Positional[0], c.Positional[0].Name)
	switch {
	case c.Positional[0].Name != "ref":
	case strings.HasSuffix(c.Path, " revoke"):
		out.Refs = openRefs("grants")
	default:
		out.Refs = openRefs("pending")
	}
	return out
}

// First is the first positional argument: what it can be, and what it is called.
func (c command) First() any {
	return struct {
		Choice   choice
		Expected string
	}{c.Argument(), c.Positional[0].Summary()}
}

// openRefs prints the references that a list of ours holds. Nothing but letters and
// digits comes through, so that a server can't put anything into the shell.
func openRefs(list string) string {
	return `verifier ` + list + ` --json 2>/dev/null | grep -oE '"ref":"[0-9A-Z]{4}"' | cut -c8-11`
}

// option is a flag of a command.
type option struct{ *kong.Flag }

// Spellings are the ways to write a flag: --config, -c.
func (f option) Spellings() []string {
	out := []string{"--" + f.Name}
	if f.Short != 0 {
		out = append(out, "-"+string(f.Short))
	}
	return out
}

// TakesValue reports whether the next word belongs to the flag.
func (f option) TakesValue() bool { return !f.IsBool() && !f.IsCounter() }

// Choice is what its value can be.
func (f option) Choice() choice { return choiceOf(f.Value, f.PlaceHolder) }

// Expected is what the value is called.
func (f option) Expected() string { return strings.Trim(f.FormatPlaceHolder(), `"`) }
