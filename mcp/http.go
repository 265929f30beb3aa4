package mcp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Reached says how clients reach a gate that listens.
type Reached struct {
	// Host reports whether clients may reach it by this name, as in the header Host.
	Host func(host string) bool
	// TLS: by https.
	TLS bool
}

// CheckURL reports whether a server may be reached by this address. What is sent there holds the client's authorization.
func CheckURL(u *url.URL) error {
	switch ip := net.ParseIP(u.Hostname()); {
	case u.Hostname() == "" || u.User != nil || u.Fragment != "":
		return errors.New("the address of a server is https://host/path, without a user")
	case u.Scheme == "https":
	case u.Scheme != "http" || u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()):
		return errors.New("a server on another machine is reached by https only")
	}
	return nil
}

// front is the gate between clients and a server that is reached by an address (streamable HTTP).
type front struct {
	*gate
	Reached
	URL      *url.URL // the server's. The path at which the gate listens is the same
	upstream http.RoundTripper
	busy     atomic.Int32

	mu        sync.Mutex
	peers     map[string]*peer // by session, or by who they are where they have none
	listening map[*answer]bool // the streams of what the server says by itself
}

const (
	mostPeers    = 1024 // clients that are known at once
	mostRequests = 4096 // what is open at once
)

// HTTP is a handler between clients and a server that is reached by an address.
func HTTP(o Options, server *url.URL, by Reached) http.Handler {
	f := &front{gate: &gate{Options: o}, Reached: by, URL: server, upstream: newTransport(), peers: map[string]*peer{}, listening: map[*answer]bool{}}
	f.announce = f.tellListeners
	return f
}

func newTransport() *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext, TLSHandshakeTimeout: 10 * time.Second,
		DisableCompression: true, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10,
	}
}

// ServeHTTP takes one request of a client's.
func (f *front) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if !f.enter(w, q) {
		return
	}
	defer f.busy.Add(-1)
	switch q.Method {
	case http.MethodPost:
		f.post(w, q)
	case http.MethodGet:
		f.listen(w, q)
	case http.MethodDelete:
		f.leave(w, q)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		http.Error(w, "Only GET, POST and DELETE are known here.", http.StatusMethodNotAllowed)
	}
}

// enter reports whether a request is for this gate and there is room for it. Otherwise it answers. The caller takes one
// off busy at the end.
func (f *front) enter(w http.ResponseWriter, q *http.Request) bool {
	if status, words := f.misdirected(q); status != 0 {
		f.logf("A request was refused: %s", words)
		http.Error(w, words, status)
		return false
	}
	if f.busy.Add(1) > mostRequests {
		f.busy.Add(-1)
		http.Error(w, "Too many requests are open.", http.StatusServiceUnavailable)
		return false
	}
	return true
}

// once are headers that must not be there twice: two programs could take different ones.
var once = []string{"Authorization", "Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Last-Event-Id", "Content-Type", "Origin"}

// misdirected says why a request is not for this gate: a page in a browser that reaches it by another name, for example.
func (f *front) misdirected(q *http.Request) (status int, words string) {
	scheme := "http://"
	if f.TLS {
		scheme = "https://"
	}
	origin, given := q.Header["Origin"]
	switch {
	case !f.Host(q.Host):
		return http.StatusMisdirectedRequest, "The verifier is not reached by this name."
	case given && (len(origin) != 1 || !strings.HasPrefix(origin[0], scheme) || !f.Host(strings.TrimPrefix(origin[0], scheme))):
		return http.StatusForbidden, "Pages of other origins may not call tools."
	case fromPage(q.Header["Sec-Fetch-Site"]):
		return http.StatusForbidden, "Pages of other sites may not listen to servers."
	case q.URL.Path != cmp.Or(f.URL.Path, "/") || q.URL.RawQuery != "":
		return http.StatusNotFound, "There is nothing here. The path is that of the server's address."
	}
	for _, name := range once {
		if len(q.Header[name]) > 1 {
			return http.StatusBadRequest, "A header is there twice."
		}
	}
	return 0, ""
}

// fromPage reports whether a browser says that a page of another site makes the request: with a plain GET it sends no Origin.
func fromPage(site []string) bool {
	return slices.ContainsFunc(site, func(v string) bool { return v != "same-origin" && v != "none" })
}

// peer is the client that a request comes from. Those without a session are distinguished by address and headers.
func (f *front) peer(q *http.Request) *peer {
	session := q.Header.Get("Mcp-Session-Id")
	key := "session " + session
	if session == "" {
		host, _, _ := net.SplitHostPort(q.RemoteAddr)
		key = "alone " + digest([]byte(host), lasting(q.Header))
	}
	return f.peerOf(key, session == "")
}

func (f *front) peerOf(key string, shared bool) *peer {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.peers[key]
	if p != nil {
		return p
	}
	if len(f.peers) >= mostPeers {
		for key, old := range f.peers {
			if old.idle() {
				delete(f.peers, key)
			}
		}
	}
	p = f.newPeer(shared)
	if len(f.peers) < mostPeers { // else nothing can cancel its calls, or take up their answers later
		f.peers[key] = p
	}
	return p
}

// exchange is one message of a client's, and the answer to it.
type exchange struct {
	*front
	q    *http.Request
	m    message
	p    *peer
	r    *request // nil: it is a notification or an answer
	back *answer
}

// post takes one message of a client's.
func (f *front) post(w http.ResponseWriter, q *http.Request) {
	back := &answer{w: w, streams: strings.Contains(strings.Join(q.Header["Accept"], ","), "text/event-stream")}
	text, status, words := body(w, q)
	if status != 0 {
		back.whole(status, nil, (&refusal{nil, codeInvalid, errors.New(words)}).text())
		return
	}
	m, c, no := f.read(text)
	if no == nil {
		no = f.mirrored(q.Header, &m)
	}
	if no != nil {
		back.whole(http.StatusBadRequest, nil, no.text())
		return
	}
	x := &exchange{front: f, q: q, m: m, p: f.peer(q), back: back}
	switch {
	case m.method == "notifications/cancelled":
		given, known := x.p.cancel(m.params)
		if known && len(given) == 0 {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		for _, r := range given {
			x.after(r)
		}
		x.forward(func() {})
	case !m.isRequest():
		x.forward(func() {})
	default:
		x.request(c)
	}
}

// body is the message that a client sends.
func body(w http.ResponseWriter, q *http.Request) (text []byte, status int, words string) {
	kind, params, err := mime.ParseMediaType(q.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" || params["charset"] != "" && !strings.EqualFold(params["charset"], "utf-8") || q.Header.Get("Content-Encoding") != "" {
		return nil, http.StatusUnsupportedMediaType, "a message is application/json in UTF-8, and not packed"
	}
	text, err = io.ReadAll(http.MaxBytesReader(w, q.Body, maxMessage))
	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		return nil, http.StatusRequestEntityTooLarge, errTooLong.Error()
	} else if err != nil {
		return nil, http.StatusBadRequest, "the message could not be read"
	}
	return bytes.TrimRight(text, "\r\n"), 0, ""
}

// after waits until the server has the call that is cancelled: the cancellation must not come first.
func (x *exchange) after(r *request) {
	select {
	case <-r.given:
	case <-x.q.Context().Done():
	}
}

// request takes a request: a call is judged first.
func (x *exchange) request(c *call) {
	r := x.p.asked(&x.m, c, x.back)
	x.r, r.given = r, make(chan struct{})
	gave := sync.OnceFunc(func() { close(r.given) })
	defer gave()
	ctx, drop := context.WithCancel(x.q.Context())
	defer drop()
	if c != nil {
		r.drop, r.edits = drop, !c.request
	}
	if no := x.p.admit(r); no != nil {
		x.back.whole(http.StatusBadRequest, nil, no.text())
		return
	}
	defer func() { x.p.lose(r); x.back.close() }()
	if c != nil {
		words := x.p.judge(ctx, r, c)
		if words == "" && r.edited != nil {
			words = x.edit()
		}
		if words != "" && x.p.done(r) {
			x.back.whole(http.StatusOK, nil, denied(r, words))
			return
		}
		if x.q.Context().Err() != nil || !x.p.release(r) { // its client has gone, or has cancelled it
			x.p.done(r)
			x.back.whole(http.StatusOK, nil, denied(r, "The call was cancelled before it was allowed. Nothing was run."))
			return
		}
	}
	x.forward(gave)
}

// edit makes the message that of the call which the owner lets run instead, and so the headers that repeat its arguments.
func (x *exchange) edit() (words string) {
	text, err := x.m.withArguments(x.r.edited)
	if err == nil {
		x.m, err = decode(text, false)
	}
	if err != nil {
		return "The verifier failed. Nothing was run."
	}
	x.q = x.q.Clone(x.q.Context())
	x.remirror(x.q.Header, &x.m)
	return ""
}

// lose notes that the answer to a request can only come on another connection.
func (p *peer) lose(r *request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.lost = true
}

// leave drops what is held: the client has ended its session.
func (p *peer) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	for r := range p.pending {
		if r.drop != nil {
			r.drop()
		}
	}
}

// idle reports whether nothing waits for an answer on a connection.
func (p *peer) idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for r := range p.pending {
		if !r.lost {
			return false
		}
	}
	return true
}

// forward sends the message to the server, and its answer to the client.
func (x *exchange) forward(gave func()) {
	var reached atomic.Bool
	ctx := httptrace.WithClientTrace(x.q.Context(), &httptrace.ClientTrace{
		GotConn:      func(httptrace.GotConnInfo) { reached.Store(true) },
		WroteRequest: func(httptrace.WroteRequestInfo) { gave() },
	})
	res, err := x.reach(ctx, http.MethodPost, x.q.Header, x.m.text)
	gave()
	if err != nil {
		x.logf("The server of tools can't be reached.")
		x.fail(http.StatusBadGateway, "The server of tools can't be reached.", !reached.Load())
		return
	}
	defer res.Body.Close()
	x.answer(ctx, res)
}

// fail ends the exchange with words.
func (x *exchange) fail(status int, words string, never bool) {
	switch {
	case x.r == nil:
		x.back.whole(status, nil, (&refusal{nil, codeGone, errors.New(words)}).text())
	case !x.p.done(x.r): // it was cancelled meanwhile
		x.back.begin(nil) //nolint:errcheck // it ends here
	case x.r.method != "tools/call":
		x.back.whole(status, nil, (&refusal{x.r.id, codeGone, errors.New(words)}).text())
	case never:
		x.back.whole(http.StatusOK, nil, denied(x.r, words+" Nothing was run."))
	default:
		x.back.whole(http.StatusOK, nil, denied(x.r, words+" The call may have run."))
	}
}

// reach sends a request to the server. It follows no redirect.
func (f *front) reach(ctx context.Context, method string, header http.Header, text []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, f.URL.String(), bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.GetBody = nil // it is sent once
	req.Header = passedOn(header)
	if text == nil {
		req.Body, req.ContentLength = http.NoBody, 0
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	return f.upstream.RoundTrip(req)
}

// answer passes on what the server answers.
func (x *exchange) answer(ctx context.Context, res *http.Response) {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	header := returned(res.Header, x.URL)
	if session := header.Get("Mcp-Session-Id"); x.m.method == "initialize" && session != "" && res.StatusCode == http.StatusOK {
		x.peerOf("session "+session, false).meet(x.m.params)
	}
	switch {
	case res.StatusCode >= 300 && res.StatusCode < 400:
		x.logf("The server of tools answers with a redirect, which is refused.")
		x.fail(http.StatusBadGateway, "The server of tools sends its clients to another address, which the verifier refuses.", false)
	case res.Header.Get("Content-Encoding") != "":
		x.fail(http.StatusBadGateway, "The server's answer is packed, so it can't be read.", false)
	case res.StatusCode == http.StatusOK && kind == "text/event-stream":
		x.stream(ctx, res.Body, header)
	case kind == "application/json":
		x.message(ctx, res, header)
	case x.r == nil && res.StatusCode < 300:
		maps.Copy(x.back.w.Header(), header)
		x.back.w.WriteHeader(res.StatusCode)
	case res.StatusCode < 300:
		x.fail(http.StatusBadGateway, "The server's answer can't be read.", false)
	default:
		x.failed(res.StatusCode, header)
	}
}

// failed passes on that the server has refused the request itself: it wants another authorization, or the session is over.
// What it says in words is not passed on.
func (x *exchange) failed(status int, header http.Header) {
	if x.r != nil && !x.p.done(x.r) {
		x.back.begin(nil) //nolint:errcheck // it ends here
		return
	}
	no := &refusal{nil, codeGone, errors.New("the server of tools answers with the status " + http.StatusText(status))}
	if x.r != nil {
		no.id = x.r.id
	}
	x.back.whole(status, header, no.text())
}

// message passes on an answer that is one message.
func (x *exchange) message(ctx context.Context, res *http.Response, header http.Header) {
	text, err := io.ReadAll(io.LimitReader(res.Body, maxMessage+1))
	if err != nil || len(text) > maxMessage {
		x.fail(http.StatusBadGateway, "The server's answer could not be read.", false)
		return
	}
	toClient, _ := x.p.fromServer(ctx, oneLine(text), x.take)
	switch {
	case toClient != nil && (x.r == nil || !x.p.has(x.r)):
		x.back.whole(res.StatusCode, header, toClient)
	case res.StatusCode >= 300:
		x.failed(res.StatusCode, header)
	case x.r == nil:
		x.back.w.WriteHeader(http.StatusAccepted)
	default:
		x.fail(http.StatusBadGateway, "The server's answer can't be read.", false)
	}
}

// oneLine is a JSON text in one line: ends of lines are spaces between its parts.
func oneLine(text []byte) []byte {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	for i, c := range text {
		if c == '\r' || c == '\n' {
			text[i] = ' '
		}
	}
	return text
}

// take is the request of this exchange, if an answer is to it.
func (x *exchange) take(key string) *request {
	if x.r != nil && x.r.key == key && x.p.done(x.r) {
		return x.r
	}
	return nil
}

func (p *peer) has(r *request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pending[r]
}

// stream passes on an answer that is a stream of messages.
func (x *exchange) stream(ctx context.Context, from io.Reader, header http.Header) {
	if x.back.begin(header) != nil {
		return
	}
	err := x.events(ctx, x.p, x.q.Header, from, x.take, x.back)
	if x.r == nil || !x.p.has(x.r) || x.back.resumes || ctx.Err() != nil {
		return // it is answered, or its client takes it up on another connection
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		x.fail(http.StatusBadGateway, "The server of tools ended before it had answered.", false)
		return
	}
	x.logf("The server's stream was not passed on: %v.", err)
	x.fail(http.StatusBadGateway, "The server's answer can't be read.", false)
}

// events passes on a stream of messages, until it ends.
func (f *front) events(ctx context.Context, p *peer, header http.Header, from io.Reader, take func(string) *request, to *answer) error {
	for s := newEvents(from); ; {
		e, err := s.next()
		if err != nil {
			return err
		}
		if e.name != "" && e.name != "message" { // an event of an older transport tells clients to go elsewhere
			e.name, e.data = "", nil
		}
		if len(e.data) > 0 {
			toClient, toServer := p.fromServer(ctx, e.data, take)
			if toServer != nil {
				f.tellServer(ctx, header, toServer)
			}
			e.data = toClient
		}
		if e.id != nil && e.data == nil {
			e.data = []byte{} // so that the client notes the id
		}
		if err := to.event(&e); err != nil {
			return err
		}
	}
}

// tellServer answers a request of the server's with an error.
func (f *front) tellServer(ctx context.Context, header http.Header, text []byte) {
	res, err := f.reach(ctx, http.MethodPost, unmirrored(header), text)
	if err != nil {
		f.logf("The server of tools could not be reached.")
		return
	}
	res.Body.Close()
}

// listen passes on the stream of what the server says by itself, or the rest of one that was cut off.
func (f *front) listen(w http.ResponseWriter, q *http.Request) {
	p, back := f.peer(q), &answer{w: w, streams: true}
	x := &exchange{front: f, q: q, p: p, back: back}
	res, err := f.reach(q.Context(), http.MethodGet, unmirrored(q.Header), nil)
	switch {
	case err != nil && q.Header.Get("Last-Event-ID") != "" && q.Context().Err() == nil && p.endLost(back):
		return
	case err != nil:
		x.fail(http.StatusBadGateway, "The server of tools can't be reached.", true)
		return
	}
	defer res.Body.Close()
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	header := returned(res.Header, f.URL)
	switch {
	case res.StatusCode == http.StatusOK && kind == "text/event-stream" && res.Header.Get("Content-Encoding") == "":
		if back.begin(header) == nil {
			defer f.listens(back)()
			f.events(q.Context(), p, q.Header, res.Body, p.take, back) //nolint:errcheck // the client sees that it ends
		}
	case res.StatusCode < 400:
		x.fail(http.StatusBadGateway, "The server's answer can't be read.", true)
	default:
		x.failed(res.StatusCode, header)
	}
}

// endLost answers the calls that a client wants to take up again and whose server can't be reached any more. It reports whether
// there are any.
func (p *peer) endLost(back *answer) bool {
	p.mu.Lock()
	lost := slices.DeleteFunc(slices.Collect(maps.Keys(p.pending)), func(r *request) bool { return !r.lost || r.method != "tools/call" })
	p.mu.Unlock()
	for _, r := range lost {
		if p.done(r) {
			back.send(denied(r, "The server of tools ended before it had answered. The call may have run.")) //nolint:errcheck // a client that has gone needs no answer
		}
	}
	return len(lost) > 0
}

// listens notes that a client listens, until it ends.
func (f *front) listens(to *answer) (end func()) {
	f.mu.Lock()
	f.listening[to] = true
	f.mu.Unlock()
	return func() {
		f.mu.Lock()
		delete(f.listening, to)
		f.mu.Unlock()
		to.close()
	}
}

// tellListeners sends a message to each client that listens.
func (f *front) tellListeners(text []byte) {
	f.mu.Lock()
	all := slices.Collect(maps.Keys(f.listening))
	f.mu.Unlock()
	for _, to := range all {
		to.send(text) //nolint:errcheck // a client that has gone needs no message
	}
}

// leave ends a session. What is held in it is dropped.
func (f *front) leave(w http.ResponseWriter, q *http.Request) {
	x := &exchange{front: f, q: q, p: f.peer(q), back: &answer{w: w}}
	res, err := f.reach(q.Context(), http.MethodDelete, unmirrored(q.Header), nil)
	if err != nil {
		x.fail(http.StatusBadGateway, "The server of tools can't be reached.", true)
		return
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode >= 300 && res.StatusCode < 400:
		x.fail(http.StatusBadGateway, "The server of tools sends its clients to another address, which the verifier refuses.", true)
	case res.StatusCode >= 400:
		x.failed(res.StatusCode, returned(res.Header, f.URL))
	default:
		if session := q.Header.Get("Mcp-Session-Id"); session != "" {
			f.mu.Lock()
			delete(f.peers, "session "+session)
			f.mu.Unlock()
			x.p.leave()
		}
		w.WriteHeader(res.StatusCode)
	}
}

// answer is what a client gets for one request: one message, or a stream of them.
type answer struct {
	w       http.ResponseWriter
	streams bool // the client takes a stream

	mu      sync.Mutex
	begun   bool // it is a stream
	over    bool // it is one message
	resumes bool // the client can take the stream up on another connection
}

var errAnswered = errors.New("the answer is given already")

// begin begins a stream.
func (a *answer) begin(header http.Header) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.start(header)
}

func (a *answer) start(header http.Header) error {
	switch {
	case a.over:
		return errAnswered
	case a.begun:
		return nil
	}
	a.begun = true
	h := a.w.Header()
	maps.Copy(h, header)
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	a.w.WriteHeader(http.StatusOK)
	return http.NewResponseController(a.w).Flush()
}

// send sends a message before the last one.
func (a *answer) send(text []byte) error { return a.say(&event{data: text}) }

func (a *answer) awake() error { return a.say(&event{}) }

func (a *answer) say(e *event) error {
	if !a.streams {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return errAnswered
	}
	if err := a.start(nil); err != nil {
		return err
	}
	return a.write(e)
}

func (a *answer) event(e *event) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.resumes = a.resumes || e.id != nil
	return a.write(e)
}

func (a *answer) write(e *event) error {
	if _, err := a.w.Write(e.text()); err != nil {
		return err
	}
	return http.NewResponseController(a.w).Flush()
}

// close ends it: nothing can be written any more.
func (a *answer) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
}

// whole gives the last message, or the only one.
func (a *answer) whole(status int, header http.Header, text []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.over:
	case a.begun:
		a.write(&event{data: text}) //nolint:errcheck // a client that has gone needs no answer
	default:
		maps.Copy(a.w.Header(), header)
		a.w.Header().Set("Content-Type", "application/json")
		a.w.WriteHeader(status)
		a.w.Write(text) //nolint:errcheck // see above
	}
	a.over = true
}
