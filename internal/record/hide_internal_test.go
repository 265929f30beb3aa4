package record

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestNoTextOfAnEntryIsWrittenAsItCame but the params, which come hidden, and what
// the program itself says. What the entry was made of stays its owner's.
func TestNoTextOfAnEntryIsWrittenAsItCame(t *testing.T) {
	o := testOptions()
	o.Hide = func(texts ...*string) {
		for _, s := range texts {
			*s = strings.ReplaceAll(*s, "hunter22", "***")
		}
	}
	l, _, path := faultyLog(t, o)
	secret := func(n int) string { return fmt.Sprintf("%d hunter22", n) }
	e := Entry{
		Kind: KindDecision, RequestID: secret(1), Session: secret(2), SessionID: secret(3), Agent: secret(4), Run: secret(5),
		Tool: "exec hunter22", Sent: "EXEC hunter22", Source: secret(6), Reason: secret(7), Note: secret(8),
		Why: []string{secret(9), "plain"}, Origins: []string{"plain", secret(10)}, Decision: Allow,
	}
	before := e
	before.Why, before.Origins = slices.Clone(e.Why), slices.Clone(e.Origins)
	if err := l.Append(e); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, "short")
	if err := l.Append(e); err != nil {
		t.Fatal(err)
	}
	mustClose(t, l)
	if !reflect.DeepEqual(e, before) {
		t.Errorf("the entry became %+v", e)
	}
	text := contents(t, path)
	if bytes.Contains(text, []byte("hunter22")) {
		t.Errorf("not hidden:\n%s", text)
	}
	verifies(t, path, nil)
	decisions := 0
	for line := range Read(bytes.NewReader(text)) {
		if line.Kind == KindNote && len(line.Why)+len(line.Origins) > 0 {
			t.Errorf("a note says what another entry does: %+v", line)
		}
		if line.Kind != KindDecision {
			continue
		}
		decisions++
		if line.Tool != "EXEC ***" || line.Sent != "EXEC ***" || line.Why[0] != "9 ***" || line.Why[1] != "plain" || line.Origins[1] != "10 ***" {
			t.Errorf("%+v", line)
		}
	}
	if decisions != 2 {
		t.Errorf("%d decisions", decisions)
	}
}
