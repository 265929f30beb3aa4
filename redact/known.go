package redact

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// known are secrets by their value, each in the forms that no other look undoes.
type known struct {
	texts  []string
	joined []string // the same without what joins parts
	number bool     // one of them is all digits, and may come as a number
}

// minKnown is the shortest secret that is looked for by its value, in bytes: a
// shorter one could be any word.
const minKnown = 8

func newKnown(secrets []string) (k known) {
	for _, s := range secrets {
		if len(s) < minKnown {
			continue
		}
		k.number = k.number || strings.Trim(s, "0123456789") == ""
		k.texts = append(k.texts, s, hex.EncodeToString([]byte(s)), strings.ToUpper(hex.EncodeToString([]byte(s))))
		if raw, err := hex.DecodeString(s); err == nil && len(raw) >= minKnown { // a key: its bytes are the secret
			k.texts = append(k.texts, strings.ToLower(s), strings.ToUpper(s), string(raw))
			for shift := range 3 {
				k.texts = append(k.texts, core(base64.StdEncoding, raw, shift), core(base64.URLEncoding, raw, shift))
			}
		}
	}
	slices.Sort(k.texts)
	k.texts = slices.Compact(k.texts)
	for _, s := range k.texts {
		if j, _ := joined(s); len(j) >= minJoined {
			k.joined = append(k.joined, j)
		}
	}
	return k
}

// core is what base64 makes of raw, shift bytes after the beginning of a group,
// without the letters that its neighbours have a part in. Other looks decode what
// is readable; the bytes of a key are not.
func core(e *base64.Encoding, raw []byte, shift int) string {
	letters := e.EncodeToString(append(make([]byte, shift), raw...))
	return letters[(8*shift+5)/6 : 8*(shift+len(raw))/6]
}

// byValue looks for what is known.
func (f *finder) byValue() {
	for _, secret := range f.known.texts {
		for at := 0; ; {
			i := strings.Index(f.s[at:], secret)
			if i < 0 {
				break
			}
			f.spans = append(f.spans, span{at + i, at + i + len(secret), OwnSecret})
			at += i + len(secret)
		}
	}
	f.byParts()
}

// minJoined is the shortest secret that is looked for in parts, in bytes.
const minJoined = 16

// byParts looks for what is known as it reads with its parts joined: ab""cd in a
// shell, ab cd in a dump, lines.
func (f *finder) byParts() {
	if len(f.known.joined) == 0 || len(f.s) < minJoined {
		return
	}
	s, from := joined(f.s)
	if len(s) == len(f.s) {
		return
	}
	for _, secret := range f.known.joined {
		for at := 0; ; {
			i := strings.Index(s[at:], secret)
			if i < 0 {
				break
			}
			at += i + len(secret)
			f.spans = append(f.spans, span{from[at-len(secret)], from[at-1] + 1, OwnSecret})
		}
	}
}

// joined leaves out what may be between the parts of a text, and says where each
// byte comes from.
func joined(s string) (string, []int) {
	out, from := make([]byte, 0, len(s)), make([]int, 0, len(s))
	for i := range len(s) {
		if c := s[i]; !isSpace(c) && !isQuote(c) && c != '-' && c != ':' && c != '\\' {
			out, from = append(out, c), append(from, i)
		}
	}
	return string(out), from
}
