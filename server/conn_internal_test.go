package server

import (
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// accepted is one such connection, and its other end.
func accepted(t *testing.T) (ours *conn, other net.Conn) {
	t.Helper()
	here, there := net.Pipe()
	c, err := listener{one{here}}.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return c.(*conn), there //nolint:errcheck // it is what a listener accepts
}

type one struct{ c net.Conn }

func (o one) Accept() (net.Conn, error) { return o.c, nil }
func (one) Close() error                { return nil }
func (one) Addr() net.Addr              { return &net.UnixAddr{Name: "pipe"} }

// A deadline that is set later than that binds what is under way.
func TestADeadlineBindsWhatIsUnderWay(t *testing.T) {
	for name, side := range map[string]struct {
		do  func(*conn, []byte) (int, error)
		set func(*conn, time.Time) error
	}{
		"read":             {(*conn).Read, (*conn).SetReadDeadline},
		"write":            {(*conn).Write, (*conn).SetWriteDeadline},
		"read, of both":    {(*conn).Read, (*conn).SetDeadline},
		"written, of both": {(*conn).Write, (*conn).SetDeadline},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, other := accepted(t)
				defer other.Close()
				ended := make(chan error, 1)
				go func() {
					_, err := side.do(c, make([]byte, 8))
					ended <- err
				}()
				synctest.Wait()
				began := time.Now()
				if err := side.set(c, began.Add(3*time.Second)); err != nil {
					t.Fatal(err)
				}
				if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != 3*time.Second {
					t.Errorf("after %s: %v", time.Since(began), err)
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Whoever takes a connection over has all of it, and no deadline.
func TestABareConnectionIsNobodysElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, other := accepted(t)
		if n, err := c.Read(make([]byte, 1)); n != 0 || err != nil {
			t.Fatalf("the watch was not put off: %d, %v", n, err)
		}
		<-time.After(time.Second) // it is on
		if err := c.SetWriteDeadline(time.Now()); err != nil {
			t.Error(err)
		}
		if _, err := c.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("it was written: %v", err)
		}
		taken := bare(c)
		go func() {
			<-time.After(time.Hour)
			_, _ = other.Write([]byte("hello"))
		}()
		var got [8]byte
		if n, err := taken.Read(got[:]); err != nil || string(got[:n]) != "hello" {
			t.Errorf("read %q, %v", got[:n], err)
		}
		go taken.Write([]byte("and back")) //nolint:errcheck // it is read
		if n, err := other.Read(got[:]); err != nil || string(got[:n]) != "and back" {
			t.Errorf("the other end read %q, %v", got[:n], err)
		}
		if err := errors.Join(taken.Close(), other.Close()); err != nil {
			t.Error(err)
		}
	})
}

// Who cuts a read off when it has just ended must not touch the next one: that
// could not be ended any more.
func TestWhatIsCutOffTooLateLeavesTheNextOneBe(t *testing.T) {
	var given time.Time
	b := bound{set: func(t time.Time) error { given = t; return nil }}
	err := b.begin()
	b.end()
	b.cutOff()
	by := time.Unix(1_700_000_000, 0)
	if err = errors.Join(err, b.begin(), b.want(by)); err != nil || !given.Equal(by) {
		t.Errorf("what is under way ends at %s, not at %s: %v", given, by, err)
	}
	if b.end() {
		t.Error("it was cut off")
	}
}

// When calls come one behind the other, net/http may end its read for the second
// while the watch of the first is still on. The caller has not left.
func TestAWatchThatNetHTTPCutsOffSeesNobodyLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, other := accepted(t)
		defer other.Close()
		left := false
		c.leave = func() { left = true }
		if n, err := c.Read(make([]byte, 1)); n != 0 || err != nil {
			t.Fatalf("the watch was not put off: %d, %v", n, err)
		}
		<-time.After(time.Second) // it is on
		if err := c.SetReadDeadline(time.Unix(1, 0)); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || left {
			t.Errorf("its read gave %v; it left: %t", err, left)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}
