package lineage

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Bounds of what is decoded of one call.
const (
	shortestEncoded = 12       // letters; less holds nothing to compare
	mostEncoded     = 256      // words
	mostDecoded     = 64 << 10 // bytes, read and written
)

// Decoded is what texts hold in base64, in hex or percent-encoded, a piece each. It
// undoes one encoding; what was encoded twice stays as it is. It looks at a bounded
// part of the texts.
func Decoded(texts []string) (out []string) {
	left := mostDecoded
	for _, text := range texts {
		text = text[:min(len(text), left)]
		left -= len(text)
		if plain, err := url.QueryUnescape(text); err == nil && strings.Contains(text, "%") {
			out = append(out, plain)
		}
		joined := strings.NewReplacer("\n", "", "\r", "").Replace(text) // as base64 is wrapped
		out = appendEncoded(out, text)
		if joined != text {
			out = appendEncoded(out, joined)
		}
		if len(out) >= mostEncoded {
			return out[:mostEncoded]
		}
	}
	return out
}

func appendEncoded(out []string, text string) []string {
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return !strings.ContainsRune(encodedLetters, c) }) {
		if len(out) >= mostEncoded {
			break
		}
		for _, w := range []string{word, word[strings.LastIndexByte(word, '/')+1:]} { // in an address a slash is none of its letters
			if plain, ok := decode(w); ok {
				out = append(out, plain)
				break
			}
		}
	}
	return out
}

const encodedLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"

// decode reads a word in hex or in base64, if that makes a text.
func decode(word string) (string, bool) {
	if len(word) < shortestEncoded {
		return "", false
	}
	if plain, err := hex.DecodeString(word); err == nil && isText(plain) {
		return string(plain), true
	}
	word = strings.NewReplacer("-", "+", "_", "/").Replace(word)
	plain, err := base64.RawStdEncoding.DecodeString(word)
	return string(plain), err == nil && isText(plain)
}

// isText reports whether bytes are text that a person could read.
func isText(plain []byte) bool {
	if !utf8.Valid(plain) {
		return false
	}
	for _, c := range plain {
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
			return false
		}
	}
	return true
}
