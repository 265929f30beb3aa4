package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gorilla/websocket"

	"github.com/openclaw-verifier/verifier/channels/delivery"
)

// What goes over the gateway:
// https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opResume         = 6
	opReconnect      = 7
	opInvalidSession = 9
	opHello          = 10
)

// Times and limits of a connection.
const (
	gatewayVersion = "10"
	greeting       = 10 * time.Second // for each step until Discord says that it is ready
	writeTimeout   = 5 * time.Second
	steady         = time.Minute // a connection that lasted so long is replaced without a word
	maxFrame       = 8 << 20     // bytes
	resumeTries    = 3           // of a session, before another one is begun
	longestBeat    = 5 * time.Minute
)

// noes are the ends of a connection after which Discord asks not to come back.
var noes = map[int]string{
	4004: wrongToken,
	4010: "Discord does not take this connection (invalid shard)",
	4011: "the bot is in too many servers for one connection: give verifier a bot of its own",
	4012: "Discord no longer speaks version " + gatewayVersion + " of its gateway: update verifier",
	4013: "Discord does not know these intents: update verifier",
	4014: "Discord does not grant the bot its intents: look in the Developer Portal under Bot, Privileged Gateway Intents, whether the bot was restricted",
}

// forgotten are the ends after which there is no session to resume.
var forgotten = []int{4003, 4007, 4009}

// frame is one message of the gateway.
type frame struct {
	Op   int            `json:"op"`
	Data jsontext.Value `json:"d,omitempty"`
	Seq  int64          `json:"s,omitempty"`
	Type string         `json:"t,omitempty"`
}

// session is what Discord remembers us by: with it, nothing is lost when the
// connection is.
type session struct {
	id, url string
	seq     int64
	tries   int // to resume it, in a row
}

// connect listens at the gateway, where no other instance does, until ctx ends
// or a connection is lost that has not held for long.
func (ch *Channel) connect(ctx context.Context) error {
	return ch.Lead(ctx, Name+":"+ch.self, func(ctx context.Context) error {
		app, err := ch.application(ctx)
		if err != nil {
			return err
		}
		if err := elsewhere(app); err != nil {
			return err
		}
		for {
			began := time.Now()
			err := ch.converse(ctx)
			if ctx.Err() != nil {
				return nil //nolint:nilerr // it was ended, not lost
			}
			if _, no := errors.AsType[*refusal](err); no || time.Since(began) < steady {
				return err
			}
			ch.Log.Info("the connection to Discord was lost and is made again", "err", err)
			delivery.Sleep(ctx, delivery.Backoff(0, time.Second, time.Second))
		}
	})
}

// converse makes one connection and works on what comes in, until it is lost.
func (ch *Channel) converse(ctx context.Context) error {
	conn, err := ch.dial(ctx)
	if err != nil {
		return err
	}
	var ends sync.WaitGroup
	defer ends.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c := &connection{ch: ch, conn: conn, session: &ch.session}
	ends.Go(func() {
		<-ctx.Done()
		c.close()
	})
	every, err := c.greet()
	if err != nil {
		return c.farewell(err)
	}
	ends.Go(func() { c.beat(ctx, every) })
	return c.farewell(c.read(ctx, every))
}

// farewell says why a connection has ended.
func (c *connection) farewell(err error) error {
	if end, ok := errors.AsType[*websocket.CloseError](err); ok {
		if no, known := noes[end.Code]; known {
			return &refusal{fmt.Sprintf("%s (%d)", no, end.Code)}
		}
		if slices.Contains(forgotten, end.Code) {
			c.know(func(s *session) { *s = session{} })
		}
	}
	return c.ch.clean("listen", err)
}

// dial opens the connection: to where the session can be resumed, or to where
// Discord sends us.
func (ch *Channel) dial(ctx context.Context) (*websocket.Conn, error) {
	if ch.session.tries++; ch.session.tries > resumeTries {
		ch.session = session{} // another address may answer
	}
	at := ch.session.url
	if ch.session.id == "" {
		var err error
		if at, err = ch.gatewayURL(ctx); err != nil {
			return nil, err
		}
	}
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || u.Scheme != "wss" && (u.Scheme != "ws" || !strings.HasPrefix(ch.config.APIURL, "http:")) {
		return nil, fmt.Errorf("discord: the gateway's address is no encrypted one: %.100q", at)
	}
	u.RawQuery = url.Values{"v": {gatewayVersion}, "encoding": {"json"}}.Encode()
	dialer := &websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: greeting}
	conn, res, err := dialer.DialContext(ctx, u.String(), http.Header{"User-Agent": {userAgent}})
	if res != nil {
		res.Body.Close()
	}
	if err != nil {
		return nil, ch.clean("connect to the gateway", err)
	}
	conn.SetReadLimit(maxFrame)
	return conn, nil
}

func (ch *Channel) gatewayURL(ctx context.Context) (string, error) {
	var gate *discordgo.GatewayBotResponse
	err := ch.call(ctx, ch.Taps, "gateway", "ask for the gateway", func(s *discordgo.Session, with discordgo.RequestOption) (err error) {
		gate, err = s.GatewayBot(with)
		return err
	})
	if statusOf(err) == http.StatusUnauthorized {
		return "", &refusal{wrongToken}
	}
	if err != nil {
		return "", err
	}
	if left := gate.SessionStartLimit; left.Total > 0 && left.Remaining == 0 {
		return "", fmt.Errorf("discord: the bot has connected too often; Discord lets it in again in %s", time.Duration(left.ResetAfter)*time.Millisecond)
	}
	return gate.URL, nil
}

// connection is a connection to the gateway.
type connection struct {
	ch      *Channel
	conn    *websocket.Conn
	writing sync.Mutex // one at a time

	mu      sync.Mutex
	session *session
}

// know changes or reads the session.
func (c *connection) know(f func(s *session)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(c.session)
}

// close ends the connection; Discord keeps the session for a while.
func (c *connection) close() {
	const goingAway = 4000                                                                                                 // with 1000 or 1001 Discord would drop the session
	c.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(goingAway, ""), time.Now().Add(writeTimeout)) //nolint:errcheck // Discord may have gone
	c.conn.Close()                                                                                                         //nolint:errcheck // it is over
}

func (c *connection) write(op int, data any) error {
	text, err := json.Marshal(map[string]any{"op": op, "d": data})
	if err != nil {
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	return c.conn.WriteMessage(websocket.TextMessage, text)
}

func (c *connection) next(within time.Duration) (f frame, err error) {
	if err := c.conn.SetReadDeadline(time.Now().Add(within)); err != nil {
		return f, err
	}
	_, text, err := c.conn.ReadMessage()
	if err != nil {
		return f, err
	}
	if json.Unmarshal(text, &f) != nil {
		return f, discordgo.ErrJSONUnmarshal
	}
	return f, nil
}

// greet says who we are, and gives how often Discord wants to hear from us.
func (c *connection) greet() (every time.Duration, err error) {
	f, err := c.next(greeting)
	if err != nil {
		return 0, err
	}
	var hello struct {
		Every int64 `json:"heartbeat_interval"`
	}
	if f.Op != opHello || json.Unmarshal(f.Data, &hello) != nil || hello.Every <= 0 || hello.Every > longestBeat.Milliseconds() {
		return 0, errors.New("the gateway did not say hello as Discord does")
	}
	if s := *c.session; s.id != "" { // no other goroutine has the connection yet
		err = c.write(opResume, map[string]any{"token": c.ch.token, "session_id": s.id, "seq": s.seq})
	} else {
		err = c.write(opIdentify, map[string]any{
			"token": c.ch.token, "intents": c.ch.intents(),
			"properties": map[string]string{"os": runtime.GOOS, "browser": "verifier", "device": "verifier"},
		})
	}
	return time.Duration(hello.Every) * time.Millisecond, err
}

// intents are what we want to hear of, besides taps: lines in direct messages
// and, where cards go to a channel, replies there. None of them is privileged.
func (ch *Channel) intents() discordgo.Intent {
	if ch.config.ChannelID != "" {
		return discordgo.IntentDirectMessages | discordgo.IntentGuildMessages
	}
	return discordgo.IntentDirectMessages
}

// beat tells Discord that we are there, until ctx ends. The first time is soon,
// and not for all at the same moment.
func (c *connection) beat(ctx context.Context, every time.Duration) {
	wait := delivery.Backoff(0, every, every)
	for delivery.Sleep(ctx, wait) {
		if c.heartbeat() != nil {
			return // the reader sees it too
		}
		wait = every
	}
}

func (c *connection) heartbeat() error {
	var seq int64
	c.know(func(s *session) { seq = s.seq })
	return c.write(opHeartbeat, seq)
}

// read works on what comes in. Each beat of ours is answered: where nothing comes
// for longer than that, the connection is dead.
func (c *connection) read(ctx context.Context, every time.Duration) error {
	within := greeting
	for {
		f, err := c.next(within)
		if err != nil {
			return err
		}
		switch f.Op {
		case opDispatch:
			c.know(func(s *session) { s.seq = f.Seq })
			if f.Type == "READY" || f.Type == "RESUMED" {
				within = 2 * every
			}
			err = c.dispatch(ctx, &f)
		case opHeartbeat:
			err = c.heartbeat()
		case opReconnect:
			err = errors.New("the gateway wants us to connect again")
		case opInvalidSession:
			var resumable bool
			if json.Unmarshal(f.Data, &resumable) != nil || !resumable {
				c.know(func(s *session) { *s = session{} })
			}
			err = errors.New("the gateway has forgotten the session")
		}
		if err != nil {
			return err
		}
	}
}

// dispatch works on an event.
func (c *connection) dispatch(ctx context.Context, f *frame) error {
	switch f.Type {
	case "READY":
		var ready struct {
			Session string `json:"session_id"`
			URL     string `json:"resume_gateway_url"`
		}
		if json.Unmarshal(f.Data, &ready) != nil {
			return discordgo.ErrJSONUnmarshal
		}
		c.know(func(s *session) { s.id, s.url, s.tries = ready.Session, ready.URL, 0 })
		c.ch.heard()
	case "RESUMED":
		c.know(func(s *session) { s.tries = 0 })
		c.ch.heard()
	case "INTERACTION_CREATE":
		var i discordgo.Interaction
		if json.Unmarshal(f.Data, &i) == nil {
			c.ch.Listener.Take(ctx, func(ctx context.Context, answer delivery.AnswerFunc) { c.ch.interaction(ctx, answer, &i) })
		} else {
			c.ch.Log.Warn("a tap could not be read")
		}
	case "MESSAGE_CREATE":
		var m discordgo.Message
		if json.Unmarshal(f.Data, &m) == nil && person(&m) && c.ch.toUs(&m) {
			c.ch.Listener.Take(ctx, func(ctx context.Context, answer delivery.AnswerFunc) { c.ch.typed(ctx, answer, &m) })
		}
	}
	return nil
}
