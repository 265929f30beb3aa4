package redact

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// head is how the matches of an expression begin.
type head struct {
	expr     *syntax.Regexp // without the optional things in front
	boundary bool           // it begins with \b
	literals []string       // every match begins with one of them, in some case; nil: can't be told
}

// headOf drops what a match may begin with but need not. What is left of each
// match is a match of what is left of the expression, and captures the same.
func headOf(expr string) (head, error) {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return head{}, err
	}
	re = behead(re)
	h := head{expr: re, boundary: startsWithBoundary(re)}
	if all := (&literals{}).extend(re, []literal{{}}); all != nil {
		for _, l := range all {
			h.literals = append(h.literals, strings.ToLower(l.text))
		}
	}
	return h, nil
}

func behead(re *syntax.Regexp) *syntax.Regexp {
	if re.Op != syntax.OpConcat {
		return re
	}
	for len(re.Sub) > 1 && optional(re.Sub[0]) {
		re.Sub = re.Sub[1:]
	}
	re.Sub[0] = behead(re.Sub[0])
	return re
}

func optional(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpStar, syntax.OpQuest:
	case syntax.OpRepeat:
		if re.Min > 0 {
			return false
		}
	default:
		return false
	}
	return re.MaxCap() == 0
}

func startsWithBoundary(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpWordBoundary:
		return true
	case syntax.OpConcat, syntax.OpCapture:
		return startsWithBoundary(re.Sub[0])
	default:
		return false
	}
}

// literal is a text that a match may begin with.
type literal struct {
	text string
	done bool // what follows is not a literal
}

// literals lists them, within reason.
type literals struct{ gaveUp bool }

const (
	maxLiterals      = 64
	maxLiteralLength = 24
	maxClass         = 4
)

// extend appends what re begins with to each of the texts so far; nil if there
// are too many ways.
func (l *literals) extend(re *syntax.Regexp, so []literal) []literal {
	if !slices.ContainsFunc(so, func(s literal) bool { return !s.done }) {
		return so
	}
	var out []literal
	switch re.Op {
	case syntax.OpWordBoundary, syntax.OpEmptyMatch:
		return so
	case syntax.OpCapture:
		return l.extend(re.Sub[0], so)
	case syntax.OpLiteral:
		return l.each(so, []string{string(re.Rune)})
	case syntax.OpCharClass:
		return l.each(so, members(re))
	case syntax.OpConcat:
		out = so
		for _, sub := range re.Sub {
			out = l.extend(sub, out)
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			out = append(out, l.extend(sub, slices.Clone(so))...)
		}
	case syntax.OpQuest:
		out = append(slices.Clone(so), l.extend(re.Sub[0], slices.Clone(so))...)
	default:
		return l.each(so, nil)
	}
	if l.gaveUp = l.gaveUp || len(out) > maxLiterals; l.gaveUp {
		return nil
	}
	return out
}

// each extends every text by every one of these; by none of them, it ends.
func (l *literals) each(so []literal, by []string) []literal {
	var out []literal
	for _, s := range so {
		if s.done || len(by) == 0 || len(s.text) > maxLiteralLength {
			out = append(out, literal{s.text, true})
			continue
		}
		for _, b := range by {
			out = append(out, literal{text: s.text + b})
		}
	}
	if l.gaveUp = l.gaveUp || len(out) > maxLiterals; l.gaveUp {
		return nil
	}
	return out
}

// members lists a small class, and nothing of a large one.
func members(re *syntax.Regexp) []string {
	var out []string
	for i := 0; i+1 < len(re.Rune); i += 2 {
		for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
			if out = append(out, string(r)); len(out) > maxClass {
				return nil
			}
		}
	}
	return out
}

// coveredBy reports whether each way to begin begins with one of the words, so
// that to look where the words are is to look everywhere.
func (h head) coveredBy(words []string) bool {
	if len(h.literals) == 0 {
		return false
	}
	for _, l := range h.literals {
		if !slices.ContainsFunc(words, func(w string) bool { return w != "" && strings.HasPrefix(l, w) }) {
			return false
		}
	}
	return true
}
