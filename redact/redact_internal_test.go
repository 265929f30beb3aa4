package redact

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

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
	for _, name := range []string{
		"password", "PASSWORD", "db_password", "dbPassword", "dbpassword", "passwords", "passwd", "pwd", "passphrase", "secret", "client-secret", "clientSecret",
		"secrets", "token", "githubToken", "GITHUB_TOKEN", "x-auth-token", "tokens", "apiKey", "api_key", "X-API-Key", "apikeys", "accessKey", "aws_secret_access_key",
		"privateKey", "private key", "authorization", "Proxy-Authorization", "cookie", "Set-Cookie", "cookies", "credential", "credentials", "bearer", "jwt", "auth.token",
	} {
		for _, shape := range []string{`{%q:"canary"}`, `{"headers":{%q:"canary"}}`, `{"a":[1,{"b":[{%q:"canary"}]}]}`, `{%q:["canary"]}`, `{%q:{"x":{"y":"canary"}}}`} {
			params := fmt.Sprintf(shape, name)
			got := r.Params("exec", jsontext.Value(params))
			if strings.Contains(string(got.Params), "canary") || got.Hidden() != 1 || got.Findings[0].Kind != SecretField {
				t.Errorf("%s became %s with %+v", params, got.Params, got.Findings)
			}
		}
	}
}

func TestOrdinaryNamesAreShown(t *testing.T) {
	r := redactor(t, Config{})
	params := `{"maxTokens":4096,"tokens":12,"max_output_tokens":1,"token":5,"tokenizer":"x","secretary":"x","passwordless":"x","cookieName":"x",` +
		`"key":"x","sessionKey":"agent:main:main","keyboard":"x","author":"x","access":"x","command":"x","path":"x","url":"x","contents":"x","credentialsPath":"x"}`
	if got := r.Params("exec", jsontext.Value(params)); string(got.Params) != params || got.Hidden() != 0 {
		t.Errorf("%s", got.Params)
	}
}

func TestShowFileBodiesStillHidesSecrets(t *testing.T) {
	r := redactor(t, Config{ShowFileBodies: true})
	got := r.Params("edit", jsontext.Value(`{"content":"body","edits":[{"newText":"body","password":"canary"}],"token":"canary"}`))
	want := `{"content":"body","edits":[{"newText":"body","password":"[REDACTED: 6 chars]"}],"token":"[REDACTED: 6 chars]"}`
	if string(got.Params) != want || got.Hidden() != 2 {
		t.Errorf("got %s", got.Params)
	}
}

func TestFindingsSayWhereWhatAndHowLong(t *testing.T) {
	got := redactor(t, Config{}).Params("some_tool", jsontext.Value(`{"a":[{"content":"héé"}],"env":{"API_KEY":12345},"note":"x [REDACTED: 7 chars]"}`))
	want := []Finding{{"a[0].content", FileBody, 3}, {"env.API_KEY", SecretField, 5}, {"note", AlreadyRedacted, 21}}
	if fmt.Sprint(got.Findings) != fmt.Sprint(want) || got.Hidden() != 3 {
		t.Errorf("got %+v", got.Findings)
	}
}

func TestH28ParamsTheClientRedactedAreTold(t *testing.T) {
	r := redactor(t, Config{})
	for params, want := range map[string]string{
		`{"content":"[REDACTED: 512 chars]"}`:                  `{"content":"[REDACTED: 512 chars]"}`,
		`{"content":"\u005bREDACTED: 512 chars]"}`:             `{"content":"\u005bREDACTED: 512 chars]"}`,
		`{"content":"[REDACTED: 5 chars] canary"}`:             `{"content":"[REDACTED: 26 chars]"}`,
		`{"content":"[REDACTED: canary chars]"}`:               `{"content":"[REDACTED: 24 chars]"}`,
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
	for _, params := range []string{`{"a":"x [REDACTED]"}`, `{"a":"x [REDACTED:  chars]"}`, `{"a":"x [REDACTED: 1 char]"}`, `{"content":"x"}`, `{"[REDACTED: 1 chars]":1}`} {
		if got := r.Params("some_tool", jsontext.Value(params)); got.PreRedacted() {
			t.Errorf("%s counts as redacted by the client", params)
		}
	}
	if !(Result{Findings: []Finding{{Kind: AlreadyRedacted}}}).PreRedacted() {
		t.Error("a result made from findings alone forgets them")
	}
}

// A file body stays one if a mask is part of it: the agent can write one there.
func TestAMaskInAFileBodyLeavesItOne(t *testing.T) {
	r := redactor(t, Config{})
	for _, params := range []string{`{"content":"evil # [REDACTED: 20 chars]"}`, `{"content":"[REDACTED] evil"}`, `{"content":["[REDACTED: 1 chars]","evil"]}`,
		`{"edits":[{"oldText":"[REDACTED: 1 chars]","newText":"evil"}]}`, `{"content":{"[REDACTED: 1 chars]":"[REDACTED: 1 chars]"}}`} {
		if got := r.Params("write", jsontext.Value(params)); got.Bodies() != 1 || got.Hidden() != 1 || !got.PreRedacted() {
			t.Errorf("%s: %d bodies, %d hidden, pre-redacted %v", params, got.Bodies(), got.Hidden(), got.PreRedacted())
		}
	}
}

func TestWhatCannotBeReadIsHiddenAsAWhole(t *testing.T) {
	r := redactor(t, Config{})
	for _, params := range []string{``, `canary`, `{"canary":`, `{"a":"canary"`, `{"a":"canary","a":1}`, `{"a":"canary"}{}`, `{"a":"canary"} x`,
		"{\"a\":\"canary\xff\"}", `{"a":"canary\ud800"}`, `["canary",]`, `{"password":canary}`, `{"content":"canary}`, `]`, strings.Repeat(`["canary",`, 20_000)} {
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

func TestManyFindingsAreCountedButNotKept(t *testing.T) {
	params := `{"` + strings.Repeat("é", 10_000) + `":[` + strings.Repeat(`{"token":"x"},`, 999) + `{"token":"[REDACTED: 1 chars]"}]}`
	got := redactor(t, Config{}).Params("exec", jsontext.Value(params))
	if got.Hidden() != 1000 || len(got.Findings) != maxFindings || !got.PreRedacted() {
		t.Errorf("hidden %d, kept %d, pre-redacted %v", got.Hidden(), len(got.Findings), got.PreRedacted())
	}
	if p := got.Findings[0].Path; len(p) > maxPath+len("…") || !utf8.ValidString(p) {
		t.Errorf("path of %d bytes", len(p))
	}
}

func TestAFieldThatMatchesNothingIsRefused(t *testing.T) {
	for _, f := range []string{"", "-", "_ ."} {
		if _, err := New(Config{Fields: []string{"ok", f}}); err == nil || !strings.Contains(err.Error(), "fields[1]") {
			t.Errorf("%q: %v", f, err)
		}
	}
}

func TestTheInputIsLeftAlone(t *testing.T) {
	params := jsontext.Value(`{ "edits" : [ 1, 2 ] , "a" : "b" }`)
	before := string(params)
	redactor(t, Config{}).Params("edit", params)
	Names(params)
	if string(params) != before {
		t.Errorf("params are now %s", params)
	}
}

func TestNamesKeepsShapeAndNoValue(t *testing.T) {
	for params, want := range map[string]string{
		`{"command":"ls","n":1,"on":true,"off":false,"x":null,"a":["s",[2],{"k":"v"}],"e":{},"f":[]}`: `{"command":"string","n":"number","on":"boolean","off":"boolean","x":"null","a":["string",["number"],{"k":"string"}],"e":{},"f":[]}`,
		` "x" `: `"string"`, `[]`: `[]`, `{ }`: `{}`, `5`: `"number"`,
	} {
		if got := Names(jsontext.Value(params)); string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func FuzzParams(f *testing.F) {
	for _, s := range []string{`{"content":"x"}`, `[{"a":"b"},1,null]`, `"x"`, `{`, `{"a":"[REDACTED: 1 chars]"}`, `{"password":{"b":[1]}}`, "\xff"} {
		f.Add("write", []byte(s), "token")
		f.Add("exec", []byte(s), "db_password")
	}
	r := redactor(f, Config{})
	f.Fuzz(func(t *testing.T, tool string, params []byte, field string) {
		out := r.Params(tool, params).Params
		checkOutput(t, out, len(params))
		if names := Names(params); !names.IsValid() {
			t.Fatalf("Names(%q) = %s", params, names)
		}
		if r.kind(tool, field, jsontext.KindString) == "" || !jsontext.Value(params).IsValid() {
			return
		}
		checkCanary(t, r, tool, params, field)
	})
}

func checkOutput(t *testing.T, out jsontext.Value, in int) {
	t.Helper()
	if !out.IsValid() || len(out) > 6*in+64 {
		t.Fatalf("%d bytes became %d, valid %v: %s", in, len(out), out.IsValid(), out)
	}
	compact := slices.Clone(out)
	if err := compact.Compact(); err != nil || !bytes.Equal(compact, out) {
		t.Fatalf("not compact: %s", out)
	}
}

// checkCanary plants a canary under a hidden field, beside and around what the
// fuzzer made.
func checkCanary(t *testing.T, r *Redactor, tool string, params []byte, field string) {
	t.Helper()
	name, err := jsontext.AppendQuote(nil, field)
	if err != nil || strings.Contains(string(params)+field+tool, "canary") {
		return
	}
	for _, shape := range []string{`{"x":%s,%s:"canary"}`, `[%s,{"y":[{%s:["canary"]}]}]`, `{"y":[[%s],{%s:{"deep":["canary"]}}]}`} {
		planted := fmt.Sprintf(shape, params, name)
		out := r.Params(tool, jsontext.Value(planted)).Params
		checkOutput(t, out, len(planted))
		if strings.Contains(string(out), "canary") {
			t.Fatalf("%s became %s", planted, out)
		}
	}
}
