package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// maxSlice bounds a slice in time, however many calls are left; grace is for
// those under way.
const (
	maxSlice = 5 * time.Second
	grace    = 5 * time.Second
)

// load is the client: connections that stay open, each sending one call after
// the other. It does as little as it can, since it shares the machine.
type load struct {
	address string
	n       int
	yes     []byte // what every answer must hold
	conns   []net.Conn
}

// connect opens the connections, at their first use: a server does not wait long
// for the first header.
func (l *load) connect(ctx context.Context) error {
	for len(l.conns) < l.n {
		var d net.Dialer
		c, err := d.DialContext(ctx, "tcp", l.address)
		if err != nil {
			return err
		}
		l.conns = append(l.conns, c)
	}
	return nil
}

func (l *load) close() error {
	var errs []error
	for _, c := range l.conns {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// run sends the requests, each once, and returns how many were allowed and how
// long it took. Anything but an allow is an error.
func (l *load) run(ctx context.Context, requests [][]byte) (int, time.Duration, error) {
	if err := l.connect(ctx); err != nil {
		return 0, 0, err
	}
	var next, done atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, len(l.conns))
	begin := time.Now()
	end := begin.Add(maxSlice)
	for i, c := range l.conns {
		group.Go(func() {
			errs[i] = l.exchange(c, end, func() []byte {
				k := next.Add(1) - 1
				if k >= int64(len(requests)) || ctx.Err() != nil {
					return nil
				}
				return requests[k]
			}, &done)
		})
	}
	group.Wait()
	return int(done.Load()), time.Since(begin), errors.Join(append(errs, ctx.Err())...)
}

// exchange sends what take gives until it gives nothing, or until the end.
func (l *load) exchange(c net.Conn, end time.Time, take func() []byte, done *atomic.Int64) error {
	if err := c.SetDeadline(end.Add(grace)); err != nil {
		return err
	}
	buf := make([]byte, 8<<10)
	for n := 0; n%64 != 0 || time.Now().Before(end); n++ {
		request := take()
		if request == nil {
			return nil
		}
		if _, err := c.Write(request); err != nil {
			return err
		}
		if err := allowed(c, buf, l.yes); err != nil {
			return err
		}
		done.Add(1)
	}
	return nil
}

var (
	headEnd  = []byte("\r\n\r\n")
	length   = []byte("Content-Length: ")
	isOK     = []byte("HTTP/1.1 200 ")
	isAllow  = []byte(`"decision":"allow"`)
	isDeny   = []byte(`"decision":"deny"`)
	errReply = errors.New("not an allow")
)

// allowed reads one answer and says what is wrong with it.
func allowed(c net.Conn, buf, yes []byte) error {
	text, err := readAnswer(c, buf)
	if err == nil && (!bytes.HasPrefix(text, isOK) || !bytes.Contains(text, yes)) {
		err = fmt.Errorf("%w: %q", errReply, text)
	}
	return err
}

// readAnswer reads one answer, headers and all.
func readAnswer(c net.Conn, buf []byte) ([]byte, error) {
	have := 0
	for {
		n, err := c.Read(buf[have:])
		if err != nil {
			return nil, err
		}
		have += n
		whole, err := complete(buf[:have])
		switch {
		case err != nil || have == len(buf) && !whole:
			return nil, fmt.Errorf("%w: %q", errReply, buf[:have])
		case whole:
			return buf[:have], nil
		}
	}
}

// complete reports whether an answer is there in full.
func complete(answer []byte) (bool, error) {
	head, body, found := bytes.Cut(answer, headEnd)
	if !found {
		return false, nil
	}
	_, rest, found := bytes.Cut(head, length)
	if !found {
		return false, errReply
	}
	digits, _, _ := bytes.Cut(rest, []byte{'\r'})
	n, err := strconv.Atoi(string(digits))
	return len(body) >= n, err
}
