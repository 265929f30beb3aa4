package command_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/command"
)

// told is what a command reads, in one line.
func told(c *command.Command) string {
	var out []string
	for _, r := range c.Reads {
		p := strings.ReplaceAll(r.Path, "\x00", "¿")
		if r.Deep {
			p += "/**"
		}
		if r.Name {
			p += "?"
		}
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	for _, v := range c.Variables {
		out = append(out, "$"+v)
	}
	if c.Environment {
		out = append(out, "env")
	}
	if c.Stores {
		out = append(out, "stores")
	}
	if c.Settings {
		out = append(out, "settings")
	}
	if c.Code {
		out = append(out, "code")
	}
	if c.Others != "" {
		out = append(out, "git:"+c.Others)
	}
	return strings.Join(out, " ")
}

// TestWhatACommandReads has one command a line: the directory where it starts if that is not the workspace, the command, and what it reads.
func TestWhatACommandReads(t *testing.T) {
	for _, line := range lines(t, "reads.txt") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		text, want, _ := strings.Cut(line, " => ")
		dir := ""
		if after, found := strings.CutPrefix(text, "@"); found {
			dir, text, _ = strings.Cut(after, " ")
		}
		c := command.ParseIn(dir, strings.ReplaceAll(text, `\n`, "\n"))
		if got := told(&c); got != strings.TrimSpace(want) {
			t.Errorf("%s\n got %q\nwant %q", line, got, want)
		}
	}
}

// TestCommandsThatPrintNoNames: what takes names from them may get any.
func TestCommandsThatPrintNoNames(t *testing.T) {
	for _, text := range []string{"cat $(which)", "cat $(ls -d)", "cat $(grep -l x)", "grep -l x | xargs cat", `cat "$(which)/x"`} {
		c := command.Parse(text)
		if !slices.ContainsFunc(c.Reads, func(r command.Read) bool { return r.Unknown() }) {
			t.Errorf("%s reads %s", text, told(&c))
		}
	}
}
