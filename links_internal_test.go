package layout

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
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || d.Name() == ".git" || d.Name() == "dist"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			checkLink(t, path, m[1]+m[2])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkLink(t *testing.T, page, to string) {
	t.Helper()
	if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
		return
	}
	file, heading, _ := strings.Cut(to, "#")
	at := filepath.Join(filepath.Dir(page), file)
	if file == "" {
		at = page
	}
	if _, err := os.Stat(at); err != nil {
		t.Errorf("%s links to %s, which is not there", page, to)
		return
	}
	if heading != "" && filepath.Ext(at) == ".md" && !hasHeading(t, at, heading) {
		t.Errorf("%s links to %s, which has no such heading", page, to)
	}
}

// hasHeading compares as GitHub makes anchors: small letters, hyphens for blanks, nothing but letters, digits and hyphens.
func hasHeading(t *testing.T, page, anchor string) bool {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
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

var (
	codeName = regexp.MustCompile("`([^`\n]+)`")
	declared = regexp.MustCompile("`([A-Za-z0-9]+)` in ((?:`[^`]+`(?: or )?)+)")
)

// The page that follows a call through the code names files and functions that exist.
func TestTheArchitecturePageIsTrue(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, m := range codeName.FindAllStringSubmatch(string(text), -1) {
		if !strings.Contains(m[1], "/") && filepath.Ext(m[1]) != ".go" {
			continue
		}
		files++
		if _, err := os.Stat(m[1]); err != nil {
			t.Errorf("it names %s, which is not there", m[1])
		}
	}
	functions := 0
	for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
		for _, file := range codeName.FindAllStringSubmatch(m[2], -1) {
			functions++
			code, err := os.ReadFile(file[1])
			if err != nil {
				t.Error(err)
				continue
			}
			if !regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + m[1] + `\(`).Match(code) {
				t.Errorf("%s has no function %s", file[1], m[1])
			}
		}
	}
	if files < 20 || functions < 20 {
		t.Errorf("only %d files and %d functions were found on the page", files, functions)
	}
}
