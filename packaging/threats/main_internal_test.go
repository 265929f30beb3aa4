package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func TestTheThreatModelIsWhatTheTestsProve(t *testing.T) {
	root := filepath.Join("..", "..")
	want, err := write(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, page))
	if err != nil || string(got) != want {
		t.Errorf("%s is out of date (`make docs` writes it anew): %v", page, err)
	}
}

func TestAPromiseWithoutATestIsRefused(t *testing.T) {
	proven := proofs{{"TestH01Something", "a_test.go"}}
	for what, cases := range map[string]string{
		"no test":           "H02 | P | done | must",
		"a reason too many": "H01 | P | done | must | later",
		"too few parts":     "H01 | P | done",
	} {
		parsed, err := parse(cases)
		if err == nil {
			_, err = casesTable(parsed, proven, nil)
		}
		if err == nil {
			t.Errorf("%s: taken", what)
		}
	}
	if _, err := atlasTable(proven); err == nil {
		t.Error("techniques whose tests are gone: taken")
	}
}

func TestTestsAreFoundByTheirNames(t *testing.T) {
	found, err := find(fstest.MapFS{
		"a/a_test.go":                        {Data: []byte("func TestH01H02AndMore(t *testing.T) {}\n// TestH03 is only told of\nfunc helper() {}\n")},
		"a/testdata/b_test.go":               {Data: []byte("func TestH04(t *testing.T) {}\n")},
		"channels/channeltest/suite_card.go": {Data: []byte("\t{\"H05 a step\", nil},\n")},
		"store/storetest/suite_level.go":     {Data: []byte("\t\t{\"H07 another\", func(b *bench) {\n")},
		"p/test/gate.test.js":                {Data: []byte("test(\"H08 in the plugin\", async () => {});\n\ttest(`H09 one of: ${x}`, f);\n")},
		"a/a.go":                             {Data: []byte("func TestH06(t *testing.T) {}\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	for number, want := range map[string]int{"H01": 1, "H02": 1, "H03": 0, "H04": 0, "H05": 1, "H06": 0, "H07": 1, "H08": 1, "H09": 1} {
		if got := len(found.of(number)); got != want {
			t.Errorf("%s is proven by %d tests, want %d: %v", number, got, want, found)
		}
	}
}

// TestResultsAreWhatTheTestsSaid: from the words of go test and of node to the
// last column of the table.
func TestResultsAreWhatTheTestsSaid(t *testing.T) {
	event := func(action, pkg, test string) string {
		return `{"Action":"` + action + `","Package":"` + module + `/` + pkg + `","Test":"` + test + `","Output":"said by ` + test + `\n"}` + "\n"
	}
	var shown strings.Builder
	goes, err := readGo(strings.NewReader("not an event\n"+
		event("pass", "a", "TestH01One")+event("pass", "a", "TestH01One/below")+event("pass", "a", "TestNoCase")+
		event("skip", "b", "TestH02Two")+event("output", "b", "TestH03Three")+event("fail", "b", "TestH03Three")+
		event("pass", "channels/x", "TestSuite/card/H04_a_step")+event("pass", "channels/y", "TestSuite/card/H04_a_step")+
		event("pass", "store/x", "TestConformance/level/H05_of_7_at_once")), &shown)
	if err != nil || shown.String() != "not an event\nsaid by TestH03Three\n" {
		t.Errorf("%v, and this is shown: %q", err, shown.String())
	}
	plugs, err := readPlugin(strings.NewReader("TAP version 13\nok 1 - H06 in the plugin\n    not ok 2 - H07 broken\nok 3 - H08 not here # SKIP no\nok 4 - other\n"), &shown)
	if err != nil {
		t.Fatal(err)
	}
	text := file(append(goes, plugs...))
	kept, err := parseResults(text)
	if err != nil || file(kept) != text || len(kept) != 9 {
		t.Errorf("%d results are kept, %v:\n%s", len(kept), err, text)
	}
	for _, c := range []struct {
		proof proof
		want  string
	}{
		{proof{"TestH01One", "a/a_test.go"}, "1 passed"},
		{proof{"TestH01One", "b/b_test.go"}, "1 not run yet"},
		{proof{"TestH02Two", "b/b_test.go"}, "1 skipped"},
		{proof{"TestH03Three", "b/b_test.go"}, "**1 failed**"},
		{proof{"each chat: H04 a step", "channels/channeltest/suite.go"}, "2 passed"},
		{proof{"each store: H05 of … at once", "store/storetest/suite.go"}, "1 passed"},
		{proof{"the plugin: H06 in the plugin", "p/a.test.js"}, "1 passed"},
		{proof{"the plugin: H07 broken", "p/a.test.js"}, "**1 failed**"},
		{proof{"the plugin: H08 not here", "p/a.test.js"}, "1 skipped"},
	} {
		if got := sum([]proof{c.proof}, kept); got != c.want {
			t.Errorf("%s: %s, want %s", c.proof.name, got, c.want)
		}
	}
	if err := worst(kept); err == nil {
		t.Error("a run with failed tests is called good")
	}
	if got := sum([]proof{{"TestH01One", "a/a_test.go"}, {"TestH02Two", "b/b_test.go"}, {"TestH99New", "b/b_test.go"}}, kept); got != "1 passed, 1 skipped, 1 not run yet" {
		t.Error(got)
	}
	if _, err := parseResults("passed by hand\n"); err == nil {
		t.Error("a line that no run wrote is taken")
	}
}
