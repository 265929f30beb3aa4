package layout

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// oddWords are words that CONTRIBUTING.md asks to leave out of comments.
var oddWords = regexp.MustCompile(`(?i)\b(whoever|nobody|mended|stands|(is|are)\s+told)\b`)

func TestCommentsUsePlainWords(t *testing.T) {
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, group := range parsed.Comments {
			if word := oddWords.FindString(group.Text()); word != "" {
				t.Errorf("%s: say it without %q", files.Position(group.Pos()), word)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
