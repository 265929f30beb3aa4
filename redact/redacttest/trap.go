package redacttest

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// forms are all the ways to write a secret down that are looked for. Case does not matter but in base64: a secret in
// capitals is the secret.
func forms(secret string) (anyCase, exact map[string]string) {
	every := func(format string) (out string) {
		for i := range len(secret) {
			out += fmt.Sprintf(format, secret[i])
		}
		return strings.TrimSpace(out)
	}
	backwards := []byte(secret)
	slices.Reverse(backwards)
	query := url.QueryEscape(secret)
	anyCase = map[string]string{
		"plain": secret, "backwards": string(backwards), "percent": query, "percent in a path": url.PathEscape(secret),
		"percent twice": url.QueryEscape(query), "percent, every character": every("%%%02x"),
		"JSON":   strings.Trim(quote(secret), `"`),
		"quoted": strings.Trim(strconv.Quote(secret), `"`), "JSON, every character": every(`\u%04x`),
		"Go":   every(`\x%02x`),
		"HTML": html.EscapeString(secret), "HTML, every character": every("&#%d;"),
		"hex":        hex.EncodeToString([]byte(secret)),
		"hex, apart": every("%02x "), "bytes": every("%d "),
	}
	exact = map[string]string{}
	for shift := range 3 { // the letters that depend on the secret alone, wherever it is in what was encoded
		letters := base64.RawStdEncoding.EncodeToString([]byte("\x00\x00"[:shift] +
			secret))[(shift*8+5)/6 : (shift+len(secret))*8/6]
		exact[fmt.Sprint("base64 ", shift)] = letters
		exact[fmt.Sprint("base64 of a URL ", shift)] = strings.NewReplacer("+", "-", "/", "_").Replace(letters)
	}
	return anyCase, exact
}

// Leaks says in which form the secret is in the output, or "".
func Leaks(output, secret string) string {
	trap := Trap{}
	trap.Plant("", secret)
	return strings.Join(trap.Scan(map[string]string{"": output}), "\n")
}

// Trap knows what was planted where, and finds it in what came out, in any form.
type Trap struct{ planted []planting }

type planting struct {
	what, secret string
	allowed      []string
}

const (
	shortest = 8  // characters that a secret must have: a shorter one would be found by chance
	alone    = 12 // a shorter text may be found by chance in the middle of a hash
)

// Plant remembers a secret by what it is. It may stand in the outputs that are named, as a code may on the owner's
// screen.
func (t *Trap) Plant(what, secret string, allowed ...string) {
	if len(secret) < shortest {
		panic("redacttest: " + what + " is too short to be looked for")
	}
	t.planted = append(t.planted, planting{what, secret, allowed})
}

// Planted is how many there are: a test that planted nothing finds nothing.
func (t *Trap) Planted() int { return len(t.planted) }

// written is a form of a planted secret.
type written struct {
	text, form string
	*planting
}

// Scan looks for all that was planted in each of the outputs, by name, and says where what came out. It takes time by
// the length of the outputs, and hardly by the number of secrets.
func (t *Trap) Scan(outputs map[string]string) (leaks []string) {
	anyCase, exact := map[string][]written{}, map[string][]written{} // by their first characters
	for i := range t.planted {
		p := &t.planted[i]
		fold, same := forms(p.secret)
		for form, text := range fold {
			text = folded(text)
			anyCase[text[:shortest]] = append(anyCase[text[:shortest]], written{text, form, p})
		}
		for form, text := range same {
			exact[text[:shortest]] = append(exact[text[:shortest]], written{text, form, p})
		}
	}
	seen := map[string]bool{}
	for name, output := range outputs {
		for _, text := range []string{output, unwrapped(output)} {
			find(exact, name, text, seen, &leaks)
			find(anyCase, name, folded(text), seen, &leaks)
		}
	}
	return leaks
}

// find looks through a text. The race detector leaves out what looks at each byte: strings do not change.
//
//go:norace
func find(all map[string][]written, name, text string, seen map[string]bool, leaks *[]string) {
	inWord := func(i int) bool { return i >= 0 && i < len(text) && strings.IndexByte(alnum, text[i]) >= 0 }
	for i := 0; i+shortest <= len(text); i++ {
		for _, w := range all[text[i:i+shortest]] {
			end, key := i+len(w.text), w.what+"\x00"+name
			if strings.HasPrefix(text[i:], w.text) && (len(w.text) >= alone || !inWord(i-1) && !inWord(end)) &&
				!slices.Contains(w.allowed, name) && !seen[key] {
				seen[key] = true
				near := strings.ToValidUTF8(text[max(0, i-60):min(len(text), end+60)], "?")
				*leaks = append(*leaks, fmt.Sprintf("%s stands in the %s (%s): …%s…", w.what, name, w.form, near))
			}
		}
	}
}

// folded folds ASCII alone.
//
//go:norace
func folded(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

// unwrapped joins lines: base64 and PEM are cut into lines, and so is what a terminal shows, behind an indent or a bar.
func unwrapped(s string) string {
	var out strings.Builder
	for line := range strings.SplitSeq(strings.NewReplacer("\r", "\n", `\n`, "\n", `\r`, "\n").Replace(s), "\n") {
		out.WriteString(strings.TrimLeft(line, " \t|>│"))
	}
	return out.String()
}
