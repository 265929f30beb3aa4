package command

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first used. There are more than a hundred, a command meets few of them, and every call of a hook starts a
// process.
type pattern struct {
	expr     string
	once     sync.Once
	compiled *regexp.Regexp
}

// patterns are all of them. A test compiles each.
var patterns []*pattern

// match returns the pattern of an expression, and is called only for variables of the package.
func match(expr string) *pattern {
	p := &pattern{expr: expr}
	patterns = append(patterns, p)
	return p
}

// MatchString is that of [regexp.Regexp].
func (p *pattern) MatchString(text string) bool { return p.regexp().MatchString(text) }

func (p *pattern) regexp() *regexp.Regexp {
	p.once.Do(func() { p.compiled = regexp.MustCompile(p.expr) })
	return p.compiled
}
