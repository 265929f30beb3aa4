package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// model is the command line as kong knows it.
func model(t *testing.T) *kong.Application {
	t.Helper()
	a := &app{ctx: t.Context(), stdout: io.Discard, stderr: io.Discard}
	k, err := a.parser()
	if err != nil {
		t.Fatal(err)
	}
	return k.Model
}

// printed is what the program prints.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), args, &out, &errs); code != exitOK {
		t.Fatalf("verifier %s: exit code %d: %s", strings.Join(args, " "), code, &errs)
	}
	return out.String()
}

// Whatever --help has, every shell is told.
func TestCompletionsKnowEveryCommandFlagAndWord(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script := printed(t, "completion", shell)
		for _, c := range commandsOf(model(t)) {
			own := about(script, c.Path)
			for _, child := range c.Names() {
				if !strings.Contains(own, child) {
					t.Errorf("%s: %s does not offer %s", shell, c.Path, child)
				}
			}
			for _, f := range c.AllFlags {
				name := map[string]string{"bash": "--" + f.Name, "zsh": "'--" + f.Name + ":", "fish": " -l " + f.Name + " "}[shell]
				if !strings.Contains(own, name) {
					t.Errorf("%s: %s does not offer --%s", shell, c.Path, f.Name)
				}
				for _, word := range f.Choice().Words {
					if !strings.Contains(own, word) {
						t.Errorf("%s: %s --%s does not offer %s", shell, c.Path, f.Name, word)
					}
				}
			}
		}
	}
}

// about is the part of a script that speaks of one command.
func about(script, path string) string {
	var out []string
	inside := false
	for line := range strings.Lines(script) {
		mine := strings.Contains(line, "'"+path+"'") || strings.Contains(line, "'"+path+" -") || strings.Contains(line, "'__verifier_at "+path+"'")
		switch {
		case mine:
			inside = strings.HasSuffix(strings.TrimSpace(line), ")") // zsh: more lines follow
		case strings.Contains(line, ";;"):
			inside = false
		}
		if mine || inside {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

// need is a shell that must be there, or that is only looked at where it is.
func need(t *testing.T, name string) string {
	t.Helper()
	shell, err := exec.LookPath(name)
	if err == nil {
		return shell
	}
	if name == "bash" {
		t.Fatal("there is no bash: it is what this test asks")
	}
	t.Skipf("there is no %s here, as there is in CI: its script was only read, not run", name)
	return ""
}

// answers runs a script in a shell and returns what it prints, sorted.
func answers(t *testing.T, shell, script string, args ...string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), need(t, shell), append([]string{file}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", shell, err, out)
	}
	words := strings.Fields(string(out))
	slices.Sort(words)
	return words
}

// asked stands for the program that prints references, in bash and zsh. What is none does not come through.
const asked = `
verifier() { [[ $1 == pending ]] && echo '{"cards":[{"ref":"7Q4K"},{"ref":"8N2D"},{"ref":"$(x"}]}' || echo '{"grants":[{"ref":"9AAA"}]}'; }
`

// tabs are command lines, the last word being typed, and what a tab offers.
var tabs = []struct{ line, want string }{
	{"verifier au", "audit"},
	{"verifier audit ve", "verify"},
	{"verifier audit show --dec", "--decision"},
	{"verifier audit show --decision ", "allow deny"},
	{"verifier audit show --decision d", "deny"},
	{"verifier completion ", "bash fish zsh"},
	{"verifier explain --level ex", "external"},
	{"verifier approve ", "7Q4K 8N2D"},
	{"verifier deny 8", "8N2D"},
	{"verifier revoke 9", "9AAA"},
	{"verifier send --tool au", ""}, // free text: nothing to offer
	{"verifier check --config ../../docs/config", "../../docs/configuration.md"},
}

func TestBashCompletes(t *testing.T) {
	t.Parallel()
	script := printed(t, "completion", "bash") + asked + `
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_verifier
printf '%s\n' "${COMPREPLY[@]}"
`
	for _, tab := range slices.Concat(tabs, []struct{ line, want string }{
		{"verifier audit show --decision = a", "allow"},
		{"verifier audit show --decision =", "allow deny"},
	}) {
		got := answers(t, "bash", script, strings.Split(tab.line, " ")...)
		if !offers(got, tab.want) {
			t.Errorf("%q offers %q, want %q", tab.line, got, tab.want)
		}
	}
}

// offers compares, but for a flag that stands among a command's own words.
func offers(got []string, want string) bool {
	words := slices.DeleteFunc(slices.Clone(got), func(w string) bool {
		return strings.HasPrefix(w, "-") && !strings.HasPrefix(want, "-")
	})
	return strings.Join(words, " ") == want
}

func TestFishCompletes(t *testing.T) {
	t.Parallel()
	script := printed(t, "completion", "fish") + `
function verifier; test $argv[1] = pending; and echo '{"cards":[{"ref":"7Q4K"},{"ref":"8N2D"},{"ref":"$(x"}]}'; or echo '{"grants":[{"ref":"9AAA"}]}'; end
complete -C "$argv[1]" | string split --fields 1 \t
true # nothing to offer is no failure
`
	for _, tab := range tabs {
		if got := answers(t, "fish", script, tab.line); !offers(got, tab.want) {
			t.Errorf("%q offers %q, want %q", tab.line, got, tab.want)
		}
	}
}

// zsh completes only at a prompt; its library is replaced by one that prints.
func TestZshCompletes(t *testing.T) {
	t.Parallel()
	script := asked + `
compdef() { : }
compset() { : }
compadd() { shift; print -l -- "$@" }
_message() { : }
_files() { print -l -- ${cur}*(N) }
_describe() { local list=${@[-1]}; print -l -- ${${(P)list}%%:*} }
` + printed(t, "completion", "zsh") + `
words=("$@") CURRENT=$#
_verifier
`
	for _, tab := range tabs {
		args := strings.Split(tab.line, " ")
		got := slices.DeleteFunc(answers(t, "zsh", script, args...), func(w string) bool {
			return !strings.HasPrefix(w, args[len(args)-1])
		})
		if !offers(got, tab.want) {
			t.Errorf("%q offers %q, want %q", tab.line, got, tab.want)
		}
	}
}
