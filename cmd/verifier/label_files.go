package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/label"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/web"
	"github.com/openclaw-verifier/verifier/wholefile"
)

// labelFiles are the files of labels that the config in force includes, for the page.
type labelFiles struct {
	config func() *config.Config
	mu     sync.Mutex // one answer at a time
}

// readLabels reads a file of labels as it is kept up to date, and what it says.
func readLabels(path string) (*label.File, map[string]policy.Tool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	known, err := config.LoadLabels(path)
	if err != nil {
		return nil, nil, err
	}
	file, err := label.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	return file, known.Tools, nil
}

// writeLabels replaces a file of labels at once and whole. A file that is there keeps its owner and its mode, and a link stays one.
func writeLabels(path string, text []byte) error {
	if _, err := config.ParseLabels(path, text); err != nil { // it would not be read again
		return err
	}
	end, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return replaceFile(path, text)
	}
	if err != nil {
		return err
	}
	was, err := os.Stat(end)
	if err != nil {
		return err
	}
	return wholefile.Replace(end, text, was.Mode().Perm(), was)
}

// Open implements web.Labels. A file that someone wrote by hand in another form is not for the page.
func (l *labelFiles) Open() (open []web.Label, all int, err error) {
	for _, path := range l.config().LabelFiles() {
		file, known, err := readLabels(path)
		if errors.Is(err, label.ErrForm) {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		all += len(known)
		for _, e := range file.Unreviewed(known) {
			open = append(open, shownLabel(path, e))
		}
	}
	return open, all, nil
}

func shownLabel(path string, e label.Entry) web.Label {
	sum := sha256.Sum256([]byte(path + "\x00" + e.Name + "\x00" + e.Label + "\x00" + e.Why))
	return web.Label{File: path, Tool: e.Name, Says: e.Label, Why: e.Why, Seen: hex.EncodeToString(sum[:])}
}

// Find implements web.Labels.
func (l *labelFiles) Find(seen string) (web.Label, error) {
	open, _, err := l.Open()
	if err != nil {
		return web.Label{}, err
	}
	if at := slices.IndexFunc(open, func(x web.Label) bool { return x.Seen == seen }); at >= 0 {
		return open[at], nil
	}
	return web.Label{}, web.ErrLabel
}

// Answer implements web.Labels.
func (l *labelFiles) Answer(of web.Label, right bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.Find(of.Seen); err != nil {
		return err
	}
	file, known, err := readLabels(of.File)
	if err != nil {
		return err
	}
	if right {
		file.Reviewed(of.Tool)
	} else {
		file.Tighten(of.Tool, known[of.Tool])
	}
	return writeLabels(of.File, file.Text())
}
