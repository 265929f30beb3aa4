package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// results is what came of the last `make test-hostile`: one line for each test
// that has a case's number in its name, written by that run alone.
const results = "packaging/threats/results.txt"

const resultsHead = "# Written by `make test-hostile` from what the tests said. Not for editing.\n"

// What can come of a test.
const (
	passed  = "passed"
	failed  = "failed"
	skipped = "skipped"
)

// result is what came of a test, in a package or in a file of the plugin's.
type result struct{ came, where, suite, name string }

func (r result) String() string {
	return strings.Join([]string{r.came, r.where, cmp.Or(r.suite, "-"), r.name}, "\t")
}

// module is what the names of our packages begin with.
const module = "github.com/openclaw-verifier/verifier"

// readGo takes the events of `go test -json`. It passes on what people want to
// see: what failed.
func readGo(in io.Reader, show io.Writer) (out []result, err error) {
	said := map[string][]string{}
	for lines := scan(in); lines.Scan(); {
		var e struct{ Action, Package, Test, Output string }
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(show, lines.Text()) //nolint:errcheck // what the compiler says, on a terminal
			continue
		}
		key := e.Package + " " + e.Test
		switch came := map[string]string{"pass": passed, "fail": failed, "skip": skipped}[e.Action]; {
		case e.Action == "output":
			said[key] = append(said[key], e.Output)
		case came == "":
		default:
			if came == failed {
				fmt.Fprint(show, strings.Join(said[key], "")) //nolint:errcheck // on a terminal
			}
			delete(said, key)
			if r, ok := named(e.Test); ok {
				r.came, r.where = came, strings.TrimPrefix(strings.TrimPrefix(e.Package, module), "/")
				out = append(out, r)
			}
		}
	}
	return out, nil
}

func scan(in io.Reader) *bufio.Scanner {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	return lines
}

// named finds the outermost part of a test's name that has a number in it: what
// is below belongs to it.
func named(test string) (result, bool) {
	parts := strings.Split(test, "/")
	i := slices.IndexFunc(parts, caseNumber.MatchString)
	if i < 0 || i != len(parts)-1 {
		return result{}, false
	}
	if i == 0 {
		return result{name: parts[0]}, true
	}
	return result{suite: parts[0], name: strings.ReplaceAll(parts[i], "_", " ")}, true
}

// tapLine is a line of the Test Anything Protocol, in which node reports.
var tapLine = regexp.MustCompile(`^ *(ok|not ok) \d+ - (H\d{2,3} .*?)(?: # (SKIP|TODO).*)?$`)

// readPlugin takes what node said of the plugin's tests.
func readPlugin(in io.Reader, show io.Writer) (out []result, err error) {
	lines := scan(in)
	for lines.Scan() {
		m := tapLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		r := result{came: passed, where: plugin, name: strings.ReplaceAll(m[2], `\#`, "#")}
		switch {
		case m[3] != "":
			r.came = skipped
		case m[1] == "not ok":
			r.came = failed
			fmt.Fprintln(show, lines.Text()) //nolint:errcheck // on a terminal
		}
		out = append(out, r)
	}
	return out, lines.Err()
}

const plugin = "integrations/openclaw"

// file is how results are kept.
func file(all []result) string {
	var lines []string
	for _, r := range all {
		lines = append(lines, r.String())
	}
	slices.Sort(lines)
	return resultsHead + strings.Join(slices.Compact(lines), "\n") + "\n"
}

func parseResults(text string) (out []result, err error) {
	for row := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if strings.HasPrefix(row, "#") {
			continue
		}
		f := strings.Split(row, "\t")
		if len(f) != 4 || f[0] != passed && f[0] != failed && f[0] != skipped {
			return nil, fmt.Errorf("%s: %q is no result: `make test-hostile` writes it anew", results, row)
		}
		out = append(out, result{f[0], f[1], strings.TrimPrefix(f[2], "-"), f[3]})
	}
	return out, nil
}

// shows reports whether a result is one of a test's. A step of a suite has one
// wherever the suite runs.
func (p *proof) shows(r *result) bool {
	name, isStep := p.name, false
	for _, prefix := range suites {
		if step, ok := strings.CutPrefix(p.name, prefix); ok {
			name, isStep = step, true
		}
	}
	if step, ok := strings.CutPrefix(p.name, pluginPrefix); ok {
		return r.where == plugin && strings.HasPrefix(r.name, step)
	}
	if !isStep {
		return r.suite == "" && r.name == name && r.where == path.Dir(p.file)
	}
	before, after, cut := strings.Cut(name, "…")
	return r.suite != "" && (r.name == name || cut && strings.HasPrefix(r.name, before) && strings.HasSuffix(r.name, after))
}

// sum says what came of the tests of a case.
func sum(found []proof, all []result) string {
	count, unrun := map[string]int{}, 0
	for _, p := range found {
		ran := false
		for i := range all {
			if p.shows(&all[i]) {
				count[all[i].came]++
				ran = true
			}
		}
		if !ran {
			unrun++
		}
	}
	var parts []string
	for _, came := range []string{failed, passed, skipped} {
		if n := count[came]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, came))
		}
	}
	if unrun > 0 {
		parts = append(parts, fmt.Sprintf("%d not run yet", unrun))
	}
	text := strings.Join(parts, ", ")
	if count[failed] > 0 {
		return "**" + text + "**"
	}
	return text
}
