package intent

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	mostAnswer = 4_096 // bytes
	mostReason = 200   // characters that are kept
)

// Parse reads an answer: "allow", or "block" with at most one line of reason
// after it. Case and white space around it do not count. Anything else is no
// answer.
func Parse(text string) Opinion {
	if len(text) > mostAnswer || !utf8.ValidString(text) {
		return unclear()
	}
	text = strings.TrimSpace(text)
	if strings.EqualFold(text, "allow") {
		return Opinion{Verdict: Allow}
	}
	const word = "block"
	if len(text) < len(word) || !strings.EqualFold(text[:len(word)], word) {
		return unclear()
	}
	reason, ok := reasonIn(text[len(word):])
	if !ok {
		return unclear()
	}
	return Opinion{Verdict: Block, Reason: reason}
}

func unclear() Opinion { return Opinion{Reason: reasonUnclear} }

// reasonIn is what follows "block": nothing, or a mark and one line.
func reasonIn(rest string) (reason string, ok bool) {
	if rest == "" {
		return "", true
	}
	first, _ := utf8.DecodeRuneInString(rest)
	if !strings.ContainsRune(": -–—.,\n\r\t", first) {
		return "", false
	}
	reason = strings.TrimSpace(strings.TrimLeft(rest, ": -–—.,\n\r\t"))
	if strings.ContainsFunc(reason, hidden) {
		return "", false
	}
	if r := []rune(reason); len(r) > mostReason {
		reason = string(r[:mostReason-1]) + "…"
	}
	return reason, true
}

// hidden is what one line of plain words does not hold.
func hidden(r rune) bool { return r != ' ' && !unicode.IsPrint(r) || r == utf8.RuneError }
