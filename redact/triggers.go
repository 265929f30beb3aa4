package redact

// trigger is a word, and the look that is taken where it stands.
type trigger struct {
	word string
	look func(f *finder, start, end int)
}

// triggers is the table of our own shapes.
func triggers() []trigger {
	out := []trigger{
		{"://", (*finder).url}, {"@tcp(", (*finder).dsn}, {"@unix(", (*finder).dsn},
		{"bearer ", (*finder).bearer}, {"basic ", (*finder).basic},
		{"-----begin", (*finder).pem}, {"eyj", (*finder).jwt}, {":aa", (*finder).telegram},
	}
	for _, w := range []string{"pass", "pwd", "secret", "token", "key", "credential", "bearer", "jwt", "cookie", "authorization", "auth"} {
		out = append(out, trigger{w, (*finder).name})
	}
	for _, q := range queryNames {
		out = append(out, trigger{q + "=", (*finder).query})
	}
	for _, p := range prefixes {
		out = append(out, trigger{p.text, p.look})
	}
	for name := range commands {
		out = append(out, trigger{name, (*finder).command})
	}
	return out
}

// The kinds of what our own shapes find.
const (
	assignedKind = "secret value"
	headerKind   = "authorization"
	urlKind      = "password in a URL"
	queryKind    = "token in a URL"
	flagKind     = "secret argument"
	pemKind      = "PEM block"
	tokenKind    = "token"
)
