package codes_test

import (
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/codes"
)

// On a Wednesday at noon, in a zone two hours east of Greenwich.
func TestWhenAnAbsenceEnds(t *testing.T) {
	now := time.Date(2026, 11, 18, 12, 0, 0, 0, time.FixedZone("", 2*60*60))
	for when, want := range map[string]string{
		"friday": "2026-11-20T00:00:00+02:00", "fri": "2026-11-20T00:00:00+02:00", "thursday": "2026-11-19T00:00:00+02:00",
		"wednesday": "2026-11-25T00:00:00+02:00", "tomorrow": "2026-11-19T00:00:00+02:00", "2026-12-01": "2026-12-01T00:00:00+02:00",
		"18:30": "2026-11-18T18:30:00+02:00", "12:00": "2026-11-19T12:00:00+02:00", "07:00": "2026-11-19T07:00:00+02:00",
		"90m": "2026-11-18T13:30:00+02:00", "3h": "2026-11-18T15:00:00+02:00", "2d": "2026-11-20T12:00:00+02:00", "1999-01-01": "1999-01-01T00:00:00+02:00",
	} {
		if got, ok := codes.Until(when, now); !ok || got.Format(time.RFC3339) != want {
			t.Errorf("%s: %s, %v; want %s", when, got.Format(time.RFC3339), ok, want)
		}
	}
	for _, when := range []string{"", "fr", "frida", "Friday", "yesterday", "7:00", "25:00", "12:60", "2026-2-1", "0d", "h", "99999h", "1.5h", "+1h", "1w", "noon"} {
		if got, ok := codes.Until(when, now); ok {
			t.Errorf("%q is %s", when, got)
		}
	}
}
