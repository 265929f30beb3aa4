package config

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// Report says which reports about their own load the owner gets.
type Report struct {
	// Weekly is when a line about the last seven days goes to your channels. Empty: never.
	Weekly Weekly `yaml:"weekly"`
}

// Weekly is a time of the week: Mon 09:00, and a zone if it is not the gateway's own.
type Weekly string

func (k *checker) checkReport() {
	if k.Report.Weekly == "" {
		return
	}
	if _, _, _, err := k.Report.Weekly.parse(); err != nil {
		k.fail("report.weekly", err.Error(), `write it as "Mon 09:00 Europe/Berlin" or "Mon 09:00 UTC"`)
	}
}

var (
	weekdays  = []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}
	errWeekly = errors.New("is no day and time of the week")
	errZone   = errors.New("names a zone that this machine doesn't know")
)

func (w Weekly) parse() (day time.Weekday, at time.Time, zone *time.Location, err error) {
	fields := strings.Fields(string(w))
	if len(fields) != 2 && len(fields) != 3 {
		return 0, at, nil, errWeekly
	}
	n := slices.Index(weekdays, fields[0])
	if at, err = time.Parse("15:04", fields[1]); err != nil || n < 0 {
		return 0, at, nil, errWeekly
	}
	zone = time.Local
	if len(fields) == 3 {
		if zone, err = time.LoadLocation(fields[2]); err != nil {
			return 0, at, nil, errZone
		}
	}
	return time.Weekday(n), at, zone, nil
}

// Last is the latest such time that is not after now; zero: there is none.
func (w Weekly) Last(now time.Time) time.Time {
	day, at, zone, err := w.parse()
	if err != nil {
		return time.Time{}
	}
	local := now.In(zone)
	back := (int(local.Weekday()) - int(day) + 7) % 7
	for _, days := range []int{back, back + 7} {
		if t := time.Date(local.Year(), local.Month(), local.Day()-days, at.Hour(), at.Minute(), 0, 0, zone); !t.After(now) {
			return t
		}
	}
	return time.Time{}
}
