package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
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

func (forgetful) Offered(context.Context, []string) (map[string]bool, error) { return nil, nil }

// TestLargeResultsPassInConstantMemory: 100 MB of results in messages of 4 MB.
func TestLargeResultsPassInConstantMemory(t *testing.T) {
	text := strings.Repeat("All work and no play. ", resultBytes/22)
	options := Options{Server: "fs", Definitions: Definitions{t.TempDir()}, Open: func() (Session, error) { return forgetful{}, nil }, Log: io.Discard}
	result := func(id int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"%s"}]}}`, id, text)
	}
	toClient := &counted{}
	p := newPipe(options, &sender{w: toClient}, &sender{w: io.Discard})
	read, write := io.Pipe()
	h := newHeap()
	go func() {
		defer write.Close()
		for id := range results {
			m := message{id: fmt.Append(nil, id), key: fmt.Sprint("n", id), method: "tools/call"}
			p.admit(p.asked(&m, nil))
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
}
