package mcp

import (
	"encoding/base64"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ownHeaders are those of one connection, and those that would make the server take the message for another one.
var ownHeaders = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Expect",
	"Content-Length", "Content-Type", "Content-Encoding", "Accept-Encoding", "Origin", "Referer", "Range", "If-Range",
	"X-Http-Method", "X-Http-Method-Override", "X-Method-Override", "X-Original-Url", "X-Rewrite-Url", "X-Forwarded-Host", "Forwarded",
}

// passedOn are the headers that the server gets: the client's own, authorization included.
func passedOn(from http.Header) http.Header {
	out := from.Clone()
	for _, list := range from["Connection"] {
		for name := range strings.SplitSeq(list, ",") {
			out.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range ownHeaders {
		out.Del(name)
	}
	maps.DeleteFunc(out, func(name string, _ []string) bool {
		return strings.HasPrefix(name, "Sec-") || strings.Contains(name, "_") // to some servers _ is the same as -
	})
	if _, ok := out["User-Agent"]; !ok {
		out["User-Agent"] = nil // without it one of our own would be sent
	}
	return out
}

// returnedHeaders are those of the server's that a client gets. None of them sends it to another address, but for
// WWW-Authenticate, see below.
var returnedHeaders = []string{"Mcp-Session-Id", "Mcp-Protocol-Version", "Retry-After"}

var metadata = regexp.MustCompile(`(?i)[a-z0-9_-]*(?:metadata|uri|url)\s*=\s*"?([^",\s]*)`)

// returned are the headers that the client gets. Where the server says how to be authorized, it may name addresses of its
// own only.
func returned(from http.Header, server *url.URL) http.Header {
	out := http.Header{}
	for _, name := range returnedHeaders {
		if v, ok := from[name]; ok && len(v) == 1 {
			out[name] = v
		}
	}
	for _, way := range from.Values("Www-Authenticate") {
		own := true
		for _, at := range metadata.FindAllStringSubmatch(way, -1) {
			u, err := url.Parse(at[1])
			own = own && err == nil && u.Scheme == server.Scheme && u.Host == server.Host
		}
		if own {
			out.Add("Www-Authenticate", way)
		}
	}
	return out
}

var errMirror = errors.New("the headers say something else than the message")

// mirrored refuses a message whose headers say something else than itself (since 2026-07-28): what lies between us and
// the server, or the server, may go by them.
func (g *gate) mirrored(h http.Header, m *message) *refusal {
	no := &refusal{m.id, codeHeaders, errMirror}
	if v, ok := h["Mcp-Method"]; ok && (m.method == "" || v[0] != m.method) {
		return no
	}
	if name, ok := h["Mcp-Name"]; ok && !names(m, name[0]) {
		return no
	}
	for name, v := range h {
		if param, ok := strings.CutPrefix(name, "Mcp-Param-"); ok && (len(v) != 1 || !g.argument(m, param, v[0])) {
			return no
		}
	}
	return nil
}

// unmirrored are headers for another message than the one with which they came.
func unmirrored(from http.Header) http.Header {
	out := from.Clone()
	maps.DeleteFunc(out, func(name string, _ []string) bool {
		return name == "Mcp-Method" || name == "Mcp-Name" || strings.HasPrefix(name, "Mcp-Param-")
	})
	return out
}

// passing are headers that a client sends with one message and not with the next, beside those of a connection.
var passing = []string{
	"Accept", "Last-Event-Id", "Mcp-Protocol-Version", "Cache-Control", "Pragma", "Date", "Idempotency-Key",
	"X-Request-Id", "X-Correlation-Id", "Traceparent", "Tracestate", "Baggage", "B3", "X-B3-Traceid", "X-B3-Spanid", "X-B3-Parentspanid", "X-B3-Sampled",
}

// lasting are the headers by which a client without a session is known from one message to the next.
func lasting(from http.Header) []byte {
	out := unmirrored(passedOn(from))
	for _, name := range passing {
		out.Del(name)
	}
	text, err := json.Marshal(out, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(err) // texts can be written
	}
	return text
}

// names reports whether a message is about what the header says: a tool, a prompt, a resource or a task.
func names(m *message, header string) bool {
	about := ""
	switch kind, _, _ := strings.Cut(m.method, "/"); kind {
	case "tools", "prompts":
		about = "name"
	case "resources":
		about = "uri"
	case "tasks":
		about = "taskId"
	}
	s, ok := headerText(header)
	all, err := members(m.params, nil)
	v, is := asString(all[about])
	return ok && err == nil && is && v == s
}

// headerText is what a header says. What does not fit in one is written in Base64, with a mark before it and one behind it.
// With one of the marks only it is plain text.
func headerText(v string) (string, bool) {
	packed, before := strings.CutPrefix(v, "=?base64?")
	packed, behind := strings.CutSuffix(packed, "?=")
	if !before || !behind {
		return v, true
	}
	text, err := base64.StdEncoding.DecodeString(packed)
	return string(text), err == nil
}

// argument reports whether a header says what the argument says that it mirrors.
func (g *gate) argument(m *message, param, header string) bool {
	want, ok := headerText(header)
	is, there := g.argumentText(m, param)
	return ok && there && is == want
}

// argumentText is what the argument says that a header mirrors.
func (g *gate) argumentText(m *message, param string) (text string, ok bool) {
	c, err := readCall(m.params)
	if m.method != "tools/call" || err != nil {
		return "", false
	}
	all, err := members(c.arguments, nil)
	if err != nil {
		return "", false
	}
	server, tool := g.Server, c.name
	if server == "" { // several servers are behind this gate
		server, tool, _ = strings.Cut(c.name, between)
	}
	mirrored := g.Definitions.mirrored(server, tool, param)
	if mirrored == nil { // nothing is known of it: its own name counts
		for name := range all {
			if name == param || resembles(name, []string{param}) {
				mirrored = append(mirrored, name)
			}
		}
	}
	if len(mirrored) != 1 {
		return "", false
	}
	switch v := all[mirrored[0]]; v.Kind() {
	case jsontext.KindString:
		return asString(v)
	case jsontext.KindNumber, jsontext.KindTrue, jsontext.KindFalse:
		return string(v), true
	default:
		return "", false
	}
}

// remirror makes the headers that mirror arguments say what the arguments say now. One whose argument has gone goes, too.
func (g *gate) remirror(h http.Header, m *message) {
	for name := range h {
		param, ok := strings.CutPrefix(name, "Mcp-Param-")
		if !ok {
			continue
		}
		if text, there := g.argumentText(m, param); there {
			h[name] = []string{"=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="}
		} else {
			delete(h, name)
		}
	}
}
