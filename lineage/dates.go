package lineage

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// dates are the days that someone named: with a year, or in any.
type dates struct {
	days    map[string]bool // 2024-05-19
	anyYear map[string]bool // 05-19
}

func newDates() dates { return dates{map[string]bool{}, map[string]bool{}} }

const monthNames = `(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?`

var (
	isoDate  = regexp.MustCompile(`\b(\d{4}-\d{2}-\d{2})(?:[tT ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[zZ]|[+-]\d{2}:\d{2})?)?\b`)
	monthDay = regexp.MustCompile(`\b` + monthNames + ` (\d{1,2})(?:st|nd|rd|th)?\b(?:,? (\d{4})\b)?`)
	dayMonth = regexp.MustCompile(`\b(\d{1,2})(?:st|nd|rd|th)?(?: of)? ` + monthNames + `(?:,? (\d{4})\b)?`)
)

// read finds the days in a text in lower case, in digits or in English words.
func (d *dates) read(text string) {
	for _, m := range isoDate.FindAllStringSubmatch(text, -1) {
		d.days[m[1]] = true
	}
	for _, m := range monthDay.FindAllStringSubmatch(text, -1) {
		d.add(m[3], m[1], m[2])
	}
	for _, m := range dayMonth.FindAllStringSubmatch(text, -1) {
		d.add(m[3], m[2], m[1])
	}
}

func (d *dates) add(year, month, day string) {
	m := strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", month)/3 + 1
	at := "-" + twoDigits(strconv.Itoa(m)) + "-" + twoDigits(day)
	if year != "" {
		d.days[year+at] = true
		return
	}
	d.anyYear[at[1:]] = true
}

func twoDigits(n string) string { return strings.Repeat("0", 2-len(n)) + n }

func (d *dates) has(day string) bool { return d.days[day] || d.anyYear[day[5:]] }

// dated is a day in a text, with the time behind it.
type dated struct {
	day, text string
	from, to  int // code points
}

func findDates(text string) []dated {
	var out []dated
	for _, m := range isoDate.FindAllStringSubmatchIndex(text, -1) {
		from := utf8.RuneCountInString(text[:m[0]])
		out = append(out, dated{text[m[2]:m[3]], text[m[0]:m[1]], from, from + utf8.RuneCountInString(text[m[0]:m[1]])})
	}
	return out
}
