package redact

import "strings"

// reference is a variable in the place of a secret.
type reference struct {
	name  string
	maybe bool // it may be a host or an address instead
}

// maxReferences bounds how many are followed in one text.
const maxReferences = 16

// variableName is the name in $NAME, ${NAME}, $env:NAME or %NAME%.
func variableName(v string) string {
	if !isVariable(v) {
		return ""
	}
	name := strings.Trim(v, "${}%")
	name = strings.TrimPrefix(name, "env:")
	if !plainName(name) {
		return ""
	}
	return name
}

// byReference hides what is given to variables that are used where secrets are:
// p=x; login -p $p. What it finds may refer to another one.
func (f *finder) byReference() {
	for i := 0; i < len(f.references); i++ {
		if !f.spend(1 + len(f.s)/8) {
			return
		}
		f.givenTo(f.references[i])
	}
}

// givenTo looks at all places where the variable is given something.
func (f *finder) givenTo(r reference) {
	for from := 0; ; {
		n := strings.Index(f.s[from:], r.name)
		if n < 0 {
			return
		}
		start := from + n
		from = start + len(r.name)
		if start > 0 && isName(f.s[start-1]) {
			continue
		}
		if i := assignment(f.s, from); i > 0 {
			f.given(r, start, i)
		}
	}
}

// assignment returns where the value starts if the name that ends at i is given
// one, else 0.
func assignment(s string, i int) int {
	spaced := skip(s, i, " \t", maxGap)
	rest := s[spaced:]
	switch {
	case strings.HasPrefix(rest, "=="):
		return 0
	case strings.HasPrefix(rest, "="):
		return skip(s, spaced+1, " \t", maxGap)
	case strings.HasPrefix(rest, "<<<"):
		return skip(s, spaced+3, " \t", maxGap)
	}
	return 0
}

func (f *finder) given(r reference, start, i int) {
	if !f.spend(64) {
		return
	}
	w := word{s: f.s, quote: quoteAt(f.s, start), equal: true}
	a, b := w.at(i)
	v := f.s[a:b]
	if f.harmless(w, a, v) || r.maybe && strings.ContainsAny(v, "./:@") {
		return
	}
	f.add(assignedKind, a, b)
}
