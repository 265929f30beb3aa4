package mcp

import (
	"encoding/base64"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

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
	maps.DeleteFunc(out, func(name string, _ []string) bool { return strings.HasPrefix(name, "Sec-") })
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

func copyHeader(to, from http.Header) {
	for name, values := range from {
		to[name] = slices.Clone(values)
	}
}

var errMirror = errors.New("the headers say something else than the message")

// mirrored refuses a message whose headers say something else than itself (since 2026-07-28): what lies between us and
// the server, or the server, may go by them.
func mirrored(h http.Header, m *message) *refusal {
	no := &refusal{m.id, codeHeaders, errMirror}
	if v, ok := h["Mcp-Method"]; ok && (m.method == "" || v[0] != m.method) {
		return no
	}
	if name, ok := h["Mcp-Name"]; ok && !names(m, name[0]) {
		return no
	}
	for name, v := range h {
		if !strings.HasPrefix(name, "Mcp-Param-") {
			continue
		}
		if s, ok := headerText(v[0]); len(v) != 1 || !ok || !holds(m.params, s) {
			return no
		}
	}
	return nil
}

// names reports whether a message is about what the header says: a tool, a prompt, a resource or a task.
func names(m *message, header string) bool {
	s, ok := headerText(header)
	all, err := members(m.params, nil)
	if !ok || err != nil {
		return false
	}
	about := []string{"name", "uri", "taskId"}
	if m.method == "tools/call" {
		about = about[:1]
	}
	return slices.ContainsFunc(about, func(member string) bool {
		v, ok := asString(all[member])
		return ok && v == s
	})
}

// headerText is what a header says. What does not fit in one is written in Base64.
func headerText(v string) (string, bool) {
	packed, ok := strings.CutPrefix(v, "=?base64?")
	if !ok {
		return v, true
	}
	packed, ok = strings.CutSuffix(packed, "?=")
	text, err := base64.StdEncoding.DecodeString(packed)
	return string(text), ok && err == nil
}

// holds reports whether a text, a number or a truth value is somewhere in a call.
func holds(v jsontext.Value, text string) bool {
	dec := jsontext.NewDecoder(strings.NewReader(string(v)))
	for {
		t, err := dec.ReadToken()
		if err != nil {
			return false
		}
		parent, n := dec.StackIndex(dec.StackDepth())
		if name := parent == jsontext.KindBeginObject && n%2 == 1; name {
			continue
		}
		switch t.Kind() {
		case jsontext.KindString, jsontext.KindNumber, jsontext.KindTrue, jsontext.KindFalse:
			if t.String() == text {
				return true
			}
		}
	}
}
