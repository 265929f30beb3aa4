package layout

import (
	"os"
	"regexp"
	"testing"
)

var released = regexp.MustCompile(`^v\d+\.\d+\.\d+$`)

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
