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

// connections is how many stay open; maxSlice bounds a slice in time, grace is for the calls under way.
const (
	connections = 16
	maxSlice    = 5 * time.Second
	grace       = 5 * time.Second
)

// load is the client: connections that stay open, each sending one call after the other. It does as little as it can,
// since it shares the machine.
type load struct {
	address string
	yes     string // what every answer must hold
	conns   []net.Conn
}

func (l *load) close() {
	for _, c := range l.conns {
		_ = c.Close()
	}
}

// run sends the requests, each once, and returns how many were allowed and how long it took. Anything but an allow is
// an error. The connections are opened at their first use: a server does not wait long for the first header.
func (l *load) run(ctx context.Context, requests [][]byte) (int, time.Duration, error) {
	for len(l.conns) < connections {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", l.address)
		if err != nil {
			return 0, 0, err
		}
		l.conns = append(l.conns, c)
	}
	var next, done atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, len(l.conns))
	begin := time.Now()
	for i, c := range l.conns {
		group.Go(func() {
			buf := make([]byte, 8<<10)
			errs[i] = c.SetDeadline(begin.Add(maxSlice + grace))
			for errs[i] == nil && time.Since(begin) < maxSlice && ctx.Err() == nil {
				k := next.Add(1) - 1
				if k >= int64(len(requests)) {
					return
				}
				if _, errs[i] = c.Write(requests[k]); errs[i] != nil {
					return
				}
				if errs[i] = expect(c, buf, l.yes); errs[i] == nil {
					done.Add(1)
				}
			}
		})
	}
	group.Wait()
	return int(done.Load()), time.Since(begin), errors.Join(append(errs, ctx.Err())...)
}

const (
	isAllow = `"decision":"allow"`
	isDeny  = `"decision":"deny"`
)

// errReply is an answer that is not the expected one.
var errReply = errors.New("not the expected answer")

// expect reads one answer, headers and all, and says what is wrong with it.
func expect(c net.Conn, buf []byte, want string) error {
	for have := 0; have < len(buf); {
		n, err := c.Read(buf[have:])
		if err != nil {
			return err
		}
		have += n
		if head, body, found := bytes.Cut(buf[:have], []byte("\r\n\r\n")); found {
			_, rest, _ := bytes.Cut(head, []byte("Content-Length: "))
			digits, _, _ := bytes.Cut(rest, []byte{'\r'})
			length, err := strconv.Atoi(string(digits))
			switch {
			case err == nil && len(body) < length:
			case err == nil && bytes.HasPrefix(head, []byte("HTTP/1.1 200 ")) && bytes.Contains(body, []byte(want)):
				return nil
			default:
				return fmt.Errorf("%w: %q", errReply, buf[:have])
			}
		}
	}
	return errReply // too long
}
