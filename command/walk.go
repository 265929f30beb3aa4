package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// changesDirectory reports whether a command is a cd.
func changesDirectory(c *syntax.CallExpr) bool {
	return len(c.Args) > 0 && directoryChangers[c.Args[0].Lit()]
}

var directoryChangers = set("cd pushd popd")

// holdsCd reports whether there is a cd anywhere below a node.
func holdsCd(n syntax.Node) (found bool) {
	syntax.Walk(n, func(n syntax.Node) bool {
		c, ok := n.(*syntax.CallExpr)
		found = found || ok && changesDirectory(c)
		return !found
	})
	return found
}

// leadsBy reports whether a text is cd to a plain path and then, only if that worked, the rest: cd x && y. Of any other cd it is not sure where what follows runs:
// behind ||, in a pipe, in the background, in a wrapper.
func leadsBy(file *syntax.File) bool {
	if len(file.Stmts) != 1 {
		return false
	}
	s := file.Stmts[0]
	for !s.Background && !s.Negated && !s.Coprocess && len(s.Redirs) == 0 {
		switch c := s.Cmd.(type) {
		case *syntax.BinaryCmd:
			if c.Op != syntax.AndStmt {
				return false
			}
			s = c.X
		case *syntax.CallExpr:
			if s == file.Stmts[0] || len(c.Assigns) > 0 || len(c.Args) != 2 || c.Args[0].Lit() != "cd" {
				return false
			}
			to, ok := plainText(c.Args[1].Parts)
			return ok && !climbs(to)
		default:
			return false
		}
	}
	return false
}

// walk reads everything below a node of the syntax tree.
func (r *reader) walk(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			r.stmt(n)
			return false
		case *syntax.Assign:
			r.assign(n)
			return false
		case *syntax.CmdSubst:
			r.apart(n.Stmts...)
			r.keepOutput(n)
			return false
		case *syntax.ProcSubst:
			r.apart(n.Stmts...)
			for _, s := range n.Stmts {
				r.keepSaid(s)
			}
			return false
		case *syntax.ParamExp:
			r.param(n)
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
			r.arithmetic(n)
		case *syntax.BinaryTest:
			r.test(n)
		case *syntax.UnaryTest:
			if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar {
				r.unknown("[[")
			}
		case *syntax.WordIter:
			r.variable(n.Name.Value, nil)
		case *syntax.CoprocClause:
			if n.Name != nil {
				r.variable(n.Name.Lit(), nil)
			}
		case *syntax.ArrayElem:
			if n.Index != nil {
				r.arithmetic(n.Index)
			}
		case *syntax.ExtGlob:
			r.unknown("a pattern") // zsh runs commands in some
		}
		return true
	})
}

// test reads a comparison in [[ ]].
func (r *reader) test(n *syntax.BinaryTest) {
	if n.Op >= syntax.TsEql && n.Op <= syntax.TsGtr {
		r.arithmetic(n)
	}
	switch n.Op {
	case syntax.AndTest, syntax.OrTest, syntax.TsBefore, syntax.TsAfter:
		r.unknown("[[") // a shell without [[ runs or writes what follows
	default:
	}
}

// two reads two commands. In a pipe the second gets what the first prints.
func (r *reader) two(b *syntax.BinaryCmd) {
	if b.Op != syntax.Pipe && b.Op != syntax.PipeAll {
		r.stmt(b.X)
		r.stmt(b.Y)
		return
	}
	was := r.fed
	defer func() { r.fed = was }()
	if c, ok := b.Y.Cmd.(*syntax.CallExpr); ok && len(c.Args) > 0 && (c.Args[0].Lit() == "xargs" || slices.ContainsFunc(c.Args, func(w *syntax.Word) bool { return isNameOption(w.Lit()) })) {
		r.keepSaid(b.X)
	}
	r.apart(b.X)
	if r.fed = nil; b.Op == syntax.Pipe && alone(b.X) {
		r.fed = r.prints
	}
	r.apart(b.Y)
}

// keepOutput keeps the names that a substitution becomes. What echo says there may name a file, too.
func (r *reader) keepOutput(n *syntax.CmdSubst) {
	for _, s := range n.Stmts {
		r.keepSaid(s)
	}
	if len(n.Stmts) == 1 && alone(n.Stmts[0]) && r.prints != nil {
		if r.outputs == nil {
			r.outputs = map[*syntax.CmdSubst][]string{}
		}
		r.outputs[n] = r.prints
	}
}

// keepSaid keeps the words that echo says to another program, which may take them for files.
func (r *reader) keepSaid(s *syntax.Stmt) {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) < 2 || c.Args[0].Lit() != "echo" && c.Args[0].Lit() != "printf" {
		return
	}
	for _, w := range c.Args[1:] {
		a := r.arg(w)
		r.keep(a.text)
	}
}

// apart reads statements that a shell of their own runs: it keeps its directory to itself.
func (r *reader) apart(stmts ...*syntax.Stmt) {
	was := r.place
	defer func() { r.place = was }()
	for _, s := range stmts {
		r.stmt(s)
	}
}

// stmt reads a statement with its redirections.
func (r *reader) stmt(s *syntax.Stmt) {
	var doc *arg
	was, wasFed := r.fed, r.isFed
	defer func() { r.fed, r.isFed = was, wasFed }()
	for _, d := range s.Redirs {
		r.isFed = feeds(d, r.isFed)
		if d.Op == syntax.RdrIn || d.Op == syntax.RdrInOut || d.Op == syntax.DplIn || d.Op == syntax.WordHdoc || d.Hdoc != nil {
			r.fed = nil // what comes in is not what the pipe has
		}
		if a := r.redirect(d); a != nil {
			doc = a
		}
	}
	switch c := s.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		for _, a := range c.Assigns {
			r.assign(a)
		}
		if len(c.Args) > 0 {
			r.run(r.args(c.Args), doc)
		}
	case *syntax.BinaryCmd:
		r.two(c)
	case *syntax.Subshell:
		r.apart(c.Stmts...)
	case *syntax.DeclClause:
		r.declaration(c)
	default:
		r.walk(c)
	}
}

// feeds reports whether a file is the input after a redirection; one of something else leaves that as it was.
func feeds(d *syntax.Redirect, was bool) bool {
	if d.N != nil && d.N.Value != "0" {
		return was
	}
	switch d.Op {
	case syntax.RdrIn:
		name := d.Word.Lit()
		return name != "" && !strings.HasPrefix(name, "/dev/") && !strings.HasPrefix(name, "/proc/")
	case syntax.DplIn, syntax.RdrInOut:
		return false
	default:
		return was
	}
}

// redirect reads where a statement's input and output go. It returns the text of a here-document.
func (r *reader) redirect(d *syntax.Redirect) *arg {
	if d.N != nil && strings.HasPrefix(d.N.Value, "{") { // {name}> sets a variable
		r.variable(strings.Trim(d.N.Value, "{}"), nil)
	}
	if d.Hdoc != nil {
		doc := r.arg(d.Hdoc)
		text := raw(d.Hdoc)
		doc.escapes = strings.Contains(text, `\`) || int(d.Hdoc.End().Offset()-d.Hdoc.Pos().Offset()) != len(text)
		if quotes(d.Word) { // nothing in it expands
			doc = arg{text: raw(d.Hdoc), fixed: true}
		}
		return &doc
	}
	if d.Word == nil {
		return nil
	}
	to := r.arg(d.Word)
	if d.Op == syntax.WordHdoc {
		return &to
	}
	r.socket(to.text)
	r.expansions("", []arg{to})
	switch d.Op {
	case syntax.RdrIn, syntax.DplIn:
		if d.Op == syntax.RdrIn {
			r.reads(to, false, true)
		}
		if !to.fixed && d.Op == syntax.RdrIn && !isProcess(d.Word) {
			r.unknown("a redirection") // it may expand to /dev/tcp/…
		}
	case syntax.DplOut:
		if strings.Trim(to.text, "0123456789-") != "" || !to.fixed {
			r.write(to)
			r.over(to)
		}
	case syntax.RdrInOut:
		r.reads(to, false, true)
		r.write(to)
		r.over(to)
	default:
		r.write(to)
		r.over(to)
	}
	return nil
}

// isProcess reports whether a word is <(…) alone.
func isProcess(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	_, ok := w.Parts[0].(*syntax.ProcSubst)
	return ok
}

// quotes reports whether any part of a here-document's delimiter is quoted.
func quotes(w *syntax.Word) bool {
	for _, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); !ok || strings.Contains(l.Value, `\`) {
			return true
		}
	}
	return false
}

// raw is the text of literals as they are written.
func raw(w *syntax.Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			b.WriteString(l.Value)
		}
	}
	return b.String()
}

// assign reads a variable that is set, for a command or for the shell.
func (r *reader) assign(a *syntax.Assign) {
	var value *arg
	if a.Value != nil {
		v := r.arg(a.Value)
		value = &v
		r.says = append(r.says, v.text)
	}
	if a.Array != nil {
		r.walk(a.Array)
	}
	if a.Index != nil {
		r.arithmetic(a.Index)
		r.walk(a.Index)
	}
	if a.Name != nil {
		r.variable(a.Name.Value, value)
	}
}

// variable checks a variable by its name: some decide what programs do.
func (r *reader) variable(name string, value *arg) {
	r.leads(name, value)
	if steering.MatchString(name) {
		first(&r.Sends, name+"=")
	}
	if harmlessVariables[name] || isLocal(name) {
		return
	}
	if value != nil && value.fixed && harmlessValues[name+"="+value.text] {
		return
	}
	r.unknown(name + "=")
}

// isLocal reports whether a name is in lower case, which programs don't look at, but for a few.
func isLocal(name string) bool {
	return isName(name) && name == strings.ToLower(name) && !strings.HasSuffix(name, "_proxy") && !strings.HasPrefix(name, "npm_config_") && !obeyed[name]
}

// declaration reads export, declare and their like.
func (r *reader) declaration(d *syntax.DeclClause) {
	r.shows(d)
	for _, a := range d.Args {
		if a.Naked && a.Name == nil {
			if opt := r.arg(a.Value); !opt.fixed || strings.Trim(opt.text, "-grxp") != "" {
				r.unknown(d.Variant.Value)
			}
			continue
		}
		if a.Naked && a.Name != nil && d.Variant.Value != "nameref" && a.Index == nil {
			r.variable(a.Name.Value, &arg{})
			continue
		}
		r.assign(a)
		if a.Value != nil && d.Variant.Value != "export" && d.Variant.Value != "readonly" {
			// the text of a list runs where the variable is a list
			if v := r.arg(a.Value); strings.HasPrefix(v.text, "(") || strings.HasPrefix(v.text, "\x00") {
				r.unknown(d.Variant.Value)
			}
		}
	}
}

// shows notes the variables that declare -p and its like print.
func (r *reader) shows(d *syntax.DeclClause) {
	prints, names := len(d.Args) == 0, 0
	for _, a := range d.Args {
		if a.Naked && a.Name == nil && a.Value != nil {
			prints = prints || !strings.ContainsAny(raw(a.Value), "aAfFilnrtux") || strings.Contains(raw(a.Value), "p")
			continue
		}
		names++
	}
	for _, a := range d.Args {
		if prints && a.Naked && a.Name != nil {
			r.expands(a.Name.Value)
		}
	}
	r.Environment = r.Environment || names == 0
}

// param reads an expansion that may do more than give a value.
func (r *reader) param(p *syntax.ParamExp) {
	if p.Param != nil && !p.Length && isName(p.Param.Value) && usualVariables[p.Param.Value] == "" {
		r.expands(p.Param.Value)
	}
	if p.Excl {
		r.opaque("expands a variable twice")
	}
	if p.Exp != nil {
		switch p.Exp.Op {
		case syntax.OtherParamOps:
			r.opaque("expands a variable twice")
		case syntax.AssignUnset, syntax.AssignUnsetOrNull:
			if p.Param != nil {
				r.variable(p.Param.Value, nil)
			}
		default:
		}
	}
	if p.Index != nil {
		if w, ok := p.Index.(*syntax.Word); !ok || w.Lit() != "@" && w.Lit() != "*" {
			r.arithmetic(p.Index)
		}
	}
	if p.Slice != nil {
		for _, e := range []syntax.ArithmExpr{p.Slice.Offset, p.Slice.Length} {
			if e != nil {
				r.arithmetic(e)
			}
		}
	}
}

// arithmetic reads an expression. Bash runs the commands in the value of a variable that it names, and in
// quoted text: only numbers and operators are known.
func (r *reader) arithmetic(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil, *syntax.Word, *syntax.BinaryArithm, *syntax.UnaryArithm, *syntax.ParenArithm, *syntax.BinaryTest,
			*syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
		case *syntax.Lit:
			if strings.Trim(n.Value, "0123456789.-") != "" {
				r.unknown("arithmetic")
				r.scan(n.Value)
			}
		case *syntax.SglQuoted:
			r.unknown("arithmetic")
			r.scan(n.Value)
		default:
			r.unknown("arithmetic")
		}
		return true
	})
}
