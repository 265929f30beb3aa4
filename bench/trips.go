package main

import (
	"context"
	"net"
	"sync/atomic"
)

// trips counts round trips to the store where they can't be missed: on the
// socket.
type trips struct{ n atomic.Int64 }

// dial opens a counted connection.
func (t *trips) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		return &countedConn{TCPConn: tcp, trips: t}, nil
	}
	return c, nil
}

// countedConn counts a trip each time an answer begins to come in. It stays a
// TCP connection in all else, so that the client treats it as one.
type countedConn struct {
	*net.TCPConn
	trips *trips
	asked atomic.Bool // something was sent since the last answer
}

func (c *countedConn) Write(b []byte) (int, error) {
	c.asked.Store(true)
	return c.TCPConn.Write(b)
}

func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.TCPConn.Read(b)
	if n > 0 && c.asked.Swap(false) {
		c.trips.n.Add(1)
	}
	return n, err
}
