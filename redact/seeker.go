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
}

func newSeeker(r *Redactor) *seeker {
	d := r.making.ready.Load()
	k := &seeker{d: d, work: maxWork}
	k.finder = finder{d: d, patterns: r.patterns, work: &k.work}
	return k
}

// text returns s as it may be shown, and whether anything was hidden. Some
// secrets in it are known. It tells found what is hidden.
func (k *seeker) text(s string, known []span, found func(kind string, length int)) (string, bool) {
	if s == "" {
		return s, false
	}
	if isRedacted(s) {
		found(AlreadyRedacted, utf8.RuneCountInString(s))
	}
	if k.d == nil {
		return k.all(s, NotReady, found)
	}
	spans, ok := k.finder.find(s)
	if !ok {
		return k.all(s, TooMuch, found)
	}
	if len(known) > 0 {
		spans = merge(append(spans, known...))
	}
	if len(spans) == 0 {
		return s, false
	}
	return replace(s, spans, found), true
}

// name says why the name of a member is hidden, or "". Hidden names get a mask
// of their own, so a name that looks like one gives way.
func (k *seeker) name(s string) (kind string) {
	switch {
	case strings.HasPrefix(s, maskStart):
		return SecretField
	case k.d == nil && !isPlain(s):
		return NotReady
	case k.d == nil || len(s) < 6:
		return ""
	}
	if _, hidden := k.text(s, nil, func(why string, _ int) { kind = why }); !hidden {
		return ""
	}
	return kind
}

// isPlain is for names that are too short, and too plain, to be a secret.
func isPlain(s string) bool {
	return len(s) <= 16 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}

// all hides the whole of s.
func (k *seeker) all(s, kind string, found func(string, int)) (string, bool) {
	if isMask(s) {
		return s, false
	}
	n := utf8.RuneCountInString(s)
	found(kind, n)
	return mask(n), true
}

func replace(s string, spans []span, found func(string, int)) string {
	var out strings.Builder
	from := 0
	for _, p := range spans {
		n := utf8.RuneCountInString(s[p.start:p.end])
		found(p.kind, n)
		out.WriteString(s[from:p.start])
		out.WriteString(mask(n))
		from = p.end
	}
	out.WriteString(s[from:])
	return out.String()
}

func mask(n int) string { return maskStart + strconv.Itoa(n) + maskEnd }
