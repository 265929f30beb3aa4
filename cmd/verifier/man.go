package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/alecthomas/kong"
)

// ManCmd prints the manual.
type ManCmd struct{}

// Run prints.
func (*ManCmd) Run(a *app, k *kong.Context) error {
	a.printf("%s", manual(k.Model, version()))
	return nil
}

// entry is a name and what it means, in lists of the manual.
type entry struct{ Name, Text string }

// manFiles are the files that a reader may meet. What the server keeps in its
// state directory is in config.State.
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

//go:embed man.1.in
var manPage string

// manual is the page in the language of man(7): the program, every command, and what is common to all. Only macros
// that every implementation has are used.
func manual(app *kong.Application, b build) string {
	all := commandsOf(app)
	what, _, _ := strings.Cut(app.Help, "\n\n")
	var exits []entry
	for part := range strings.SplitSeq(exitCodes, ", ") {
		code, text, _ := strings.Cut(part, " ")
		exits = append(exits, entry{code, text})
	}
	var out strings.Builder
	page := template.Must(template.New("man").Funcs(template.FuncMap{
		"argument": func(s string) string { return `"` + strings.ReplaceAll(escape(s), `"`, `\(dq`) + `"` },
		"bold":     bold, "line": textLine, "prose": prose, "term": flagTerm, "join": strings.Join,
		"flag": func(f *kong.Flag) option { return option{f} }, "text": flagText,
		"item": func(term, text string) any { return struct{ Term, Text string }{term, text} },
	}).Parse(manPage))
	if err := page.Execute(&out, map[string]any{
		"Build": b, "Name": "verifier - " + strings.TrimSuffix(lowerFirst(what), "."), "Help": app.Help, "HelpFlag": option{app.HelpFlag},
		"Commands": all[1:], "Exits": exits, "Environment": environment(all), "Files": manFiles,
	}); err != nil {
		panic(err) // the page was built with a broken template
	}
	return out.String()
}

// escape keeps text from being read as a command, a hyphen from becoming
// typographic (people copy flags), and the page in ASCII.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString("\\(ga")
		case r > 126:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func bold(s string) string { return `\fB` + escape(s) + `\fR` }

// textLine is a line of plain text.
func textLine(s string) string {
	if strings.HasPrefix(s, ".") {
		return `\&` + escape(s)
	}
	return escape(s)
}

// prose is a long help: paragraphs, and examples that are indented by four.
func prose(text string) string {
	var out []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		example := strings.HasPrefix(paragraph, "    ")
		if out = append(out, ".PP"); example {
			out = append(out, ".RS 4\n.nf")
		}
		for line := range strings.Lines(paragraph) {
			out = append(out, textLine(strings.TrimPrefix(strings.TrimRight(line, "\n"), "    ")))
		}
		if example {
			out = append(out, ".fi\n.RE")
		}
	}
	return strings.Join(out, "\n")
}

// Title is the command as one writes it.
func (c command) Title() string {
	title := c.Path
	for _, a := range c.Positional {
		title += " " + a.Summary()
	}
	if c.Leaf() {
		return title + " [flags]"
	}
	return title + " <command>"
}

// flagTerm is the flag as one writes it: -c, --config=FILE.
func flagTerm(f option) string {
	out := bold("--" + f.Name)
	if f.Short != 0 {
		out = bold("-"+string(f.Short)) + ", " + out
	}
	if f.TakesValue() {
		out += `=\fI` + escape(f.Expected()) + `\fR`
	}
	return out
}

// flagText is what a flag means, with its default and its variables.
func flagText(f *kong.Flag) string {
	out := f.Help
	if f.HasDefault && f.Default != "" {
		out += " Default: " + f.Default + "."
	}
	if len(f.Envs) > 0 {
		out += " Environment: " + strings.Join(f.Envs, ", ") + "."
	}
	return out
}

// environment are the variables that flags read, and the others.
func environment(all []command) []entry {
	var out []entry
	for _, c := range all {
		for _, f := range c.AllFlags {
			for _, name := range f.Envs {
				if !slices.ContainsFunc(out, func(e entry) bool { return e.Name == name }) {
					out = append(out, entry{name, "Instead of --" + f.Name + ": " + lowerFirst(f.Help)})
				}
			}
		}
	}
	out = append(out, manEnvironment...)
	slices.SortFunc(out, func(a, b entry) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
