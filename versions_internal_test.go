package layout

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// modules is go.mod, as far as the policy in docs/dependencies.md speaks of it.
type modules struct {
	Require []struct {
		Path, Version string
		Indirect      bool
	}
	Replace, Exclude []any
}

// policy is what docs/dependencies.md says, by its headings.
type policy map[string]string

func readPolicy(text string) policy {
	p := policy{}
	for section := range strings.SplitSeq(text, "\n## ") {
		heading, body, _ := strings.Cut(section, "\n")
		p[heading] = body
	}
	return p
}

var row = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^|]*) \\|")

// rows are the modules of a section's table, with what stands beside them.
func (p policy) rows(heading string) map[string]string {
	out := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(p[heading], -1) {
		out[m[1]] = strings.TrimSpace(m[2])
	}
	return out
}

var released = regexp.MustCompile(`^v\d+\.\d+\.\d+$`)

// faults are what the versions do against the policy. linked are the modules
// that the program is built from.
func (p policy) faults(mod modules, linked map[string]bool) (out []string) {
	program, tests, unreleased, floors := p.rows("In the program"), p.rows("In tests only"), p.rows("No release"), p.rows("Floors")
	if len(mod.Replace)+len(mod.Exclude) > 0 {
		out = append(out, "go.mod replaces or excludes a module")
	}
	seen := map[string]bool{}
	for _, r := range mod.Require {
		seen[r.Path] = true
		if floor, ok := floors[r.Path]; ok && older(r.Version, floor) {
			out = append(out, r.Path+" is at "+r.Version+", below its floor "+floor)
		}
		if r.Indirect {
			continue
		}
		_, inProgram := program[r.Path]
		_, inTests := tests[r.Path]
		_, allowed := unreleased[r.Path]
		switch {
		case inProgram == inTests:
			out = append(out, r.Path+" needs one line, in one of the two tables")
		case inTests && linked[r.Path]:
			out = append(out, r.Path+" is said to be in tests only, and the program is built from it")
		case inProgram && !linked[r.Path]:
			out = append(out, r.Path+" is said to be in the program, and is not")
		case !released.MatchString(r.Version) && !allowed:
			out = append(out, r.Path+" is at "+r.Version+", which is no release")
		case released.MatchString(r.Version) && allowed:
			out = append(out, r.Path+" has a release now: take it off the list of those that have none")
		}
	}
	for _, names := range []map[string]string{program, tests, unreleased, floors} {
		for name := range maps.Keys(names) {
			if !seen[name] {
				out = append(out, name+" stands in the policy and not in go.mod")
			}
		}
	}
	slices.Sort(out)
	return out
}

// older compares releases; what is none is compared by the release it begins
// with.
func older(a, b string) bool { return slices.Compare(numbers(a), numbers(b)) < 0 }

func numbers(version string) (out []int) {
	release, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), "-")
	for part := range strings.SplitSeq(release, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil // older than any
		}
		out = append(out, n)
	}
	return out
}

// TestTheVersionsKeepToThePolicy needs no network: the policy is in
// docs/dependencies.md, and what is known against a version is asked by make vuln.
func TestTheVersionsKeepToThePolicy(t *testing.T) {
	text, err := os.ReadFile("docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	var mod modules
	if err := json.Unmarshal(goCommand(t, "mod", "edit", "-json"), &mod); err != nil {
		t.Fatal(err)
	}
	linked := map[string]bool{}
	for path := range strings.FieldsSeq(string(goCommand(t, "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./cmd/verifier"))) {
		linked[path] = true
	}
	for _, fault := range readPolicy(string(text)).faults(mod, linked) {
		t.Error(fault)
	}
}

func goCommand(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// TestToolsArePinned: what make runs from elsewhere has an exact version.
func TestToolsArePinned(t *testing.T) {
	text, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	tools := regexp.MustCompile(`(?m)^([A-Z]+)\s*=\s*(\S+)@(\S+)$`).FindAllStringSubmatch(string(text), -1)
	if len(tools) < 2 {
		t.Errorf("%d tools found, and there are golangci-lint and govulncheck", len(tools))
	}
	for _, m := range tools {
		if !released.MatchString(m[3]) {
			t.Errorf("%s is at %s, which is no release", m[2], m[3])
		}
	}
}

func TestWhatIsAgainstThePolicyIsSeen(t *testing.T) {
	p := readPolicy("x\n## In the program\n| `a/a` | x |\n## In tests only\n| `b/b` | x |\n## No release\n| `a/a` | x |\n## Floors\n| `c/c` | v1.2.3 |\n")
	const good = `{"Require":[{"Path":"a/a","Version":"v0.0.0-2026-abc"},{"Path":"b/b","Version":"v1.0.0"},{"Path":"c/c","Version":"v1.10.0","Indirect":true}]}`
	for name, tt := range map[string]struct{ old, with, want string }{
		"nothing":        {"", "", ""},
		"a replacement":  {`{"Require"`, `{"Replace":[1],"Require"`, "go.mod replaces or excludes a module"},
		"no line":        {`"b/b"`, `"d/d"`, "b/b stands in the policy and not in go.mod; d/d needs one line, in one of the two tables"},
		"no release":     {`"v1.0.0"`, `"v1.0.0-rc.1"`, "b/b is at v1.0.0-rc.1, which is no release"},
		"a release now":  {`"v0.0.0-2026-abc"`, `"v1.0.0"`, "a/a has a release now: take it off the list of those that have none"},
		"below a floor":  {`"v1.10.0"`, `"v1.2.2"`, "c/c is at v1.2.2, below its floor v1.2.3"},
		"an older major": {`"v1.10.0"`, `"v0.9.9-2026-abc"`, "c/c is at v0.9.9-2026-abc, below its floor v1.2.3"},
	} {
		var mod modules
		if err := json.Unmarshal([]byte(strings.Replace(good, tt.old, tt.with, 1)), &mod); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.faults(mod, map[string]bool{"a/a": true}), "; "); got != tt.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	var mod modules
	if err := json.Unmarshal([]byte(good), &mod); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(p.faults(mod, map[string]bool{"b/b": true}), "; "); got != "a/a is said to be in the program, and is not; b/b is said to be in tests only, and the program is built from it" {
		t.Errorf("linked otherwise: %s", got)
	}
}
