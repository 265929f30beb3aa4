package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/text"
)

// Bounds of what is live.
const (
	maxStreams = 256
	lookEvery  = 2 * time.Second        // what another process did is seen so soon
	lookApart  = 150 * time.Millisecond // and however much happens, no more often than that
	beatEvery  = 15 * time.Second       // how soon a stream notices a logout on another instance
	checkEvery = time.Second            // how soon it notices that the person's token is another
)

// live knows what waits for as long as anyone looks, and tells all who do. It
// reads once for all of them.
type live struct {
	*sessions
	kicked chan struct{}
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	streams map[chan struct{}]*looker
	now     *snapshot
	running bool
}

// looker is a login that a stream belongs to, and how it hears that it is over.
type looker struct {
	session string
	out     chan struct{}
}

// snapshot is what waits at one moment. It does not change.
type snapshot struct {
	cards []*approval.Card
	at    time.Time
	stamp string
	index map[string]string // the stamp of each card by its id

	nowStamp, restStamp string
	rest                func() ([]byte, error) // drawn once for all who look
}

func newLive(s *sessions) *live {
	l := &live{sessions: s, kicked: make(chan struct{}, 1), streams: make(map[chan struct{}]*looker)}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// stop ends the watch and all streams, and waits for the watch.
func (l *live) stop() {
	l.mu.Lock()
	l.cancel() // no page joins meanwhile: its watch would not be waited for
	l.mu.Unlock()
	l.wg.Wait()
}

func (l *live) nudge() {
	select {
	case l.kicked <- struct{}{}:
	default: // one is waiting to be seen
	}
}

// join adds someone who looks. The first one starts the watch, and the watch
// ends by itself when no one is left.
func (l *live) join(session string) (changed, out chan struct{}, leave func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.streams) >= maxStreams || l.ctx.Err() != nil {
		return nil, nil, nil, false
	}
	changed, out = make(chan struct{}, 1), make(chan struct{})
	l.streams[changed] = &looker{session, out}
	if !l.running {
		l.running = true
		l.wg.Go(l.watch)
	}
	if l.now != nil {
		changed <- struct{}{}
	}
	return changed, out, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.streams, changed)
		if len(l.streams) == 0 {
			l.now = nil
			l.nudge() // so that the watch sees it
		}
	}, true
}

// end ends the streams of a login.
func (l *live) end(session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.streams {
		if s.session == session && s.out != nil {
			close(s.out)
			s.out = nil
		}
	}
}

// watch reads what waits whenever something happened, and every so often.
func (l *live) watch() {
	defer func() {
		if p := recover(); p != nil {
			l.o.Log.Error("the page's watch ended in a panic", "panic", text.Panic(p))
			l.mu.Lock()
			l.running = false
			l.mu.Unlock()
		}
	}()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for l.wanted() {
		l.look()
		select {
		case <-l.ctx.Done():
		case <-time.After(lookApart):
		}
		select {
		case <-l.ctx.Done():
		case <-l.kicked:
		case <-tick.C:
		}
	}
}

// wanted reports whether anyone looks; if not, the watch is over.
func (l *live) wanted() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = len(l.streams) > 0 && l.ctx.Err() == nil
	return l.running
}

func (l *live) look() {
	ctx, cancel := context.WithTimeout(l.ctx, lookEvery)
	defer cancel()
	cards, now, err := l.o.Desk.Waiting(ctx)
	if err != nil {
		return // the next look may be luckier; a page that is loaded anew says so
	}
	next := newSnapshot(cards, now)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now != nil && l.now.stamp == next.stamp {
		return
	}
	l.now = next
	for changed := range l.streams {
		select {
		case changed <- struct{}{}:
		default: // a change is waiting to be seen
		}
	}
}

func newSnapshot(cards []*approval.Card, now time.Time) *snapshot {
	s := &snapshot{cards: cards, at: now, stamp: digest(cards), index: make(map[string]string, len(cards))}
	for i, c := range cards {
		s.index[c.ID] = digest(cards[i : i+1])
	}
	s.nowStamp, s.restStamp = stamps(cards)
	s.rest = sync.OnceValues(func() ([]byte, error) { return draw("rest", listed(cards, now, nil)) })
	return s
}

func (l *live) latest() *snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// events is the stream of one page: pieces of HTML, each sent when it changes.
func (l *live) events(w http.ResponseWriter, r *http.Request, m *member) {
	changed, out, leave, ok := l.join(m.ID)
	if !ok {
		http.Error(w, "Too many pages are open.", http.StatusServiceUnavailable)
		return
	}
	defer leave()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	s := stream{w: w, rc: http.NewResponseController(w), card: r.URL.Query().Get("card"), me: m}
	s.now, s.rest, _ = strings.Cut(r.URL.Query().Get("seen"), ".") // what the page shows already is not drawn again under a finger
	// Nothing more is read from it; an old deadline would end the request.
	if err := s.rc.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return
	}
	beat, check := time.NewTicker(beatEvery), time.NewTicker(checkEvery)
	defer beat.Stop()
	defer check.Stop()
	over := time.NewTimer(m.Until.Sub(l.o.Now()))
	defer over.Stop()
	err := s.send(": hello\n\n")
	for err == nil {
		select {
		case <-r.Context().Done():
			return
		case <-l.ctx.Done():
			return
		case <-out: // logged out here; elsewhere the next beat sees it
			return
		case <-over.C:
			return
		case <-check.C:
			if !l.valid(r) {
				return
			}
		case <-changed:
			if !l.valid(r) {
				return
			}
			err = s.tell(l.latest())
		case <-beat.C:
			if m, err := l.who(r); err != nil || m == nil {
				return
			}
			err = s.send(": still here\n\n")
		}
	}
}

// stream is one page's connection, and what it has been sent.
type stream struct {
	w         http.ResponseWriter
	rc        *http.ResponseController
	me        *member
	card      string // it shows this one alone
	now, rest string // stamps
}

// tell sends what differs from what the page shows.
func (s *stream) tell(now *snapshot) error {
	if now == nil {
		return nil
	}
	if s.card != "" {
		return s.tellCard(now)
	}
	if now.restStamp != s.rest {
		s.rest = now.restStamp
		html, err := now.rest()
		if err != nil {
			return err
		}
		if err := s.event("rest", html); err != nil {
			return err
		}
	}
	if now.nowStamp == s.now {
		return nil
	}
	s.now = now.nowStamp
	html, err := draw("now", listed(now.cards[:min(1, len(now.cards))], now.at, s.me))
	if err != nil {
		return err
	}
	return s.event("now", html)
}

// tellCard says only that the card is not what it was: the page asks for it.
func (s *stream) tellCard(now *snapshot) error {
	stamp, open := now.index[s.card]
	if !open {
		stamp = "-"
	}
	if stamp == s.now {
		return nil
	}
	s.now = stamp
	return s.send(fmt.Sprintf("id: %s.\nevent: card\ndata: changed\n\n", s.now))
}

func (s *stream) event(name string, html []byte) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "id: %s.%s\nevent: %s\n", s.now, s.rest, name)
	for part := range bytes.Lines(html) {
		b.WriteString("data: ")
		b.Write(bytes.TrimRight(part, "\r\n"))
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	return s.send(b.String())
}

// send writes within bounds of time, so that a phone that went away holds
// nothing up.
func (s *stream) send(text string) error {
	if err := s.rc.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.rc.Flush()
}
