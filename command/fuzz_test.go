package command_test

import (
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/command"
	"github.com/openclaw-verifier/verifier/cputest"
)

// FuzzParse: nothing panics or takes long, and nothing that is added makes a command that fetches harmless.
func FuzzParse(f *testing.F) {
	for _, file := range []string{"harmless.txt", "workspace.txt", "fetching.txt", "unknown.txt", "builds.txt", "notbuilds.txt"} {
		for _, text := range lines(f, file) {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		var c command.Command
		if took := cputest.Time(func() { c = command.Parse(text) }); took > 2*time.Second {
			t.Errorf("%d bytes took %s", len(text), took)
		}
		if c.Harmless() && (c.Fetches() || !c.Contained()) || c.Builds() && (c.Harmless() || !c.Contained()) {
			t.Errorf("%+v", c)
		}
		for _, more := range []string{"curl x\n" + text, text + "\ncurl x", "$(" + text + "\n)", "$(curl x; " + text + "\n) y", "(" + text + "\n) | sh"} {
			if strings.Contains(text, "<<") || strings.HasSuffix(text, `\`) {
				break // the rest may be a here-document's text
			}
			if c := command.Parse(more); c.Harmless() || c.Builds() {
				t.Errorf("%q is harmless: %+v", more, c)
			}
		}
	})
}

// TestH107LongAndDeepCommandsAreBounded: none of these exhausts the stack or the clock.
func TestH107LongAndDeepCommandsAreBounded(t *testing.T) {
	for _, piece := range []string{"(", "$(", "${", "`", "if ", "while ", "{ ", "! ", "[[ ( ", "$((", "((", "a=(", "time ", "x | ", "x && ", "<(", "case x in x) ", "f() ", "function f ", "\"$(", "sh -c ", "{a,", "<<a ", "\\", "-", "sudo ", "'", "\n", "env ", "xargs ", "coproc ", "$((1+", "1?", "a b ", "a=$a; ", "a=$b b=$a c=$a$b; ", "cat $a{b,c} ", "ls|sort|", "cd a; ", "$a$", "for a in $a; do ", "{a,b}{", "cat ${a} "} {
		var c command.Command
		if took := cputest.Time(func() { c = command.Parse(strings.Repeat(piece, (64<<10)/len(piece))) }); took > 2*time.Second {
			t.Errorf("%q took %s", piece, took)
		}
		if piece != "\n" && !strings.HasSuffix(piece, "; ") && c.Harmless() {
			t.Errorf("%q is harmless", piece)
		}
	}
	if c := command.Parse("ls " + strings.Repeat("a ", 64<<10)); c.Harmless() {
		t.Error("a very long command is harmless")
	}
}
