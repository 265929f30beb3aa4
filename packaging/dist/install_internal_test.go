package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// `go install …/cmd/...@latest` refuses a module that replaces or excludes others, and leaves out directories with a go.mod of
// their own. scripts/test-container --quick installs it from here and asks it for its version: in a test, compiling all of it would
// starve the others.
func TestGoInstallTakesTheModule(t *testing.T) {
	module := repository(t, "go.mod")
	for line := range strings.Lines(module) {
		if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); word == "replace" || word == "exclude" {
			t.Errorf("go install does not take a module with %s", line)
		}
	}
	nested, err := filepath.Glob("../../*/go.mod")
	deeper, err2 := filepath.Glob("../../*/*/go.mod")
	if nested = append(nested, deeper...); err != nil || err2 != nil || len(nested) > 0 {
		t.Errorf("the module lacks the directories of %q: %v %v", nested, err, err2)
	}
	const command = "go install github.com/openclaw-verifier/verifier/cmd/...@latest"
	for _, page := range []string{"README.md", "docs/installation.md"} {
		if !strings.Contains(repository(t, page), command) {
			t.Errorf("%s does not say %s", page, command)
		}
	}
}
