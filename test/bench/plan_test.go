//go:build linux

package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/redact"
)

// BenchmarkPlan says what planning a call costs, its walk over the params and redaction for the record included, in
// constant net/http handlers of the same run:
//
//	go test ./test/bench -run xxx -bench Plan
func BenchmarkPlan(b *testing.B) {
	rules, _, err := policy.New(policy.Config{})
	if err != nil {
		b.Fatal(err)
	}
	redactor, err := redact.New(redact.Config{})
	if err != nil {
		b.Fatal(err)
	}
	var unit float64 // a constant handler, in CPU seconds
	b.Run("constant handler", func(b *testing.B) { unit = handle(b) })
	body := strings.Repeat(
		"\tif err := run(ctx, name); err != nil { return fmt.Errorf(\"run %s: %w\", name, err) }\n",
		120,
	)
	for _, c := range []struct{ name, tool, params string }{
		{"git status && go test", "exec",
			`{"command":"git status --short && go test ./...","workdir":"/home/ann/proj"}`},
		{"read", "read", `{"path":"/home/ann/proj/main.go"}`},
		{"10 KB write", "write", `{"path":"/home/ann/proj/main.go","content":` + strconv.Quote(body[:10_000]) + `}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			call, err := protocol.Decode(
				[]byte(`{"version":1,"timestamp":"2026-11-19T00:00:00Z","requestId":"r","tool":{"name":"` +
					c.tool + `","params":` + c.params +
					`},"context":{"sessionKey":"agent:main:main","senderId":"1","senderIsOwner":true,` +
					`"workspace":"/home/ann/proj","platform":"linux"}}`),
			)
			if err != nil {
				b.Fatal(err)
			}
			began := cpu(syscall.RUSAGE_SELF)
			for b.Loop() {
				values, err := protocol.Walk(call.Params) // a call does it once, when it is decoded
				if err != nil {
					b.Fatal(err)
				}
				rules.Plan(&call)
				redactor.Walked(call.Tool, call.Params, values)
			}
			report(b, cpu(syscall.RUSAGE_SELF)-began, unit)
		})
	}
}

// handle is what a request costs a server that answers all with the same bytes, in CPU seconds. The client is one
// thread, whose time is taken off.
func handle(b *testing.B) float64 {
	listener, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(constant), ReadHeaderTimeout: time.Minute}
	go server.Serve(listener) //nolint:errcheck // it ends with the benchmark
	defer server.Close()
	conn, err := new(net.Dialer).DialContext(b.Context(), "tcp", listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	body := strings.Repeat("x", 1000)
	request := []byte(
		"POST /verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n" + body,
	)
	answer := bufio.NewReader(conn)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	all, own := cpu(syscall.RUSAGE_SELF), cpu(syscall.RUSAGE_THREAD)
	for b.Loop() {
		if _, err := conn.Write(request); err != nil {
			b.Fatal(err)
		}
		response, err := http.ReadResponse(answer, nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			b.Fatal(err)
		}
		response.Body.Close()
	}
	return report(b, cpu(syscall.RUSAGE_SELF)-all-(cpu(syscall.RUSAGE_THREAD)-own), 0)
}

// report gives the CPU seconds of one operation, and how many units that is.
func report(b *testing.B, seconds, unit float64) float64 {
	one := seconds / float64(b.N)
	b.ReportMetric(one*1e6, "µs-CPU/op")
	if unit > 0 {
		b.ReportMetric(one/unit, "handlers/op")
	}
	return one
}

// cpu is the processor time so far, in seconds.
func cpu(who int) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
