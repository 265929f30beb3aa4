package approval

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Quiet is the part of each day in which a person is not asked, by the clock on their wall. The zero Quiet is none.
type Quiet struct {
	from, to int // minutes since midnight
	zone     *time.Location
}

// QuietPattern is what the text of quiet hours looks like.
const QuietPattern = `^([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9] [A-Za-z][A-Za-z0-9_+/-]*$`

var quietText = regexp.MustCompile(QuietPattern)

// UnmarshalText reads quiet hours such as "22:00-07:00 Europe/Berlin".
func (q *Quiet) UnmarshalText(text []byte) error {
	hours, zone, _ := strings.Cut(string(text), " ")
	if !quietText.Match(text) {
		return fmt.Errorf("%q are no quiet hours: write them as 22:00-07:00 Europe/Berlin", text)
	}
	from, to, _ := strings.Cut(hours, "-")
	if from == to {
		return fmt.Errorf("%q begin when they end: write two different times, such as 22:00-07:00", text)
	}
	where, err := time.LoadLocation(zone)
	if err != nil || zone == "Local" {
		return fmt.Errorf("this machine knows no time zone %q: write its name as Europe/Berlin or UTC; where the name is right, install the package tzdata", zone)
	}
	*q = Quiet{from: minuteOf(from), to: minuteOf(to), zone: where}
	return nil
}

// minuteOf reads a time that looks like one.
func minuteOf(text string) int {
	digit := func(i int) int { return int(text[i] - '0') }
	return (10*digit(0)+digit(1))*60 + 10*digit(3) + digit(4)
}

// String is the text that it was read from.
func (q Quiet) String() string {
	if q.zone == nil {
		return ""
	}
	return fmt.Sprintf("%02d:%02d-%02d:%02d %s", q.from/60, q.from%60, q.to/60, q.to%60, q.zone)
}

// holds reports whether it is quiet at a time.
func (q Quiet) holds(at time.Time) bool {
	if q.zone == nil {
		return false
	}
	at = at.In(q.zone)
	minute := at.Hour()*60 + at.Minute()
	if q.from < q.to {
		return q.from <= minute && minute < q.to
	}
	return q.from <= minute || minute < q.to
}

// end is when quiet hours end that hold at a time. It looks minute by minute: so it is right on days on which the clock is changed.
func (q Quiet) end(at time.Time) time.Time {
	for at = at.Truncate(time.Minute).Add(time.Minute); q.holds(at); {
		at = at.Add(time.Minute)
	}
	return at
}

// Equal reports whether two are the same hours.
func (q Quiet) Equal(other Quiet) bool { return q.String() == other.String() }
