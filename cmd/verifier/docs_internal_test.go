package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openclaw-verifier/verifier/config"
)

var writeDocs = flag.Bool("docs", false, "write the generated part of docs/configuration.md")

const (
	keysPage  = "../../docs/configuration.md"
	tableFrom = "<!-- keys: generated from config/keys.go by `make docs` -->\n"
	tableTo   = "<!-- end of keys -->\n"
)

// The table of keys in the documents is made of the same words as the schema.
// `make docs` runs this test with -docs.
func TestDocsListTheKeys(t *testing.T) {
	text, err := os.ReadFile(keysPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), tableFrom)
	have, after, closed := strings.Cut(rest, tableTo)
	if !ok || !closed {
		t.Fatalf("%s has lost the lines around its table:\n%s%s", keysPage, tableFrom, tableTo)
	}
	want := table(config.Keys(builtin.platforms()))
	if *writeDocs {
		if err := os.WriteFile(keysPage, []byte(before+tableFrom+want+tableTo+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("%s is stale, run `make docs` (-keys.go +page):\n%s", keysPage, diff)
	}
}

// table leaves out the keys that only hold others.
func table(keys []config.Key) string {
	var b strings.Builder
	b.WriteString("| key | default | meaning |\n|---|---|---|\n")
	for i, k := range keys {
		if i+1 < len(keys) && strings.HasPrefix(keys[i+1].Path, k.Path+".") && !strings.Contains(keys[i+1].Path, "<") && k.Unset == "" {
			continue
		}
		text := k.Text
		if k.Words != nil {
			text += ": `" + strings.Join(k.Words, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.Path, defaultCell(k), text)
	}
	return b.String()
}

func defaultCell(k config.Key) string {
	if k.Default != nil {
		return fmt.Sprintf("`%v`", k.Default)
	}
	return k.Unset
}
