package taint

import (
	"fmt"
)

// Mode is what a level permits for a tool. Larger is stricter.
type Mode uint8

// The three modes, most permissive first.
const (
	Allow    Mode = iota // passes
	Confirm              // a person is asked
	Restrict             // refused without a question
)

var modeNames = [...]string{"allow", "confirm", "restrict"}

// String is the mode's name in config, record and cards.
func (m Mode) String() string {
	if int(m) >= len(modeNames) {
		return fmt.Sprintf("mode(%d)", uint8(m))
	}
	return modeNames[m]
}

// Stricter is the less permissive of the two.
func Stricter(a, b Mode) Mode { return max(a, b) }

// ParseMode reads a mode's name.
func ParseMode(name string) (Mode, error) {
	for m := Allow; m <= Restrict; m++ {
		if modeNames[m] == name {
			return m, nil
		}
	}
	return Restrict, fmt.Errorf("unknown mode %q: use allow, confirm or restrict", name)
}

// MarshalText writes the name.
func (m Mode) MarshalText() ([]byte, error) {
	if int(m) >= len(modeNames) {
		return nil, fmt.Errorf("no mode has the number %d", uint8(m))
	}
	return []byte(modeNames[m]), nil
}

// UnmarshalText reads the name.
func (m *Mode) UnmarshalText(text []byte) (err error) {
	*m, err = ParseMode(string(text))
	return err
}

// Row is a mode for each level.
type Row [Levels]Mode

// Every is the row that has m at all levels.
func Every(m Mode) (r Row) {
	for i := range r {
		r[i] = m
	}
	return r
}

// Closed is the row made monotone: never more permissive for less trusted content. It also names the levels it had to
// tighten.
func (r Row) Closed() (Row, []Level) {
	var tightened []Level
	for i := 1; i < Levels; i++ {
		if r[i] < r[i-1] {
			r[i] = r[i-1]
			tightened = append(tightened, Level(i))
		}
	}
	return r, tightened
}

// Stricter combines two rows level by level.
func (r Row) Stricter(o Row) Row {
	for i := range r {
		r[i] = Stricter(r[i], o[i])
	}
	return r
}
