package server

import (
	"errors"
	"io"
	"net/http"
)

var errTooLarge = errors.New("server: the body is too large")

// readBody reads a whole body within a bound of size. The bound of time is the
// server's. Memory follows what has arrived, not what the caller claims to send.
func readBody(r *http.Request, limit int) ([]byte, error) {
	if r.ContentLength > int64(limit) {
		return nil, errTooLarge
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, int64(limit)+1))
	switch {
	case err != nil:
		return nil, err
	case len(body) > limit:
		return nil, errTooLarge
	}
	return body, nil
}
