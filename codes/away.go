package codes

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// maxPerson is how many characters a person's name has at most.
const maxPerson = 64

func parseAway(rest string, c *Command) bool {
	until, rest, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	when, person, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	c.When, c.Person = lowerASCII(when), strings.Trim(person, " ")
	_, known := Until(c.When, time.Unix(0, 0))
	return lowerASCII(until) == "until" && known && isReason(c.Person) && utf8.RuneCountInString(c.Person) <= maxPerson
}

// parseMute takes an agent, or `in` and the ref of a session. An agent can't choose which of the two is meant: no name of a session is
// looked for among the agents, nor the other way round.
func parseMute(rest string, c *Command) bool {
	t := tokens(rest)
	if len(t) > 0 && lowerASCII(t[0]) == "in" {
		return len(t) > 1 && len(t) <= 3 && parseResetTrust(t[1], c) && (len(t) == 2 || parseMinutes(t[2], c))
	}
	return len(t) > 0 && len(t) <= 2 && parseAgent(t[0], c) && (len(t) == 1 || parseMinutes(t[1], c))
}

func parseUnmute(rest string, c *Command) bool {
	if len(tokens(rest)) == 0 {
		return true
	}
	return parseMute(rest, c) && c.Minutes == 0
}

func parseMinutes(t string, c *Command) bool { return parseScope(t, c) && !c.Turn }

// Until is when an absence ends that is typed as a day of the week, `tomorrow`, a date, a time of the day, or minutes, hours or days. A
// day begins at midnight; a day of the week and a time of the day are the next ones. The zone is that of now.
func Until(when string, now time.Time) (time.Time, bool) {
	day := func(n int) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day()+n, 0, 0, 0, 0, now.Location())
	}
	if when == "tomorrow" {
		return day(1), true
	}
	for n := 1; n <= 7; n++ {
		if name := lowerASCII(day(n).Weekday().String()); when == name || when == name[:3] {
			return day(n), true
		}
	}
	if t, err := time.ParseInLocation(time.DateOnly, when, now.Location()); err == nil {
		return t, true
	}
	if t, err := time.Parse("15:04", when); err == nil && len(when) == len("15:04") {
		at := time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), 0, 0, now.Location())
		if !at.After(now) {
			at = time.Date(now.Year(), now.Month(), now.Day()+1, t.Hour(), t.Minute(), 0, 0, now.Location())
		}
		return at, true
	}
	return after(when, now)
}

// after reads a number of minutes, hours or days.
func after(when string, now time.Time) (time.Time, bool) {
	const maxDigits = 4
	if len(when) < 2 || len(when) > maxDigits+1 || !all(when[:len(when)-1], isDigit) {
		return time.Time{}, false
	}
	n, err := strconv.Atoi(when[:len(when)-1])
	if err != nil || n == 0 {
		return time.Time{}, false
	}
	switch when[len(when)-1] {
	case 'm':
		return now.Add(time.Duration(n) * time.Minute), true
	case 'h':
		return now.Add(time.Duration(n) * time.Hour), true
	case 'd':
		return now.AddDate(0, 0, n), true
	}
	return time.Time{}, false
}
