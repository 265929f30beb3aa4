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
func setOf(name string) map[string]bool { return setFrom(lists[name]) }

// setOfWords are words, to be looked up.
func setOfWords(text string) map[string]bool { return setFrom(strings.Fields(text)) }

func setFrom(words []string) map[string]bool {
	out := make(map[string]bool, len(words))
	for _, word := range words {
		out[word] = true
	}
	return out
}

// patterns are names and patterns of names, to be matched fast.
type patterns struct {
	names        map[string]bool
	begins, ends []string          // id_*, ?*.pem
	others       map[string]string // what has a star elsewhere, by the longest text that it has
}

func patternsOf(name string) patterns {
	out := patterns{names: map[string]bool{}, others: map[string]string{}}
	for _, word := range lists[name] {
		begin, isBegin := strings.CutSuffix(word, "*")
		end, isEnd := strings.CutPrefix(word, "?*")
		switch {
		case !strings.ContainsAny(word, "*?"):
			out.names[word] = true
		case isBegin && !strings.ContainsAny(begin, "*?"):
			out.begins = append(out.begins, begin)
		case isEnd && !strings.ContainsAny(end, "*?"):
			out.ends = append(out.ends, end)
		default:
			parts := strings.FieldsFunc(word, func(c rune) bool { return c == '*' || c == '?' })
			out.others[slices.MaxFunc(parts, func(a, b string) int { return len(a) - len(b) })] = word
		}
	}
	return out
}

func (p *patterns) match(name string) bool {
	for text, glob := range p.others {
		if strings.Contains(name, text) {
			if found, _ := path.Match(glob, name); found {
				return true
			}
		}
	}
	return p.names[name] ||
		slices.ContainsFunc(p.begins, func(begin string) bool { return strings.HasPrefix(name, begin) }) ||
		slices.ContainsFunc(
			p.ends,
			func(end string) bool { return len(name) > len(end) && strings.HasSuffix(name, end) },
		)
}
