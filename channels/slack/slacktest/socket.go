package slacktest

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// socket is a connection of Socket Mode.
type socket struct {
	conn  *websocket.Conn
	write sync.Mutex
	gone  chan struct{}
	acked map[string]bool // under the server's lock
}

func (c *socket) send(v any) error {
	c.write.Lock()
	defer c.write.Unlock()
	return c.conn.WriteJSON(v)
}

// sockets are the connections of Socket Mode.
type sockets struct {
	*changes
	open    map[*socket]bool
	wg      sync.WaitGroup
	closed  bool   // no further connection is taken in
	refused string // how Slack refuses a connection; "" if it does not
}

// Refuse makes Slack refuse connections of Socket Mode with an error, or with
// "ratelimited" for a second; "" lets them in again.
func (k *sockets) Refuse(word string) {
	k.Lock()
	defer k.Unlock()
	k.refused = word
}

// openConnection is apps.connections.open.
func (s *Server) openConnection(w http.ResponseWriter, r *http.Request) {
	s.Lock()
	refused := s.refused
	s.Unlock()
	switch token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); {
	case refused == "ratelimited":
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
	case refused != "":
		respond(w, bad(refused))
	case token == s.BotToken:
		respond(w, bad("not_allowed_token_type"))
	case token != s.AppToken:
		respond(w, bad("invalid_auth"))
	default:
		respond(w, answer{"ok": true, "url": "ws://" + r.Host + "/link?ticket=t"})
	}
}

const pingEvery = 10 * time.Second

// link is the other end of a connection.
func (k *sockets) link(w http.ResponseWriter, r *http.Request) {
	if !k.begin() {
		return
	}
	defer k.wg.Done()
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }} // the library says it is api.slack.com
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	c := &socket{conn: conn, gone: make(chan struct{}), acked: make(map[string]bool)}
	defer conn.Close() //nolint:errcheck // it may be closed already
	if conn.WriteControl(websocket.PingMessage, []byte("1"), time.Now().Add(time.Second)) != nil ||
		c.send(map[string]any{"type": "hello", "num_connections": 1, "connection_info": map[string]any{"app_id": AppID}}) != nil {
		return
	}
	if !k.connected(c) {
		return
	}
	defer k.disconnected(c)
	defer close(c.gone)
	k.wg.Go(func() { c.ping() })
	for {
		var ack struct {
			EnvelopeID string `json:"envelope_id"`
		}
		if conn.ReadJSON(&ack) != nil {
			return
		}
		k.Lock()
		c.acked[ack.EnvelopeID] = true
		k.Change()
		k.Unlock()
	}
}

func (c *socket) ping() {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-c.gone:
			return
		case now := <-tick.C:
			if c.conn.WriteControl(websocket.PingMessage, []byte("1"), now.Add(time.Second)) != nil {
				return
			}
		}
	}
}

// begin makes Close wait for a connection: once it is a websocket's, the HTTP
// server does not. It reports false where Close was called already.
func (k *sockets) begin() bool {
	k.Lock()
	defer k.Unlock()
	if !k.closed {
		k.wg.Add(1)
	}
	return !k.closed
}

// connected takes a connection in, unless the server ends and would break it no
// more.
func (k *sockets) connected(c *socket) bool {
	k.Lock()
	defer k.Unlock()
	if k.closed {
		return false
	}
	k.open[c] = true
	k.Change()
	return true
}

func (k *sockets) disconnected(c *socket) {
	k.Lock()
	defer k.Unlock()
	delete(k.open, c)
	k.Change()
}

// Connections is how many connections of Socket Mode there are.
func (k *sockets) Connections() int {
	k.Lock()
	defer k.Unlock()
	return len(k.open)
}

// Disconnect breaks all connections without a word.
func (k *sockets) Disconnect() {
	for _, c := range k.all() {
		c.conn.Close() //nolint:errcheck // it may be closed already
	}
}

// AskToReconnect tells all connections that they will end, as Slack does every
// few hours.
func (k *sockets) AskToReconnect() {
	k.Push(map[string]any{"type": "disconnect", "reason": "refresh_requested"})
}

// Push sends something to all connections as it is.
func (k *sockets) Push(frame any) {
	for _, c := range k.all() {
		c.send(frame) //nolint:errcheck // the client may have gone
	}
}

func (k *sockets) all() []*socket {
	k.Lock()
	defer k.Unlock()
	var out []*socket
	for c := range k.open {
		out = append(out, c)
	}
	return out
}

// Acked reports whether some connection has acknowledged an envelope.
func (k *sockets) Acked(ctx context.Context, envelope string) error {
	return k.Await(ctx, func() bool {
		for c := range k.open {
			if c.acked[envelope] {
				return true
			}
		}
		return false
	})
}

// overSocket gives something to one connection, and to another one if that ends
// before it was acknowledged.
func (k *sockets) overSocket(ctx context.Context, kind string, payload any) error {
	for {
		var c *socket
		err := k.Await(ctx, func() bool {
			for c = range k.open {
				return true
			}
			return false
		})
		if err != nil {
			return err
		}
		k.Lock()
		id := k.id("envelope-")
		k.Unlock()
		if c.send(map[string]any{"type": kind, "envelope_id": id, "payload": payload, "accepts_response_payload": kind == interactive}) == nil && k.waitAck(ctx, c, id) {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// waitAck reports whether an envelope was acknowledged before the connection
// ended.
func (k *sockets) waitAck(ctx context.Context, c *socket, id string) bool {
	acked := false
	err := k.Await(ctx, func() bool {
		acked = c.acked[id]
		return acked || !k.open[c]
	})
	return err == nil && acked
}
