package redact

import "strings"

// byEscape looks at the text as it reads with its escapes undone: %41, as in a
// URL, and \n, \u0041 or \101, as in a program, a shell or JSON. A secret found there is
// hidden where its characters come from.
func (f *finder) byEscape() {
	if f.marks&(telling|notPlain) == 0 {
		return
	}
	if strings.IndexByte(f.s, '%') >= 0 || f.marks&notPlain != 0 && (strings.Contains(f.s, kelvin) || strings.Contains(f.s, longS)) {
		f.undone(unescape(f.s, percent))
	}
	if strings.IndexByte(f.s, '\\') >= 0 {
		f.undone(unescape(f.s, backslash))
	}
}

// undone hides the secrets of the plain text where its characters come from.
func (f *finder) undone(plain string, from []int, changed bool) {
	if !changed {
		return
	}
	for _, s := range f.within(plain) {
		f.spans = append(f.spans, span{from[s.start], from[s.end], s.kind})
	}
}

// unescape undoes one kind of escape, and says where each byte comes from, and
// the end.
func unescape(s string, escape func(s string, i int) (byte, int)) (plain string, from []int, changed bool) {
	out := make([]byte, 0, len(s))
	from = make([]int, 0, len(s)+1)
	for i := 0; i < len(s); {
		c, n := escape(s, i)
		out, from = append(out, c), append(from, i)
		i, changed = i+n, changed || n > 1
	}
	return string(out), append(from, len(s)), changed
}

// The two letters beyond ASCII that count as k and s where case does not.
const (
	kelvin = "\u212a"
	longS  = "\u017f"
)

// percent returns the byte that s reads at i, and how many it is written with.
func percent(s string, i int) (byte, int) {
	switch c := s[i]; {
	case c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
		return unhex(s[i+1])<<4 | unhex(s[i+2]), 3
	case c == kelvin[0] && strings.HasPrefix(s[i:], kelvin):
		return 'K', len(kelvin)
	case c == longS[0] && strings.HasPrefix(s[i:], longS):
		return 's', len(longS)
	}
	return s[i], 1
}

// backslash is the same for \n and its kind.
func backslash(s string, i int) (byte, int) {
	if s[i] != '\\' || i+1 == len(s) {
		return s[i], 1
	}
	switch c := s[i+1]; {
	case c == 'n' || c == 'r' || c == 't':
		return map[byte]byte{'n': '\n', 'r': '\r', 't': '\t'}[c], 2
	case c == '"' || c == '\'' || c == '`' || c == '\\' || c == '/':
		return c, 2
	case c == 'x' && i+3 < len(s) && isHex(s[i+2]) && isHex(s[i+3]):
		return unhex(s[i+2])<<4 | unhex(s[i+3]), 4
	case isOctal(c):
		return octal(s, i+1)
	case strings.HasPrefix(s[i+1:], "u00") && i+5 < len(s) && isHex(s[i+4]) && isHex(s[i+5]):
		return unhex(s[i+4])<<4 | unhex(s[i+5]), 6
	}
	return s[i], 1
}

// octal reads the digits after a backslash: \101, and \0101 as printf %b has it.
func octal(s string, at int) (byte, int) {
	most := 3
	if s[at] == '0' {
		most = 4
	}
	value, n := 0, 0
	for n < most && at+n < len(s) && isOctal(s[at+n]) && value < 1<<5 {
		value, n = value<<3|int(s[at+n]-'0'), n+1
	}
	return byte(value), n + 1
}

func isOctal(c byte) bool { return '0' <= c && c <= '7' }

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func unhex(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

const (
	minBase64 = 16 // letters: shorter runs hold no secret worth the name
	minClear  = 8  // readable bytes in a row, decoded, for a closer look
)

// sextet is the value of a letter in either alphabet of base64, or 255.
var sextet = func() (t [256]uint8) {
	for i := range t {
		t[i] = 255
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	for i := range len(letters) {
		t[letters[i]] = uint8(i)
	}
	t['+'], t['-'], t['/'], t['_'] = 62, 62, 63, 63
	return t
}()

// byBase64 decodes the runs of its letters. The whole of a run that holds a
// secret is hidden: where in it a secret begins has no meaning to a reader.
func (f *finder) byBase64() {
	s := f.s
	for start, end := nextRun(s, 0); start < end; start, end = nextRun(s, end+1) {
		from := start + strings.LastIndexByte(s[start:end], '/') + 1 // of a path
		if token := discordEnd(s, from, end); token > 0 {
			f.spans = append(f.spans, span{from, token, tokenKind})
			end = token
			continue
		}
		end = f.run(start, end)
	}
}

// nextRun returns the next run of letters that is long enough, from i on. It looks
// where one that begins at i would still have to go on, and back from there: most
// texts are words, and most of their letters are passed over.
func nextRun(s string, i int) (start, end int) {
	for i+minBase64 <= len(s) {
		back := i + minBase64 - 1
		for back >= i && sextet[s[back]] != 255 {
			back--
		}
		if back >= i {
			i = back + 1
			continue
		}
		end = i + minBase64
		for end < len(s) && sextet[s[end]] != 255 {
			end++
		}
		return i, end
	}
	return 0, 0
}

// run decodes s[start:end], and the lines that go on with it, from each of the
// four places where a group of letters may begin. It returns where it ended.
func (f *finder) run(start, end int) int {
	letters, end := unwrap(f.s, start, end)
	wide := isWide(letters)
	if !wide && !mayRead(letters) {
		return end
	}
	for shift := range 4 {
		if f.failed {
			return end
		}
		texts := decoded(letters, shift)
		if wide {
			texts = append(texts, narrowed(letters, shift)...)
		}
		for _, plain := range texts {
			if found := f.within(plain); len(found) > 0 {
				for end < len(f.s) && f.s[end] == '=' {
					end++
				}
				f.spans = append(f.spans, span{start, end, found[0].kind})
				return end
			}
		}
	}
	return end
}

// unwrap joins the lines of base64 that was cut into lines, as base64(1) does.
func unwrap(s string, start, end int) (letters string, last int) {
	width := end - start
	if width < 60 || width%4 != 0 || nextLine(s, end) < 0 {
		return s[start:end], end
	}
	joined := []byte(s[start:end])
	for {
		from := nextLine(s, end)
		to := from
		for to >= 0 && to < len(s) && sextet[s[to]] != 255 {
			to++
		}
		if from < 0 || to == from || to-from > width {
			return string(joined), end
		}
		joined = append(joined, s[from:to]...)
		if end = to; to-from < width {
			return string(joined), end
		}
	}
}

// nextLine returns where the next line starts if this one ends at i, else -1.
func nextLine(s string, i int) int {
	switch {
	case strings.HasPrefix(s[i:], "\r\n"):
		return i + 2
	case strings.HasPrefix(s[i:], "\n"):
		return i + 1
	}
	return -1
}

// decoded returns the readable stretches of what letters[shift:] decode to. Most
// letters are no base64, and then nothing is made.
func decoded(letters string, shift int) []string {
	var out []string
	letters = letters[shift:]
	seen, at := 0, 0 // readable bytes in a row, up to the byte number at
	for i := 0; i < len(letters); i += 4 {
		if unclear[letters[i]] && i+4 <= len(letters) {
			// Not the first byte; the other two are taken as they are, for who
			// looks at them will see.
			out = stretch(out, letters, at-seen, at)
			seen, at = 2, at+3
			continue
		}
		bits, n := group(letters[i:])
		for j := range n {
			if isClear(byte(bits >> (16 - 8*j) & 0xff)) {
				seen++
			} else {
				out = stretch(out, letters, at-seen, at)
				seen = 0
			}
			at++
		}
	}
	return stretch(out, letters, at-seen, at)
}

// unclear are the letters that no group begins with whose first byte is
// readable.
var unclear = func() (t [256]bool) {
	for i := range t {
		t[i] = true
		for low := range byte(4) {
			if sextet[i] < 64 && isClear(sextet[i]<<2|low) {
				t[i] = false
			}
		}
	}
	return t
}()

// mayRead reports whether letters may decode to a stretch that is worth a look,
// from any place in them. In minClear bytes there are two whole groups, one behind
// the other: it looks for the first three letters of the one and of the other,
// all in one walk, in which bit n says that the last n+1 letters may be the first
// of them.
func mayRead(letters string) bool {
	so := uint8(0)
	for i := range len(letters) {
		so = (so<<1 | 1) & clearAt[letters[i]]
		if so&(1<<6) != 0 {
			return true
		}
	}
	return false
}

// clearAt says at which of the places 0 to 6 in two groups a letter may be if
// all their bytes are readable.
var clearAt = func() (t [256]uint8) {
	for c := range t {
		n := sextet[c]
		if !unclear[c] {
			t[c] |= 1<<0 | 1<<4
		}
		if high := n & 0xf; high == 0 || 2 <= high && high < 8 { // of the second byte
			t[c] |= 1<<1 | 1<<5
		}
		if n&3 < 2 { // the top of the third
			t[c] |= 1<<2 | 1<<6
		}
		t[c] |= 1 << 3
	}
	return t
}()

func isClear(b byte) bool { return b-0x20 < 0x7f-0x20 || b == '\n' || b == '\t' || b == '\r' }

// stretch appends the bytes from..to of what the letters stand for, if they are
// worth a look.
func stretch(out []string, letters string, from, to int) []string {
	if to-from < minClear {
		return out
	}
	text := make([]byte, 0, to-from+3)
	for i := from / 3 * 4; len(text) < to-from/3*3; i += 4 {
		bits, _ := group(letters[i:])
		text = append(text, byte(bits>>16&0xff), byte(bits>>8&0xff), byte(bits&0xff))
	}
	return append(out, string(text[from%3:to-from/3*3]))
}

// group decodes up to four letters into up to three bytes.
func group(letters string) (bits uint32, bytes int) {
	if len(letters) >= 4 {
		return uint32(sextet[letters[0]])<<18 | uint32(sextet[letters[1]])<<12 | uint32(sextet[letters[2]])<<6 | uint32(sextet[letters[3]]), 3
	}
	for i := range len(letters) {
		bits |= uint32(sextet[letters[i]]) << (18 - 6*i)
	}
	return bits, len(letters) * 6 / 8
}
