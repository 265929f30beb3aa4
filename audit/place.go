package audit

import (
	"errors"
	"os"
	"time"
)

// ErrGone says that the file at the record's path is not the one that is written
// to, or is shorter than what was written.
var ErrGone = errors.New("audit: the record was moved, removed, replaced or cut while in use; put it back, or restart, which notes in the record what is lost")

// lookEvery is how often a file is looked for in its place.
const lookEvery = time.Second

// inPlace says whether lines go where the record is looked for. Called with mu
// held.
func (l *Log) inPlace(now time.Time) error {
	f, ok := l.disk.(file)
	if !ok || l.path == "" || l.closed {
		return nil
	}
	if now.Sub(l.looked).Abs() < lookEvery {
		return nil
	}
	there, err := os.Stat(l.path)
	if err != nil || !isAt(f.File, l.path) || there.Size() < l.cur.size {
		l.looked = time.Time{}
		return ErrGone
	}
	l.looked = now
	return nil
}
