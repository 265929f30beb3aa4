package lineage

import (
	"slices"
	"strings"
)

const (
	maxIBAN    = 34
	maxPhone   = 15
	maxGrouped = 19
	maxPlain   = 34 // digits of an account number without groups
	signs      = "$€£¥₹₽₩₿"
)

var currencies = strings.Fields("AED ARS AUD BGN BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP HKD HUF IDR ILS INR JPY KES KRW MXN MYR NGN NOK NZD PEN PHP PLN RON RUB SAR SEK SGD THB TRY TWD UAH USD VND ZAR BTC ETH USDC USDT")

// at is a character that no value has taken yet, or 0.
func (s *scan) at(i int) rune {
	if i < 0 || i >= len(s.chars) || s.taken[i] {
		return 0
	}
	return s.chars[i]
}

// numbers adds what it finds outside of what is taken already.
func (s *scan) numbers() {
	for i := 0; i < len(s.chars); {
		inside := i > 0 && (s.taken[i-1] || isName(s.chars[i-1])) && !s.currencyBefore(i)
		end := 0
		if !s.taken[i] && !inside {
			end = s.number(i)
		}
		i = max(end, i+1)
	}
}

// number reads one and returns its end, or 0.
func (s *scan) number(i int) int {
	for _, read := range []func(int) int{s.iban, s.phone, s.groups, s.plainNumber} {
		if end := read(i); end > 0 {
			return end
		}
	}
	return 0
}

// note adds a number. Unlike other values it takes nothing: an amount and an
// account number may be the same digits.
func (s *scan) note(kind Kind, value string, from, to int) {
	s.found = append(s.found, item{kind, value, from, to})
}

// iban reads an account number written in groups of four. What follows it may
// look like one more group, so the longest one with the right check digits
// counts.
func (s *scan) iban(i int) int {
	if !isLetter(s.at(i)) {
		return 0
	}
	compact, best, end := "", "", 0
	for j := i; len(compact) < maxIBAN && isAlnum(s.at(j)); j++ {
		from := j
		for j < from+4 && isAlnum(s.at(j)) {
			compact += string(lower(s.at(j)))
			j++
		}
		if isName(s.at(j)) {
			break // a longer word
		}
		if isIBAN(compact) {
			best, end = compact, j
		}
		if j < from+4 || s.at(j) != ' ' {
			break
		}
	}
	if end > 0 {
		s.note(Account, strings.ToUpper(best), i, end)
	}
	return end
}

// isIBAN reads lower case.
func isIBAN(name string) bool {
	if len(name) < 15 || len(name) > maxIBAN || !allLetters(name[:2]) || !allDigits(name[2:4]) {
		return false
	}
	rest := 0
	for _, c := range name[4:] + name[:4] {
		switch {
		case isDigit(c):
			rest = (rest*10 + int(c-'0')) % 97
		case 'a' <= c && c <= 'z':
			rest = (rest*100 + int(c-'a') + 10) % 97
		default:
			return false
		}
	}
	return rest == 1
}

func allLetters(s string) bool { return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == "" }

// phone reads + and 8 to 15 digits, with at most two marks between two of them.
func (s *scan) phone(i int) int {
	if s.at(i) != '+' {
		return 0
	}
	digits, end := "", i+1
	for j := i + 1; j-end <= 2 && len(digits) <= maxPhone; j++ {
		c := s.at(j)
		if isDigit(c) {
			digits += string(c)
			end = j + 1
		} else if !in(c, " -./()") {
			break
		}
	}
	if len(digits) < 8 || len(digits) > maxPhone || isName(s.at(end)) {
		return 0
	}
	s.note(Phone, "+"+digits, i, end)
	return end
}

// groups reads 8 to 19 digits in two or more groups of two to eight, with the
// same mark between them: a space or a dash.
func (s *scan) groups(i int) int {
	end := s.group(i)
	mark := s.at(end)
	if end == i || !in(mark, " -") {
		return 0
	}
	digits, count := s.slice(i, end), 1
	for s.at(end) == mark {
		next := s.group(end + 1)
		if next == end+1 || len(digits)+next-end-1 > maxGrouped {
			break
		}
		digits += s.slice(end+1, next)
		end = next
		count++
	}
	if count < 2 || len(digits) < 8 || isName(s.at(end)) || s.continues(end) {
		return 0
	}
	s.note(Account, digits, i, end)
	return end
}

// group is the end of two to eight digits, or where they would start.
func (s *scan) group(i int) int {
	end := i
	for isDigit(s.at(end)) && end-i <= 8 {
		end++
	}
	if end-i < 2 || end-i > 8 {
		return i
	}
	return end
}

func (s *scan) continues(i int) bool { return in(s.at(i), ".,'") && isDigit(s.at(i+1)) }

// plainNumber reads a number without groups, as an account number, an amount or
// both.
func (s *scan) plainNumber(i int) int {
	if !isDigit(s.at(i)) {
		return 0
	}
	end := i
	for isDigit(s.at(end)) || s.continues(end) {
		end++
	}
	money := s.currencyBefore(i) || s.currencyAfter(end)
	if isName(s.at(end)) && !money {
		return end
	}
	spelled := s.slice(i, end)
	if n := len(spelled); n >= 6 && n <= maxPlain && allDigits(spelled) {
		s.note(Account, spelled, i, end)
	}
	if amount := readAmount(spelled); amount != "" && (money || telling(spelled, amount)) {
		s.note(Amount, amount, i, end)
	}
	return end
}

// telling is what makes a bare number an amount: a fraction, or 3 to 12 digits.
func telling(spelled, amount string) bool {
	if strings.Contains(amount, ".") || len(amount) >= 3 && len(amount) <= 12 {
		return true
	}
	mark := strings.LastIndexAny(spelled, ".,")
	return mark >= 0 && len(spelled)-mark-1 <= 2 && allDigits(spelled[mark+1:])
}

var noMarks = strings.NewReplacer(".", "", ",", "", "'", "")

// readAmount brings a number into one form: no grouping, a point, no zeros at
// the end of the fraction. It is "" where no such form fits.
func readAmount(spelled string) string {
	whole, fraction := spelled, ""
	if mark := strings.LastIndexAny(spelled, ".,'"); mark > 0 && spelled[mark] != '\'' {
		after, only := len(spelled)-mark-1, !strings.ContainsAny(spelled[:mark], ".,'")
		if after <= 2 || after > 3 && only && spelled[mark] == '.' {
			whole, fraction = spelled[:mark], strings.TrimRight(spelled[mark+1:], "0")
		}
	}
	if !isWhole(whole) {
		return ""
	}
	whole = noMarks.Replace(whole)
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

// isWhole is digits without a leading zero, or one to three of them and then
// groups of three.
func isWhole(s string) bool {
	if s == "0" {
		return true
	}
	if s == "" || s[0] < '1' || s[0] > '9' {
		return false
	}
	if allDigits(s) {
		return true
	}
	groups := strings.FieldsFunc(s, func(c rune) bool { return in(c, ".,'") })
	for i, g := range groups {
		if !allDigits(g) || i > 0 && len(g) != 3 || len(g) > 3 {
			return false
		}
	}
	return true
}

// isMoney tells 100eur and usd100, which are amounts and no ids.
func isMoney(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	number := strings.Trim(name, letters)
	if number == "" || strings.Trim(number, "0123456789.") != "" {
		return false
	}
	before, after, _ := strings.Cut(name, number)
	return slices.Contains(currencies, strings.ToUpper(before+after))
}

func (s *scan) currencyBefore(i int) bool {
	if s.at(i-1) == ' ' {
		i--
	}
	return in(s.at(i-1), signs) || s.isCode(i-3, i) || s.isCode(i-4, i)
}

func (s *scan) currencyAfter(i int) bool {
	if s.at(i) == ' ' {
		i++
	}
	return in(s.at(i), signs) || s.isCode(i, i+3) || s.isCode(i, i+4)
}

// isCode tells a currency's code that no other letter touches.
func (s *scan) isCode(from, to int) bool {
	var code [4]rune
	for i := from; i < to; i++ {
		c := s.at(i)
		if !isLetter(c) {
			return false
		}
		code[i-from] = lower(c) - 'a' + 'A'
	}
	touches := func(c rune) bool { return isName(c) && !isDigit(c) }
	return !touches(s.at(from-1)) && !touches(s.at(to)) && slices.Contains(currencies, string(code[:to-from]))
}
