package server_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/server"
)

var update = flag.Bool("update", false, "write testdata/doors.txt anew")

// everyDoor has all that a server can have, at paths that differ from the usual ones.
func everyDoor(o *server.Options) {
	o.Path, o.Loop, o.Turns, o.Now = "/gate/verify", hears{}, hears{}, noon
	say := func(who string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Seen", r.Method+" "+r.URL.EscapedPath())
			if strings.HasSuffix(r.URL.Path, "/panic") {
				panic("boom")
			}
			if strings.HasSuffix(r.URL.Path, "/late") {
				_, _ = io.WriteString(w, "half")
				panic("boom")
			}
			_, _ = io.WriteString(w, who+"\n")
		})
	}
	o.Metrics, o.Page = say("metrics"), say("page")
	o.Login = func(context.Context, string, bool) (string, time.Time, error) { return "/page/login?x", noon(), nil }
	o.Health = func(context.Context) []server.Check {
		return []server.Check{{Name: "store"}, {Name: "chat", Err: errors.New("down"), Informational: true}}
	}
}

// serving serves on a real port.
func serving(t *testing.T, edit func(*server.Options)) (address string) {
	t.Helper()
	s, _ := newServer(t, edit)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := errors.Join(s.Shutdown(context.Background()), <-done); err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// ask sends a request line as it is, and gives all of the answer but what differs each time.
func ask(t *testing.T, address, line, body string, headers ...string) string {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	text := line + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " + fmt.Sprint(len(body)) + "\r\n"
	for i := 0; i < len(headers); i += 2 {
		text += headers[i] + ": " + headers[i+1] + "\r\n"
	}
	write(t, c, text+"\r\n"+body)
	method, _, _ := strings.Cut(line, " ")
	res, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		return err.Error()
	}
	shown := []string{fmt.Sprint(res.StatusCode)}
	for name, values := range res.Header {
		switch name {
		case "Date", server.RequestIDHeader, "Connection":
		case hmac.AnswerHeader:
			shown = append(shown, name+": signed")
		default:
			shown = append(shown, name+": "+strings.Join(values, " | "))
		}
	}
	slices.Sort(shown[1:])
	return strings.Join(shown, ", ") + fmt.Sprintf(" %q", got)
}

// What each door answers to each way of knocking, on the wire. No answer of a path that is spelled another way is a redirect: a client
// would follow one without the body that it signed.
func TestEveryDoorAnswersAsItDid(t *testing.T) {
	address := serving(t, everyDoor)
	var got strings.Builder
	person := []string{"Authorization", "Bearer " + ann}
	for _, path := range []string{
		"/gate/verify", "/gate/approve", "/gate/answered", "/gate/hooks/session_start", "/gate/hooks/before_tool_call", "/healthz", "/readyz", "/metrics",
		"/", "/page", "/page/", "/page/a/b", "/page/a%2Fb", "/page//a/../b", "/page/panic", "/page/late",
		"/api/graphs/turn", "/owner/pending", "/owner/grants", "/owner/sources", "/owner/answer", "/owner/reply", "/owner/test", "/owner/login",
		"/owner", "/owner/", "/owner/x", "/owner/pending/", "/owner/../gate/verify", "/owner//pending", "/owners", "/owner/%70ending",
		"/nothing", "/gate", "/gate/", "/gate/verify/", "//gate/verify", "/gate//verify", "/gate/./verify", "/gate/x/../verify", "/gate/verif%79",
		"/gate%2Fverify", "/gate/verify?x=1", "/gate/verify%3Fx", "/GATE/verify", "/gate/verify;x", "/gate/%2e%2e/gate/verify", "/verify", "/gate/verify%00",
		"/gate/hooks", "/gate/hooks/", "/gate/hooks//session_start", "/gate/hooks/session_start/", "/gate/hooks/session%5Fstart", "/gate/hooks/nothing",
		"/gate/hooks/a/../session_start", "/gate/hooks/agent_end", "/api", "/api/graphs", "/api/graphs/", "/api/graphs/turn/", "/api/graphs/t%75rn",
		"/api/graphs/a%2Fb", "/healthz/", "/%68ealthz", "/metrics/", "/page%2F", "/pages", "*", "http://other/gate/verify", "http://other/healthz",
	} {
		for _, method := range []string{"POST", "GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "PROPFIND", "REPORT", "BREW"} {
			line := method + " " + path
			fmt.Fprintf(&got, "%s\n\t%s\n", line, ask(t, address, line, ""))
			if with := ask(t, address, line, "", person...); strings.HasPrefix(path, "/owner") || strings.HasPrefix(path, "/api") {
				fmt.Fprintf(&got, "%s of a person\n\t%s\n", line, with)
			}
		}
		for _, body := range []string{`{"version":1}`, `{"version":1,"timestamp":"2026-02-12T12:00:00Z","requestId":"r","event":{}}`} {
			line := "POST " + path
			fmt.Fprintf(&got, "%s signed %s\n\t%s\n", line, body, ask(t, address, line, body, signed(body)...))
		}
	}
	const golden = "testdata/doors.txt"
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(golden, []byte(got.String()), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	was, is := strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")
	for i := range max(len(was), len(is)) {
		if i >= len(was) || i >= len(is) || was[i] != is[i] {
			t.Fatalf("line %d of %s, after %s:\n got %s\nwant %s", i+1, golden, is[max(0, min(i, len(is))-1)], strings.Join(is[min(i, len(is)):min(i+1, len(is))], ""), strings.Join(was[min(i, len(was)):min(i+1, len(was))], ""))
		}
	}
}
