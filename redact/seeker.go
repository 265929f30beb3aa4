package redact

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// seeker hides the secrets in the texts of one call.
type seeker struct {
	d      *detector // nil: not ready, hide all
	finder finder
	work   int
	why    lastKind // of a name
}

// begin makes it ready for a call.
func (k *seeker) begin(r *Redactor) {
	k.d, k.work = r.making.ready.Load(), maxWork
	k.finder.d, k.finder.patterns, k.finder.known, k.finder.work = k.d, r.patterns, r.known, &k.work
}

// listener hears what is hidden: why, and how long it was.
type listener interface {
	found(kind string, length int)
}

// lastKind remembers why something was hidden.
type lastKind string

func (l *lastKind) found(kind string, _ int) { *l = lastKind(kind) }

// text returns s as it may be shown, and whether anything was hidden. Some
// secrets in it are known. It tells the listener what is hidden.
func (k *seeker) text(s string, known []span, to listener) (string, bool) {
	if s == "" {
		return s, false
	}
	if k.d == nil {
		k.already(s, to)
		return k.all(s, NotReady, to)
	}
	spans, ok := k.finder.find(s)
	if k.finder.marks&telling != 0 {
		k.already(s, to)
	}
	if !ok {
		return k.all(s, TooMuch, to)
	}
	if len(known) > 0 {
		spans = merge(append(spans, known...))
	}
	if len(spans) == 0 {
		return s, false
	}
	return replace(s, spans, to), true
}

// already tells the listener of what the client has hidden in s.
func (k *seeker) already(s string, to listener) {
	if isRedacted(s) {
		to.found(AlreadyRedacted, utf8.RuneCountInString(s))
	}
}

// minds reports whether even a number may be a secret: to the owner, or as long
// as nothing is known.
func (k *seeker) minds() bool {
	return k.d == nil || len(k.finder.patterns) > 0 || k.finder.known.number
}

// name says why the name of a member is hidden, or "". Hidden names get a mask
// of their own, so a name that looks like one gives way.
func (k *seeker) name(s string) string {
	switch {
	case strings.HasPrefix(s, maskStart):
		return SecretField
	case k.d == nil && !isPlain(s):
		return NotReady
	case k.d == nil || len(s) < 6 && len(k.finder.patterns) == 0:
		return ""
	}
	if _, hidden := k.text(s, nil, &k.why); !hidden {
		return ""
	}
	return string(k.why)
}

// isPlain is for names that are too short, and too plain, to be a secret.
func isPlain(s string) bool {
	return len(s) <= 16 && !strings.ContainsFunc(s, func(c rune) bool { return c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') })
}

// all hides the whole of s.
func (k *seeker) all(s, kind string, to listener) (string, bool) {
	if isMask(s) {
		return s, false
	}
	n := utf8.RuneCountInString(s)
	to.found(kind, n)
	return mask(n), true
}

func replace(s string, spans []span, to listener) string {
	var out strings.Builder
	from := 0
	for _, p := range spans {
		n := utf8.RuneCountInString(s[p.start:p.end])
		to.found(p.kind, n)
		out.WriteString(s[from:p.start])
		out.WriteString(mask(n))
		from = p.end
	}
	out.WriteString(s[from:])
	return out.String()
}

func mask(n int) string { return maskStart + strconv.Itoa(n) + maskEnd }
