package redact

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/cputest"
)

// most is what any text may take of a processor. What is longer than these is hidden unread, or takes no regular
// expression.
const most = 250 * time.Millisecond

// TestNoInputKeepsACoreBusy: much of what is worst for each look and rule, as a text and in params.
func TestNoInputKeepsACoreBusy(t *testing.T) {
	r := redactor(t, Config{Known: []string{"0123456789abcdef"}, Patterns: []Pattern{{Regex: `x[a-z]{8}y`}}})
	inputs := map[string]string{
		"arrays": strings.Repeat(`[`, 9_999) + strings.Repeat(`]`, 9_999), "too deep": strings.Repeat(`{"a":`, 100_000),
		"objects":    strings.Repeat(`{"name":"token","value":`, 9_000) + `1` + strings.Repeat(`}`, 9_000),
		"a megabyte": strings.Repeat("a$(", 1<<20/3),
		"arguments":  `["mysql"` + strings.Repeat(`,"--password","-pabc"`, 20_000) + `]`,
	}
	for _, unit := range rows(t, "units.txt") {
		inputs[unit] = strings.Repeat(unit, 1<<18/len(unit))
	}
	for name, text := range inputs {
		var took time.Duration
		for range 3 { // another program may have emptied the caches
			if took = cputest.Time(func() {
				r.Text(text)
				r.Params("exec", jsontext.Value(text))
			}); took < most {
				break
			}
		}
		if took >= most {
			t.Errorf("%.30q took %v", name, took)
		}
	}
}

func TestWhatWouldTakeTooLongIsHiddenUnread(t *testing.T) {
	r := redactor(t, Config{})
	s := strings.Repeat(".ey_", 1<<18)
	if out, hidden := r.Text(s); out != "[REDACTED: 1048576 chars]" || !hidden || !r.Bears(s) {
		t.Errorf("%.60s", out)
	}
	got := r.Params("exec",
		jsontext.Value(`{"a":"`+s+`","command":"ls -la","b":"key: 9f86d081884c7d659a2feaa0c55ad015"}`))
	want := `{"a":"[REDACTED: 1048576 chars]","command":"ls -la","b":"[REDACTED: 37 chars]"}`
	if string(got.Params) != want {
		t.Errorf("what comes after: %.200s", got.Params)
	}
}
