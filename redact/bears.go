package redact

import (
	"slices"
	"strings"
)

// Bears reports whether a text holds something that only secrets look like: a token of a known form, a private key, a
// password in an address, a secret of the verifier or of the owner's patterns. What is given to a name such as password does
// not count for that alone: code and manuals are full of it. A text that can't be searched counts.
func (r *Redactor) Bears(text string) bool {
	apart := strings.Join(strings.FieldsFunc(text, func(c rune) bool { return c <= ' ' || strings.ContainsRune("=:\"'`,;", c) }), "\n\n") // without the names
	return r.bears(text) || r.bears(apart)
}

func (r *Redactor) bears(text string) bool {
	_, found := r.Secrets().Text(text)
	return len(found) == maxFindings || slices.ContainsFunc(found, func(f Finding) bool {
		return !namedKinds[f.Kind] && (f.Kind != pemKind || strings.Contains(text, "PRIVATE KEY"))
	})
}

// namedKinds are found by a name beside them.
var namedKinds = map[string]bool{
	assignedKind: true, headerKind: true, queryKind: true, flagKind: true, "generic-api-key": true, AlreadyRedacted: true,
}
