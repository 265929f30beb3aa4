package redact

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func redactor(t testing.TB, c Config) *Redactor {
	t.Helper()
	r, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestH40SecretNamesAreHiddenAtAnyDepth(t *testing.T) {
	r := redactor(t, Config{})
	for name := range strings.FieldsSeq(`password PASSWORD db_password dbPassword passwords passwd pwd passphrase secret
		client-secret clientSecret secrets token githubToken GITHUB_TOKEN x-auth-token tokens apiKey api_key X-API-Key
		apikeys accessKey aws_secret_access_key privateKey authorization Proxy-Authorization cookie Set-Cookie cookies
		credential credentials bearer jwt auth.token old_password2 password_confirmation secretValue`) {
		for _, shape := range []string{`{%q:"canary"}`, `{"a":[1,{"b":[{%q:"canary"}]}]}`, `{%q:["canary"]}`,
			`{%q:{"x":{"y":"canary"}}}`} {
			params := fmt.Sprintf(shape, name)
			got := r.Params("exec", jsontext.Value(params))
			if strings.Contains(string(got.Params), "canary") || got.Hidden() != 1 ||
				got.Findings[0].Kind != SecretField {
				t.Errorf("%s became %s with %+v", params, got.Params, got.Findings)
			}
		}
	}
}

func TestFindingsSayWhereWhatAndHowLong(t *testing.T) {
	r := redactor(t, Config{})
	for params, want := range map[string][]Finding{
		`{"a":[{"content":"héé"}],"env":{"API_KEY":12345},"note":"x [REDACTED: 7 chars]"}`: {
			{"a[0].content", FileBody, 3}, {"env.API_KEY", SecretField, 5}, {"note", AlreadyRedacted, 21}},
		`{"ghp_0123456789abcdefghij":{"a":"pwd=xyz"},"e":[{"name":"token","value":"v"}]}`: {
			{"[REDACTED: 24 chars]", tokenKind, 24}, {"[REDACTED: 24 chars].a", assignedKind, 3}, {"e[0].value",
				SecretField, 1}},
	} {
		if got := r.Params("some_tool", jsontext.Value(params)); fmt.Sprint(got.Findings) != fmt.Sprint(want) {
			t.Errorf("got %+v", got.Findings)
		}
	}
	params := `{"` + strings.Repeat("é", 10_000) + `":[` + strings.Repeat(`{"token":"x"},`, 999) +
		`{"token":"[REDACTED: 1 chars]"}]}`
	got := r.Params("exec", jsontext.Value(params))
	if got.Hidden() != 1000 || len(got.Findings) != maxFindings || !got.PreRedacted() {
		t.Errorf("hidden %d, kept %d, pre-redacted %v", got.Hidden(), len(got.Findings), got.PreRedacted())
	}
	if p := got.Findings[0].Path; len(p) > 256+len("…") || !utf8.ValidString(p) {
		t.Errorf("path of %d bytes", len(p))
	}
}

func TestH28ParamsTheClientRedactedAreTold(t *testing.T) {
	r := redactor(t, Config{})
	for params, want := range map[string]string{
		`{"content":"[REDACTED: 512 chars]"}`:                  `{"content":"[REDACTED: 512 chars]"}`,
		`{"content":"\u005bREDACTED: 512 chars]"}`:             `{"content":"\u005bREDACTED: 512 chars]"}`,
		`{"content":"[REDACTED: 5 chars] canary"}`:             `{"content":"[REDACTED: 26 chars]"}`,
		`{"content":["[REDACTED: 1 chars]","evil"]}`:           `{"content":"[REDACTED: 30 chars]"}`,
		`{"edits":[{"newText":"[REDACTED: 5 chars]"}]}`:        `{"edits":"[REDACTED: 35 chars]"}`,
		`{"command":"echo [REDACTED: 5 chars] > x"}`:           `{"command":"echo [REDACTED: 5 chars] > x"}`,
		`{"a":["[REDACTED]"]}`:                                 `{"a":["[REDACTED]"]}`,
		`{"a":"[REDACTED:  [REDACTED: x [REDACTED: 1 chars]"}`: `{"a":"[REDACTED:  [REDACTED: x [REDACTED: 1 chars]"}`,
	} {
		got := r.Params("some_tool", jsontext.Value(params))
		if string(got.Params) != want || !got.PreRedacted() || got.Hidden() != 1 {
			t.Errorf("%s: got %s, pre-redacted %v, hidden %d", params, got.Params, got.PreRedacted(), got.Hidden())
		}
	}
	for _, params := range []string{`{"a":"x [REDACTED]"}`, `{"a":"x [REDACTED:  chars]"}`, `{"content":"x"}`,
		`{"[REDACTED: 1 chars]":1}`} {
		if got := r.Params("some_tool", jsontext.Value(params)); got.PreRedacted() {
			t.Errorf("%s counts as redacted by the client", params)
		}
	}
}

func TestWhatCannotBeReadIsHiddenAsAWhole(t *testing.T) {
	r := redactor(t, Config{})
	for _, params := range []string{``, `canary`, `{"canary":`, `{"a":"canary"`, `{"a":"canary","a":1}`,
		`{"a":"canary"}{}`, `{"a":"canary"} x`,
		"{\"a\":\"canary\xff\"}", `{"a":"canary\ud800"}`, `["canary",]`, `{"password":canary}`, `{"content":"canary}`,
		`]`, strings.Repeat(`["canary",`, 20_000)} {
		got := r.Params("exec", jsontext.Value(params))
		want := fmt.Sprintf(`"[REDACTED: %d chars]"`, utf8.RuneCountInString(params))
		if string(got.Params) != want || got.Hidden() != 1 || got.Findings[0].Kind != Unreadable {
			t.Errorf("%.40q became %.100s", params, got.Params)
		}
		if got := Names(jsontext.Value(params)); string(got) != `"unreadable"` {
			t.Errorf("Names(%.40q) = %.100s", params, got)
		}
	}
}

func TestNamesKeepsShapeAndNoValue(t *testing.T) {
	for params, want := range map[string]string{
		`{"n":1,"a":["s",[2],{"k":"v"}],"e":{}}`:  `{"n":"number","a":["string",["number"],{"k":"string"}],"e":{}}`,
		`{"on":true,"off":false,"x":null,"f":[]}`: `{"on":"boolean","off":"boolean","x":"null","f":[]}`,
		` "x" `: `"string"`, `[]`: `[]`, `{ }`: `{}`, `5`: `"number"`,
		`{"password":{"a":1}}`: `{"password":{"a":"number"}}`,
	} {
		if got := Names(jsontext.Value(params)); string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestUntilReadyNothingIsShown(t *testing.T) {
	r := &Redactor{done: make(chan struct{})}
	if r.IsReady() || !r.Bears("ls") {
		t.Fatal("ready before it began")
	}
	got := r.Params("exec",
		jsontext.Value(`{"command":"ls","n":1,"on":true,"a":["x",""],"AKIAIOSFODNN7EXAMPLE":{"b":"c"},"password":"x"}`))
	want := `{"command":"[REDACTED: 2 chars]","n":"[REDACTED: 1 chars]","on":true,"a":["[REDACTED: 1 chars]",""],` +
		`"[REDACTED: 20 chars]":{"b":"[REDACTED: 1 chars]"},"password":"[REDACTED: 1 chars]"}`
	if string(got.Params) != want || got.Hidden() != 6 || got.Findings[0] != (Finding{"command", NotReady, 2}) ||
		got.PreRedacted() {
		t.Errorf("%s %v", got.Params, got.Findings)
	}
	names := r.Names(jsontext.Value(`{"AKIAIOSFODNN7EXAMPLE":1,"x":2}`))
	if s := string(names); s != `{"[REDACTED: 20 chars]":"number","x":"number"}` {
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
	r.err = errors.New("no rules")
	close(r.done)
	if s, f := r.Text("ls"); r.Wait(t.Context()) == nil || s != "[REDACTED: 2 chars]" || f[0].Kind != NotReady {
		t.Errorf("%s %v: without rules, something is shown", s, f)
	}
}

func FuzzParams(f *testing.F) {
	for _, s := range []string{`{"content":"x"}`, `[{"a":"b"},1,null]`, `{"a":"[REDACTED: 1 chars]"}`,
		`{"password":{"b":[1]}}`, "\xff"} {
		f.Add("write", []byte(s), "token")
		f.Add("exec", []byte(s), "db_password")
	}
	r := redactor(f, Config{})
	f.Fuzz(func(t *testing.T, tool string, params []byte, field string) {
		before := slices.Clone(params)
		check := func(in []byte) string {
			out := r.Params(tool, in).Params
			compact := slices.Clone(out)
			if err := compact.Compact(); err != nil || !bytes.Equal(compact, out) || len(out) > 6*len(in)+64 ||
				!Names(in).IsValid() {
				t.Fatalf("%q became %s: %v", in, out, err)
			}
			kept, _ := WithoutBodies(tool, out)
			if again, hidden := WithoutBodies(tool, kept); hidden > 0 || string(again) != string(kept) {
				t.Fatalf("%q was hidden again: %q", kept, again)
			}
			return string(out)
		}
		check(params)
		if !bytes.Equal(params, before) {
			t.Fatalf("%q is now %q", before, params)
		}
		name, err := jsontext.AppendQuote(nil, field)
		if !r.names(field) || err != nil || !jsontext.Value(params).IsValid() ||
			strings.Contains(string(params)+field, "canary") {
			return
		}
		for _, shape := range []string{`{"x":%s,%s:"canary"}`, `[%s,{"y":[{%s:["canary"]}]}]`,
			`{"y":[[%s],{%s:{"deep":["canary"]}}]}`} {
			if out := check(fmt.Appendf(nil, shape, params, name)); strings.Contains(out, "canary") {
				t.Fatalf("%s shows the canary", out)
			}
		}
	})
}
