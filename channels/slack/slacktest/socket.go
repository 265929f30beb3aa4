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

// Refuse makes Slack refuse connections of Socket Mode with an error, or with
// "ratelimited" for a second; "" lets them in again.
func (s *Server) Refuse(word string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = word
}

// openConnection is apps.connections.open.
func (s *Server) openConnection(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	refused := s.refused
	s.mu.Unlock()
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
func (s *Server) link(w http.ResponseWriter, r *http.Request) {
	if !s.begin() {
		return
	}
	defer s.wg.Done()
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
	if !s.connected(c) {
		return
	}
	defer s.disconnected(c)
	defer close(c.gone)
	s.wg.Go(func() { c.ping() })
	for {
		var ack struct {
			EnvelopeID string `json:"envelope_id"`
		}
		if conn.ReadJSON(&ack) != nil {
			return
		}
		s.mu.Lock()
		c.acked[ack.EnvelopeID] = true
		s.change()
		s.mu.Unlock()
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
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.wg.Add(1)
	}
	return !s.closed
}

// connected takes a connection in, unless the server ends and would break it no
// more.
func (s *Server) connected(c *socket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.sockets[c] = true
	s.change()
	return true
}

func (s *Server) disconnected(c *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sockets, c)
	s.change()
}

// Connections is how many connections of Socket Mode there are.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sockets)
}

// Disconnect breaks all connections without a word.
func (s *Server) Disconnect() {
	for _, c := range s.open() {
		c.conn.Close() //nolint:errcheck // it may be closed already
	}
}

// AskToReconnect tells all connections that they will end, as Slack does every
// few hours.
func (s *Server) AskToReconnect() {
	s.Push(map[string]any{"type": "disconnect", "reason": "refresh_requested"})
}

// Push sends something to all connections as it is.
func (s *Server) Push(frame any) {
	for _, c := range s.open() {
		c.send(frame) //nolint:errcheck // whoever has gone has gone
	}
}

func (s *Server) open() []*socket {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*socket
	for c := range s.sockets {
		out = append(out, c)
	}
	return out
}

// Acked reports whether some connection has acknowledged an envelope.
func (s *Server) Acked(ctx context.Context, envelope string) error {
	return s.until(ctx, func() bool {
		for c := range s.sockets {
			if c.acked[envelope] {
				return true
			}
		}
		return false
	})
}

// overSocket gives something to one connection, and to another one if that ends
// before it was acknowledged.
func (s *Server) overSocket(ctx context.Context, kind string, payload any) error {
	for {
		var c *socket
		err := s.until(ctx, func() bool {
			for c = range s.sockets {
				return true
			}
			return false
		})
		if err != nil {
			return err
		}
		s.mu.Lock()
		id := s.id("envelope-")
		s.mu.Unlock()
		if c.send(map[string]any{"type": kind, "envelope_id": id, "payload": payload, "accepts_response_payload": kind == interactive}) == nil && s.waitAck(ctx, c, id) {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// waitAck reports whether an envelope was acknowledged before the connection
// ended.
func (s *Server) waitAck(ctx context.Context, c *socket, id string) bool {
	acked := false
	err := s.until(ctx, func() bool {
		acked = c.acked[id]
		return acked || !s.sockets[c]
	})
	return err == nil && acked
}
