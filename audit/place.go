package audit

import (
	"errors"
	"os"
)

// ErrGone says that the file at the record's path is not the file that the log
// writes to, or does not end where the log's last line ended.
var ErrGone = errors.New("audit: the record was moved, removed, replaced, cut or written to by something else while in use; put it back, or restart, which notes in the record what is lost")

// inPlace checks that the file at the record's path is the file that the log writes
// to, and that it ends with the log's last line. Called with mu held before each
// write.
func (l *Log) inPlace() error {
	f, ok := l.disk.(file)
	if !ok || l.path == "" || l.closed {
		return nil
	}
	mine, errMine := f.Stat()
	there, errThere := os.Lstat(l.path)
	if errMine != nil || errThere != nil || !os.SameFile(mine, there) {
		return ErrGone
	}
	if size := mine.Size(); size < l.cur.size || size > l.cur.size && !l.torn {
		return ErrGone
	}
	return nil
}
