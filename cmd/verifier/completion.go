package main

import (
	_ "embed"
	"strings"
	"text/template"

	"github.com/alecthomas/kong"
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
