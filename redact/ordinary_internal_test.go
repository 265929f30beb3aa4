package redact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// What a name was found to be the first time it is the second time too, in any
// tool and with any value.
func TestANameMeansTheSameAgain(t *testing.T) {
	t.Parallel()
	fresh := forgetful(t, Config{Fields: []string{"extra"}})
	for _, name := range []string{"workdir", "password", "maxTokens", "content", "input", "command", "args", "name", "value", "extra", "pin", "otp", "auth", "basicAuth", "accessToken", "ghp_0123456789abcdefghijABCDEFGHIJ012345"} {
		for _, value := range []string{`"plain words"`, `"AKIAIOSFODNN7EXAMPLQ"`, `123456`, `12345678901`, `"bob:hunter22"`, `["bob","hunter22"]`, `["a","--password","hunter22"]`, `{"password":"hunter22"}`} {
			params := jsontext.Value(`{"` + name + `":` + value + `,"value":"hunter22"}`)
			for _, tool := range []string{"write", "exec"} {
				used := redactor(t, Config{Fields: []string{"extra"}})
				for _, other := range []string{"exec", "write", tool} {
					used.Params(other, jsontext.Value(`{"`+name+`":"x"}`))
				}
				if a, b := fresh.Params(tool, params), used.Params(tool, params); string(a.Params) != string(b.Params) || len(a.Findings) != len(b.Findings) {
					t.Errorf("%s %s: first %s, then %s", tool, params, a.Params, b.Params)
				}
			}
		}
	}
}

// forgetful never knows a name again.
func forgetful(t testing.TB, c Config) *Redactor {
	t.Helper()
	r := redactor(t, c)
	for i := range maxOrdinary {
		r.ordinary.add(fmt.Sprint("\x00", i), 0)
	}
	return r
}

func TestFewNamesAreRemembered(t *testing.T) {
	r := redactor(t, Config{})
	for i := range 2 * maxOrdinary {
		r.Params("exec", jsontext.Value(fmt.Sprintf(`{"field%d":1,"%s":2}`, i, strings.Repeat("long", maxOrdinaryName))))
	}
	if n := len(r.ordinary.all()); n != maxOrdinary {
		t.Errorf("%d names are remembered", n)
	}
	_, short := r.ordinary.roleOf("field1")
	_, long := r.ordinary.roleOf(strings.Repeat("long", maxOrdinaryName))
	if !short || long {
		t.Error("the wrong ones")
	}
}
