// Package lineage tells where an argument of a tool call came from: said by the
// user, returned by a tool some calls ago, or seen nowhere.
//
// It compares tokens, such as addresses, links, paths, ids and long numbers, by keyed
// hashes. docs/spec/lineage.md is the specification, and the plugin for OpenClaw has
// the same in JavaScript, so that a tool's output never has to leave the agent's
// runtime. The package is pure: it keeps nothing and reads no clock.
//
// It decides nothing. What it says is evidence for the person who is asked: a page can
// spell an address so that nothing matches, so "seen nowhere" is never a reason to trust.
package lineage

import (
	"crypto/hmac"
	"crypto/sha256"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/openclaw-verifier/verifier/internal/protocol"
)

// Limits of one text.
const (
	MaxChars  = 65536 // code points that are looked at
	MaxTokens = protocol.MaxFingerprints
)

const (
	printSize  = protocol.FingerprintSize
	leastToken = 6 // characters
)

// Key is what fingerprints are made under. It is derived from a client's secret, so
// that the plugin and the gateway have the same.
type Key [sha256.Size]byte

// NewKey derives the key of a secret.
func NewKey(secret []byte) Key {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("verifier-lineage-v1"))
	return Key(mac.Sum(nil))
}

type fingerprint [printSize]byte

func (k Key) of(token string) fingerprint {
	sum := sha256.Sum256(append(k[:], token...))
	return fingerprint(sum[:printSize])
}

// Fingerprints are those of a text's tokens, one after the other.
type Fingerprints = protocol.Fingerprints

// Extract returns the fingerprints of the first different tokens of a text.
func (k Key) Extract(text string) (prints Fingerprints) {
	folded, _, _ := fold(text, MaxChars)
	seen := map[string]bool{}
	for token := range chunks(folded) {
		if !isToken(token) || seen[token] {
			continue
		}
		if len(seen) == MaxTokens {
			break
		}
		seen[token] = true
		one := k.of(token)
		prints = append(prints, one[:]...)
	}
	return prints
}

// marks may be inside a token, and are cut off at its ends.
const marks = "@._/~+-"

// chunks yields what is between separators, short words among it.
func chunks(folded string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for chunk := range strings.FieldsFuncSeq(folded, isSeparator) {
			if chunk = strings.Trim(chunk, marks); chunk != "" && !yield(chunk) {
				return
			}
		}
	}
}

func isToken(chunk string) bool {
	return len(chunk) >= leastToken && strings.ContainsAny(chunk, "0123456789@./_-")
}

// What separates chunks in a folded text: what a list and a sentence have between
// words, and anything else.
const (
	space = ' '
	other = '|'
)

func isSeparator(c rune) bool { return c == space || c == other }

// fold brings so many code points of a text into the one form in which texts are
// compared. It returns how many there were, and whether there are more.
func fold(text string, most int) (folded string, chars int, cut bool) {
	for i := range text {
		if chars == most {
			text, cut = text[:i], true
			break
		}
		chars++
	}
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		c, used := unescaped(text)
		text = text[used:]
		if 0xff01 <= c && c <= 0xff5e { // wide forms
			c -= 0xfee0
		}
		switch {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || strings.ContainsRune(marks, c):
			out = utf8.AppendRune(out, c)
		case 'A' <= c && c <= 'Z':
			out = utf8.AppendRune(out, c+'a'-'A')
		case c == '\\':
			out = append(out, '/')
		case 0x2010 <= c && c <= 0x2015 || c == 0x2212: // dashes
			out = append(out, '-')
		case c <= ' ' || strings.ContainsRune(`,;:"'!?`, c):
			out = append(out, space)
		case isInvisible(c):
		default:
			out = append(out, other)
		}
	}
	return string(out), chars, cut
}

// unescaped reads one character, or an escape of JSON: tools return JSON as text.
func unescaped(text string) (c rune, used int) {
	if text[0] != '\\' || len(text) < 2 {
		return utf8.DecodeRuneInString(text)
	}
	switch text[1] {
	case 'n', 'r', 't':
		return ' ', 2
	case '"', '/', '\\':
		return rune(text[1]), 2
	case 'u':
		if n, err := strconv.ParseUint(text[2:min(len(text), 6)], 16, 16); err == nil && len(text) >= 6 {
			return rune(n), 6
		}
	}
	return '\\', 1
}

// isInvisible is given by number, not by a version of Unicode, so that every
// implementation agrees forever.
func isInvisible(c rune) bool {
	return c == 0xad || c == 0x34f || c == 0x61c || c == 0x180e || c == 0xfeff ||
		0x200b <= c && c <= 0x200f || 0x202a <= c && c <= 0x202e || 0x2060 <= c && c <= 0x2069 ||
		0xfe00 <= c && c <= 0xfe0f || 0xe0000 <= c && c <= 0xe007f
}
