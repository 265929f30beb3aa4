package main

import (
	"io"
	"net/http"
	"time"
)

// listenVariable tells this program to be the floor, and where it listens.
const listenVariable = "BENCH_LISTEN"

// allowBody is the exact answer of an allow, as ours writes it.
const allowBody = `{"decision":"allow","reason":""}`

// serveFloor answers every request with the same bytes, until the process is killed.
func serveFloor(address string) error {
	s := &http.Server{Addr: address, Handler: http.HandlerFunc(constant), ReadHeaderTimeout: time.Minute}
	return s.ListenAndServe()
}

func constant(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, allowBody) // a client that has gone needs no answer
}
