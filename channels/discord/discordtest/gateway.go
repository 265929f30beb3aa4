package discordtest

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gorilla/websocket"
)

// Intents that decide which messages are passed on.
const (
	guildMessages  = 1 << 9
	directMessages = 1 << 12
)

// gate is how the gateway is set, and what it has seen.
type gate struct {
	beat     time.Duration
	sessions map[string]*session
	refuse   int  // hang up with this code after identify; 0: don't
	forget   bool // sessions can't be resumed
	deaf     bool // heartbeats are not answered
	shut     int  // connections that will be turned away
	knocks   int  // connections that were made
	resumed  int
	beats    int
}

// gateway is where clients connect, and get what happens.
type gateway struct {
	*changes
	token string
	gate  gate
}

// session is what a connection can resume.
type session struct {
	id      string
	intents int
	seq     int64
	events  []frame
	conn    *socket // nil: not connected now
}

type frame struct {
	Op   int    `json:"op"`
	Data any    `json:"d"`
	Seq  int64  `json:"s,omitempty"`
	Type string `json:"t,omitempty"`
}

// socket is a connection; several may write to it.
type socket struct {
	*websocket.Conn
	host string // by which it was reached
	mu   sync.Mutex
}

func (c *socket) send(f frame) {
	text, err := json.Marshal(f)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.WriteMessage(websocket.TextMessage, text) //nolint:errcheck // the client may have gone
}

func (c *socket) hangUp(code int) {
	c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second)) //nolint:errcheck // it is over
	c.Close()                                                                                                   //nolint:errcheck // it is over
}

// Refuse makes the gateway hang up with a code after each identify.
func (g *gateway) Refuse(code int) { g.setGate(func(g *gate) { g.refuse = code }) }

// Shut makes the gateway turn the next n connections away before they are made.
func (g *gateway) Shut(n int) { g.setGate(func(g *gate) { g.shut = n }) }

// Forget makes the gateway know no session any more that could be resumed.
func (g *gateway) Forget() { g.setGate(func(g *gate) { g.forget = true }) }

// Deafen makes the gateway answer no heartbeat.
func (g *gateway) Deafen() { g.setGate(func(g *gate) { g.deaf = true }) }

// Beat sets how often the gateway wants to hear from a client.
func (g *gateway) Beat(every time.Duration) { g.setGate(func(g *gate) { g.beat = every }) }

func (g *gateway) setGate(f func(g *gate)) {
	g.Lock()
	defer g.Unlock()
	f(&g.gate)
}

// HangUp ends all connections with a code.
func (g *gateway) HangUp(code int) {
	for _, c := range g.connected() {
		c.hangUp(code)
	}
}

// Order sends an order to all connections: 1 to be heard from, 7 to connect again.
func (g *gateway) Order(op int) {
	for _, c := range g.connected() {
		c.send(frame{Op: op})
	}
}

// Until waits until the gateway has seen so many connections, resumed sessions
// and heartbeats.
func (g *gateway) Until(ctx context.Context, made, resumed, beats int) error {
	return g.Await(ctx, func() bool { return g.gate.knocks >= made && g.gate.resumed >= resumed && g.gate.beats >= beats })
}

func (g *gateway) connected() []*socket {
	g.Lock()
	defer g.Unlock()
	var out []*socket
	for _, x := range g.gate.sessions {
		if x.conn != nil {
			out = append(out, x.conn)
		}
	}
	return out
}

// gatewayBot says where the gateway is: on the way by which it was asked.
func (s *Server) gatewayBot(r *http.Request) (any, *refusal) {
	return map[string]any{
		"url": "ws://" + r.Host + "/gateway/", "shards": 1,
		"session_start_limit": map[string]any{"total": 1000, "remaining": 999, "reset_after": 0, "max_concurrency": 1},
	}, nil
}

func (g *gateway) turnsAway() bool {
	g.Lock()
	defer g.Unlock()
	g.gate.shut--
	return g.gate.shut >= 0
}

// connect serves one connection.
func (g *gateway) connect(w http.ResponseWriter, r *http.Request) {
	if g.turnsAway() {
		http.Error(w, "try again", http.StatusServiceUnavailable)
		return
	}
	conn, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	c := &socket{Conn: conn, host: r.Host}
	defer c.Close() //nolint:errcheck // it is over
	g.Lock()
	g.gate.knocks++
	every := g.gate.beat
	g.Change()
	g.Unlock()
	c.send(frame{Op: 10, Data: map[string]any{"heartbeat_interval": every.Milliseconds()}})
	for {
		var f struct {
			Op   int            `json:"op"`
			Data jsontext.Value `json:"d"`
		}
		_, text, err := conn.ReadMessage()
		if err != nil || json.Unmarshal(text, &f) != nil {
			g.gone(c)
			return
		}
		switch f.Op {
		case 1:
			g.heartbeat(c)
		case 2:
			g.identify(c, f.Data)
		case 6:
			g.resume(c, f.Data)
		}
	}
}

func (g *gateway) heartbeat(c *socket) {
	g.Lock()
	defer g.Unlock()
	g.gate.beats++
	g.Change()
	if !g.gate.deaf {
		c.send(frame{Op: 11})
	}
}

func (g *gateway) gone(c *socket) {
	g.Lock()
	defer g.Unlock()
	for _, x := range g.gate.sessions {
		if x.conn == c {
			x.conn = nil
		}
	}
	g.Change()
}

func (g *gateway) identify(c *socket, data jsontext.Value) {
	var d struct {
		Token   string `json:"token"`
		Intents int    `json:"intents"`
	}
	if json.Unmarshal(data, &d) != nil || strings.TrimPrefix(d.Token, "Bot ") != g.token {
		c.hangUp(4004)
		return
	}
	g.Lock()
	defer g.Unlock()
	if g.gate.refuse != 0 {
		c.hangUp(g.gate.refuse)
		return
	}
	x := &session{id: "session-" + g.id(), intents: d.Intents, conn: c}
	g.gate.sessions[x.id] = x
	x.dispatch("READY", map[string]any{
		"v": 10, "user": botUser(), "guilds": []any{}, "session_id": x.id, "application": map[string]any{"id": BotID, "flags": 0},
		"resume_gateway_url": "ws://" + c.host + "/gateway/resume",
	})
	g.Change()
}

func (g *gateway) resume(c *socket, data jsontext.Value) {
	var d struct {
		Token   string `json:"token"`
		Session string `json:"session_id"`
		Seq     int64  `json:"seq"`
	}
	if json.Unmarshal(data, &d) != nil || strings.TrimPrefix(d.Token, "Bot ") != g.token {
		c.hangUp(4004)
		return
	}
	g.Lock()
	defer g.Unlock()
	x := g.gate.sessions[d.Session]
	if x == nil || g.gate.forget {
		c.send(frame{Op: 9, Data: false})
		return
	}
	x.conn = c
	for _, f := range x.events {
		if f.Seq > d.Seq {
			c.send(f)
		}
	}
	x.dispatch("RESUMED", map[string]any{})
	g.gate.resumed++
	g.Change()
}

// dispatch sends an event, and keeps it for when the session is resumed. The
// server's lock is held.
func (x *session) dispatch(kind string, data any) {
	x.seq++
	f := frame{Op: 0, Type: kind, Seq: x.seq, Data: data}
	x.events = append(x.events, f)
	if x.conn != nil {
		x.conn.send(f)
	}
}

// broadcast sends an event to all sessions that want it. The lock is held.
func (g *gateway) broadcast(kind string, intent int, data any) {
	for _, x := range g.gate.sessions {
		if intent == 0 || x.intents&intent != 0 {
			x.dispatch(kind, data)
		}
	}
}

// listening reports whether anyone is connected. The lock is held.
func (g *gateway) listening() bool {
	for _, x := range g.gate.sessions {
		if x.conn != nil {
			return true
		}
	}
	return false
}
