package redact

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/redact/redacttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func redactor(t testing.TB, c Config) *Redactor {
	t.Helper()
	r, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// rows are the lines of a file in testdata: a text a line, with its secrets between « and ». ⏎ is a line break, → a
// tab. Lines with # are comments.
func rows(t testing.TB, file string) (out []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if line != "" && line[0] != '#' {
			out = append(out, strings.NewReplacer("⏎", "\n", "→", "\t").Replace(line))
		}
	}
	return out
}

func marked(shape string) (plain, hidden string) {
	for {
		before, rest, ok := strings.Cut(shape, "«")
		plain, hidden = plain+before, hidden+before
		if !ok {
			return plain, hidden
		}
		var secret string
		secret, shape, _ = strings.Cut(rest, "»")
		plain, hidden = plain+secret, hidden+fmt.Sprintf("[REDACTED: %d chars]", utf8.RuneCountInString(secret))
	}
}

// TestH40TextHidesTheSecretAndNothingElse: what is marked in hidden.txt is hidden, also percent-encoded.
func TestH40TextHidesTheSecretAndNothingElse(t *testing.T) {
	r := redactor(t, Config{})
	for _, shape := range append(rows(t, "hidden.txt"), rows(t, "shown.txt")...) {
		plain, want := marked(shape)
		got, hidden := r.Text(plain)
		if got != want || hidden != strings.Contains(want, "[REDACTED") {
			t.Errorf("\n in  %s\ngot  %s\nwant %s", plain, got, want)
		}
		if again, _ := r.Text(got); again != got || Line(plain) != got {
			t.Errorf("a second time, %s became %s, and as a line %s", got, again, Line(plain))
		}
		encoded := redacttest.Percents(plain)["percent all"]
		if hidden, _ := r.Text("say:\n" + encoded); plain != got && hidden == "say:\n"+encoded {
			t.Errorf("percent-encoded, %s is shown", plain)
		}
	}
}

// TestH40Params reads what is shown of the arguments of tools: for the record, without values, without file bodies, and
// where the client has hidden something (H28).
func TestH40Params(t *testing.T) {
	r := redactor(t, Config{Fields: []string{"House-Number"}, Patterns: []Pattern{{Regex: "TICKET-[0-9]{4}"}}})
	for file, show := range map[string]func(tool string, params jsontext.Value) (jsontext.Value, int){
		"params.txt": func(tool string, params jsontext.Value) (jsontext.Value, int) {
			got := r.Params(tool, params)
			if got.PreRedacted() {
				t.Errorf("%s counts as redacted by the client", params)
			}
			return got.Params, got.Hidden()
		},
		"client.txt": func(tool string, params jsontext.Value) (jsontext.Value, int) {
			got := r.Params(tool, params)
			if !got.PreRedacted() || got.Hidden() != 1 {
				t.Errorf("%s: pre-redacted %v, hidden %d", params, got.PreRedacted(), got.Hidden())
			}
			return got.Params, -1
		},
		"names.txt":  func(_ string, params jsontext.Value) (jsontext.Value, int) { return r.Names(params), -1 },
		"bodies.txt": WithoutBodies,
	} {
		for _, row := range rows(t, file) {
			tool, rest, _ := strings.Cut(row, " ")
			params, want, ok := strings.Cut(rest, " => ")
			if !ok {
				params, want = marked(rest)
			}
			n := strings.Count(want, "[REDACTED")
			if want == params {
				n = 0
			}
			if got, hidden := show(tool, jsontext.Value(params)); string(got) != want || hidden >= 0 && hidden != n {
				t.Errorf("%s\n in  %s\ngot  %s, %d hidden\nwant %s", file, params, got, hidden, want)
			}
		}
	}
}

func TestH40SecretNamesAreHiddenAtAnyDepth(t *testing.T) {
	r := redactor(t, Config{})
	all := redacttest.Fields("plain words")
	for name := range strings.FieldsSeq(`PASSWORD db_password dbPassword passwords passwd pwd passphrase client-secret
		clientSecret secrets githubToken GITHUB_TOKEN x-auth-token tokens apiKey api_key X-API-Key accessKey
		aws_secret_access_key privateKey Proxy-Authorization Set-Cookie cookies credential bearer jwt auth.token
		old_password2 password_confirmation secretValue`) {
		for _, shape := range []string{`{"a":[1,{"b":[{%q:"plain words"}]}]}`, `{%q:["plain words"]}`,
			`{%q:{"x":{"y":"plain words"}}}`} {
			all = append(all, redacttest.Placement{Params: fmt.Sprintf(shape, name)})
		}
	}
	for _, p := range all {
		got := r.Params("edit", jsontext.Value(p.Params))
		if strings.Contains(string(got.Params), "plain words") || got.Hidden() != 1 {
			t.Errorf("%s became %s, %d hidden", p.Params, got.Params, got.Hidden())
		}
	}
}

func TestH29EveryCanaryInEveryPlace(t *testing.T) {
	r := redactor(t, Config{ShowFileBodies: true})
	for _, c := range redacttest.Canaries() {
		for _, text := range c.Texts {
			for _, s := range redacttest.Percents(text) {
				for _, p := range redacttest.Placements(s) {
					params := jsontext.Value(p.Params)
					shown := r.Params("exec", params)
					out := string(shown.Params) + string(r.Names(params)) + string(Names(params))
					if redacttest.Leaks(out, c.Secret) != "" {
						t.Errorf("%s, %s: %s became %s", c.Name, p.Name, p.Params, out)
					}
				}
			}
		}
	}
}

const (
	ownWords = "Ärger im Übermaß"
	ownToken = "kq7-vw.zt/m3+xb_plain"                                            // has no shape of a secret
	ownKey   = "8f3a61c27be94d05a1f8c36e2b7d4059c8e1f2a3b4d5967810fedcba98765432" // 32 bytes
)

func TestH29OurOwnSecretsAreHiddenByTheirValue(t *testing.T) {
	r := redactor(t, Config{Known: []string{ownToken, ownKey, ownWords, "4711081547", "short"}})
	raw, _ := hex.DecodeString(ownKey)
	key := redacttest.Disguises(string(raw))
	texts := []string{strings.ToUpper(ownKey), key["base64 0"], key["base64 1"], key["base64 of a URL 2"]}
	for _, own := range []string{ownToken, ownKey, ownWords} {
		for _, text := range redacttest.Disguises(own) {
			texts = append(texts, text)
		}
	}
	for _, text := range texts {
		shown, _ := r.Text("echo " + text + ", or not")
		if !strings.HasPrefix(shown, "echo ") || !strings.HasSuffix(shown, ", or not") || !HasMask(shown) ||
			strings.Contains(shown, text[len(text)/4:len(text)*3/4]) || !r.Bears(text) {
			t.Errorf("%s is shown as %q", text, shown)
		}
	}
	out := string(r.Params("exec", []byte(`{"n":4711081547,"m":12,"s":"short"}`)).Params)
	if out != `{"n":"[REDACTED: 10 chars]","m":12,"s":"short"}` {
		t.Error(out)
	}
}

func TestOwnersPatterns(t *testing.T) {
	r := redactor(t, Config{Patterns: []Pattern{
		{Name: "ticket", Regex: `TICKET-[0-9]{4}`},
		{Regex: `pin (?P<secret>[0-9]{4})`},
		{Name: "card", Regex: `\b[0-9]{16}\b|^8888$`},
	}})
	got, hidden := r.Text("TICKET-9999 and pin 1234; TICKET%2D7777")
	if want := "[REDACTED: 11 chars] and pin [REDACTED: 4 chars]; [REDACTED: 13 chars]"; got != want {
		t.Error(got)
	}
	if !hidden || !r.Bears("TICKET-9999") {
		t.Error("nothing is hidden")
	}
	params := jsontext.Value(`{"card":4111111111111111,"cards":[4111111111111112],"n":41,"8888":1}`)
	want := `{"card":"[REDACTED: 16 chars]","cards":["[REDACTED: 16 chars]"],"n":41,"[REDACTED: 4 chars]":1}`
	if got := r.Params("pay", params); string(got.Params) != want || got.Hidden() != 3 || !r.BearsIn(walked(params)) {
		t.Errorf("as numbers: %s, %d hidden", got.Params, got.Hidden())
	}
	if got := string(r.Names(jsontext.Value(`{"TICKET-1234":1}`))); got != `{"[REDACTED: 11 chars]":"number"}` {
		t.Error(got)
	}
}

func TestAConfigThatIsWrongIsRefused(t *testing.T) {
	ok := Pattern{Regex: "a"}
	for want, c := range map[string]Config{
		"fields[1]: ":                          {Fields: []string{"ok", "_ ."}},
		"patterns[1].regex: matches the empty": {Patterns: []Pattern{ok, {}}},
		"patterns[1].regex: error":             {Patterns: []Pattern{ok, {Regex: "("}}},
		"patterns[1].regex: matches":           {Patterns: []Pattern{ok, {Regex: "a*"}}},
	} {
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s %v", want, err)
		}
	}
}

// TestBearsIsWhatThePluginFinds: the plugin for OpenClaw is held to the same file.
func TestBearsIsWhatThePluginFinds(t *testing.T) {
	b, err := os.ReadFile("../docs/spec/secret-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []struct {
			Text   string `json:"text"`
			Secret bool   `json:"secret"`
		} `json:"vectors"`
	}
	if err := json.Unmarshal(b, &file); err != nil || len(file.Vectors) < 20 {
		t.Fatal(err, len(file.Vectors))
	}
	r := redactor(t, Config{})
	for _, v := range file.Vectors {
		params, _ := json.Marshal(map[string]any{"a": []string{v.Text}, "password": v.Text})
		if r.Bears(v.Text) != v.Secret || r.BearsIn(walked(params)) != v.Secret {
			t.Errorf("%q: %v, in params %v", v.Text, r.Bears(v.Text), r.BearsIn(walked(params)))
		}
	}
}

func TestHowMuchIsHidden(t *testing.T) {
	r := redactor(t, Config{})
	for params, want := range map[string]string{
		`{"a":[{"content":"héé"}],"env":{"API_KEY":12345},"note":"x [REDACTED: 7 chars]"}`:             "3 1 true",
		`{"ghp_0123456789abcdefghij":{"a":"pwd=xyz"},"e":[{"name":"token","value":"v"}],"content":""}`: "3 0 false",
		`[` + strings.Repeat(`{"token":"x"},`, 999) + `{"token":"[REDACTED: 1 chars]"}]`:               "1000 0 true",
	} {
		got := r.Params("some_tool", jsontext.Value(params))
		if how := fmt.Sprint(got.Hidden(), got.Bodies(), got.PreRedacted()); how != want {
			t.Errorf("%.99s: %s", params, how)
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
		if string(got.Params) != want || got.Hidden() != 1 {
			t.Errorf("%.40q became %.100s", params, got.Params)
		}
		if got := Names(jsontext.Value(params)); string(got) != `"unreadable"` {
			t.Errorf("Names(%.40q) = %.100s", params, got)
		}
	}
}

// TestEveryRuleCompiles, which is done when it is needed first.
func TestEveryRuleCompiles(t *testing.T) {
	for _, r := range loadRules() {
		r.expr()
		for _, a := range r.Allow {
			a.expr()
		}
	}
}

func walked(params []byte) protocol.Values {
	all, _ := protocol.Walk(params)
	return all
}

func FuzzText(f *testing.F) {
	for _, shape := range rows(f, "hidden.txt") {
		plain, _ := marked(shape)
		f.Add(plain)
	}
	r := redactor(f, Config{})
	const canary = "ghp_g4lKpQ2rTzWm8Nv3cXy7Hs5Jd1FbKe6UaRio"
	f.Fuzz(func(t *testing.T, s string) {
		out, hidden := r.Text(s)
		if !hidden && out != s {
			t.Fatalf("%q became %q, and nothing is hidden", s, out)
		}
		if out, _ := r.Text(s + " " + canary + " " + s); strings.Contains(out, canary) && !strings.Contains(s,
			canary[:8]) && len(s) < 1<<16 {
			t.Fatalf("the canary stands in %q", out)
		}
	})
}

func FuzzParams(f *testing.F) {
	for _, s := range []string{`{"content":"x"}`, `[{"a":"b"},1,null]`, `{"a":"[REDACTED: 1 chars]"}`,
		`{"password":{"b":[1]}}`, "\xff"} {
		f.Add("write", []byte(s), "token")
	}
	r := redactor(f, Config{})
	f.Fuzz(func(t *testing.T, tool string, params []byte, field string) {
		before := slices.Clone(params)
		out := r.Params(tool, params).Params
		compact := slices.Clone(out)
		if err := compact.Compact(); err != nil || !bytes.Equal(compact, out) || len(out) > 6*len(params)+64 ||
			!Names(params).IsValid() || !bytes.Equal(params, before) {
			t.Fatalf("%q became %s: %v", params, out, err)
		}
		kept, _ := WithoutBodies(tool, out)
		if again, hidden := WithoutBodies(tool, kept); hidden > 0 || string(again) != string(kept) {
			t.Fatalf("%q was hidden again: %q", kept, again)
		}
		name, err := jsontext.AppendQuote(nil, field)
		if !r.names(field) || err != nil || !jsontext.Value(params).IsValid() ||
			strings.Contains(string(params)+field, "canary") {
			return
		}
		in := fmt.Appendf(nil, `{"y":[[%s],{%s:{"deep":["canary"]}}]}`, params, name)
		if out := r.Params(tool, in).Params; strings.Contains(string(out), "canary") {
			t.Fatalf("%s shows the canary", out)
		}
	})
}
