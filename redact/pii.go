package redact

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// piiKinds are the sorts of personal data that can be hidden, see [Config.PII].
// Each is found by a shape; narrow says which parts of a match are one, nil that
// all of it is.
var piiKinds = []struct {
	name, expr string
	narrow     func(match string) [][2]int
}{
	{"mail", `[\p{L}\p{N}.!#$%&'*+/=?^_{|}~-]+@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+[\p{L}]{2,}`, nil},
	{"phone", `(?:\+|\b00)[1-9](?:[ ().\-/]{0,2}[0-9]){6,14}\b|\(?\b[2-9][0-9]{2}\)?[ .-][0-9]{3}[ .-][0-9]{4}\b|\b0[1-9][0-9]{1,4}[ /-][0-9]{3,}(?:[ -][0-9]{2,})*\b`, phones},
	{"card", `\b[0-9](?:[ -]?[0-9]){12,}\b`, cards},
	{"iban", `(?i)\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,30}`, ibans},
}

// pii makes the patterns for the kinds that the owner wants hidden.
func (c Config) pii(faults Faults) (out []pattern, _ Faults) {
	var names []string
	for _, k := range piiKinds {
		names = append(names, k.name)
		if slices.Contains(c.PII, k.name) {
			out = append(out, pattern{name: "personal data: " + k.name, expr: regexp.MustCompile(k.expr), narrow: k.narrow})
		}
	}
	for i, name := range c.PII {
		if !slices.Contains(names, name) {
			faults = append(faults, &Fault{fmt.Sprintf("pii[%d]", i), fmt.Sprintf("there is no %q here: use %s", name, strings.Join(names, ", "))})
		}
	}
	return out, faults
}

// phones takes a match with as many digits as a number has. A date has fewer.
func phones(match string) [][2]int {
	digits := 0
	for _, c := range []byte(match) {
		if isDigit(c) {
			digits++
		}
	}
	if digits < 7 || digits > 15 {
		return nil
	}
	return [][2]int{{0, len(match)}}
}

// cards finds the numbers of payment cards in a run of digits in groups. A card
// begins and ends with a group: another number may be before it or behind it.
func cards(run string) (out [][2]int) {
	for start := 0; start < len(run); start++ {
		if start > 0 && isDigit(run[start-1]) || !isDigit(run[start]) {
			continue
		}
		if end := cardEnd(run[start:]); end > 0 {
			out = append(out, [2]int{start, start + end})
			start += end
		}
	}
	return out
}

// cardEnd is where the longest card number that run begins with ends; 0: there is
// none. Cards have 13 to 19 digits, the first of which is 2 to 6.
func cardEnd(run string) (end int) {
	if run[0] < '2' || run[0] > '6' {
		return 0
	}
	var digits []byte
	for i := 0; i < len(run) && len(digits) < 19; i++ {
		if !isDigit(run[i]) {
			continue
		}
		digits = append(digits, run[i]-'0')
		if last := i+1 == len(run) || !isDigit(run[i+1]); last && len(digits) >= 13 && luhn(digits) {
			end = i + 1
		}
	}
	return end
}

// luhn checks the last digit of a card's number.
func luhn(digits []byte) bool {
	sum := 0
	for i, d := range digits {
		n := int(d)
		if (len(digits)-i)%2 == 0 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return sum%10 == 0
}

// ibanLengths are how long the account numbers of a country are.
var ibanLengths = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28, "CH": 21, "CR": 22, "CY": 28, "CZ": 24,
	"DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28,
	"HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20,
	"LV": 21, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18, "NO": 15, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29,
	"RO": 24, "RS": 22, "SA": 24, "SC": 31, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22,
	"VG": 24, "XK": 20,
}

// ibans takes as much of a match as an account number of its country has, if the
// remainder by 97 is right. What follows may be a word.
func ibans(match string) [][2]int {
	want := ibanLengths[strings.ToUpper(match[:2])]
	var letters []byte
	for i := 0; i < len(match) && len(letters) < want; i++ {
		if match[i] == ' ' {
			continue
		}
		letters = append(letters, match[i])
		if len(letters) == want && (i+1 == len(match) || match[i+1] == ' ') && remainder(letters) == 1 {
			return [][2]int{{0, i + 1}}
		}
	}
	return nil
}

// remainder is that of an account number by 97: its first four characters go to
// the end, and letters count as numbers from 10.
func remainder(iban []byte) (left int) {
	for _, c := range append(slices.Clone(iban[4:]), iban[:4]...) {
		if isDigit(c) {
			left = (left*10 + int(c-'0')) % 97
		} else {
			left = (left*100 + int(c|0x20-'a') + 10) % 97
		}
	}
	return left
}
