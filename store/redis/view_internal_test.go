package redis

import (
	"errors"
	"testing"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// TestViewReadsWhatTheScriptsWrite, and nothing else: what stands in Redis may be
// damaged.
func TestViewReadsWhatTheScriptsWrite(t *testing.T) {
	t.Parallel()
	v, err := view("1000015 1700000000123 0 12 345 5 999999999999999999 7 4:345:web_fetch a: b 1")
	if err != nil || v.Entry != session.Passed || v.Level != taint.Owner || v.After != taint.Untrusted || v.Now.UnixMilli() != 1700000000123 ||
		v.Version != 12 || v.Step != 345 || v.Generation != 999999999999999999 || v.Worst != (session.Source{Label: "web_fetch a: b 1", Level: taint.External, Step: 345}) {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err := view("0000000 1 0 1 1 0 0 0 "); err != nil || v.Worst != (session.Source{}) {
		t.Errorf("without a source: %+v, %v", v, err)
	}
	for _, damaged := range []string{
		"", " ", "1000015", "1000015 ", "1000015 1 0 1 1 0 0", "1000015 1 0 1 1 0 0 0", "1000015 1 0 1  0 0 0 ", "1000015 1 0 1 1 0 0 -1 ",
		"1000015 1 0 1 1 0 0 +1 ", "1000015 1 0 1 1 0 0 1.0 ", "1000015 1 0 1 1 0 0 1e5 ", "1000015 1 0 1 1 0 0 9999999999999999999 ",
		"1000015 1\t0 1 1 0 0 0 ", "100001 1 0 1 1 0 0 0 ", "10000155 1 0 1 1 0 0 0 ", "1000065 1 0 1 1 0 0 0 ", "1000016 1 0 1 1 0 0 0 ", "1000315 1 0 1 1 0 0 0 ",
		"1000015 1 0 1 1 0 0 0 x", "1000015 1 0 1 1 0 0 0 1", "1000015 1 0 1 1 0 0 0 1:2", "1000015 1 0 1 1 0 0 0 6:2:x", "1000015 1 0 1 1 0 0 0 :2:x",
		"1000015 1 0 1 1 0 0 0 1::x", "1000015 1 0 1 1 0 0 0 1:-2:x", "1000015 1 0 1 1 0 0 0 1 2:x",
	} {
		if v, err := view(damaged); !errors.Is(err, errReply) {
			t.Errorf("%q was read as %+v, %v", damaged, v, err)
		}
	}
}
