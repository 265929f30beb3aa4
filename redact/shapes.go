package redact

import (
	"encoding/base64"
	"regexp"
	"strings"
)

const (
	maxName = 64 // how far a name is followed to either side
	maxGap  = 8  // spaces around an operator
)

// nameWords are what names of secrets end in, or have in them.
const nameWords = `pass pwd pw secret token key credential bearer jwt cookie authorization auth psk otp pin
	mnemonic phrase creds pswd kennwort wachtwoord senha contrasena motdepasse`

// name looks at a word that may be, or end, the name of a secret: DB_PASSWORD=x, "apiKey": "x", --token x.
func (f *finder) name(start, end int) {
	if f.sure || start < f.named || f.hides(start) {
		return
	}
	for n := 0; start > 0 && n < maxName && isName(f.s[start-1]); n++ {
		start--
	}
	for n := 0; end < len(f.s) && n < maxName && isName(f.s[end]); n++ {
		end++
	}
	for f.s[end-1] == '.' || f.s[end-1] == '-' {
		end-- // the end of a sentence
	}
	f.named = end
	i, op := given(f.s, start, end)
	if op == 0 || start > 0 && end < i && i < len(f.s) && isQuote(f.s[i]) && f.s[i] == f.s[start-1] &&
		f.s[end] != f.s[i] {
		return // nothing is given, or the quote closes that the name is in
	}
	name := strings.TrimLeft(f.s[start:end], "-.")
	if squashed := squash(name); namesSecret(name, squashed, false) || mayTell(squashed) {
		if op == '=' && start > 0 && strings.IndexByte("?&#", f.s[start-1]) >= 0 {
			op = '?'
		}
		f.assigned(squashed, i, op)
	}
}

// given returns where the value begins that is given to a name, and by what: =, :, a flag's space, or 0.
func given(s string, start, end int) (int, byte) {
	i := skip(s, end, "\\\"'`])", 4) // a bracket or a quote may follow a name, as in env["TOKEN"]
	at := skip(s, i, " \t", maxGap)
	switch rest := s[at:]; {
	case rest == "", strings.HasPrefix(rest, "::"), strings.HasPrefix(rest, "://"):
	case len(rest) > 1 && (rest[1] == '=' && strings.IndexByte(":+?", rest[0]) >= 0 || rest[:2] == "=>"):
		return skip(s, at+2, " \t", maxGap), '='
	case rest[0] == '=':
		return skip(s, at+1, " \t=", maxGap), '='
	case rest[0] == ':':
		return skip(s, at+1, " \t", maxGap), ':'
	case at > i && i == end && s[start] == '-' && strings.IndexByte("-<>|&;", rest[0]) < 0:
		return at, ' '
	default:
		return pairedAt(s, i)
	}
	return 0, 0
}

// pairedAt is for a name that is a value itself and ends at i: "name": "TOKEN", "value": "x", and the same in YAML.
func pairedAt(s string, i int) (int, byte) {
	const value = "value"
	at := skip(s, i, ", \t\r\n\"'\\", maxName)
	if !strings.ContainsAny(s[i:at], ",\n") || !hasFold(s[at:], value) {
		return 0, 0
	}
	at = skip(s, at+len(value), "\"'\\ \t", maxGap)
	if at == len(s) || s[at] != ':' {
		return 0, 0
	}
	return skip(s, at+1, " \t", maxGap), ':'
}

// skip passes at most n of the characters.
func skip(s string, i int, chars string, n int) int {
	for ; n > 0 && i < len(s) && strings.IndexByte(chars, s[i]) >= 0; n-- {
		i++
	}
	return i
}

// assigned hides the value at i.
func (f *finder) assigned(name string, i int, op byte) {
	a, b := value(f.s, i, op)
	f.spend(b - i)
	switch v := f.s[a:b]; {
	case name == "nopasswd": // of sudoers
	case strings.HasSuffix(name, "authorization"), strings.EqualFold(v, "bearer"), strings.EqualFold(v,
		"basic"): // by a rule
	case strings.HasSuffix(strings.TrimSuffix(name, "s"), "cookie") && (op == ':' || !strings.Contains(v,
		"=")): // or a file
	case strings.HasSuffix(name, "pwd") && v != "" && strings.IndexByte("/~.", v[0]) >= 0: // PWD=/home/bob
	case isToken(name) && strings.Trim(v, digits+"_.,kK") == "": // a number of tokens
	case strings.HasSuffix(name, "auth") && !isLogin(v), codes[name] && !isCode(v):
	case name == "secret" && op == ' ' && strings.HasPrefix(v, "id="): // where docker finds it
	case name == "mnemonic" || strings.HasSuffix(name, "phrase") && op == ':': // several words
		f.hide(assignedKind, a, i+len(line.FindString(f.s[i:])))
	case op == ' ':
		f.hide(flagKind, a, b)
	default:
		f.hide(assignedKind, a, b)
	}
}

var line = regexp.MustCompile(`^[^"'\n]*`)

// isLogin is for bob:x, and for the same in base64, as in the files of docker and npm.
func isLogin(v string) bool {
	if plain, ok := decoded(v); ok {
		v = plain
	}
	user, password, ok := strings.Cut(v, ":")
	return ok && user != "" && password != "" && !strings.ContainsAny(v, "/ {")
}

// decoded is what base64 reads, with its padding or without.
func decoded(v string) (string, bool) {
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(v, "="))
	return string(plain), err == nil
}

// values are how a value is written, by what it was given by: in quotes, or up to what ends a word. A mask is one word.
var values = func() map[byte]*regexp.Regexp {
	all := map[byte]*regexp.Regexp{}
	for op, bare := range map[byte]string{
		'=': `(?:[^\s"'` + "`" + `;&|\\]|[&|][^\s&|"']|\\[^"'])`, // as in a shell or a connection string
		':': `(?:[^\s"'` + "`" + `\\]|\\[^"'])`,
		'?': `[^\s"'` + "`" + `;&#<>\\]`, // in the query of a URL
	} {
		const mask = `\[REDACTED: \d+ chars\]|`
		all[op] = regexp.MustCompile(`^(?:('[^']*'(?:\\''[^']*')+)|\\"((?:[^"\\]|\\[^"])*)|"((?:[^"\\]|\\(?s:.))*)"|` +
			"'([^']*)'|`([^`]*)`" + `|["'` + "`" + `]([^\n]*)|((?:` + mask + bare + `)+))`)
	}
	all[' '] = all['=']
	return all
}()

// maxValue bounds how far a value is followed: a longer one is hidden up to the next space behind.
const maxValue = 4096

// value returns where the value at i begins and ends, without its quotes.
func value(s string, i int, op byte) (start, end int) {
	for end = i; end < len(s) && (isName(s[end]) || s[end] == '/'); {
		end++
	}
	if end > i && (end == len(s) || isSpace(s[end])) { // as most are
		return i, end
	}
	m := values[op].FindStringSubmatchIndex(s[i:min(len(s), i+maxValue)])
	if m == nil {
		return i, i
	}
	for g := 2; g < len(m); g += 2 {
		if m[g] >= 0 {
			start, end = i+m[g], i+m[g+1]
		}
	}
	if end-i >= maxValue-2 {
		for end < len(s) && !isSpace(s[end]) {
			end++
		}
	}
	for start == i && end > i+1 && closes(s[i:end]) && maskLength(s[i:]) != end-i {
		end--
	}
	return start, end
}

// closes reports whether v ends in a comma, or in a bracket it did not open.
func closes(v string) bool {
	n := strings.IndexByte(",)}]", v[len(v)-1])
	return n == 0 || n > 0 && strings.IndexByte(v, ",({["[n]) < 0
}

// hide hides a value, unless it says where a secret is, or that there is none.
func (f *finder) hide(kind string, start, end int) {
	if v := f.s[start:end]; v != "" && !reference.MatchString(v) {
		f.add(kind, start, end)
	}
}

// reference is what stands for a value that is elsewhere, such as $NAME, ${NAME}, $(command), %NAME% and {{ name }},
// and for none.
var reference = regexp.MustCompile(`^(?:\$(?:env:)?(?:[A-Z_0-9]+|[a-z_]+)|\$\{[^}-]*\}|\$\((?s:.*)|` +
	`%[A-Z_]+%|\{\{.*|(?:env|file|fd):.*|[|>]-?|[{\[(*-]|\.\.\.|` +
	`(?i:true|false|null|nil|none|undefined|string|str|int|number|bool|boolean|any|required|optional|stdin))$`)

// pem hides the inside of a PEM block, or all that follows where its end is missing. Surely secret is a private key.
func (f *finder) pem(_, end int) {
	const dashes = "-----"
	label := strings.Index(f.s[end:min(len(f.s), end+128)], dashes)
	if label < 0 || f.sure && !strings.Contains(f.s[end:end+label], "PRIVATE KEY") {
		return
	}
	start, stop := end+label+len(dashes), len(f.s)
	if n := strings.Index(f.s[start:], dashes); n >= 0 {
		stop = start + n
	}
	f.add(pemKind, start, stop)
}
