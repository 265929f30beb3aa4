package redact_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/redact"
)

func TestParamsByShapeAndNeighbour(t *testing.T) {
	r := ready(t, redact.Config{})
	for _, tt := range []struct{ params, want string }{
		{`{"command":"curl -u bob:hunter2xx https://x"}`, `{"command":"curl -u bob:[REDACTED: 9 chars] https://x"}`},
		{`{"headers":[{"name":"Authorization","value":"x y"},{"name":"Accept","value":"z"}]}`, `{"headers":[{"name":"Authorization","value":"[REDACTED: 3 chars]"},{"name":"Accept","value":"z"}]}`},
		{`{"env":[{"value":"x","note":"pass=q1","key":"DB_PASS"},{"value":"x","key":"PATH"}]}`, `{"env":[{"value":"[REDACTED: 1 chars]","note":"pass=[REDACTED: 2 chars]","key":"DB_PASS"},{"value":"x","key":"PATH"}]}`},
		{`{"value":{"a":["token=abc"]},"name":"secret"}`, `{"value":"[REDACTED: 19 chars]","name":"secret"}`},
		{`{"headers":["Authorization: Bearer abc","Accept: x"]}`, `{"headers":["Authorization: Bearer [REDACTED: 3 chars]","Accept: x"]}`},
		{`["tool","--password",12345678,"--password",["abc"],"--token",null,"x"]`, `["tool","--password","[REDACTED: 8 chars]","--password","[REDACTED: 7 chars]","--token",null,"x"]`},
		{`{"pin":"482913","otp":482913}`, `{"pin":"[REDACTED: 6 chars]","otp":"[REDACTED: 6 chars]"}`}, {`{"pin":13,"otp":"the library"}`, `{"pin":13,"otp":"the library"}`},
		{`{"accessToken":123456789012,"maxTokens":123456789012,"token":12345}`, `{"accessToken":"[REDACTED: 12 chars]","maxTokens":123456789012,"token":12345}`},
		{`{"pass\u200bword":"abc","ｔｏｋｅｎ":"abc","to\u00adken":"abc","пароль":"abc"}`, `{"pass\u200bword":"[REDACTED: 3 chars]","ｔｏｋｅｎ":"[REDACTED: 3 chars]","to\u00adken":"[REDACTED: 3 chars]","пароль":"abc"}`},
		{`{"auth":["bob","abc"],"basicAuth":"bob:abc","oauth":"none"}`, `{"auth":"[REDACTED: 13 chars]","basicAuth":"[REDACTED: 7 chars]","oauth":"none"}`},
		{`{"password1":"abc","old_password2":"abc","password_confirmation":"abc","secretValue":"abc","tokens2":7,"tokenizer":"x","testdata":"y"}`, `{"password1":"[REDACTED: 3 chars]","old_password2":"[REDACTED: 3 chars]","password_confirmation":"[REDACTED: 3 chars]","secretValue":"[REDACTED: 3 chars]","tokens2":7,"tokenizer":"x","testdata":"y"}`},
		{`["tool","--token","abc","-v"]`, `["tool","--token","[REDACTED: 3 chars]","-v"]`},
		{`["vault","token","lookup"]`, `["vault","token","lookup"]`},
		{`["mysql","-uroot","-pabc","db"]`, `["mysql","-uroot","-p[REDACTED: 3 chars]","db"]`},
		{`["/usr/bin/curl","-u","bob:abc","https://x"]`, `["/usr/bin/curl","-u","bob:[REDACTED: 3 chars]","https://x"]`},
		{`{"ghp_0123456789abcdefghij":1,"ghp_abcdefghij0123456789":2,"[REDACTED: 24 chars]":3}`, `{"[REDACTED: 24 chars]":1,"[REDACTED: 24 chars] (2)":2,"[REDACTED: 20 chars]":3}`},
		{`{"n":123456789012345678901234567890,"url":"https://x/a?b=c"}`, `{"n":123456789012345678901234567890,"url":"https://x/a?b=c"}`},
	} {
		got := r.Params("exec", jsontext.Value(tt.params))
		if string(got.Params) != tt.want {
			t.Errorf("\n in  %s\ngot  %s\nwant %s", tt.params, got.Params, tt.want)
		}
		if n := strings.Count(tt.want, "[REDACTED"); got.Hidden() != n {
			t.Errorf("%s: %d hidden, want %d: %v", tt.params, got.Hidden(), n, got.Findings)
		}
	}
}

func TestFindingsOfNamesAndPairsNameNoSecret(t *testing.T) {
	got := ready(t, redact.Config{}).Params("exec", jsontext.Value(`{"ghp_0123456789abcdefghij":{"a":"pwd=xyz"},"e":[{"value":"v","z":"pwd=xyz","name":"token"}]}`))
	want := []redact.Finding{{"[REDACTED: 24 chars]", "token", 24}, {"[REDACTED: 24 chars].a", "secret value", 3}, {"e[0].value", redact.SecretField, 1}, {"e[0].z", "secret value", 3}}
	if len(got.Findings) != len(want) {
		t.Fatalf("%+v", got.Findings)
	}
	for i, f := range got.Findings {
		if f != want[i] {
			t.Errorf("%+v, want %+v", f, want[i])
		}
	}
}

func TestOwnersPatterns(t *testing.T) {
	r := ready(t, redact.Config{Patterns: []redact.Pattern{
		{Name: "ticket", Regex: `TICKET-[0-9]{4}`, Example: "see TICKET-1234"},
		{Regex: `pin (?P<secret>[0-9]{4})`, Example: "pin 1234"},
		{Name: "card", Regex: `\b[0-9]{16}\b|^8888$`},
	}})
	got, findings := r.Text("TICKET-9999 and pin 1234; VElDS0VULTEyMzQtMTIzNA== and TICKET%2D7777")
	if want := "[REDACTED: 11 chars] and pin [REDACTED: 4 chars]; [REDACTED: 24 chars] and [REDACTED: 13 chars]"; got != want {
		t.Errorf("%s", got)
	}
	if len(findings) != 4 || findings[0].Kind != "ticket" || findings[1].Kind != "own pattern" {
		t.Errorf("%+v", findings)
	}
	if got := r.Params("pay", jsontext.Value(`{"card":4111111111111111,"cards":[4111111111111112],"n":41,"8888":1}`)); string(got.Params) != `{"card":"[REDACTED: 16 chars]","cards":["[REDACTED: 16 chars]"],"n":41,"[REDACTED: 4 chars]":1}` || got.Hidden() != 3 {
		t.Errorf("as numbers: %s, %d hidden", got.Params, got.Hidden())
	}
	if got := string(r.Names(jsontext.Value(`{"TICKET-1234":1}`))); got != `{"[REDACTED: 11 chars]":"number"}` {
		t.Error(got)
	}
}

func TestAPatternThatIsWrongIsRefused(t *testing.T) {
	ok := redact.Pattern{Regex: "a"}
	for _, tt := range []struct {
		pattern redact.Pattern
		want    string
	}{
		{redact.Pattern{}, "patterns[1].regex: is empty"},
		{redact.Pattern{Regex: "("}, "patterns[1].regex: error parsing"},
		{redact.Pattern{Regex: "a*"}, "patterns[1].regex: matches the empty text"},
		{redact.Pattern{Regex: "b", Example: "a"}, "patterns[1].example: the regex does not match it"},
		{redact.Pattern{Regex: `\b`, Example: "a"}, "patterns[1].example: the regex hides nothing of it"},
	} {
		if _, err := redact.New(redact.Config{Patterns: []redact.Pattern{ok, tt.pattern}}); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt.pattern, err)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	r := ready(t, redact.Config{})
	shapes := rows(t, "hidden.txt")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, shape := range shapes {
				plain, want := marked(shape)
				if got, _ := r.Text(plain); got != want {
					t.Errorf("%s became %s", plain, got)
				}
			}
		})
	}
	wg.Wait()
}
