package redact_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/redact/redacttest"
)

func ready(t testing.TB, c redact.Config) *redact.Redactor {
	t.Helper()
	r, err := redact.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// outputs is everything that comes out of a redactor for these params.
func outputs(r *redact.Redactor, tool, params string) string {
	res := r.Params(tool, jsontext.Value(params))
	text, findings := r.Text(params)
	return fmt.Sprint(string(res.Params), res.Findings, text, findings, string(r.Names(jsontext.Value(params))), string(redact.Names(jsontext.Value(params))))
}

func TestH29EveryCanaryInEveryPlaceAndDisguise(t *testing.T) {
	r := ready(t, redact.Config{ShowFileBodies: true})
	for _, c := range redacttest.Canaries() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			var all strings.Builder
			for _, p := range everywhere(c) {
				all.WriteString(outputs(r, "exec", p.Params))
			}
			if redacttest.Leaks(all.String(), c.Secret) == "" {
				return
			}
			for _, p := range everywhere(c) { // where?
				if form := redacttest.Leaks(outputs(r, "exec", p.Params), c.Secret); form != "" {
					t.Errorf("%s: %s stands there, %s: %s", p.Name, c.Secret, form, r.Params("exec", jsontext.Value(p.Params)).Params)
				}
			}
		})
	}
}

// everywhere is every text of a canary, in every disguise and every place.
func everywhere(c redacttest.Canary) (out []redacttest.Placement) {
	for _, text := range c.Texts {
		for disguise, s := range redacttest.Disguises(text) {
			for _, p := range redacttest.Placements(s) {
				out = append(out, redacttest.Placement{Name: disguise + ", " + p.Name, Params: p.Params})
			}
		}
	}
	return out
}

func TestH40EveryFieldHidesItsSecret(t *testing.T) {
	r := ready(t, redact.Config{})
	for _, p := range redacttest.Fields("plain words") {
		got := r.Params("edit", jsontext.Value(p.Params))
		if form := redacttest.Leaks(string(got.Params), "plain words"); form != "" || got.Hidden() != 1 {
			t.Errorf("%s: %s became %s, %s, %d hidden", p.Name, p.Params, got.Params, form, got.Hidden())
		}
	}
}

// TestPropertyNoCanaryComesOut plants any canary, in any disguise, anywhere in
// any JSON.
func TestPropertyNoCanaryComesOut(t *testing.T) {
	r := ready(t, redact.Config{})
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(redacttest.Seeded(rapid.Uint64().Draw(t, "seed"))).Draw(t, "canary")
		text := rapid.SampledFrom(c.Texts).Draw(t, "text")
		disguise := rapid.SampledFrom([]string{"plain", "percent", "percent twice", "percent all", "base64", "base64 unpadded", "base64 url", "base64 in text", "base64 shifted", "base64, percent", "percent, base64", "base64 in base64"}).Draw(t, "disguise")
		planted := redacttest.Disguises(text)[disguise]
		params := anyJSON(t, planted, 0)
		if out := outputs(r, rapid.SampledFrom([]string{"exec", "write", "x"}).Draw(t, "tool"), params); redacttest.Leaks(out, c.Secret) != "" {
			t.Fatalf("%s in\n%s\nbecame\n%s", c.Secret, params, r.Params("exec", jsontext.Value(params)).Params)
		}
	})
}

// filler is text without quotes and signs that could change what the planted
// text means.
var filler = rapid.StringMatching(`[a-zA-Z .,/éü\n-]{0,30}`)

// anyJSON returns a value with the planted text somewhere in it.
func anyJSON(t *rapid.T, planted string, depth int) string {
	name := quote(filler.Draw(t, "name"))
	shape := rapid.IntRange(0, 6).Draw(t, "shape")
	if depth > 6 {
		shape = 0
	}
	switch shape {
	case 0:
		return quote(planted)
	case 1:
		return quote(filler.Draw(t, "before") + "\n" + planted + "\n" + filler.Draw(t, "after"))
	case 2:
		return `{` + quote(planted) + `:` + name + `,"z":[true,null,1e5]}`
	case 3:
		return `[` + name + `,` + anyJSON(t, planted, depth+1) + `,{}]`
	case 4:
		return `{` + name + `:` + anyJSON(t, planted, depth+1) + `}`
	case 5:
		return `{"value":` + anyJSON(t, planted, depth+1) + `,"name":` + name + `}`
	}
	return `{"n":-1.5,"` + rapid.SampledFrom([]string{"command", "input", "args", "token", "text"}).Draw(t, "member") + `":` + anyJSON(t, planted, depth+1) + `}`
}

func quote(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func FuzzText(f *testing.F) {
	for _, c := range redacttest.Canaries() {
		for _, s := range c.Texts {
			f.Add(s)
		}
	}
	for _, s := range []string{"curl -u", "password=", "://:@", "%", "%2", "-----BEGIN x-----", "eyJ", ":AA", "bearer ", "a\\\"b'c`", "[REDACTED: 1 chars]", "\xff%ff"} {
		f.Add(s)
	}
	for _, shape := range rows(f, "hidden.txt") {
		plain, _ := marked(shape)
		f.Add(plain)
	}
	r := ready(f, redact.Config{})
	all := redacttest.Canaries()
	canary := all[slices.IndexFunc(all, func(c redacttest.Canary) bool { return c.Name == "github" })]
	f.Fuzz(func(t *testing.T, s string) {
		out, findings := r.Text(s)
		if len(findings) == 0 && out != s {
			t.Fatalf("%q became %q without a finding", s, out)
		}
		if strings.Contains(s, canary.Secret[:8]) || len(s) > 1<<16 {
			return
		}
		if out, _ := r.Text(s + " " + canary.Secret + " " + s); strings.Contains(out, canary.Secret) {
			t.Fatalf("the canary stands in %q", out)
		}
	})
}
