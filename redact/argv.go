package redact

import (
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/command"
)

// program is the one whose arguments an object holds:
// {"command": "docker", "args": ["login", "-p", "x"]}.
type program struct {
	object int // where the object begins
	name   string
}

const (
	maxArguments = 256
	maxArgv      = 16 << 10 // bytes
)

// programName writes the name of a program, and remembers it.
func (p *pass) programName(g *program) {
	raw := p.in.value()
	g.name = p.in.says(raw)
	p.showAs(raw, g.name, nil)
}

// argList finds what only the whole of the next array tells of its strings; g is
// the program they are given to, or nil.
func (p *pass) argList(g *program) argList {
	list := argList{named: g != nil}
	if p.seek.d == nil {
		return list
	}
	args := stringsOf(p.in)
	switch {
	case g != nil && g.name != "":
		list.known = p.asCommand(g.name, args)
	case g != nil && p.in.depth <= maxPairDepth:
		list.known = p.asCommand(p.programAhead(g.object), args)
	default:
		list.known = p.asCommand("", args)
	}
	list.named = list.named || len(args) > 0 && usagesOf(baseName(args[0])) != nil
	return list
}

// stringsOf returns the strings that the array to come begins with.
func stringsOf(in scan) (out []string) {
	in.enter()
	for size := 0; in.kind() == jsontext.KindString && len(out) < maxArguments && size < maxArgv; {
		raw := in.value()
		out = append(out, text(raw))
		size += len(raw)
	}
	return out
}

// programAhead looks for a program's name that comes after its arguments.
func (p *pass) programAhead(object int) string {
	in := scan{text: p.in.text, at: object}
	in.enter()
	for in.kind() == jsontext.KindString {
		name := text(in.value())
		found := roles[squash(name)]&ofProgram != 0 && in.kind() == jsontext.KindString
		if raw := in.value(); found {
			return text(raw)
		}
	}
	return ""
}

// asCommand reads the arguments as a shell would be given them, and returns the
// secrets found that way, by argument.
func (p *pass) asCommand(program string, args []string) [][]span {
	if len(args) == 0 || len(args) == 1 && program == "" || !isCommand(program, args) {
		return nil
	}
	line, starts := asLine(baseName(program), args)
	spans, ok := p.seek.finder.find(line)
	if !ok {
		return nil // the same will be said of the arguments themselves
	}
	return split(spans, args, starts)
}

// asLine writes a program's arguments as a command, and says where each of them begins.
func asLine(program string, args []string) (text string, starts []int) {
	var line strings.Builder
	line.WriteString(program)
	for _, s := range args {
		if line.Len() > 0 {
			line.WriteByte(' ')
		}
		q := command.QuoteFor(s)
		starts = append(starts, line.Len()+len(q))
		line.WriteString(q + s + q)
	}
	return line.String(), starts
}

// isCommand reports whether strings may be the arguments of a program.
func isCommand(program string, args []string) bool {
	return program != "" || slices.ContainsFunc(args, func(s string) bool {
		return strings.HasPrefix(s, "-") || usagesOf(baseName(s)) != nil || s == "setx" || s == "setenv" || s == "config"
	})
}

// split returns the parts of the spans that lie in each of the arguments.
func split(spans []span, args []string, starts []int) [][]span {
	out := make([][]span, len(args))
	for i, s := range args {
		for len(spans) > 0 && spans[0].end <= starts[i] {
			spans = spans[1:]
		}
		for k := 0; k < len(spans) && spans[k].start < starts[i]+len(s); k++ {
			out[i] = append(out[i], span{max(0, spans[k].start-starts[i]), min(len(s), spans[k].end-starts[i]), spans[k].kind})
		}
	}
	return out
}

// baseName is the name of a program without its path, as either system has it.
func baseName(program string) string {
	if program == "" {
		return ""
	}
	return path.Base(strings.ReplaceAll(program, `\`, "/"))
}
