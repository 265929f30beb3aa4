package web

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/channels"
)

// editView is what a call would change in one place of a file.
type editView struct {
	Path  string
	Lines []editLine
}

// editLine is a line that goes, comes or stays.
type editLine struct{ Kind, Sign, Text string }

// Kinds of lines.
const (
	added   = "add"
	removed = "del"
	same    = "same"
	gap     = "gap"
)

// Bounds of what is compared and drawn. What is beyond them still stands in the
// arguments as they came.
const (
	maxEdits     = 50
	maxCompared  = 400  // lines on either side
	maxDrawn     = 1000 // lines of one edit
	aroundChange = 3    // lines that stay, before and after
)

// edits is what a call would change in files, as far as its arguments say it in a
// form that is known. It takes nothing away: they are shown besides.
func edits(tool string, params jsontext.Value) (out []editView) {
	var args map[string]jsontext.Value
	if json.Unmarshal(params, &args) != nil {
		return nil
	}
	path := paths(args)
	add := func(lines []editLine) {
		if len(lines) > 0 && len(out) < maxEdits {
			out = append(out, editView{Path: foreign(path), Lines: lines})
		}
	}
	add(replaced(args))
	var list []map[string]jsontext.Value
	if json.Unmarshal(args["edits"], &list) == nil {
		for _, e := range list {
			add(replaced(e))
		}
	}
	add(compared("", first(args, "content")))
	if raw, err := base64.StdEncoding.DecodeString(first(args, "contentBase64")); err == nil && utf8.Valid(raw) {
		add(compared("", string(raw)))
	}
	add(patched(first(args, "patch")))
	if tool == "apply_patch" {
		add(patched(first(args, "input")))
	}
	return out
}

// paths is the file by any of its names; where they differ, all of them, for who
// knows which one the tool reads.
func paths(args map[string]jsontext.Value) string {
	var all []string
	for _, name := range []string{"path", "file_path", "filePath", "file"} {
		if text := first(args, name); text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, " or ")
}

// first is the first of these arguments that is a text.
func first(args map[string]jsontext.Value, names ...string) string {
	for _, name := range names {
		var text string
		if v, there := args[name]; there && json.Unmarshal(v, &text) == nil {
			return text
		}
	}
	return ""
}

// replaced is an old text and a new one, by any of their names.
func replaced(args map[string]jsontext.Value) []editLine {
	for _, names := range [][2]string{{"oldText", "newText"}, {"old_string", "new_string"}, {"oldString", "newString"}, {"old_text", "new_text"}} {
		if _, there := args[names[1]]; there {
			return compared(first(args, names[0]), first(args, names[1]))
		}
	}
	return nil
}

// patched reads a patch by how its lines begin.
func patched(text string) (out []editLine) {
	if text == "" {
		return nil
	}
	within := false // a part in which every sign counts
	for _, line := range split(text) {
		switch {
		case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, "***"):
			within = true
			out = append(out, newLine(gap, line))
		case !within && (strings.HasPrefix(line, "+++ ") || strings.HasPrefix(line, "--- ")):
			out = append(out, newLine(gap, line))
		case strings.HasPrefix(line, "+"):
			out = append(out, newLine(added, line[1:]))
		case strings.HasPrefix(line, "-"):
			out = append(out, newLine(removed, line[1:]))
		default:
			out = append(out, newLine(same, strings.TrimPrefix(line, " ")))
		}
	}
	return bounded(out)
}

// compared is what differs between two texts, with a few lines around it.
func compared(before, after string) []editLine {
	a, b := split(before), split(after)
	if before == "" {
		a = nil
	}
	if after == "" {
		b = nil
	}
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out []editLine
	out = append(out, kept(a[:head], true)...)
	out = append(out, middle(a[head:len(a)-tail], b[head:len(b)-tail])...)
	out = append(out, kept(a[len(a)-tail:], false)...)
	return bounded(out)
}

// kept are the lines nearest to a change.
func kept(lines []string, before bool) (out []editLine) {
	left := len(lines) - aroundChange
	if left > 0 && before {
		lines = lines[left:]
		out = append(out, skipped(left))
	}
	if left > 0 && !before {
		lines = lines[:aroundChange]
	}
	for _, line := range lines {
		out = append(out, newLine(same, line))
	}
	if left > 0 && !before {
		out = append(out, skipped(left))
	}
	return out
}

func skipped(n int) editLine { return editLine{gap, "…", fmt.Sprintf("%d lines that stay", n)} }

// middle finds the longest run of lines that both have, in their order; where
// there are too many to look, all of one goes and all of the other comes.
func middle(a, b []string) (out []editLine) {
	if len(a) > maxCompared || len(b) > maxCompared {
		return append(lined(a, removed), lined(b, added)...)
	}
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			out = append(out, newLine(same, a[i]))
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			out = append(out, newLine(removed, a[i]))
			i++
		default:
			out = append(out, newLine(added, b[j]))
			j++
		}
	}
	return append(append(out, lined(a[i:], removed)...), lined(b[j:], added)...)
}

func lined(lines []string, kind string) (out []editLine) {
	for _, line := range lines {
		out = append(out, newLine(kind, line))
	}
	return out
}

var signs = map[string]string{added: "+", removed: "−", same: " ", gap: " "}

// newLine shows a line as all foreign text is shown.
func newLine(kind, line string) editLine {
	text, _ := channels.Safe(line, channels.Form{})
	return editLine{kind, signs[kind], text}
}

func bounded(lines []editLine) []editLine {
	if len(lines) <= maxDrawn {
		return lines
	}
	return append(lines[:maxDrawn:maxDrawn], editLine{gap, "…", fmt.Sprintf("%d more lines stand below, as they came", len(lines)-maxDrawn)})
}

// split cuts a text into its lines.
func split(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }
