package server

import (
	"bufio"
	"net"
	"net/http"
)

// response notes what became of an answer.
type response struct {
	http.ResponseWriter
	status   int  // 200 until another one is written
	written  bool // at least its header
	hijacked bool // the answer comes later
}

// WriteHeader takes the first status: the answer to a panic comes too late where a
// handler has begun its own.
func (w *response) WriteHeader(status int) {
	if !w.written {
		w.status, w.written = status, true
		w.ResponseWriter.WriteHeader(status)
	}
}

func (w *response) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.ResponseWriter.Write(b)
}

// Hijack implements [http.Hijacker].
func (w *response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	w.hijacked = err == nil
	return conn, buffered, err
}

// Unwrap is for [http.ResponseController].
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

const (
	jsonType = "application/json"
	textType = "text/plain; charset=UTF-8"
)

func write(w http.ResponseWriter, status int, kind string, body []byte) {
	w.Header()["Content-Type"] = []string{kind}
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // JSON or plain text, as its Content-Type says; a caller that has gone needs no answer
}

func plain(w http.ResponseWriter, status int, text string) { write(w, status, textType, []byte(text)) }

// failed answers with a status and its name.
func failed(w http.ResponseWriter, status int) { plain(w, status, http.StatusText(status)+"\n") }
