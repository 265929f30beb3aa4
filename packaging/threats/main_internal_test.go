package main

import (
	"os"
	"path/filepath"
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
			_, err = casesTable(parsed, proven)
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
