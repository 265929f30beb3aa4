package session_test

import (
	"os"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// TestWhoStartedARun reads the contexts of runs.txt as they come over the wire.
func TestWhoStartedARun(t *testing.T) {
	text, err := os.ReadFile("testdata/runs.txt")
	if err != nil {
		t.Fatal(err)
	}
	for n, row := range strings.Split(string(text), "\n") {
		if row == "" || row[0] == '#' {
			continue
		}
		parts := strings.Split(row, " | ")
		if len(parts) != 3 {
			t.Fatalf("runs.txt:%d: want `level | context | why`", n+1)
		}
		c, err := toolcall.Decode([]byte(`{"version":1,"requestId":"r","timestamp":"2026-02-12T15:30:00Z",` +
			`"tool":{"name":"read","params":{}},"context":` + parts[1] + `}`))
		if err != nil {
			t.Fatalf("runs.txt:%d: %v", n+1, err)
		}
		i := session.Classify(&c, taint.Untrusted)
		got := i.Level.String()
		if strings.HasPrefix(parts[0], "any") {
			got = "any"
		}
		for what, is := range map[string]bool{" attested": i.System, " spawned": i.Spawned, " resumed": i.Resumed} {
			if is {
				got += what
			}
		}
		if got != parts[0] || i.Why == "" {
			t.Errorf("runs.txt:%d: %s because %q, not %s: %s", n+1, got, i.Why, parts[0], parts[2])
		}
	}
	if got := session.Classify(&toolcall.Call{}, taint.External); got.Level != taint.External {
		t.Errorf("who can't be told is %s, and the owner says external", got.Level)
	}
}
