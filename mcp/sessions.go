package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// sessions are clients that reach several servers by one address. Each client has servers of its own.
type sessions struct {
	*front
	ctx     context.Context
	servers []Server

	mu  sync.Mutex
	all map[string]*session
}

// session is one client.
type session struct {
	*many
	ctx context.Context
	end func()

	mu      sync.Mutex
	waiting map[string]*waiting // requests, by their keys
	stream  *answer             // what the servers say by themselves; nil: the client does not listen
	kept    [][]byte            // what they said meanwhile
	used    time.Time
}

// waiting is a request whose answer is to come.
type waiting struct {
	back  *answer
	token string // of the messages about progress that the client wants; "": none
	done  chan struct{}
}

const (
	mostSessions = 64 // each starts servers
	mostKept     = 100
)

// ManyPath is where clients reach several servers.
const ManyPath = "/mcp"

// ManyHTTP is a handler between clients and several servers. end ends all servers.
func ManyHTTP(ctx context.Context, o Options, servers []Server, by Reached) (h http.Handler, end func()) {
	f := &front{gate: &gate{Options: o}, Reached: by, URL: &url.URL{Path: ManyPath}}
	all := &sessions{front: f, ctx: ctx, servers: servers, all: map[string]*session{}}
	return all, all.end
}

func (h *sessions) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all sync.WaitGroup
	for _, s := range h.all {
		all.Go(s.end)
	}
	all.Wait()
}

// ServeHTTP takes one request of a client's.
func (h *sessions) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if !h.enter(w, q) {
		return
	}
	defer h.busy.Add(-1)
	s := h.find(q.Header.Get("Mcp-Session-Id"))
	switch {
	case q.Method == http.MethodPost:
		h.post(w, q, s)
	case q.Method != http.MethodGet && q.Method != http.MethodDelete:
		w.Header().Set("Allow", "GET, POST, DELETE")
		http.Error(w, "Only GET, POST and DELETE are known here.", http.StatusMethodNotAllowed)
	case s == nil:
		http.Error(w, "There is no such session.", http.StatusNotFound)
	case q.Method == http.MethodGet:
		s.listen(w, q)
	default:
		h.drop(q.Header.Get("Mcp-Session-Id"))
	}
}

func (h *sessions) find(id string) *session {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.all[id]
	if s != nil {
		s.used = time.Now()
	}
	return s
}

func (h *sessions) drop(id string) {
	h.mu.Lock()
	s := h.all[id]
	delete(h.all, id)
	h.mu.Unlock()
	if s != nil {
		s.end()
	}
}

// forget ends the session that was used the longest time ago, of those whose client waits for nothing: it may have gone
// without a word.
func (h *sessions) forget() bool {
	oldest := ""
	for id, s := range h.all {
		if !s.busy() && (oldest == "" || s.used.Before(h.all[oldest].used)) {
			oldest = id
		}
	}
	if oldest == "" {
		return false
	}
	go h.all[oldest].end()
	delete(h.all, oldest)
	return true
}

func (s *session) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stream != nil || len(s.waiting) > 0
}

// begin starts servers for a new client.
func (h *sessions) begin() (id string, s *session, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.all) >= mostSessions && !h.forget() {
		return "", nil, errors.New("too many clients are here")
	}
	s = &session{waiting: map[string]*waiting{}, used: time.Now()}
	if s.many, err = newMany(h.Options, s, h.servers); err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(h.ctx)
	s.ctx, s.end = ctx, func() { cancel(); s.many.end() }
	s.start(ctx)
	id = rand.Text()
	h.all[id] = s
	return id, s, nil
}

// post takes one message of a client's.
func (h *sessions) post(w http.ResponseWriter, q *http.Request, s *session) {
	back := &answer{w: w, streams: strings.Contains(strings.Join(q.Header["Accept"], ","), "text/event-stream")}
	refuse := func(status int, no *refusal) { back.whole(status, nil, no.text()) }
	text, status, words := body(w, q)
	if status != 0 {
		refuse(status, &refusal{nil, codeInvalid, errors.New(words)})
		return
	}
	m, err := decode(text, false)
	if err != nil {
		refuse(http.StatusBadRequest, &refusal{idOf(text), codeInvalid, err})
		return
	}
	if no := h.mirrored(q.Header, &m); no != nil {
		refuse(http.StatusBadRequest, no)
		return
	}
	if m.method == "initialize" && m.isRequest() && q.Header.Get("Mcp-Session-Id") == "" {
		var id string
		if id, s, err = h.begin(); err != nil {
			refuse(http.StatusServiceUnavailable, &refusal{m.id, codeGone, err})
			return
		}
		w.Header().Set("Mcp-Session-Id", id)
	}
	switch {
	case s == nil:
		refuse(http.StatusNotFound, &refusal{m.id, codeGone, errors.New("there is no such session")})
	case !m.isRequest():
		s.fromClient(s.ctx, text) //nolint:errcheck // what is refused is logged
		s.cancelled(&m)
		w.WriteHeader(http.StatusAccepted)
	default:
		s.request(q, &m, back)
	}
}

// request takes a request and waits for its answer. A call that is held is dropped if the client goes.
func (s *session) request(q *http.Request, m *message, back *answer) {
	defer back.close()
	r := &waiting{back: back, token: tokenOf(m), done: make(chan struct{})}
	s.mu.Lock()
	twice := s.waiting[m.key] != nil
	if !twice {
		s.waiting[m.key] = r
	}
	s.mu.Unlock()
	if twice {
		back.whole(http.StatusBadRequest, nil, (&refusal{m.id, codeInvalid, errors.New("another request with this id is still open")}).text())
		return
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.waiting, m.key)
	}()
	if s.fromClient(q.Context(), m.text) != nil {
		return
	}
	tick := time.NewTicker(awake)
	defer tick.Stop()
	for {
		select {
		case <-r.done:
			return
		case <-tick.C:
			if back.awake() != nil {
				return
			}
		case <-q.Context().Done():
			return
		case <-s.ctx.Done():
			return
		}
	}
}

// cancelled ends a request that its client has cancelled: no answer comes to it any more.
func (s *session) cancelled(m *message) {
	all, err := members(m.params, nil)
	key, ok := keyOf(all["requestId"])
	if m.method != "notifications/cancelled" || err != nil || !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.waiting[key]; r != nil {
		delete(s.waiting, key)
		r.back.whole(http.StatusOK, nil, (&refusal{all["requestId"], codeGone, errors.New("the request was cancelled")}).text())
		close(r.done)
	}
}

// tokenOf is the token of the messages about progress that a client wants.
func tokenOf(m *message) string {
	all, err := members(m.params, nil)
	if err != nil {
		return ""
	}
	meta, err := members(all["_meta"], nil)
	if err != nil {
		return ""
	}
	key, _ := keyOf(meta["progressToken"])
	return key
}

func (*session) awake() error { return nil }

// send gives the client a message: an answer where it waits for it, and anything else where it listens.
func (s *session) send(text []byte) error {
	m, err := decode(text, true)
	if err != nil {
		return nil // the gates pass on none that can't be read
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.isAnswer() {
		if r := s.waiting[m.key]; r != nil {
			delete(s.waiting, m.key)
			r.back.whole(http.StatusOK, nil, text)
			close(r.done)
		}
		return nil
	}
	if m.method == "notifications/progress" {
		all, err := members(m.params, nil)
		key, ok := keyOf(all["progressToken"])
		for _, r := range s.waiting {
			if err == nil && ok && r.token == key {
				return r.back.send(text)
			}
		}
	}
	if s.stream != nil && s.stream.send(text) == nil {
		return nil
	}
	for _, r := range s.waiting {
		if r.back.streams && r.back.send(text) == nil {
			return nil
		}
	}
	if len(s.kept) < mostKept {
		s.kept = append(s.kept, text)
	}
	return nil
}

// listen gives the client what the servers say by themselves.
func (s *session) listen(w http.ResponseWriter, q *http.Request) {
	back := &answer{w: w, streams: true}
	defer back.close()
	if back.begin(nil) != nil {
		return
	}
	s.mu.Lock()
	s.stream = back
	for _, text := range s.kept {
		back.send(text) //nolint:errcheck // the client sees that it ends
	}
	s.kept = nil
	s.mu.Unlock()
	select {
	case <-q.Context().Done():
	case <-s.ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == back {
		s.stream = nil
	}
}
