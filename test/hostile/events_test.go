package hostile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/internal/protocol"
)

// TestEvents reads the events of events.txt.
func TestEvents(t *testing.T) {
	t.Parallel()
	for _, r := range rows(t, "events.txt") {
		_, err := protocol.DecodeEvent(protocol.Name(r.setting), []byte(head+`,"event":`+unfold(r.input)+"}"))
		if r.verdict == "allow" {
			if err != nil {
				t.Errorf("%s: %.200s\n\tgot %v", r.at, r.input, err)
			}
			continue
		}
		malformed, is := errors.AsType[*protocol.Malformed](err)
		if !is || !strings.Contains(malformed.Reason, r.why) || strings.Contains(malformed.Reason, "xxx") {
			t.Errorf("%s: %.200s\n\tgot %v, want %q", r.at, r.input, err, r.why)
		}
	}
}
