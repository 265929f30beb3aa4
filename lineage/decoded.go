package lineage

import (
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is decoded of one call.
const (
	shortestEncoded = 12        // letters; less holds nothing to compare
	shortestDecoded = 8         // bytes
	mostRead        = 256 << 10 // bytes
)

// Decoded is what texts hold in base64, in hex or percent-encoded, a piece each, whatever is written around it. It undoes one encoding;
// what was encoded twice stays as it is. It looks at a bounded part of the texts, and reports whether there is more than can be
// compared.
func Decoded(texts []string) (out []string, more bool) {
	d := decoder{left: MaxChars}
	read := mostRead
	for _, text := range texts {
		d.more = d.more || len(text) > read
		text = text[:min(len(text), read)]
		read -= len(text)
		if plain, found := unpercent(text); found {
			d.add([]byte(plain))
		}
		d.hex(text)
		d.base64(text)
		if joined := wraps.Replace(text); joined != text { // as base64 is wrapped
			d.base64(joined)
		}
	}
	return d.out, d.more
}

var wraps = strings.NewReplacer("\n", "", "\r", "")

// decoder collects what was decoded.
type decoder struct {
	out  []string
	left int // how much more can be compared
	more bool
}

// add adds the texts among bytes: what is around them may be none.
func (d *decoder) add(plain []byte) {
	for len(plain) > 0 {
		n := 0
		for n < len(plain) {
			r, size := utf8.DecodeRune(plain[n:])
			if r == utf8.RuneError && size == 1 || !unicode.IsPrint(r) && r != '\n' && r != '\t' && r != '\r' {
				break
			}
			n += size
		}
		if n >= shortestDecoded {
			d.keep(string(plain[:n]))
		}
		plain = plain[min(n+1, len(plain)):]
	}
}

func (d *decoder) keep(text string) {
	if len(text) > d.left || len(d.out) == MaxArguments {
		d.more = true
		return
	}
	d.left -= len(text)
	d.out = append(d.out, text)
}

// hex reads pairs of digits, one after the other or with something between them: 5365, 53:65, 0x53, \x53. A digit before them may not belong to them.
func (d *decoder) hex(text string) {
	for _, found := range hexPairs.FindAllString(text, -1) {
		digits := hexSigns.ReplaceAllString(found, "")
		for _, from := range []int{0, 1} {
			end := len(digits) - (len(digits)-from)%2
			if plain, err := hex.DecodeString(digits[from:end]); err == nil {
				d.add(plain)
			}
		}
	}
}

var (
	hexPairs = regexp.MustCompile(`(?:(?:0x|\\x|\\u00)?[0-9A-Fa-f]{2}[ \t\r\n,:;_.-]{0,2}){6,}[0-9A-Fa-f]?`)
	hexSigns = regexp.MustCompile(`0x|\\x|\\u00|[^0-9A-Fa-f]`)
)

// base64 reads words of its letters, from each of four places: letters before the first may not belong to it.
func (d *decoder) base64(text string) {
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return !strings.ContainsRune(encodedLetters, c) }) {
		word = ofAddresses.Replace(word)
		for from := 0; from < 4 && len(word)-from >= shortestEncoded; from++ {
			w := word[from:]
			if len(w)%4 == 1 {
				w = w[:len(w)-1]
			}
			if plain, err := base64.RawStdEncoding.DecodeString(w); err == nil {
				d.add(plain)
			}
		}
	}
}

const encodedLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"

var ofAddresses = strings.NewReplacer("-", "+", "_", "/")

// unpercent undoes percent-encoding as far as there is any: a percent sign alone stays.
func unpercent(text string) (plain string, found bool) {
	if !strings.Contains(text, "%") {
		return text, false
	}
	plain = percented.ReplaceAllStringFunc(strings.ReplaceAll(text, "+", " "), func(s string) string {
		b, _ := hex.DecodeString(s[1:]) // two digits
		found = true
		return string(b)
	})
	return plain, found
}

var percented = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
