package command_test

import (
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/command"
)

// lines are the commands of a file in testdata, one a line.
func lines(t testing.TB, file string) []string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

// TestH107Corpora: what is true of each line of the files in testdata. Whatever fetches is in fetching.txt in more than a
// hundred spellings; what can't be read by construction is there as well.
func TestH107Corpora(t *testing.T) {
	type is = func(c *command.Command) bool
	not := func(f is) is { return func(c *command.Command) bool { return !f(c) } }
	harmless, fetches, builds := (*command.Command).Harmless, (*command.Command).Fetches, (*command.Command).Builds
	contained, inspects := (*command.Command).Contained, (*command.Command).Inspects
	runs := func(c *command.Command) bool { return len(c.Runs) > 0 }
	for file, all := range map[string]map[string]is{
		"harmless.txt":  {"harmless": harmless, "no build": not(builds), "not shown by git": not(inspects)},
		"workspace.txt": {"contained": contained, "not harmless": not(harmless), "runs something": runs},
		"builds.txt":    {"a build": builds, "contained": contained, "inspects": inspects},
		"inspects.txt":  {"inspects": inspects},
		"fetching.txt": {
			"fetches": fetches, "not harmless": not(harmless), "no build": not(builds), "not shown by git": not(inspects),
		},
		"unknown.txt": { // the output of an ordinary program stays local in a clean conversation
			"not contained": not(contained), "no fetcher": not(fetches), "no build": not(builds), "not shown by git": not(inspects),
		},
		"notinspects.txt": {"not shown by git": not(inspects), "no build": not(builds)},
		"notbuilds.txt":   {"no build": not(builds)},
	} {
		texts := lines(t, file)
		if file == "fetching.txt" && len(texts) < 114 {
			t.Fatalf("%d spellings", len(texts))
		}
		for _, text := range texts {
			c := command.Parse(text)
			for what, holds := range all {
				if !holds(&c) {
					t.Errorf("%s: %q is not %s: %+v", file, text, what, c)
				}
			}
		}
	}
}

// TestFacts reads testdata/facts.txt: "git=" has where git works, and ¿ for a place that only the shell knows.
func TestFacts(t *testing.T) {
	t.Parallel()
	for _, line := range lines(t, "facts.txt") {
		if line == "" || line[0] == '#' {
			continue
		}
		want, text, _ := strings.Cut(line, " | ")
		dir := ""
		if after, found := strings.CutPrefix(text, "@"); found {
			dir, text, _ = strings.Cut(after, " ")
		}
		c := command.ParseIn(dir, strings.ReplaceAll(text, "⏎", "\n"))
		for fact := range strings.SplitSeq(want, "; ") {
			name, value, _ := strings.Cut(fact, "=")
			if got := facts[name](&c, value); got != value {
				t.Errorf("%s: %s=%s: %+v", line, name, got, c)
			}
		}
	}
}

var facts = map[string]func(c *command.Command, want string) string{
	"harmless":  func(c *command.Command, _ string) string { return strconv.FormatBool(c.Harmless()) },
	"fetches":   func(c *command.Command, _ string) string { return strconv.FormatBool(c.Fetches()) },
	"contained": func(c *command.Command, _ string) string { return strconv.FormatBool(c.Contained()) },
	"builds":    func(c *command.Command, _ string) string { return strconv.FormatBool(c.Builds()) },
	"destroys":  func(c *command.Command, _ string) string { return strconv.FormatBool(c.Destroys) },
	"foreign":   func(c *command.Command, _ string) string { return strconv.FormatBool(c.Foreign) },
	"climbs":    func(c *command.Command, _ string) string { return strconv.FormatBool(c.Climbs) },
	"programs":  func(c *command.Command, _ string) string { return joined(c.Programs, command.Program.String) },
	"host": func(c *command.Command, want string) string {
		all := joined(c.Hosts, func(h command.Host) string { return strings.TrimSuffix(h.Name+" "+h.Port, " ") })
		if slices.Contains(strings.Split(all, ", "), want) {
			return want
		}
		return all
	},
	"git": func(c *command.Command, want string) string {
		if len(c.GitIn) == 0 {
			return "nowhere"
		}
		all := strings.ReplaceAll(strings.Join(c.GitIn, ", "), "\x00", "¿")
		if want == "¿" && strings.Contains(all, want) {
			return want
		}
		return all
	},
	"writes": func(c *command.Command, _ string) string {
		switch writes, shown := c.Writing(); {
		case !writes:
			return "nothing"
		case shown:
			return "shown"
		}
		return "unseen"
	},
}

func joined[T any](all []T, name func(T) string) string {
	var out []string
	for _, one := range all {
		out = append(out, name(one))
	}
	return strings.Join(out, ", ")
}

// TestH185ABuildBesideMakesNoBuild: each of these could do more than what the files of the workspace say, and a build
// beside it does not make it one.
func TestH185ABuildBesideMakesNoBuild(t *testing.T) {
	for _, file := range []string{"notbuilds.txt", "fetching.txt", "unknown.txt"} {
		for _, text := range lines(t, file) {
			for _, build := range []string{"make test", "git commit -m x"} {
				for _, both := range []string{text + " && " + build, build + "; " + text} {
					if c := command.Parse(both); c.Builds() && !partOfBuilds[text] {
						t.Errorf("%q: %+v", both, c)
					}
				}
			}
		}
	}
	for _, text := range []string{"git show HEAD", "git branch", "git log -1", "git stash list"} {
		if c := command.Parse(text); c.Builds() {
			t.Errorf("%q: %+v", text, c)
		}
	}
}

// partOfBuilds do nothing that reading does not.
var partOfBuilds = map[string]bool{"echo hello": true, "cat README.md": true}

func TestArgvNeedsNoQuotes(t *testing.T) {
	for _, words := range [][]string{{"git", "-C", "x", "clone"}, {"curl", "x"}, {"bash", "-lc", "curl x"}, {"sudo", "wget", "x"}} {
		if c := command.Argv("", words); !c.Fetches() {
			t.Errorf("%q: %+v", words, c)
		}
	}
	for _, words := range [][]string{{"ls", "$(curl x)"}, {"echo", "; curl x"}, {"wc", "-l", "x"}} {
		if c := command.Argv("", words); !c.Harmless() {
			t.Errorf("%q: %+v", words, c)
		}
	}
}

// TestAddLeavesNothingOut: what one of several commands does, they do together.
func TestAddLeavesNothingOut(t *testing.T) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[command.Command]()) {
		var one, all command.Command
		value := reflect.ValueOf(&one).Elem().FieldByIndex(field.Index)
		switch value.Kind() {
		case reflect.Bool:
			value.SetBool(true)
		case reflect.String:
			value.SetString("x")
		default:
			value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		}
		if all.Add(one); reflect.ValueOf(all).FieldByIndex(field.Index).IsZero() {
			t.Errorf("%s is lost", field.Name)
		}
	}
}
