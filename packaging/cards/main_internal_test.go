package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestThePicturesAreWhatTheProgramSends(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := draw(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(root, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is out of date (`make docs` writes it anew): %v", name, err)
		}
	}
	kept, err := filepath.Glob(filepath.Join(root, pictures, "*.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range kept {
		if _, drawn := files[pictures+"/"+filepath.Base(file)]; !drawn {
			t.Errorf("%s shows a card that no test draws any more", file)
		}
	}
}

func TestALineIsCutWhereTheCardIsFull(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{
		{"short", 1}, {"", 1},
		{"forty-six characters fit and the next word does not", 2},
		{"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789", 3},
	} {
		if got := len(wrap([]span{{c.text, mono}})); got != c.want {
			t.Errorf("%q takes %d lines, want %d", c.text, got, c.want)
		}
	}
}
