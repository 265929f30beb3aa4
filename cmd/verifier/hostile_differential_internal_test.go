package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
)

// request sends what a client of ours never would.
func (r *rig) request(method, path string, body []byte, headers ...string) (int, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, r.url, bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.URL.Opaque = path // as it is spelled
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	a := exchange(r.t, r.http(), req)
	return a.status, string(a.body)
}

func (r *rig) signedBy(body []byte) string { return hmac.Sign([]byte(r.secret), body) }

// harmless is a call that passes whoever makes it.
func harmless() call {
	return call{tool: "read", params: `{"path":"x"}`, context: ownerIn("m")}
}

func TestH56ASignatureInOneHeaderIsOneSignature(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	body := harmless().body()
	good := r.signedBy(body)
	bare := strings.TrimPrefix(good, "sha256=")
	for _, header := range []string{
		good + "," + good, good + ", " + good, "x," + good, "sha256=" + "sha256=" + bare, "sha1=" + bare, "sha256 =" + bare,
		bare[:63], bare + "0", "0x" + bare, good + ";", strings.Repeat("0", 64),
	} {
		if a := r.post(body, header); a.status != http.StatusUnauthorized {
			t.Errorf("%q: %d %s", header, a.status, a.raw)
		}
	}
	if a := r.post(body, good, "sha256="+strings.Repeat("0", 64)); a.status != http.StatusUnauthorized {
		t.Errorf("a second header: %d %s", a.status, a.raw)
	}
	if a := r.post(body, good); !a.allowed() {
		t.Errorf("the signature itself: %s", a.raw)
	}
}

func TestH57WhatStandsAroundTheCallIsNoCall(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	for name, wrap := range map[string]func(string) string{
		"a second object": func(b string) string { return b + b },
		"garbage after":   func(b string) string { return b + "x" },
		"a mark before":   func(b string) string { return "\ufeff" + b },
		"a zero after":    func(b string) string { return b + "\x00" },
		"a comment":       func(b string) string { return b + "//" },
		"a list":          func(b string) string { return "[" + b + "]" },
		"a trailing comma": func(b string) string {
			return strings.TrimSuffix(b, "}") + ",}"
		},
		"the other quotes": func(b string) string { return strings.ReplaceAll(b, `"`, `'`) },
	} {
		body := []byte(wrap(string(harmless().body())))
		if a := r.post(body, r.signedBy(body)); a.status != http.StatusOK || a.Decision != "deny" {
			t.Errorf("%s: %d %s", name, a.status, a.raw)
		}
	}
}

func TestH58WhatIsSignedForOneDoorOpensNoOther(t *testing.T) {
	t.Parallel()
	r := newRig(t, relaying)
	asked := r.mustAsk(sh("date", unvouched("m")))
	line := typed{text: ".approve exec " + r.waits().code(t)}.body()
	bodies := map[string][]byte{"a call": sh("ls", ownerIn("m")).body(), "a line": line}
	for what, body := range bodies {
		for _, path := range []string{"/verify", "/approve", "/hooks/after_tool_call", "/hooks/session_end", "/owner/answer", "/owner/reply"} {
			if what == "a call" && path == "/verify" || what == "a line" && path == "/approve" {
				continue
			}
			status, text := r.request(http.MethodPost, path, body, hmac.RequestHeader, r.signedBy(body))
			if strings.Contains(text, `"allow"`) || strings.Contains(text, `"accepted":true`) || strings.Contains(text, "counted") {
				t.Errorf("%s at %s: %d %s", what, path, status, text)
			}
		}
	}
	// The answer's own signature is under the same secret, and signs no request.
	body := fmt.Appendf(nil, "verifier-answer-v1\n%s\n{}", asked.Ref)
	if a := r.post(body, r.signedBy(body)); a.allowed() {
		t.Errorf("an answer as a call: %s", a.raw)
	}
	if len(r.pending()) != 1 {
		t.Error("the question was answered")
	}
}

func TestH59ACompressedBodyIsReadAsItIs(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(harmless().body()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, signed := range [][]byte{packed.Bytes(), harmless().body()} {
		_, text := r.request(http.MethodPost, "/verify", packed.Bytes(), hmac.RequestHeader, r.signedBy(signed), "Content-Encoding", "gzip")
		if strings.Contains(text, `"allow"`) {
			t.Errorf("got %s", text)
		}
	}
	// A claim to be packed changes nothing about what is not.
	body := harmless().body()
	if _, text := r.request(http.MethodPost, "/verify", body, hmac.RequestHeader, r.signedBy(body), "Content-Encoding", "gzip"); !strings.Contains(text, `"allow"`) {
		t.Errorf("the raw bytes are what counts: %s", text)
	}
}

func TestH60AKeySpelledWithEscapesIsTheSameKey(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	for name, change := range map[string][2]string{
		"tool":      {`"tool":`, `"\u0074ool":{"name":"read","params":{}},"tool":`},
		"name":      {`"name":"exec"`, `"n\u0061me":"read","name":"exec"`},
		"params":    {`"params":`, `"p\u0061rams":{},"params":`},
		"a param":   {`"command":`, `"comm\u0061nd":"ls","command":`},
		"sender":    {`"senderId":`, `"sender\u0049d":"1","senderId":`},
		"requestId": {`"requestId":`, `"request\u0049d":"other","requestId":`},
	} {
		body := []byte(strings.Replace(string(sh("rm -rf /", ownerIn("m")).body()), change[0], change[1], 1))
		if a := r.post(body, r.signedBy(body)); a.Decision != "deny" || a.status != http.StatusOK {
			t.Errorf("%s twice: %d %s", name, a.status, a.raw)
		}
	}
}

func TestH61NumbersThatAreEqualAreNotTheSameCall(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	numbered := func(n string) call {
		return call{tool: "exec", params: `{"command":"kill","pid":` + n + `}`, context: unvouched("m")}
	}
	r.approve(r.mustAsk(numbered("1")).Ref, 0)
	for _, other := range []string{"1.0", "1e0", "10e-1", "1E0", "-1", "1.00000000000000000001", `"1"`, "true", "[1]"} {
		r.mustAsk(numbered(other))
		for _, c := range r.pending() {
			r.refuse(c.Ref, "")
		}
	}
	r.allow(numbered("1"))
}

func TestH62WhatMovesFromOneFieldToAnotherIsAnotherCall(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	in := func(key, id, agent string) map[string]any {
		return map[string]any{"sessionKey": key, "sessionId": id, "agentId": agent, "senderId": "9"}
	}
	r.approve(r.mustAsk(sh("ls", in("main:a", "b", "c"))).Ref, 0)
	for _, other := range []map[string]any{
		in("main:ab", "", "c"), in("main:a", "bc", ""), in("main:a", "b", ""), in("main:a", "", "c"), in("main:", "ab", "c"),
		in(`main:a","sessionId":"b`, "", "c"), in("main:a", "c", "b"),
	} {
		if a := r.send(impatient(sh("ls", other))); a.allowed() {
			t.Errorf("%v: %s", other, a.raw)
		}
	}
	r.allow(sh("ls", in("main:a", "b", "c")))
}

// Only POST decides, and no header makes another method one.
func TestH72NoOtherMethodDecides(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	ref := r.mustAsk(sh("date", unvouched("m"))).Ref
	call, owner := harmless().body(), fmt.Appendf(nil, `{"ref":%q,"allow":true}`, ref)
	for _, method := range []string{"GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "post"} {
		for _, override := range []string{"X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method"} {
			if _, text := r.request(method, "/verify", call, hmac.RequestHeader, r.signedBy(call), override, "POST"); strings.Contains(text, `"allow"`) {
				t.Errorf("%s: %s", method, text)
			}
			if _, text := r.request(method, "/owner/answer?ref="+ref+"&allow=true", owner, "Authorization", "Bearer "+r.token, override, "POST"); strings.Contains(text, "counted") {
				t.Errorf("%s: %s", method, text)
			}
		}
	}
	if len(r.pending()) != 1 {
		t.Error("the question was answered")
	}
}

func TestH73ADoorHasOneSpelling(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	body := harmless().body()
	for _, path := range []string{
		"//verify", "/verify/", "/VERIFY", "/./verify", "/x/../verify", "/verify%2f", "/%76erify", "/verify;x=1", "/verify%00", "/verify%20", "/owner/../verify",
	} {
		status, text := r.request(http.MethodPost, path, body)
		if status == http.StatusOK || strings.Contains(text, `"allow"`) {
			t.Errorf("%s without a signature: %d %s", path, status, text)
		}
		status, text = r.request(http.MethodGet, strings.Replace(path, "verify", "owner/pending", 1), nil)
		if status == http.StatusOK {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
}

// Two readers of one stream that disagree about where a request ends let one in
// by the other's leave.
func TestH74ASecondRequestInsideABodyIsNotOurs(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	inner := "POST /owner/reply HTTP/1.1\r\nHost: x\r\nContent-Length: 18\r\n\r\n{\"text\":\".pause\"}\r\n"
	for name, head := range map[string]string{
		"two lengths":         "Content-Length: 0\r\nContent-Length: %d\r\n",
		"a length and chunks": "Content-Length: %d\r\nTransfer-Encoding: chunked\r\n",
		"odd chunks":          "Content-Length: %d\r\nTransfer-Encoding: xchunked\r\n",
		"a folded header":     "Content-Length:\r\n %d\r\n",
		"a signed length":     "Content-Length: +%d\r\n",
	} {
		var d net.Dialer
		conn, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(r.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST /verify HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"+head+"\r\n0\r\n\r\n%s", len(inner), inner) //nolint:errcheck // it may hang up at once
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		text, _ := io.ReadAll(conn)
		if said := string(text); strings.Contains(said, "200 OK") || strings.Count(said, "HTTP/1.1 ") > 1 {
			t.Errorf("%s: %s", name, said)
		}
		_ = conn.Close()
	}
	r.allow(harmless())
}

func TestH75NoSecretStandsInForAnother(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	ref := r.mustAsk(sh("date", unvouched("m"))).Ref
	body := harmless().body()
	if a := r.post(body, hmac.Sign([]byte(r.token), body)); a.status != http.StatusUnauthorized {
		t.Errorf("the owner's token as a secret: %d %s", a.status, a.raw)
	}
	yes := map[string]any{"ref": ref, "allow": true}
	key, err := r.state.ServerKey()
	if err != nil {
		t.Fatal(err)
	}
	for what, token := range map[string]string{"the webhook's secret": r.secret, "the server key": string(key), "nothing": "", "a code": r.waits().code(t), "a prefix": r.token[:20], "twice": r.token + r.token} {
		if strings.ContainsFunc(token, func(c rune) bool { return c < ' ' || c > '~' }) {
			token = fmt.Sprintf("%x", token)
		}
		if status := r.as(token, http.MethodPost, "/owner/answer", yes, nil); status != http.StatusUnauthorized {
			t.Errorf("%s as the owner's token: %d", what, status)
		}
	}
}
