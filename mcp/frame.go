package mcp

import (
	"bufio"
	"errors"
	"io"
	"sync"
)

// maxMessage is how long a message may be.
const maxMessage = 32 << 20

var errTooLong = errors.New("a message is longer than 32 MiB")

// lines reads messages: each is a line.
type lines struct{ r *bufio.Reader }

func newLines(r io.Reader) *lines { return &lines{bufio.NewReaderSize(r, 64<<10)} }

// next is the next line, without its end. A line that is too long is read to its end and dropped. What comes before the end
// of the stream without the end of a line is no message.
func (l *lines) next() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := l.r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxMessage; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return nil, err
		case long:
			return nil, errTooLong
		default:
			return line[:len(line)-1], nil
		}
	}
}

// sender writes messages as lines, one at a time and each whole.
type sender struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *sender) send(text []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.w.Write(append(text[:len(text):len(text)], '\n'))
	return err
}
