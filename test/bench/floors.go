package main

import (
	"io"
	"net/http"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// How this program tells itself to be a floor, where it listens, and what signs.
const (
	roleVariable   = "BENCH_ROLE"
	listenVariable = "BENCH_LISTEN"
	secretVariable = "BENCH_SECRET"
)

// allowBody is the exact answer of an allow, as ours writes it.
const allowBody = `{"decision":"allow","reason":""}`

// serveFloor serves until the process is killed.
func serveFloor(role, address string) error {
	handler := constant
	if role == "strict" {
		handler = strict
	}
	s := &http.Server{Addr: address, Handler: http.HandlerFunc(handler), ReadHeaderTimeout: time.Minute}
	return s.ListenAndServe()
}

// constant answers every request with the same bytes.
func constant(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, allowBody) // a client that has gone needs no answer
}

// strict checks the signature and decodes the call: the least that a verifier does.
func strict(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, toolcall.MaxBody))
	if err != nil || hmac.Match(r.Header.Get(hmac.RequestHeader), body, []byte(secret)) < 0 {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if _, err := toolcall.Decode(body); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	constant(w, r)
}
