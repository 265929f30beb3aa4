package policy

import (
	_ "embed"
	"path"
	"slices"
	"strings"
)

//go:embed lists.txt
var listsText string

// lists are the short lists of lists.txt, in small letters: docs/policy.md shows them as they are.
var lists = func() map[string][]string {
	out, name := map[string][]string{}, ""
	for line := range strings.Lines(listsText) {
		line = strings.ToLower(strings.TrimSpace(line))
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			name = strings.Trim(line, "[]")
		default:
			for word := range strings.SplitSeq(strings.TrimSuffix(line, ","), ",") {
				out[name] = append(out[name], strings.TrimSpace(word))
			}
		}
	}
	return out
}()

// setOf is a list, to be looked up.
func setOf(name string) map[string]bool { return setOfWords(strings.Join(lists[name], "\n")) }

// setOfWords are words, to be looked up.
func setOfWords(text string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		out[word] = true
	}
	return out
}

// patterns are names and patterns of names, to be matched fast.
type patterns struct {
	names map[string]bool
	globs []glob
}

// glob is a pattern, and what a name that fits begins with, has in it and ends with.
type glob struct{ all, begin, has, end string }

func patternsOf(name string) patterns {
	out := patterns{names: map[string]bool{}}
	for _, word := range lists[name] {
		first, last := strings.IndexAny(word, "*?"), strings.LastIndexAny(word, "*?")
		if first < 0 {
			out.names[word] = true
			continue
		}
		parts := strings.FieldsFunc(word, func(c rune) bool { return c == '*' || c == '?' })
		has := slices.MaxFunc(parts, func(a, b string) int { return len(a) - len(b) })
		out.globs = append(out.globs, glob{word, word[:first], has, word[last+1:]})
	}
	return out
}

func (p *patterns) match(name string) bool {
	for i := range p.globs {
		g := &p.globs[i]
		if strings.HasPrefix(name, g.begin) && strings.HasSuffix(name, g.end) && strings.Contains(name, g.has) {
			if found, _ := path.Match(g.all, name); found {
				return true
			}
		}
	}
	return p.names[name]
}
