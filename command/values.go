package command

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxValues = 16   // texts that a word may become; more are unknown
	maxPath   = 1024 // bytes of a path; a longer one is unknown
)

// variables are what a command sets, and what words may become with that.
type variables struct {
	set     map[string][]*syntax.Word     // to what; nil is what we don't know
	holds   map[string][]string           // what these may be
	outputs map[*syntax.CmdSubst][]string // the names of files that substitutions become
}

// values are the texts that a word may become, as far as the command itself tells: with the variables that it sets, and with
// patterns as they are. See [unknown] and [listed].
func (vars *variables) values(parts []syntax.WordPart) []string {
	out := []string{""}
	for _, p := range parts {
		if out = product(out, vars.partValues(p)); len(out[0]) > maxPath {
			return []string{unknown}
		}
	}
	if !slices.ContainsFunc(out, func(v string) bool { return strings.Contains(v, "{") }) {
		return out
	}
	var all []string
	for _, v := range out {
		all = append(all, braces(v)...)
	}
	if len(all) > maxValues {
		return []string{unknown}
	}
	return all
}

func product(left, right []string) []string {
	if len(left)*len(right) > maxValues {
		return []string{unknown}
	}
	out := make([]string, 0, len(left)*len(right))
	for _, l := range left {
		for _, r := range right {
			out = append(out, l+r)
		}
	}
	return out
}

func (vars *variables) partValues(p syntax.WordPart) []string {
	switch p := p.(type) {
	case *syntax.Lit:
		return []string{unescaped(p.Value)}
	case *syntax.SglQuoted:
		if p.Dollar && strings.Contains(p.Value, `\`) {
			return unquoted(p.Value)
		}
		return []string{p.Value}
	case *syntax.DblQuoted:
		return vars.values(p.Parts)
	case *syntax.ParamExp:
		return vars.paramValues(p)
	case *syntax.CmdSubst:
		if names := vars.outputs[p]; names != nil {
			return names
		}
		return []string{unknown}
	case *syntax.ArithmExp:
		return []string{"0"}
	case *syntax.ProcSubst:
		return []string{"/dev/fd/0"}
	case *syntax.ExtGlob:
		return []string{"*"}
	default:
		return []string{unknown}
	}
}

// unquoted is what $'…' may be. Some shells know other escapes than bash, or none.
func unquoted(s string) []string {
	if text, err := strconv.Unquote(`"` + quotesInGo.Replace(s) + `"`); err == nil {
		return []string{unknown, text}
	}
	return []string{unknown}
}

var quotesInGo = strings.NewReplacer(`\\`, `\\`, `\'`, `'`, `"`, `\"`)

// unescaped is a literal without its backslashes.
func unescaped(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// usualVariables are what is known without the environment.
var usualVariables = map[string]string{
	"HOME": "~", "PWD": ".", "TMPDIR": "/tmp", "USER": "*", "LOGNAME": "*", "?": "0", "$": "0", "#": "0", "!": "0", "RANDOM": "0", "SECONDS": "0", "LINENO": "0",
}

func (vars *variables) paramValues(p *syntax.ParamExp) []string {
	if p.Length {
		return []string{"0"}
	}
	if p.Param == nil || p.Excl || p.Exp != nil || p.Slice != nil || p.Repl != nil {
		return []string{unknown}
	}
	name := p.Param.Value
	if !vars.sets(name) {
		if usual, ok := usualVariables[name]; ok {
			return []string{usual}
		}
		return []string{unknown}
	}
	held := vars.held(name)
	if vars.sets("IFS") || slices.ContainsFunc(held, func(v string) bool { return strings.ContainsAny(v, " \t\n") }) { // without quotes it is several words
		return []string{unknown}
	}
	return held
}

// held are the values that a variable may have, which is worked out once. One that holds itself is unknown.
func (vars *variables) held(name string) []string {
	if out, known := vars.holds[name]; known {
		return out
	}
	if vars.holds == nil {
		vars.holds = map[string][]string{}
	}
	out := []string{unknown}
	vars.holds[name] = out
	if len(vars.set[name]) > maxValues || slices.Contains(vars.set[name], nil) {
		return out
	}
	var all []string
	for _, w := range vars.set[name] {
		for _, v := range vars.values(w.Parts) {
			all = once(all, v)
		}
	}
	if len(all) <= maxValues {
		vars.holds[name] = all
	}
	return vars.holds[name]
}

// literals are the words that a command begins with, as far as they are plain.
func literals(words []*syntax.Word) (out []string) {
	for _, w := range words {
		text := w.Lit()
		if text == "" {
			break
		}
		out = append(out, text)
	}
	return out
}

// collect notes the variables that a text sets, wherever it does, so that the order does not matter, and whether it changes
// the directory. In a loop or a function the order of the text is not that of what happens: then we don't know where it is.
func (r *reader) collect(file *syntax.File) {
	r.holds = nil
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			r.assigned(n)
		case *syntax.WordIter:
			r.iterated(n)
		case *syntax.CallExpr:
			r.moved = r.moved || changesDirectory(n)
			if len(n.Args) > 1 && setters[n.Args[0].Lit()] {
				for _, w := range literals(n.Args[1:]) {
					r.noteSet(w, nil)
				}
			}
		case *syntax.WhileClause, *syntax.ForClause, *syntax.FuncDecl:
			_, declares := n.(*syntax.FuncDecl)
			r.declares = r.declares || declares
			if holdsCd(n) {
				r.at = unknown
			}
		case *syntax.Word:
			return n.Lit() == "" // in a literal there is nothing more
		}
		return true
	})
}

// iterated notes what a loop sets its variable to.
func (vars *variables) iterated(n *syntax.WordIter) {
	for _, w := range n.Items {
		vars.noteSet(n.Name.Value, w)
	}
	if len(n.Items) == 0 {
		vars.noteSet(n.Name.Value, nil)
	}
}

// noteSet notes that a variable is set to a word, or to what we don't know.
func (vars *variables) noteSet(name string, to *syntax.Word) {
	if vars.set == nil {
		vars.set = map[string][]*syntax.Word{}
	}
	vars.set[name] = append(vars.set[name], to)
}

// assigned notes what NAME=value sets.
func (vars *variables) assigned(n *syntax.Assign) {
	switch {
	case n.Name == nil || n.Naked:
	case n.Append || n.Index != nil:
		vars.noteSet(n.Name.Value, nil)
	case n.Array != nil:
		for _, e := range n.Array.Elems {
			vars.noteSet(n.Name.Value, e.Value)
		}
	case n.Value == nil: // it is empty
		vars.noteSet(n.Name.Value, &syntax.Word{})
	default:
		vars.noteSet(n.Name.Value, n.Value)
	}
}

// setters are commands that set the variables that they name.
var setters = set("read mapfile readarray getopts printf")

func (vars *variables) sets(name string) bool { return len(vars.set[name]) > 0 }

// braces are the words that a{b,c} becomes. What it can't tell is unknown.
func braces(s string) []string {
	out := []string{s}
	for i := 0; i < len(out); i++ {
		for {
			before, options, after, ok := brace(out[i])
			if !ok {
				break
			}
			if len(out)+len(options) > maxValues {
				return []string{unknown}
			}
			for _, o := range options[1:] {
				out = append(out, before+o+after)
			}
			out[i] = before + options[0] + after
		}
	}
	return out
}

// brace finds the first innermost list in braces.
func brace(s string) (before string, options []string, after string, ok bool) {
	open := -1
	for i := range len(s) {
		switch {
		case s[i] == '{':
			open = i
		case s[i] == '}' && open >= 0:
			switch inside := s[open+1 : i]; {
			case strings.Contains(inside, ","):
				return s[:open], strings.Split(inside, ","), s[i+1:], true
			case strings.Contains(inside, ".."): // a sequence
				return s[:open], []string{"*"}, s[i+1:], true
			}
			open = -1
		}
	}
	return "", nil, "", false
}
