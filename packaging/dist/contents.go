package main

import (
	"os"
	"path/filepath"
	"strings"
)

// copied are the files that stand in the repository.
var copied = []string{"LICENSE", "README.md", "CHANGELOG.md", "packaging/verifier.service"}

// common are the files beside the binary, the same on every platform.
func common() ([]file, error) {
	var out []file
	for _, name := range copied {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		out = append(out, file{filepath.Base(name), data, 0o644})
	}
	text, err := os.ReadFile("cmd/verifier/verifier.yaml.in")
	return append(out, file{"verifier.example.yaml", []byte(example(string(text))), 0o644}), err
}

// example is the file that init writes, with its secrets in the environment: a
// secret that everybody can download would be none.
func example(template string) string {
	return strings.NewReplacer("@SECRET@", `"${VERIFIER_SECRET}"`, "@TOKEN@", `"${VERIFIER_OWNER_TOKEN}"`, "@WORKSPACE@", `"~/.openclaw/workspace"`).Replace(template)
}
