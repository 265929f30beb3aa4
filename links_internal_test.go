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
