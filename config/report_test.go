package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/config"
)

func TestTheWeeksLastTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("this machine knows no zones")
	}
	for _, c := range []struct{ now, want time.Time }{
		{time.Date(2026, 11, 16, 9, 0, 0, 0, berlin), time.Date(2026, 11, 16, 9, 0, 0, 0, berlin)}, // a Monday
		{time.Date(2026, 11, 16, 8, 59, 59, 0, berlin), time.Date(2026, 11, 9, 9, 0, 0, 0, berlin)},
		{time.Date(2026, 11, 15, 23, 0, 0, 0, berlin), time.Date(2026, 11, 9, 9, 0, 0, 0, berlin)},
		{time.Date(2026, 10, 26, 8, 30, 0, 0, time.UTC), time.Date(2026, 10, 26, 8, 0, 0, 0, time.UTC)}, // the day after the clocks went back
		{time.Date(2026, 10, 19, 7, 30, 0, 0, time.UTC), time.Date(2026, 10, 19, 7, 0, 0, 0, time.UTC)}, // and a week before
		{time.Date(2027, 1, 1, 0, 0, 0, 0, berlin), time.Date(2026, 12, 28, 9, 0, 0, 0, berlin)},
	} {
		if got := config.Weekly("Mon 09:00 Europe/Berlin").Last(c.now); !got.Equal(c.want) {
			t.Errorf("at %s: %s, want %s", c.now, got, c.want)
		}
	}
	for _, wrong := range []string{"", "Mon", "Monday 09:00", "Mon 9", "Mon 25:00", "Mon 09:00 Nowhere/Town", "Mon 09:00 UTC UTC", "09:00 Mon", "mon 09:00"} {
		if got := config.Weekly(wrong).Last(time.Now()); !got.IsZero() {
			t.Errorf("%q is %s", wrong, got)
		}
	}
}

func TestAWeeklyTimeThatIsNoneIsRefused(t *testing.T) {
	for text, want := range map[string]string{`"Monday 9"`: "is no day and time of the week", `"Mon 09:00 Nowhere/Town"`: "names a zone that this machine doesn't know"} {
		_, _, err := config.Parse("v.yaml", []byte("report: {weekly: "+text+"}\n"), nil, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
