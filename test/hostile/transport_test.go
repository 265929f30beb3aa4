package hostile_test

import (
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	sign "github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/test/gateway"
)

// TestTransport sends each row of transport.txt to one gateway, as one request.
func TestTransport(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	for _, r := range rows(t, "transport.txt") {
		t.Run(r.why, func(t *testing.T) {
			status, text := r.send(t, g.In(t))
			if got := outcome(status, text); got != r.verdict {
				t.Errorf("%s: got %d %s, want %s", r.at, status, text, r.verdict)
			}
		})
	}
	if n := g.Asked(); n != 0 {
		t.Errorf("%d questions were put", n)
	}
}

// outcome is the verdict of an answer.
func outcome(status int, text string) string {
	switch {
	case status != http.StatusOK:
		return strconv.Itoa(status)
	case strings.Contains(text, `"allow"`), strings.Contains(text, `"accepted":true`), strings.Contains(text,
		"counted"):
		return "allow"
	default:
		return "deny"
	}
}

func (r row) send(t *testing.T, g *gateway.Gateway) (status int, text string) {
	t.Helper()
	call := gateway.Call{Tool: "read", Params: `{"path":"a"}`, Context: gateway.OwnerIn("main")}
	if r.setting == "clock" {
		off, err := time.ParseDuration(r.input)
		if err != nil {
			t.Fatal(err)
		}
		call.At = time.Now().Add(off)
	}
	body := call.Body()
	headers := []string{sign.RequestHeader, g.Sign(body)}
	method, path := http.MethodPost, "/verify"
	switch r.setting {
	case "header":
		headers = headersOf(g, r.input, body)
	case "changed":
		from, to, found := strings.Cut(unfold(r.input), " => ")
		if !found || !bytes.Contains(body, []byte(from)) {
			t.Fatalf("%s: nothing is changed", r.at)
		}
		body = []byte(strings.Replace(string(body), from, to, 1))
	case "clock":
	case "path":
		path = r.input
	case "method":
		method = r.input
		headers = append(headers, "X-HTTP-Method-Override", "POST", "X-Method-Override", "POST")
	case "encoded":
		headers = append(headers, "Content-Encoding", "gzip")
		if r.input != "plain" {
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			_, _ = w.Write(body) // into memory
			_ = w.Close()
			body = packed.Bytes()
		}
		if r.input == "gzip of the body" {
			headers[1] = g.Sign(body)
		}
	default:
		t.Fatalf("%s: what is %q?", r.at, r.setting)
	}
	for range 10 { // a busy machine's store may be too slow: a client tries again
		if status, text = g.Request(method, path, body, headers...); !strings.Contains(text, "store can't be reached") {
			break
		}
	}
	return status, text
}

// headersOf are the signature headers that a row names.
func headersOf(g *gateway.Gateway, input string, body []byte) (headers []string) {
	right := strings.TrimPrefix(g.Sign(body), "sha256=")
	unkeyed := hmac.New(sha256.New, nil)
	unkeyed.Write(body)
	answer := fmt.Appendf(nil, "verifier-answer-v1\n%s\n{}", "request")
	names := strings.NewReplacer("{sig}", "sha256="+right, "{hex}", right, "{hex:63}", right[:63],
		"{wrong}", sign.Sign([]byte("some0ther5ecret"), body), "{unkeyed}", hex.EncodeToString(unkeyed.Sum(nil)),
		"{answer}", g.Sign(answer), "{owner}", sign.Sign([]byte(g.Token), body))
	if input == "none" {
		return nil
	}
	for _, value := range strings.Split(input, " & ") {
		if value == "empty" {
			value = ""
		}
		headers = append(headers, sign.RequestHeader, names.Replace(value))
	}
	return headers
}
