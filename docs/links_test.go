package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var link = regexp.MustCompile(`\]\(([^()\s]+)\)|(?:src|href)="([^"]+)"`)

// Every link of a page to a file of this repository leads to one.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Chdir("..")
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || d.Name() == ".git" ||
			d.Name() == "dist"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		for _, m := range link.FindAllStringSubmatch(read(t, path), -1) {
			to := m[1] + m[2]
			file, heading, _ := strings.Cut(to, "#")
			at := filepath.Join(filepath.Dir(path), file)
			if file == "" {
				at = path
			}
			if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				continue
			}
			if _, err := os.Stat(at); err != nil {
				t.Errorf("%s links to %s, which is not there", path, to)
			} else if heading != "" && filepath.Ext(at) == ".md" && !hasHeading(read(t, at), heading) {
				t.Errorf("%s links to %s, which has no such heading", path, to)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// hasHeading compares as GitHub makes anchors: small letters, hyphens for blanks, nothing but letters, digits and
// hyphens.
func hasHeading(text, anchor string) bool {
	for line := range strings.Lines(text) {
		title, found := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !found || !strings.HasPrefix(line, "#") {
			continue
		}
		name := regexp.MustCompile(`[^\p{L}\p{N}_ -]`).ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
		if strings.ReplaceAll(name, " ", "-") == anchor {
			return true
		}
	}
	return false
}

// The page that follows a call through the code names files and functions that exist.
func TestTheArchitecturePageIsTrue(t *testing.T) {
	t.Chdir("..")
	text := read(t, "docs/architecture.md")
	files, functions := 0, 0
	for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[1], "/") || filepath.Ext(m[1]) == ".go" {
			files++
			if _, err := os.Stat(m[1]); err != nil {
				t.Errorf("it names %s, which is not there", m[1])
			}
		}
	}
	declared := regexp.MustCompile("`([A-Za-z0-9]+)` in ((?:`[^`]+`(?: or )?)+)")
	for _, m := range declared.FindAllStringSubmatch(text, -1) {
		for _, file := range strings.Fields(strings.NewReplacer("`", " ", " or ", " ").Replace(m[2])) {
			functions++
			if !regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + m[1] + `\(`).MatchString(read(t, file)) {
				t.Errorf("%s has no function %s", file, m[1])
			}
		}
	}
	if files < 20 || functions < 20 {
		t.Errorf("only %d files and %d functions were found on the page", files, functions)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}
