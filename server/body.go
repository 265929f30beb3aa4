package server

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

var errTooLarge = errors.New("server: the body is too large")

// believed is how much of what a stranger claims to send is believed; beyond,
// memory follows what has arrived.
const believed = 16 << 10

// readBody reads a whole body within a bound of size, into buf if there is room.
// The bound of time is the server's.
func readBody(r *http.Request, limit int, buf []byte) ([]byte, error) {
	if r.ContentLength > int64(limit) {
		return nil, errTooLarge
	}
	// One byte more, so that the end is seen without another.
	if size := int(min(max(r.ContentLength, 512), believed)) + 1; cap(buf) < size {
		buf = make([]byte, 0, size)
	}
	body, err := readAll(r.Body, buf[:0], limit)
	switch {
	case err != nil:
		return nil, err
	case len(body) > limit:
		return nil, errTooLarge
	}
	_ = r.Body.Close() // it has ended: net/http need not look
	return body, nil
}

// readAll reads to the end, or a little beyond the limit.
func readAll(r io.Reader, buf []byte, limit int) ([]byte, error) {
	for len(buf) <= limit {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return buf, err
		}
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
	}
	return buf, nil
}

// bodies is memory for bodies that nobody needs once they are decoded.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

// keepBody keeps the memory of a body for the next, unless it is large.
func keepBody(kept *[]byte, body []byte) {
	if body != nil && cap(body) <= believed+1 {
		*kept = body[:0]
	}
	bodies.Put(kept)
}
