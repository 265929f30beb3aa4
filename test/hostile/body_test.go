package hostile_test

import (
	"encoding/hex"
	"errors"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/internal/protocol"
)

var (
	repeated = regexp.MustCompile(`<(\d+)\*(.*?)>`)
	bytesOf  = regexp.MustCompile(`<([0-9a-f]{2}(?: [0-9a-f]{2})*)>`)
)

// unfold writes out what a row abbreviates.
func unfold(input string) string {
	input = repeated.ReplaceAllStringFunc(input, func(s string) string {
		m := repeated.FindStringSubmatch(s)
		n, _ := strconv.Atoi(m[1])
		return strings.Repeat(m[2], n)
	})
	return bytesOf.ReplaceAllStringFunc(input, func(s string) string {
		b, _ := hex.DecodeString(strings.ReplaceAll(strings.Trim(s, "<>"), " ", ""))
		return string(b)
	})
}

const (
	head      = `{"version":1,"requestId":"r","timestamp":"2026-02-12T15:30:00Z"`
	goodTool  = `,"tool":{"name":"read","params":{}}`
	goodOwner = `,"context":{"sessionKey":"agent:main:main","senderId":"1","senderIsOwner":true}`
)

// body is the one that a row describes.
func (r row) body(t *testing.T) []byte {
	t.Helper()
	input := unfold(r.input)
	switch r.setting {
	case "body":
		return []byte(input)
	case "around":
		return []byte(strings.ReplaceAll(input, "{body}", head+goodTool+goodOwner+"}"))
	case "tool":
		return []byte(head + `,"tool":` + input + goodOwner + "}")
	case "params":
		return []byte(head + `,"tool":{"name":"read","params":` + input + "}" + goodOwner + "}")
	case "context":
		return []byte(head + goodTool + `,"context":` + input + "}")
	case "members":
		return []byte(head + goodTool + goodOwner + "," + input + "}")
	}
	t.Fatalf("%s: what is %q?", r.at, r.setting)
	return nil
}

// TestBody reads the bodies of body.txt: what is no call is refused with a reason, and costs little.
func TestBody(t *testing.T) {
	t.Parallel()
	all := rows(t, "body.txt")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, r := range all {
		c, err := protocol.Decode(r.body(t))
		if r.verdict == "allow" {
			if err != nil || r.setting == "params" && (c.Tool != "read" || !c.Context.SenderIsOwner) {
				t.Errorf("%s: %s: got %+v, %v", r.at, r.why, c, err)
			}
			continue
		}
		_, says, _ := strings.Cut(r.why, " ")
		malformed, is := errors.AsType[*protocol.Malformed](err)
		if !is || !strings.Contains(malformed.Reason, says) {
			t.Errorf("%s: %.200s\n\tgot %v, want %q", r.at, r.input, err, says)
		} else if strings.Contains(malformed.Reason, "canary") || len(malformed.Reason) > 120 {
			t.Errorf("%s: the reason repeats the body, or is long: %q", r.at, malformed.Reason)
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / uint64(len(all)); each > 4<<20 {
		t.Errorf("each body took %d MiB", each>>20)
	}
}
