package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/openclaw-verifier/verifier/hook"
)

const (
	results     = 25
	resultBytes = 4 << 20
	// mostHeap is what a few messages take, and not what all of them do.
	mostHeap = 48 << 20
)

// heap is the most that was in use, as it is looked at.
type heap struct{ before, most uint64 }

func newHeap() *heap { h := &heap{before: inUse()}; return h }

func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func (h *heap) look() { h.most = max(h.most, inUse()) }

func (h *heap) check(t *testing.T) {
	t.Helper()
	if h.most > h.before+mostHeap {
		t.Errorf("%d MiB are kept of %d MiB that passed", (h.most-h.before)>>20, results*resultBytes>>20)
	}
}

// counted counts what is written, and keeps none of it.
type counted struct{ n atomic.Int64 }

func (c *counted) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}

// forgetful is a session that allows everything and keeps nothing.
type forgetful struct{}

func (forgetful) Ask(context.Context, hook.Call) (hook.Verdict, error) {
	return hook.Verdict{Allowed: true}, nil
}

func (forgetful) Returned(context.Context, string, string, string, bool) error { return nil }

func (forgetful) Replaced(context.Context, string, string) error { return nil }

func (forgetful) Offered(context.Context, []string) (map[string]bool, error) { return nil, nil }

// TestLargeResultsPassInConstantMemory: 100 MB of results in messages of 4 MB, over stdio and over HTTP.
func TestLargeResultsPassInConstantMemory(t *testing.T) {
	text := strings.Repeat("All work and no play. ", resultBytes/22)
	options := Options{Server: "fs", Definitions: Definitions{t.TempDir()}, Open: func() (Session, error) { return forgetful{}, nil }, Log: io.Discard}
	result := func(id any) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":{"content":[{"type":"text","text":"%s"}]}}`, id, text)
	}
	t.Run("stdio", func(t *testing.T) {
		toClient := &counted{}
		p := newPipe(options, &sender{w: toClient}, &sender{w: io.Discard})
		read, write := io.Pipe()
		h := newHeap()
		go func() {
			defer write.Close()
			for id := range results {
				m := message{id: fmt.Append(nil, id), key: fmt.Sprint("n", id), method: "tools/call"}
				p.admit(p.asked(&m, nil, p.client))
				io.WriteString(write, result(id)+"\n") //nolint:errcheck // the count says it
				h.look()
			}
		}()
		if err := p.pump(newLines(read), func(line []byte) error { return p.fromServer(t.Context(), line) }); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
		if n := toClient.n.Load(); n < results*resultBytes*9/10 {
			t.Errorf("%d bytes came", n)
		}
		h.check(t)
	})
	t.Run("HTTP", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			io.Copy(io.Discard, q.Body) //nolint:errcheck // it is short
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: "+result(1)+"\n\n") //nolint:errcheck // the count says it
		}))
		defer server.Close()
		u, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		front := httptest.NewServer(HTTP(options, u, Reached{Host: func(string) bool { return true }}))
		defer front.Close()
		h, all := newHeap(), &counted{}
		for range results {
			q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, front.URL, bytes.NewReader([]byte(aCall)))
			if err != nil {
				t.Fatal(err)
			}
			q.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
			res, err := http.DefaultClient.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			_, err = io.Copy(all, res.Body)
			if res.Body.Close(); err != nil {
				t.Fatal(err)
			}
			h.look()
		}
		if n := all.n.Load(); n < results*resultBytes*9/10 {
			t.Errorf("%d bytes came", n)
		}
		h.check(t)
	})
}
