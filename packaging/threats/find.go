package main

import (
	"cmp"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// proof is a test, or a step of a suite that every chat channel or every store
// passes.
type proof struct{ name, file string }

// proofs are all tests of the repository, in order of their names.
type proofs []proof

var (
	testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	suiteStep    = regexp.MustCompile(`(?m)(?:\{|Sprintf\()"(H\d{2,3} [^"]*)"`)
	pluginTest   = regexp.MustCompile("(?m)^\\s*test\\([\"`](H\\d{2,3} [^\"`$]*)")
	caseNumber   = regexp.MustCompile(`H\d{2,3}`)
)

const pluginPrefix = "the plugin: "

// suites are where the steps of suites are, and who passes them.
var suites = map[string]string{"channels/channeltest": "each chat: ", "store/storetest": "each store: "}

// find reads every test file.
func find(root fs.FS) (proofs, error) {
	var out proofs
	err := fs.WalkDir(root, ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name := d.Name(); file != "." && (name == "node_modules" || name == "testdata" || strings.HasPrefix(name, ".")) {
				return fs.SkipDir
			}
			return nil
		case strings.HasSuffix(file, "_test.go"):
			return out.add(root, file, testFunction, "")
		case strings.HasSuffix(file, ".test.js"):
			return out.add(root, file, pluginTest, pluginPrefix)
		case suites[path.Dir(file)] != "" && path.Ext(file) == ".go":
			return out.add(root, file, suiteStep, suites[path.Dir(file)])
		}
		return nil
	})
	slices.SortFunc(out, func(a, b proof) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.file, b.file)) })
	return out, err
}

func (p *proofs) add(root fs.FS, file string, named *regexp.Regexp, prefix string) error {
	text, err := fs.ReadFile(root, file)
	if err != nil {
		return err
	}
	for _, m := range named.FindAllStringSubmatch(string(text), -1) {
		name := strings.TrimSuffix(strings.ReplaceAll(m[1], "%s", "…"), ": ")
		*p = append(*p, proof{prefix + name, file})
	}
	return nil
}

// of are the tests of that name, or that have that case's number in theirs.
func (p proofs) of(name string) []proof {
	var out []proof
	for _, one := range p {
		if one.name == name || strings.Contains(one.name, name) && slices.Contains(caseNumber.FindAllString(one.name, -1), name) {
			out = append(out, one)
		}
	}
	return out
}
