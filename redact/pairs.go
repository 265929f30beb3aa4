package redact

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// role is what a name says of its value and of the members beside it; 0: nothing.
type role uint8

const (
	ofProgram   role = 1 << iota // the value names a program
	ofArguments                  // an array holds the arguments of the program beside it
	ofName                       // the value names the one beside it
	ofValue                      // the value is what such a name is for
)

// roles are by squashed name.
var roles = map[string]role{
	"command": ofProgram | ofArguments, "cmd": ofProgram | ofArguments,
	"program": ofProgram, "executable": ofProgram, "file": ofProgram, "bin": ofProgram, "binary": ofProgram, "exe": ofProgram,
	"args": ofArguments, "argv": ofArguments, "arguments": ofArguments,
	"name": ofName, "key": ofName, "header": ofName, "field": ofName, "k": ofName, "id": ofName, "variable": ofName, "env": ofName,
	"value": ofValue, "val": ofValue, "v": ofValue, "values": ofValue,
}

// pair is what is known of an object that may be {"name": …, "value": …}.
type pair struct {
	kind       string // by the name: why the value is hidden
	named      bool
	start, end int    // where the value is in the output; end 0: not yet
	from, to   mark   // and in the findings
	path       string // of the value
	came       string // the value as it came
	program    program
}

// maxPairDepth bounds where a value that came before its name is taken back.
// Deeper, it is hidden whatever its name.
const maxPairDepth = 32

// pairMember writes the value of a member that its own name does not hide.
func (p *pass) pairMember(r role, pair *pair) {
	switch {
	case r == 0:
		p.value()
	case r&ofProgram != 0 && p.in.kind() == jsontext.KindString:
		p.programName(&pair.program)
	case r&ofArguments != 0 && p.in.kind() == jsontext.KindBeginArray:
		p.array(&pair.program)
	case r&ofName != 0 && p.in.kind() == jsontext.KindString:
		p.pairName(pair)
	case r&ofValue == 0 || pair.end > 0:
		p.value()
	case pair.kind != "":
		p.hide(pair.kind, p.in.value())
	case !pair.named && p.in.depth > maxPairDepth:
		p.hide(SecretField, p.in.value())
	case pair.named:
		p.value()
	default:
		p.pairValue(pair)
	}
}

// pairValue writes a value whose name is still to come, and remembers it.
func (p *pass) pairValue(pair *pair) {
	p.in.kind()
	before := p.in.at
	pair.path, pair.start, pair.from = p.place(), len(p.out), p.result.mark()
	p.value()
	pair.end, pair.to = len(p.out), p.result.mark()
	pair.came = p.in.text[before:p.in.at]
}

// pairName writes a name, and takes a value back that it makes a secret.
func (p *pass) pairName(pair *pair) {
	raw := p.in.value()
	s := text(raw)
	p.show(raw)
	if pair.named && pair.kind != "" {
		return
	}
	pair.named = true
	pair.kind = p.redactor.kind("", s, jsontext.KindString)
	if pair.kind != "" && pair.end > 0 {
		p.takeBack(pair)
	}
}

// takeBack hides a value that is already written.
func (p *pass) takeBack(pair *pair) {
	rest := slices.Clone(p.out[pair.end:])
	later := p.result.cut(pair.from, pair.to)
	here := p.path
	p.out, p.path = p.out[:pair.start], []byte(pair.path)
	p.hide(pair.kind, pair.came)
	p.out, p.path = append(p.out, rest...), here
	for _, f := range later {
		p.result.add(f)
	}
	pair.end = 0
}

// argList is what is known of an array that may be a command or a header.
type argList struct {
	n      int
	known  [][]span // by element: the secrets that only the whole tells
	named  bool     // it holds the arguments of a program, or the program too
	secret string   // why the next element is hidden
}

// element writes the next element of an array.
func (p *pass) element(a *argList) {
	switch {
	case a.secret != "":
		p.hide(a.secret, p.in.value())
		a.secret = ""
	case p.in.kind() != jsontext.KindString:
		p.value()
	default:
		raw := p.in.value()
		p.argument(a, raw, text(raw))
	}
	a.n++
}

// argument writes a string that may be a flag, a name or an argument.
func (p *pass) argument(a *argList, raw, s string) {
	var known []span
	if a.n < len(a.known) {
		known = a.known[a.n]
	}
	p.showAs(raw, s, known)
	name := strings.TrimLeft(s, "-")
	if !isName64(name) || p.redactor.kind("", name, jsontext.KindString) != SecretField {
		return
	}
	if len(name) < len(s) || a.n == 0 && !a.named || headerNames[squash(name)] {
		a.secret = SecretField
	}
}

// headerNames are recognised among the words of a command wherever they are.
var headerNames = map[string]bool{"authorization": true, "proxyauthorization": true, "cookie": true, "setcookie": true, "xapikey": true, "xauthtoken": true}

// isName64 is for what may be the name of a flag or a header.
func isName64(s string) bool {
	return s != "" && len(s) <= maxName && !slices.ContainsFunc([]byte(s), func(c byte) bool { return !isName(c) })
}
