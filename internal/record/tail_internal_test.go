package record

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBackwardIsReadBackwards(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.jsonl")
	log := mustOpen(t, path, rotating(200<<10))
	for i := range 2000 { // over several blocks and files, in lines of all lengths
		mustAppend(t, log, fmt.Sprint(i, strings.Repeat("x", i%700)))
	}
	mustClose(t, log)
	files, err := Files(path)
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	var forward, backwards []uint64
	for _, file := range files {
		for l, err := range Read(bytes.NewReader(contents(t, file))) {
			if err != nil {
				t.Fatal(err)
			}
			forward = append(forward, l.Seq)
		}
	}
	for l, err := range Backward(files, nil) {
		if err != nil {
			t.Fatal(err)
		}
		backwards = append([]uint64{l.Seq}, backwards...)
	}
	if fmt.Sprint(forward) != fmt.Sprint(backwards) {
		t.Errorf("%d lines forward, %d backwards", len(forward), len(backwards))
	}
	n := 0
	for l := range Backward(files, func(raw []byte) bool { return bytes.Contains(raw, []byte(`"note":"7`)) }) {
		if n++; !strings.HasPrefix(l.Note, "7") || n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("%d notes begin with 7", n)
	}
}

func TestBackwardLeavesATornLineOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.jsonl")
	for text, want := range map[string]int{
		"": 0, "\n": 0, `{"seq":1`: 0,
		`{"seq":1,"prev":"","hash":"","entry":{"kind":"note"}}` + "\nrubbish\n" + `{"seq":3`: -1,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range Backward([]string{path}, nil) {
			if err != nil {
				t.Error(err)
			}
			n++
		}
		if want >= 0 && n != want {
			t.Errorf("%q has %d lines", text, n)
		}
	}
	for _, err := range Backward([]string{path + ".gone"}, nil) {
		if err == nil {
			t.Error("a file that is not there was read")
		}
	}
}
