package server

import (
	"net"
	"net/http"
	"sync"
)

// fresh are the connections that have not asked for anything yet. Browsers open
// some in advance; a server that ends would wait seconds for each.
type fresh struct{ conns sync.Map }

// follow gets every change of a connection, for each call twice.
func (f *fresh) follow(c net.Conn, state http.ConnState) {
	if state == http.StateNew {
		f.conns.Store(c, nil)
		return
	}
	if state != http.StateIdle {
		f.conns.Delete(c)
	}
}

// close ends those that still ask for nothing.
func (f *fresh) close() {
	f.conns.Range(func(c, _ any) bool {
		if conn, ok := c.(net.Conn); ok {
			conn.Close() //nolint:errcheck // no caller waits for it
		}
		return true
	})
}
