package main

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/openclaw-verifier/verifier/taint"
)

// command is one command as completions and the manual see it. Both are made
// from the same model as --help, so that neither can forget one.
type command struct {
	*kong.Node
	path  string       // "verifier audit verify"
	flags []*kong.Flag // its own and those of the commands above it
}

// commandsOf lists the program and every command below it, in the order of the
// help.
func commandsOf(app *kong.Application) []command {
	var out []command
	var walk func(n *kong.Node, path string)
	walk = func(n *kong.Node, path string) {
		out = append(out, command{Node: n, path: path, flags: slices.Concat(n.AllFlags(true)...)})
		for _, child := range n.Children {
			if !child.Hidden {
				walk(child, path+" "+child.Name)
			}
		}
	}
	walk(app.Node, app.Name)
	return out
}

// children are the names of the commands right below this one.
func (c command) children() []string {
	var out []string
	for _, child := range c.Children {
		if !child.Hidden {
			out = append(out, child.Name)
		}
	}
	return out
}

// spellings are the ways to write a flag: --config, -c.
func spellings(f *kong.Flag) []string {
	out := []string{"--" + f.Name}
	if f.Short != 0 {
		out = append(out, "-"+string(f.Short))
	}
	return out
}

// takesValue reports whether the next word belongs to the flag.
func takesValue(f *kong.Flag) bool { return !f.IsBool() && !f.IsCounter() }

// choice is what can stand where a value is expected.
type choice struct {
	words []string
	files bool
	dirs  bool
	refs  string // a shell command that prints references, one a line
}

// openRefs prints the references that a list of ours holds. Nothing but letters and
// digits comes through, so that a server can't put anything into the shell.
func openRefs(list string) string {
	return `verifier ` + list + ` --json 2>/dev/null | grep -oE '"ref":"[0-9A-Z]{4}"' | cut -c8-11`
}

// choiceOf reads it off the tags: enum lists the words, and the placeholder
// names the kind. A kind that stands nowhere here is free text.
func choiceOf(v *kong.Value, placeholder string) choice {
	if v.Enum != "" {
		return choice{words: slices.DeleteFunc(v.EnumSlice(), func(w string) bool { return w == "" })}
	}
	switch strings.ToUpper(placeholder) {
	case "FILE":
		return choice{files: true}
	case "DIR":
		return choice{dirs: true}
	case "LEVEL":
		var c choice
		for _, l := range taint.All() {
			c.words = append(c.words, l.String())
		}
		return c
	}
	return choice{}
}

// argument is what the first positional argument can be.
func (c command) argument() choice {
	if len(c.Positional) == 0 {
		return choice{}
	}
	out := choiceOf(c.Positional[0], c.Positional[0].Name)
	switch {
	case c.Positional[0].Name != "ref":
	case strings.HasSuffix(c.path, " revoke"):
		out.refs = openRefs("grants")
	default:
		out.refs = openRefs("pending")
	}
	return out
}
