package policy

import (
	"bytes"
	"strconv"
)

// maxDecode is how often percent-encoding is undone: browsers do it once,
// careless servers twice.
const maxDecode = 2

// readings calls yield with each way in which the text could be understood,
// the plain one first, until yield returns true.
// Every reading is in lower case with its paths cleaned. Only what carries
// commands is also read as a shell would: elsewhere quotes are part of the text.
func (t *text) readings(commands bool, yield func(reading []byte) bool) bool {
	if yield(t.path(t.lower)) || commands && t.spoken(t.lower, t.bare, yield) {
		return true
	}
	b := t.lower
	for range maxDecode {
		decoded, changed := unpercent(b)
		if !changed {
			return false
		}
		b = foldWide(decoded)
		if yield(t.path(b)) || commands && t.spoken(b, stripped(b), yield) {
			return true
		}
	}
	return false
}

// spoken are the readings of a text as a shell's words, if they differ, and as
// the inside of an escaped literal.
func (t *text) spoken(b, bare []byte, yield func([]byte) bool) bool {
	if len(bare) > 0 && yield(cleaned(bare)) {
		return true
	}
	if t.marks&hasEscape == 0 {
		return false
	}
	plain, changed := unescaped(b)
	return changed && yield(cleaned(stripped(plain)))
}

// path reads backslashes as a path's separators.
func (t *text) path(b []byte) []byte {
	if t.marks&(hasSlash|hasPercent) == 0 {
		return b
	}
	if bytes.IndexByte(b, '\\') >= 0 {
		b = bytes.ReplaceAll(b, []byte{'\\'}, []byte{'/'})
	}
	return cleaned(b)
}

// stripped is b without what a shell drops: quotes, backslashes, carets, a
// line's continuation, and expansions that are empty in practice.
func stripped(b []byte) []byte {
	to := make([]byte, 0, len(b))
	for len(b) > 0 {
		n := untouched(b)
		to, b = append(to, b[:n]...), b[n:]
		if len(b) > 0 {
			kept, n := dropped(b)
			to, b = append(to, kept...), b[n:]
		}
	}
	return to
}

// untouched counts the bytes before the first that a shell may drop.
func untouched(b []byte) int {
	for i, c := range b {
		if byteMarks[c]&(hasQuote|hasDollar) != 0 {
			return i
		}
	}
	return len(b)
}

// dropped says how much a shell drops at the start of b, which has one of its
// characters there, and what it puts in its place.
func dropped(b []byte) (instead string, n int) {
	switch {
	case b[0] == '\\' && len(b) > 1 && b[1] == '\n':
		return "", 2
	case b[0] != '$':
		return "", 1
	case len(b) > 1 && (b[1] == '@' || b[1] == '*' || b[1] == '\'' || b[1] == '"'):
		return "", 2
	case bytes.HasPrefix(b, []byte("$ifs")):
		return " ", len("$ifs")
	case bytes.HasPrefix(b, []byte("${ifs}")):
		return " ", len("${ifs}")
	default:
		return "$", 1
	}
}

// cleaned drops doubled slashes and "." and resolves ".." in every path of the
// text. It returns b itself where there is nothing to do.
func cleaned(b []byte) []byte {
	if !untidy(b) {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		dots := 0
		if b[i] == '/' {
			dots = dotsAfter(b[i+1:])
		}
		switch {
		case dots == 2:
			out = parent(out)
		case dots == 1, b[i] == '/' && i+1 < len(b) && b[i+1] == '/':
		default:
			out = append(out, b[i])
		}
		i += 1 + dots
	}
	return out
}

// untidy reports whether a slash or a dot follows a slash.
func untidy(b []byte) bool {
	for {
		_, after, found := bytes.Cut(b, []byte{'/'})
		if !found || len(after) == 0 {
			return false
		}
		if after[0] == '/' || after[0] == '.' {
			return true
		}
		b = after
	}
}

// dotsAfter is 1 or 2 where b starts with a whole component "." or "..".
func dotsAfter(b []byte) int {
	n := 0
	for n < len(b) && n < 3 && b[n] == '.' {
		n++
	}
	if n > 2 || n < len(b) && inName(b[n]) {
		return 0
	}
	return n
}

// maxComponent is longer than file systems take; without a bound, a text made
// of ".." would be read again for each.
const maxComponent = 512

// parent drops the last component of the path that out ends in. A component
// may hold spaces, but not the end of one of the call's strings.
func parent(out []byte) []byte {
	start := max(0, len(out)-maxComponent)
	last := out[start:]
	if i := bytes.LastIndexByte(last, '/'); i >= 0 && !bytes.ContainsAny(last[i:], "\x00\n'\"") {
		return out[:start+i]
	}
	i := len(out)
	for i > 0 && inName(out[i-1]) {
		i--
	}
	return out[:i]
}

// inName reports whether c can stand in the name of a file as people write
// them: not a separator, not a quote, not a space.
func inName(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == '.' || c == '+' || c == '~' || c == '@' || c >= 0x80
}

// unpercent undoes percent-encoding once.
func unpercent(b []byte) ([]byte, bool) {
	at := encodedAt(b)
	if at < 0 {
		return b, false
	}
	out := make([]byte, 0, len(b))
	for ; at >= 0; at = encodedAt(b) {
		v, _ := strconv.ParseUint(string(b[at+1:at+3]), 16, 8)
		out, b = append(append(out, b[:at]...), lowerBytes[byte(v)]), b[at+3:]
	}
	return append(out, b...), true
}

// encodedAt is where a percent sign and two digits are, or -1.
func encodedAt(b []byte) int {
	for i := 0; i+2 < len(b); i++ {
		next := bytes.IndexByte(b[i:len(b)-2], '%')
		if next < 0 {
			return -1
		}
		if i += next; isHex(b[i+1]) && isHex(b[i+2]) {
			return i
		}
	}
	return -1
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }

// unescaped undoes \x41, \u0041 and \101 as shells and printf do.
func unescaped(b []byte) ([]byte, bool) {
	out, changed := make([]byte, 0, len(b)), false
	for i := 0; i < len(b); i++ {
		if b[i] == '\\' {
			if v, n := numbered(b[i+1:]); n > 0 {
				out, changed = append(out, lowerBytes[v]), true
				i += n
				continue
			}
		}
		out = append(out, b[i])
	}
	return out, changed
}

// numbered reads what follows a backslash and how long it is.
func numbered(b []byte) (byte, int) {
	for _, form := range [...]struct{ skip, digits, base int }{{1, 2, 16}, {1, 4, 16}, {0, 3, 8}, {1, 3, 8}} {
		end := form.skip + form.digits
		if len(b) < end || form.skip == 1 && !escapeLetter(b[0], form.digits, form.base) {
			continue
		}
		if v, err := strconv.ParseUint(string(b[form.skip:end]), form.base, 8); err == nil {
			return byte(v), end
		}
	}
	return 0, 0
}

func escapeLetter(c byte, digits, base int) bool {
	switch {
	case base == 8:
		return c == '0'
	case digits == 4:
		return c == 'u'
	default:
		return c == 'x'
	}
}

// starts reports whether a word in b begins with prefix.
func starts(b, prefix []byte) bool {
	for at := 0; ; {
		i := bytes.Index(b[at:], prefix)
		if i < 0 {
			return false
		}
		if at += i; at == 0 || !extends(b[at-1]) {
			return true
		}
		at++
	}
}
