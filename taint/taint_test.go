package taint_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/openclaw-verifier/verifier/taint"
)

func TestNamesRoundTrip(t *testing.T) {
	for _, l := range taint.All() {
		text, err := l.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back taint.Level
		if err := back.UnmarshalText(text); err != nil || back != l {
			t.Errorf("%s read back as %s, %v", text, back, err)
		}
	}
	for _, m := range []taint.Mode{taint.Allow, taint.Confirm, taint.Restrict} {
		text, err := m.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back taint.Mode
		if err := back.UnmarshalText(text); err != nil || back != m {
			t.Errorf("%s read back as %s, %v", text, back, err)
		}
	}
}

func TestAnUnknownNameIsTheStrictest(t *testing.T) {
	l := taint.System
	if err := l.UnmarshalText([]byte("System")); err == nil || l != taint.Untrusted {
		t.Errorf("level %v, %v: want untrusted and an error", l, err)
	}
	m := taint.Allow
	if err := m.UnmarshalText([]byte("yes")); err == nil || m != taint.Restrict {
		t.Errorf("mode %v, %v: want restrict and an error", m, err)
	}
	if _, err := taint.Level(6).MarshalText(); err == nil {
		t.Error("a seventh level was written")
	}
}

func TestClosedRowsAreMonotoneAndNeverLooser(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r taint.Row
		for i := range r {
			r[i] = taint.Mode(rapid.IntRange(0, 2).Draw(t, "mode"))
		}
		closed, tightened := r.Closed()
		changed := 0
		for i := range closed {
			if i > 0 && closed[i] < closed[i-1] {
				t.Fatalf("%v closed to %v, looser at %s", r, closed, taint.Level(i))
			}
			if closed[i] < r[i] {
				t.Fatalf("%v closed to %v, which permits more", r, closed)
			}
			if closed[i] != r[i] {
				changed++
			}
		}
		if changed != len(tightened) {
			t.Fatalf("%d levels changed, %v named", changed, tightened)
		}
	})
}
