package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
)

func TestManualTellsOfEveryCommandAndFlag(t *testing.T) {
	t.Parallel()
	page := manual(model(t), build{Version: "v1.2.3", Date: "2026-10-03"})
	for _, c := range commandsOf(model(t))[1:] {
		_, part, ok := strings.Cut(page, `.SS "`+escape(c.Path)+" ")
		if !ok {
			t.Errorf("the manual leaves out %s", c.Path)
			continue
		}
		part, _, _ = strings.Cut(part, "\n.S") // up to the next heading
		for _, f := range c.Flags {
			if !strings.Contains(part, bold("--"+f.Name)) {
				t.Errorf("the manual leaves out --%s of %s", f.Name, c.Path)
			}
		}
		if first, _, _ := strings.Cut(c.Detail, "\n"); !strings.Contains(part, escape(first)) {
			t.Errorf("the manual leaves out the long help of %s", c.Path)
		}
	}
	if !strings.HasPrefix(page, `.TH "VERIFIER" "1" "2026\-10\-03" "verifier v1.2.3" "User Commands"`+"\n") {
		t.Errorf("the page begins with %.80q", page)
	}
}

func TestManualTellsOfFilesVariablesAndExitCodes(t *testing.T) {
	t.Parallel()
	page := manual(model(t), build{})
	state, err := config.OpenState(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	words := []string{schemaFile, "EXIT STATUS", `\fB3\fR`, "STATE_DIRECTORY"}
	for _, file := range state.Files() {
		words = append(words, filepath.Base(file))
	}
	words = append(words, guard(config.Default(), "", state, fakeAddr{}).Names...) // the variables that no call may touch
	for _, w := range words {
		if !strings.Contains(page, w) && !strings.Contains(page, escape(w)) {
			t.Errorf("the manual does not speak of %s", w)
		}
	}
}

type fakeAddr struct{}

func (fakeAddr) Network() string { return "tcp" }
func (fakeAddr) String() string  { return "127.0.0.1:1" }

// The page holds only macros that every man(7) has, and no stray escape.
func TestManualIsPlainRoff(t *testing.T) {
	t.Parallel()
	known := strings.Fields(".TH .SH .SS .TP .PP .RS .RE .nf .fi")
	stray := regexp.MustCompile(`\\(?:e|-|&|f[BIR]|\((?:aq|ga|dq)|\[u[0-9A-F]{4,5}\])`)
	open := 0
	for line := range strings.Lines(printed(t, "man")) {
		line = strings.TrimSuffix(line, "\n")
		macro, _, _ := strings.Cut(line, " ")
		if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !slices.Contains(known, macro) {
			t.Errorf("unknown macro: %s", line)
		}
		if rest := stray.ReplaceAllString(line, ""); strings.ContainsFunc(rest, func(r rune) bool { return r == '\\' || r > 126 }) {
			t.Errorf("not escaped: %s", line)
		}
		open += map[string]int{".nf": 1, ".fi": -1}[macro]
	}
	if open != 0 {
		t.Errorf("%d examples are not closed", open)
	}
}

// Whichever renderer is here must have nothing to say against the page.
func TestManualRenders(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "verifier.1")
	if err := os.WriteFile(file, []byte(printed(t, "man")), 0o600); err != nil {
		t.Fatal(err)
	}
	ran := false
	for _, renderer := range [][]string{{"man", "--warnings", "-l", file}, {"groff", "-man", "-ww", "-Tutf8", file}, {"mandoc", "-W", "error", file}} {
		if _, err := exec.LookPath(renderer[0]); err != nil {
			continue
		}
		ran = true
		cmd := exec.CommandContext(t.Context(), renderer[0], renderer[1:]...)
		cmd.Env = append(os.Environ(), "MANPAGER=cat", "MANWIDTH=80", "LC_ALL=C.UTF-8")
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil || errs.String() != "" {
			t.Errorf("%s: %v %s", renderer[0], err, &errs)
		}
		if !strings.Contains(string(out), "accept-loss") {
			t.Errorf("%s shows no store accept-loss:\n%.300s", renderer[0], out)
		}
	}
	if !ran {
		t.Skip("there is no man, groff or mandoc here, as there is in CI: the page was only checked by TestManualIsPlainRoff")
	}
}

// What the unit and the image start is a command line of this program.
func TestPackagedCommandLinesParse(t *testing.T) {
	t.Parallel()
	for file, line := range map[string]*regexp.Regexp{
		"../../packaging/verifier.service": regexp.MustCompile(`(?m)^ExecStart=\S*/verifier (.*)$`),
		"../../Dockerfile":                 regexp.MustCompile(`(?m)^CMD \[(.*)\]$`),
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := line.FindSubmatch(text)
		if m == nil {
			t.Errorf("%s starts nothing", file)
			continue
		}
		args := strings.Fields(strings.NewReplacer(`"`, "", ",", " ").Replace(string(m[1])))
		a := &app{ctx: t.Context()}
		k, err := a.parser()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.Parse(args); err != nil {
			t.Errorf("%s: verifier %q: %v", file, args, err)
		}
	}
}
