package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/server"
)

// Whatever a client signs comes in by the same way: an old, a future or an unsigned
// body, and one that can't be decoded, is accepted at none of the doors, where the
// same body on time is.
func TestEverySignedDoorChecksSignatureShapeAndClock(t *testing.T) {
	const head = `{"version":1,"timestamp":"2026-02-12T12:00:00Z","requestId":"r","context":{},`
	for _, door := range []struct{ path, body, accepted string }{
		{"/verify", head + `"tool":{"name":"read","params":{}}}`, `"decision":"allow"`},
		{"/hooks/session_start", head + `"event":{}}`, `"accepted":true`},
		{"/hooks/before_tool_call", head + `"tool":{"name":"read","params":{}}}`, `"decision":"allow"`},
		{"/hooks/before_tool_call", head + `"tool":{"name":"read","params":{}},"notice":true}`, `"accepted":true`},
		{"/approve", head + `"text":".approve"}`, `"kind":"unauthorised"`},
	} {
		now := noon()
		s, _ := newServer(t, func(o *server.Options) { o.Loop, o.Now = hears{}, func() time.Time { return now } })
		w := tell(s, door.path, door.body, signed(door.body)...)
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), door.accepted) {
			t.Errorf("%s on time: got %d %s, want %s", door.path, w.Code, w.Body, door.accepted)
		}
		for _, now = range []time.Time{noon().Add(-5*time.Minute - time.Second), noon().Add(5*time.Minute + time.Second)} {
			w = tell(s, door.path, door.body, signed(door.body)...)
			if w.Code != http.StatusOK || strings.Contains(w.Body.String(), door.accepted) || !strings.Contains(w.Body.String(), "Check the clocks.") {
				t.Errorf("%s at %s: got %d %s", door.path, now, w.Code, w.Body)
			}
		}
		now = noon()
		if w = tell(s, door.path, door.body); w.Code != http.StatusUnauthorized {
			t.Errorf("%s unsigned: got %d %s", door.path, w.Code, w.Body)
		}
		more := door.body[:len(door.body)-1] + `,"more":1}`
		if w = tell(s, door.path, more, signed(more)...); w.Code != http.StatusOK || strings.Contains(w.Body.String(), door.accepted) {
			t.Errorf("%s with another member: got %d %s", door.path, w.Code, w.Body)
		}
	}
}
