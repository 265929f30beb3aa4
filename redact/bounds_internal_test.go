package redact

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/openclaw-verifier/verifier/cputest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tooLong is far above what the slowest of them takes with the race detector,
// and below what anything takes that is not linear.
const tooLong = 10 * time.Second

// TestHostileTextCostsLittle: much of what is worst for one look each. A text four times as long takes four times as
// long, and not sixteen times.
func TestHostileTextCostsLittle(t *testing.T) {
	r := redactor(t, Config{})
	const size = 1 << 15
	for _, unit := range []string{
		"ey", ".ey", "eyJ", strings.Repeat("eyJ", 300) + ".", "eyJa.", "sk-", "ghp_", "ops_eyJ", "password=", "password=\"", "password='$", "token=$(' ", "-H 'Authorization: ", "Authorization: Bearer ", "://", "://a:b/", "://a:b@", "a:b@tcp(",
		"curl ", "curl login mysql ", "curl -u ", "curl '", "key ", "key = ", "api key: ", "facebook sourcegraph okta airtable ", "%41", "%2541", "%25", "\\n", "\\\\", "QUJD", "Z2hwXw", "YWJjZGVm\n", strings.Repeat("QUJD", 15) + "\n",
		"-----BEGIN ", "-----BEGIN x-----", "1:AA", "111111:AA", "[REDACTED: ", "[REDACTED: 1 chars]", "'", "\"", "`", " ", "\n", "x", "é", "?key=", "&sig=abcdef", "bearer ", "basic ", "MTk4NjIyNDgzNDcxOTI1MjQ4.", "secret_token_key_", "-", ".", "AKIA", "\u212a",
		"echo x | sudo -S ", "echo x|chpasswd;", "sudo -S <<EOF\n", "chpasswd <<< '", "p=$p;", "PASSWORD=$p p=1 ", "tool --token $a a=b a=c ", "login $a ", "--password-stdin ", "x|stdin", "(((", "echo a|(", "password: |\n", "password: |\n x\n",
		"pin=", "pwd=/", "otp=1", "<password>", "<password> <", "auth=(", "login(a,'", "send \"password", "assword send '", "a:b:c:d:e .pgpass ", "$6$", "identified by ", "net use \\\\a ", "net user a b /", "setx TOKEN ", "config set a.token ", "password 0 ", "password=\"a\"'", "password='a'\\''", "password=a\\ ", "p\u200b", "\x1b[", "\x1b[31mtoken=", "ＡＢ", "cABhAHMAcwA", "AAAA", "private-lines:", "---- begin", "TOKEN=$(echo ", "TOKEN=${a-", "pass ", "htpasswd -b a b ",
	} {
		short, long := time.Duration(0), time.Hour
		for try := 0; try < 5 && long >= 10*short+grain; try++ { // a busy machine takes longer, and not each time
			short, long = max(short, costOf(t, r, unit, size/4)), min(long, costOf(t, r, unit, size))
		}
		if long >= 10*short+grain || long > tooLong {
			t.Errorf("%d bytes of %q took %v, a quarter of it %v", size, unit, long, short)
		}
	}
}

// grain is what a busy machine may take from a test that does little.
const grain = 100 * time.Millisecond

// costOf is how long a text takes that repeats a unit.
func costOf(t *testing.T, r *Redactor, unit string, size int) time.Duration {
	t.Helper()
	s := strings.Repeat(unit, max(1, size/len(unit)))
	return cputest.Time(func() {
		if out, _ := r.Text(s); len(out) > 8*len(s) {
			t.Errorf("%d bytes of %q became %d", len(s), unit, len(out))
		}
	})
}

func TestHostileJSONCostsLittle(t *testing.T) {
	r := redactor(t, Config{})
	for name, params := range map[string]string{
		"deep values":    strings.Repeat(`{"value":1,"a":`, 5_000) + `1` + strings.Repeat(`,"name":"token"}`, 5_000),
		"deep pairs":     strings.Repeat(`{"value":`, 5_000) + `1` + strings.Repeat(`,"name":"token"}`, 5_000),
		"secret names":   `{` + strings.Repeat(`"ghp_0123456789abcdefghij":1,`, 1)[:29] + `}`,
		"many names":     manyNames(5_000),
		"many arguments": `[` + strings.Repeat(`"--password",`, 20_000) + `1]`,
		"deep arrays":    strings.Repeat(`[`, 9_999) + strings.Repeat(`]`, 9_999),
		"tokens":         `["` + strings.Repeat(`token=abc `, 20_000) + `"]`,
	} {
		var out jsontext.Value
		if took := cputest.Time(func() {
			out = r.Params("exec", jsontext.Value(params)).Params
			r.Names(jsontext.Value(params))
		}); took > tooLong {
			t.Errorf("%s took %v", name, took)
		}
		if !out.IsValid() {
			t.Errorf("%s: the output is no JSON: %.100s", name, out)
		}
	}
}

func manyNames(n int) string {
	var b strings.Builder
	b.WriteString(`{"[REDACTED: 29 chars] (2)":0`)
	for i := range n {
		b.WriteString(`,"password=` + strings.Repeat("x", 12) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676%26)) + string(rune('a'+i/17576)) + `":1`)
	}
	return b.String() + `}`
}

func TestWhatWouldTakeTooLongIsHiddenUnread(t *testing.T) {
	r := redactor(t, Config{})
	s := strings.Repeat(".ey_", 1<<18)
	if out, findings := r.Text(s); out != "[REDACTED: 1048576 chars]" || len(findings) != 1 || findings[0].Kind != TooMuch {
		t.Errorf("%.60s %v", out, findings)
	}
	got := r.Params("exec", jsontext.Value(`{"a":"`+s+`","command":"ls -la","b":"key: 9f86d081884c7d659a2feaa0c55ad015"}`))
	if want := `{"a":"[REDACTED: 1048576 chars]","command":"ls -la","b":"[REDACTED: 37 chars]"}`; string(got.Params) != want {
		t.Errorf("what comes after: %.200s", got.Params)
	}
}

func TestUntilReadyNothingIsShown(t *testing.T) {
	r := &Redactor{making: &making{done: make(chan struct{})}}
	if r.IsReady() {
		t.Fatal("ready before it began")
	}
	got := r.Params("exec", jsontext.Value(`{"command":"ls","n":1,"on":true,"a":["x",""],"AKIAIOSFODNN7EXAMPLE":{"b":"c"},"password":"x"}`))
	want := `{"command":"[REDACTED: 2 chars]","n":"[REDACTED: 1 chars]","on":true,"a":["[REDACTED: 1 chars]",""],"[REDACTED: 20 chars]":{"b":"[REDACTED: 1 chars]"},"password":"[REDACTED: 1 chars]"}`
	if string(got.Params) != want || got.Hidden() != 6 || got.Findings[0] != (Finding{"command", NotReady, 2}) || got.PreRedacted() {
		t.Errorf("%s %v", got.Params, got.Findings)
	}
	if s, f := r.Text("ls"); s != "[REDACTED: 2 chars]" || len(f) != 1 || f[0].Kind != NotReady {
		t.Errorf("%s %v", s, f)
	}
	if s := string(r.Names(jsontext.Value(`{"AKIAIOSFODNN7EXAMPLE":1,"x":2}`))); s != `{"[REDACTED: 20 chars]":"number","x":"number"}` {
		t.Error(s)
	}
	key, tool := "agent:main:main", "exec"
	if r.Lines(&key, &tool); key != "[REDACTED: 15 chars]" || tool != "exec" {
		t.Error(key, tool)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait: %v", err)
	}
	r.making.start()
	if err := r.Wait(t.Context()); err != nil || !r.IsReady() {
		t.Fatal(err)
	}
	<-r.Ready()
	if s, _ := r.Text("ls"); s != "ls" {
		t.Error(s)
	}
}

func TestRulesThatCannotBeMadeHideEverything(t *testing.T) {
	m := &making{done: make(chan struct{}), err: errors.New("no rules")}
	close(m.done)
	r := &Redactor{making: m}
	<-r.Ready()
	if err := r.Wait(t.Context()); err == nil || r.IsReady() {
		t.Errorf("Wait: %v", err)
	}
	if s, _ := r.Text("ls"); s != "[REDACTED: 2 chars]" {
		t.Error(s)
	}
}
