package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// CheckURL reports whether a server may be reached by this address. What is sent there may hold a token.
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

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// Expand puts the values of variables in: ${NAME}.
func Expand(text string) string {
	return variable.ReplaceAllStringFunc(text, func(v string) string { return os.Getenv(v[2 : len(v)-1]) })
}

// remoteServer is a server that the gate reaches by an address, for a client that speaks lines.
type remoteServer struct {
	url    *url.URL
	header http.Header
	via    http.RoundTripper
	got    chan []byte // what the server sends
	ctx    context.Context
	cancel context.CancelFunc

	mu       sync.Mutex
	session  string
	version  string
	listened bool
}

func newRemote(u *url.URL, header http.Header) *remoteServer {
	ctx, cancel := context.WithCancel(context.Background())
	via := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: 64 << 10,
	}
	return &remoteServer{url: u, header: header, via: via, got: make(chan []byte), ctx: ctx, cancel: cancel}
}

func (s *remoteServer) receive(to func([]byte) error) error {
	for {
		select {
		case text := <-s.got:
			if err := to(text); err != nil {
				return err
			}
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
	}
}

func (s *remoteServer) take(text []byte) {
	select {
	case s.got <- text:
	case <-s.ctx.Done():
	}
}

// leaveWithin is how long a server has to be told that its session is over.
const leaveWithin = time.Second

// close does nothing: answers may still come.
func (*remoteServer) close() {}

func (s *remoteServer) end(bool) int {
	ctx, cancel := context.WithTimeout(s.ctx, leaveWithin)
	defer cancel()
	if s.headers("").Get("Mcp-Session-Id") != "" {
		if res, err := s.reach(ctx, http.MethodDelete, s.headers(""), nil); err == nil {
			res.Body.Close()
		}
	}
	s.cancel()
	return 0
}

// headers are those of a request. last is the event after which a stream goes on.
func (s *remoteServer) headers(last string) http.Header {
	h := s.header.Clone()
	if h == nil {
		h = http.Header{}
	}
	h.Set("Accept", "application/json, text/event-stream")
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, v := range map[string]string{"Mcp-Session-Id": s.session, "Mcp-Protocol-Version": s.version, "Last-Event-Id": last} {
		if v != "" {
			h.Set(name, v)
		}
	}
	return h
}

// reach sends a request to the server. It follows no redirect.
func (s *remoteServer) reach(ctx context.Context, method string, header http.Header, text []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.url.String(), bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.GetBody = nil // it is sent once
	req.Header = header
	if _, ok := header["User-Agent"]; !ok {
		header["User-Agent"] = nil // without it one of our own would be sent
	}
	if text == nil {
		req.Body, req.ContentLength = http.NoBody, 0
	} else {
		header.Set("Content-Type", "application/json")
	}
	return s.via.RoundTrip(req)
}

// send sends a message. It returns once that is written, so that what comes after it does not overtake it.
func (s *remoteServer) send(text []byte) error {
	m, err := decode(text, false)
	if err != nil {
		return err
	}
	written := make(chan struct{})
	wrote := sync.OnceFunc(func() { close(written) })
	go func() {
		defer wrote()
		s.post(&m, wrote)
	}()
	select {
	case <-written:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

// post sends a message, and takes what the server answers.
func (s *remoteServer) post(m *message, wrote func()) {
	var reached atomic.Bool
	ctx := httptrace.WithClientTrace(s.ctx, &httptrace.ClientTrace{
		GotConn:      func(httptrace.GotConnInfo) { reached.Store(true) },
		WroteRequest: func(httptrace.WroteRequestInfo) { wrote() },
	})
	header := s.headers("")
	mirror(header, m)
	res, err := s.reach(ctx, http.MethodPost, header, m.text)
	wrote()
	if err != nil {
		words := "The server of tools can't be reached. Nothing was run."
		if reached.Load() {
			words = "The server of tools can't be reached. The call may have run."
		}
		s.fail(m, words)
		return
	}
	defer res.Body.Close()
	if session := res.Header.Get("Mcp-Session-Id"); m.method == "initialize" && session != "" {
		s.mu.Lock()
		s.session = session
		s.mu.Unlock()
	}
	s.answer(m, res)
	if m.method == "notifications/initialized" {
		s.listen()
	}
}

// mirror adds the headers that say what a message is about.
func mirror(h http.Header, m *message) {
	if m.method == "" {
		return
	}
	h.Set("Mcp-Method", m.method)
	all, err := members(m.params, nil)
	if err != nil {
		return
	}
	for _, member := range []string{"name", "uri"} {
		if v, ok := asString(all[member]); ok {
			h.Set("Mcp-Name", headerOf(v))
			break
		}
	}
	var meta struct {
		Version string `json:"io.modelcontextprotocol/protocolVersion"`
	}
	if v, ok := all["_meta"]; ok && json.Unmarshal(v, &meta) == nil && meta.Version != "" {
		h.Set("Mcp-Protocol-Version", headerOf(meta.Version))
	}
}

// headerOf is a text as a header says it. What does not fit in one is written in Base64, with a mark before it and one behind it.
func headerOf(v string) string {
	odd := strings.ContainsFunc(v, func(c rune) bool { return c < ' ' || c > '~' })
	if odd || strings.TrimSpace(v) != v || strings.HasPrefix(v, "=?base64?") {
		return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(v)) + "?="
	}
	return v
}

// fail answers a request in the server's place.
func (s *remoteServer) fail(m *message, words string) {
	switch {
	case !m.isRequest():
	case m.method == "tools/call":
		s.take(denied(&request{id: m.id, method: m.method}, words))
	default:
		s.take((&refusal{m.id, codeGone, errors.New(words)}).text())
	}
}

// answer takes what the server answers to a message.
func (s *remoteServer) answer(m *message, res *http.Response) {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch {
	case res.StatusCode >= 300 && res.StatusCode < 400:
		s.fail(m, "The server of tools sends its clients to another address, which the verifier refuses. The call may have run.")
	case res.StatusCode >= 400 && kind != "application/json":
		s.fail(m, "The server of tools answers with the status "+strconv.Itoa(res.StatusCode)+" "+http.StatusText(res.StatusCode)+".")
	case kind == "text/event-stream":
		s.stream(m, res.Body)
	case kind == "application/json":
		text, err := io.ReadAll(io.LimitReader(res.Body, maxMessage+1))
		if text = oneLine(text); err != nil || len(text) > maxMessage || !s.answers(m, text) {
			s.fail(m, "The server of tools answers with the status "+strconv.Itoa(res.StatusCode)+" "+http.StatusText(res.StatusCode)+". The call may have run.")
			return
		}
		s.take(text)
	case m.isRequest():
		s.fail(m, "The server's answer can't be read. The call may have run.")
	}
}

// answers reports whether a text is the answer to a message.
func (s *remoteServer) answers(m *message, text []byte) bool {
	a, err := decode(text, true)
	if err != nil || !a.isAnswer() || a.key == "" || a.key != m.key {
		return false
	}
	var result struct {
		Version string `json:"protocolVersion"`
	}
	if m.method == "initialize" && a.result != nil && json.Unmarshal(a.result, &result, jsontext.AllowInvalidUTF8(true)) == nil {
		s.mu.Lock()
		s.version = headerOf(result.Version)
		s.mu.Unlock()
	}
	return true
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

// mostResumed is how often a stream is taken up again that ends before its answer.
const mostResumed = 100

// stream takes a stream that answers a message. One that is cut off is taken up again, if the server says how.
func (s *remoteServer) stream(m *message, from io.Reader) {
	last, retry := "", ""
	for range mostResumed {
		if s.events(from, &last, &retry, func(text []byte) bool { return s.answers(m, text) }) {
			return
		}
		if last == "" || !s.pause(retry) {
			break
		}
		res, err := s.reach(s.ctx, http.MethodGet, s.headers(last), nil)
		if err != nil {
			continue
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			break
		}
		from = res.Body
	}
	s.fail(m, "The server of tools ended before it had answered. The call may have run.")
}

// events takes messages until one is the last, and reports whether that came.
func (s *remoteServer) events(from io.Reader, last, retry *string, isLast func([]byte) bool) bool {
	for all := newEvents(from); ; {
		e, err := all.next()
		if err != nil {
			return false
		}
		if e.id != nil {
			*last = *e.id
		}
		*retry = cmp.Or(e.retry, *retry)
		if len(e.data) == 0 || e.name != "" && e.name != "message" {
			continue
		}
		ends := isLast(e.data)
		if s.take(e.data); ends {
			return true
		}
	}
}

// soonest is how soon a stream is taken up again, whatever the server says.
const soonest = 100 * time.Millisecond

// pause waits as long as the server wants a client to. It reports whether there is still a client.
func (s *remoteServer) pause(retry string) bool {
	ms, err := strconv.Atoi(retry)
	if err != nil {
		ms = 1000
	}
	select {
	case <-time.After(min(max(time.Duration(ms)*time.Millisecond, soonest), time.Minute)):
		return true
	case <-s.ctx.Done():
		return false
	}
}

// listen takes what the server says by itself, for as long as there is a client.
func (s *remoteServer) listen() {
	s.mu.Lock()
	again := s.listened
	s.listened = true
	s.mu.Unlock()
	if again {
		return
	}
	go func() {
		last, retry := "", ""
		for {
			res, err := s.reach(s.ctx, http.MethodGet, s.headers(last), nil)
			if err == nil {
				kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
				if res.StatusCode == http.StatusOK && kind == "text/event-stream" {
					s.events(res.Body, &last, &retry, func([]byte) bool { return false })
				}
				res.Body.Close()
				if res.StatusCode >= 300 { // it has no such stream
					return
				}
			}
			if !s.pause(retry) {
				return
			}
		}
	}()
}
