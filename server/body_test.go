package server_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/server"
	"github.com/openclaw-verifier/verifier/toolcall"
	"github.com/openclaw-verifier/verifier/verifier"
)

// keeper keeps every call that reaches it.
type keeper struct {
	decider
	mu    sync.Mutex
	calls []*toolcall.Call
}

func (k *keeper) Verify(ctx context.Context, c *toolcall.Call) verifier.Decision {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.calls = append(k.calls, c)
	return k.decider.Verify(ctx, c)
}

// numbered is a call with its number in every part of it, the longer the higher
// that is in its hundred.
func numbered(i int) string {
	return fmt.Sprintf(`{"version":1,"timestamp":%q,"requestId":"r-%[2]d","tool":{"name":"t%[2]d","params":{"n":%[2]d,"text":"%[3]s"}},"context":{"runId":"run-%[2]d"}}`,
		time.Now().UTC().Format(time.RFC3339), i, strings.Repeat("x", i%100*200))
}

// Nothing of one call may be part of another.
func TestACallOutlivesItsBody(t *testing.T) {
	k := &keeper{}
	s, _ := newServer(t, func(o *server.Options) { o.Verifier = k })
	const sides, each = 8, 100
	var all sync.WaitGroup
	for side := range sides {
		all.Go(func() {
			for i := range each {
				body := numbered(side*each + each - i)
				if w := post(s, body, signed(body)...); w.Code != http.StatusOK {
					t.Errorf("got %d %s", w.Code, w.Body)
				}
			}
		})
	}
	all.Wait()
	seen := map[int]bool{}
	for _, c := range k.calls {
		var i int
		_, _ = fmt.Sscanf(c.RequestID, "r-%d", &i) // 0, which is none, if it fails
		seen[i] = true
		want := fmt.Sprintf(`{"n":%d,"text":"%s"}`, i, strings.Repeat("x", i%100*200))
		if string(c.Params) != want || c.Tool != fmt.Sprintf("t%d", i) || c.Context.RunID != fmt.Sprintf("run-%d", i) {
			t.Errorf("%s is now %s of %s with %.40s", c.RequestID, c.Tool, c.Context.RunID, c.Params)
		}
	}
	if len(seen) != sides*each || seen[0] {
		t.Errorf("%d calls came, want %d", len(seen), sides*each)
	}
}
