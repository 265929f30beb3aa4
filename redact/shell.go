package redact

import (
	"strings"

	"github.com/openclaw-verifier/verifier/command"
)

// byShell looks at the commands in the text as a shell reads them: quotes, escapes, substitutions and groups
// would else keep a program from its arguments.
func (f *finder) byShell() {
	if !strings.ContainsAny(f.s, "'\"`\\|<$({") {
		return // it has nothing that a shell reads in another way
	}
	plain, from := command.Plain(maskSpaces(f.s), func(word string) bool { return usagesOf(word) != nil })
	plain = strings.ReplaceAll(plain, maskSpace, " ")
	if plain == "" || strings.TrimSpace(plain) == strings.TrimSpace(f.s) || !f.spend(len(f.s)/8) {
		return
	}
	for _, s := range f.within(plain) {
		a, b := len(f.s), 0
		for _, i := range from[s.start:s.end] {
			if i >= 0 {
				a, b = min(a, i), max(b, i+1)
			}
		}
		f.add(s.kind, a, b)
	}
}

// maskSpace is what a space in a mask becomes, so that the mask is one word.
const maskSpace = "\x01"

func maskSpaces(s string) string {
	out := []byte(s)
	for i, end := 0, 0; i < len(s); i++ {
		end = max(end, i+maskLength(s[i:]))
		if i < end && s[i] == ' ' {
			out[i] = maskSpace[0]
		}
	}
	return string(out)
}
