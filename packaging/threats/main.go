// Command threats writes docs/threat-model.md: its prose from a template beside
// it, and for each hostile case the tests that prove it, found by the case's
// number in their names, with what came of them when `make test-hostile` ran last.
//
//	threats                        # the page, by the results that are kept
//	threats GO-TEST-JSON NODE-TAP  # keeps the results of a run first; fails if a test has
//
// It refuses a case that no test proves and that gives no reason for it, a reason
// that is out of date, and a test that is named and does not exist: the page
// can't promise what nothing checks. A test that no run has seen yet is listed
// as that.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

//go:embed cases.txt
var casesText string

//go:embed threat-model.md.in
var template string

const page = "docs/threat-model.md"

func main() {
	err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var ran error
	if len(args) == 2 {
		all, err := gather(args[0], args[1])
		if err == nil {
			err = os.WriteFile(results, []byte(file(all)), 0o644) //nolint:gosec // for everybody to read
		}
		if err != nil {
			return err
		}
		ran = worst(all)
	}
	text, err := write(os.DirFS("."))
	if err == nil {
		err = os.WriteFile(page, []byte(text), 0o644) //nolint:gosec // documentation is for everybody
	}
	return errors.Join(err, ran)
}

// gather reads what the tests said, in Go and in the plugin.
func gather(goJSON, nodeTAP string) (all []result, err error) {
	for _, from := range []struct {
		file string
		read func(io.Reader, io.Writer) ([]result, error)
	}{{goJSON, readGo}, {nodeTAP, readPlugin}} {
		f, err := os.Open(from.file)
		if err != nil {
			return nil, err
		}
		some, err := from.read(f, os.Stdout)
		_ = f.Close()
		if err != nil {
			return nil, err
		}
		if len(some) == 0 {
			return nil, fmt.Errorf("%s holds no result of a hostile case", from.file)
		}
		all = append(all, some...)
	}
	return all, nil
}

// worst is an error if a test has failed; it says how many have not.
func worst(all []result) error {
	count := map[string]int{}
	for _, r := range all {
		count[r.came]++
	}
	fmt.Printf("hostile cases: %d passed, %d failed, %d skipped\n", count[passed], count[failed], count[skipped])
	if count[failed] > 0 {
		return fmt.Errorf("%d tests of hostile cases failed", count[failed])
	}
	return nil
}

// write makes the page.
func write(root fs.FS) (string, error) {
	proofs, err := find(root)
	if err != nil {
		return "", err
	}
	cases, err := parse(casesText)
	if err != nil {
		return "", err
	}
	kept, err := fs.ReadFile(root, results)
	if err != nil {
		return "", err
	}
	came, err := parseResults(string(kept))
	if err != nil {
		return "", err
	}
	table, err := casesTable(cases, proofs, came)
	if err != nil {
		return "", err
	}
	techniques, err := atlasTable(proofs)
	if err != nil {
		return "", err
	}
	return strings.NewReplacer("{{cases}}", table, "{{atlas}}", techniques).Replace(template), nil
}

// hostile is one case.
type hostile struct{ number, part, done, must, open string }

func parse(text string) ([]hostile, error) {
	var out []hostile
	for row := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if strings.HasPrefix(row, "#") {
			continue
		}
		f := strings.Split(row, "|")
		if len(f) != 4 && len(f) != 5 {
			return nil, fmt.Errorf("cases.txt: %q has %d parts", row, len(f))
		}
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		c := hostile{number: f[0], part: f[1], done: f[2], must: f[3]}
		if len(f) == 5 {
			c.open = f[4]
		}
		out = append(out, c)
	}
	return out, nil
}

// maxShown is how many tests a row names; the rest are counted.
const maxShown = 3

func casesTable(cases []hostile, all proofs, came []result) (string, error) {
	var b strings.Builder
	b.WriteString("| case | what is done | what must happen | shown by | result |\n|---|---|---|---|---|\n")
	for _, c := range cases {
		found := all.of(c.number)
		switch {
		case len(found) == 0 && c.open == "":
			return "", fmt.Errorf("no test has %s in its name, and cases.txt does not say why", c.number)
		case len(found) > 0 && c.open != "":
			return "", fmt.Errorf("%s is said to be open (%s), and %s proves it", c.number, c.open, found[0].name)
		}
		shown := "**not yet**: " + c.open
		if len(found) > 0 {
			shown = list(found)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", c.number, c.done, c.must, shown, sum(found, came))
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func list(found []proof) string {
	var names []string
	for _, p := range found[:min(len(found), maxShown)] {
		names = append(names, fmt.Sprintf("[%s](../%s)", p.name, p.file))
	}
	text := strings.Join(names, ", ")
	if more := len(found) - maxShown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// technique is a row of the ATLAS table. Its tests are named whole, or by the
// number of a case.
type technique struct {
	id, threat, against string
	tests               []string
}

var techniques = []technique{
	{"AML.T0051", "Prompt injection through outside content", "The level falls when content comes in, before the next call is judged", []string{"TestAFetchTaintsAndAGrantCoversJustItsConversation", "H17", "H21"}},
	{"AML.T0054", "Tools misused once the context is poisoned", "Each call is judged at the conversation's level, outside the model", []string{"TestSeed000ResponseTrustAndCallPermission", "TestTaintEscalationNeverLoosens"}},
	{"AML.T0043", "Data carried out through tools", "Sinks ask once the conversation is tainted; under `strict`, fetches too", []string{"TestSeed002SourcesAndSinks", "TestStrictMakesAFetchASinkOnceTainted"}},
	{"AML.T0040", "An agent that persists or replicates", "Children share the level; an automation remembers who scheduled it", []string{"H16", "TestH21AnAutomationScheduledWhileTaintedStartsTainted"}},
	{"AML.T0048", "Configuration tampered with", "Dangerous tools ask at every level; our own files, address and command are refused", []string{"TestSeed000DangerousTools", "H30"}},
	{"AML.T0056", "Loops of agents", "A cap on iterations, or on the calls of a run", []string{"TestSeed000IterationCap", "TestH130ARunAtItsCapAsksAndANoEndsIt"}},
	{"AML.T0052", "A confused deputy", "Who started a run decides its level; nothing unattested is trusted", []string{"TestSeed000InitialTrustByChannel", "H22", "H23"}},
	{"AML.T0055", "People deceived through the agent", "Messages are sinks; the card shows what will be sent, to whom, and why it is asked", []string{"TestSeed002SourcesAndSinks", "H37"}},
}

func atlasTable(all proofs) (string, error) {
	var b strings.Builder
	for _, t := range techniques {
		var found []proof
		for _, name := range t.tests {
			some := all.of(name)
			if len(some) == 0 {
				return "", fmt.Errorf("%s: there is no test %s", t.id, name)
			}
			found = append(found, some[0])
		}
		found = slices.CompactFunc(found, func(a, b proof) bool { return a == b })
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", t.id, t.threat, t.against, list(found))
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
