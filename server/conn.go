package server

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// conn is a connection on which net/http asks the system for less. For every
// request it would:
//
//   - set nine deadlines. Here one is set when something is read or written under
//     it, and not if the last is as good.
//   - read on as soon as all has arrived, to see whether the caller leaves: a
//     goroutine, a read that finds nothing, a wait and its end. Here that begins
//     when the request has taken a while; most calls are decided by then.
type conn struct {
	net.Conn
	in, out bound
	leave   func() // ends what is done for the caller

	mu     sync.Mutex
	watch  watch
	slow   *time.Timer   // begins the watch that is due; nil before the first
	ended  chan struct{} // closed when the one that is on is over
	ahead  [1]byte       // what it has read,
	unread int           // if it has
}

// watch is whether someone looks for the caller's leaving.
type watch int

const (
	off watch = iota
	due
	on
)

const watchAfter = 100 * time.Millisecond

// listener accepts such connections.
type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, in: bound{set: c.SetReadDeadline}, out: bound{set: c.SetWriteDeadline}, leave: func() {}}, nil
}

// connContext is the context of a connection's requests: it ends when the caller
// is seen to leave.
func connContext(ctx context.Context, c net.Conn) context.Context {
	if c, ok := c.(*conn); ok {
		ctx, c.leave = context.WithCancel(ctx)
	}
	return ctx
}

// Read reads, or puts the watch off. That is asked for by a read of one byte
// without a deadline, as nothing else is; that it finds neither a byte nor an error
// ends it on net/http's side.
func (c *conn) Read(p []byte) (int, error) {
	if len(p) == 1 && c.in.none() && c.putOff() {
		return 0, nil
	}
	if len(p) > 0 && c.unwatch() {
		p[0] = c.ahead[0]
		return 1, nil
	}
	defer c.in.end()
	if err := c.in.begin(); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

func (c *conn) Write(p []byte) (int, error) {
	defer c.out.end()
	if err := c.out.begin(); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// CloseWrite lets net/http end an answer before it closes the connection on what it
// has not read, which would cut the answer off.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

func (c *conn) SetReadDeadline(t time.Time) error  { return c.in.want(t) }
func (c *conn) SetWriteDeadline(t time.Time) error { return c.out.want(t) }
func (c *conn) SetDeadline(t time.Time) error      { return errors.Join(c.in.want(t), c.out.want(t)) }

// bare is a connection without all this, for whoever takes it over. What was read
// ahead is lost.
func bare(c net.Conn) net.Conn {
	ours, ok := c.(*conn)
	if !ok {
		return c
	}
	ours.unwatch()
	_ = ours.Conn.SetDeadline(time.Time{}) // one that is closed says so when it is used
	return ours.Conn
}

// putOff lets the watch begin in a while, unless that was done already.
func (c *conn) putOff() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watch != off || c.unread > 0 {
		return false
	}
	c.watch = due
	if c.slow == nil {
		c.slow = time.AfterFunc(watchAfter, c.look)
	} else {
		c.slow.Reset(watchAfter)
	}
	return true
}

// look is the watch.
func (c *conn) look() {
	c.mu.Lock()
	if c.watch != due { // it was called off at this moment
		c.mu.Unlock()
		return
	}
	c.watch, c.ended = on, make(chan struct{})
	err := c.in.begin() // before anyone can cut it off
	c.mu.Unlock()
	n := 0
	if err == nil {
		n, err = c.Conn.Read(c.ahead[:])
	}
	if cut := c.in.end(); err != nil && !cut {
		c.leave()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watch, c.unread = off, n
	close(c.ended)
}

// unwatch ends the watch, and reports whether it has read something, which is the
// reader's now.
func (c *conn) unwatch() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watch == due {
		c.slow.Stop()
		c.watch = off
	}
	for c.watch == on {
		c.in.cutOff()
		ended := c.ended
		c.mu.Unlock()
		<-ended
		c.mu.Lock()
	}
	read := c.unread > 0
	c.unread = 0
	return read
}

// bound is the deadline of one direction.
type bound struct {
	set func(time.Time) error // the connection's own

	mu     sync.Mutex
	wanted time.Time
	given  time.Time // to the connection, last
	busy   int       // how many are under way
	cut    bool      // and are to end at once
}

// grain is how much too early something may end. No deadline here is so short that
// it matters.
const grain = time.Second

// none reports whether there is no deadline.
func (b *bound) none() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.wanted.IsZero()
}

// want binds what comes, and what is under way.
func (b *bound) want(t time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wanted = t
	if b.busy == 0 || b.cut {
		return nil
	}
	return b.give()
}

// begin is called before something is done in this direction.
func (b *bound) begin() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.busy++
	return b.give()
}

// end is called after it. It reports whether it was cut off: by us, or by net/http,
// which may mean a read of its own that is yet to begin.
func (b *bound) end() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.busy--
	b.cut = b.cut && b.busy > 0
	return b.given.Equal(longAgo)
}

// cutOff ends what is under way. What comes after it is not cut off, and heeds the
// deadlines that it is given.
func (b *bound) cutOff() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.busy == 0 {
		return
	}
	b.cut, b.given = true, longAgo
	_ = b.set(longAgo) // a connection that is closed has ended it already
}

func (b *bound) give() error {
	if early := b.wanted.Sub(b.given); 0 <= early && early < grain {
		return nil
	}
	b.given = b.wanted
	return b.set(b.wanted)
}

// longAgo is the deadline of what is to end at once, here and in net/http.
var longAgo = time.Unix(1, 0)
