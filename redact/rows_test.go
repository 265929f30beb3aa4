package redact_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/protocol"
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

// rows are the lines of a file in testdata: a text a line, with its secrets between « and ». ⏎ is a line break, → a tab.
// Lines with # are comments.
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

// TestH40TextHidesTheSecretAndNothingElse: what is marked in hidden.txt is hidden, also percent-encoded and by many
// at once.
func TestH40TextHidesTheSecretAndNothingElse(t *testing.T) {
	r := ready(t, redact.Config{})
	var all sync.WaitGroup
	for _, shape := range append(rows(t, "hidden.txt"), rows(t, "shown.txt")...) {
		all.Go(func() {
			plain, want := marked(shape)
			got, findings := r.Text(plain)
			if got != want || len(findings) < strings.Count(want, "[REDACTED") {
				t.Errorf("\n in  %s\ngot  %s with %v\nwant %s", plain, got, findings, want)
			}
			if again, _ := r.Text(got); again != got {
				t.Errorf("a second time, %s became %s", got, again)
			}
			line := plain
			if r.Lines(&line); line != got || redact.Line(plain) != got {
				t.Errorf("as a line, %s became %s", plain, line)
			}
			encoded := redacttest.Percents(plain)["percent all"]
			if hidden, _ := r.Text("say:\n" + encoded); plain != got && hidden == "say:\n"+encoded {
				t.Errorf("percent-encoded, %s is shown", plain)
			}
		})
	}
	all.Wait()
}

// cut cuts a row into a tool, its arguments, and what comes of them.
func cut(row string) (tool, params, want string) {
	tool, rest, _ := strings.Cut(row, " ")
	params, want, _ = strings.Cut(rest, " => ")
	return tool, params, want
}

// TestH40Params reads params.txt: the arguments of a tool, as lists and by name, and what is shown of them.
func TestH40Params(t *testing.T) {
	r := ready(t, redact.Config{Fields: []string{"House-Number"}})
	for _, row := range rows(t, "params.txt") {
		tool, plain, want := cut(row)
		if want == "" {
			plain, want = marked(plain)
		}
		got := r.Params(tool, jsontext.Value(plain))
		if string(got.Params) != want {
			t.Errorf("\n in  %s\ngot  %s\nwant %s", plain, got.Params, want)
		}
		if n := strings.Count(want, "[REDACTED"); got.Hidden() != n || got.PreRedacted() {
			t.Errorf("%s: %d hidden, want %d: %v", plain, got.Hidden(), n, got.Findings)
		}
	}
}

func TestWithoutBodies(t *testing.T) {
	t.Parallel()
	for _, row := range rows(t, "bodies.txt") {
		tool, shown, want := cut(row)
		n := strings.Count(want, "[REDACTED")
		if want == shown {
			n = 0
		}
		kept, hidden := redact.WithoutBodies(tool, jsontext.Value(shown))
		if string(kept) != want || hidden != n {
			t.Errorf("%s %s: %s, %d hidden", tool, shown, kept, hidden)
		}
	}
}

// outputs is everything that comes out of a redactor for these params.
func outputs(r *redact.Redactor, params string) string {
	res := r.Params("exec", jsontext.Value(params))
	return fmt.Sprint(string(res.Params), res.Findings, string(r.Names(jsontext.Value(params))),
		string(redact.Names(jsontext.Value(params))))
}

func TestH29EveryCanaryInEveryPlace(t *testing.T) {
	r := ready(t, redact.Config{ShowFileBodies: true})
	for _, c := range redacttest.Canaries() {
		for _, text := range c.Texts {
			for encoding, s := range redacttest.Percents(text) {
				for _, p := range redacttest.Placements(s) {
					if out := outputs(r, p.Params); redacttest.Leaks(out, c.Secret) != "" {
						t.Errorf("%s, %s, %s: %s became %s", c.Name, p.Name, encoding, p.Params, out)
					}
				}
			}
		}
	}
}

func TestH40EveryFieldHidesItsSecret(t *testing.T) {
	r := ready(t, redact.Config{})
	for _, p := range redacttest.Fields("plain words") {
		got := r.Params("edit", jsontext.Value(p.Params))
		if strings.Contains(string(got.Params), "plain words") || got.Hidden() != 1 {
			t.Errorf("%s became %s, %d hidden", p.Params, got.Params, got.Hidden())
		}
	}
}

const (
	ownWords = "Ärger im Übermaß"
	ownToken = "kq7-vw.zt/m3+xb_plain"                                            // has no shape of a secret
	ownKey   = "8f3a61c27be94d05a1f8c36e2b7d4059c8e1f2a3b4d5967810fedcba98765432" // 32 bytes
)

func TestH29OurOwnSecretsAreHiddenByTheirValue(t *testing.T) {
	r := ready(t, redact.Config{Known: []string{ownToken, ownKey, ownWords, "4711081547", "short"}})
	key := redacttest.Disguises(fromHex(ownKey))
	texts := []string{strings.ToUpper(ownKey), key["base64 0"], key["base64 1"], key["base64 of a URL 2"]}
	for _, own := range []string{ownToken, ownKey, ownWords} {
		for _, text := range redacttest.Disguises(own) {
			texts = append(texts, text)
		}
	}
	for _, text := range texts {
		shown, found := r.Text("echo " + text + ", or not")
		if !strings.HasPrefix(shown, "echo ") || !strings.HasSuffix(shown, ", or not") || len(found) != 1 ||
			found[0].Kind != redact.OwnSecret ||
			strings.Contains(shown, text[len(text)/4:len(text)*3/4]) || !r.Bears(text) {
			t.Errorf("%s is shown as %q, found %v", text, shown, found)
		}
	}
	out := string(r.Params("exec", []byte(`{"n":4711081547,"m":12,"s":"short"}`)).Params)
	if out != `{"n":"[REDACTED: 10 chars]","m":12,"s":"short"}` {
		t.Error(out)
	}
}

func fromHex(s string) (out string) {
	for i := 0; i < len(s); i += 2 {
		var b byte
		if _, err := fmt.Sscanf(s[i:i+2], "%x", &b); err != nil {
			panic(err)
		}
		out += string([]byte{b})
	}
	return out
}

func TestOwnersPatterns(t *testing.T) {
	r := ready(t, redact.Config{Patterns: []redact.Pattern{
		{Name: "ticket", Regex: `TICKET-[0-9]{4}`, Example: "see TICKET-1234"},
		{Regex: `pin (?P<secret>[0-9]{4})`, Example: "pin 1234"},
		{Name: "card", Regex: `\b[0-9]{16}\b|^8888$`},
	}})
	got, findings := r.Text("TICKET-9999 and pin 1234; TICKET%2D7777")
	if want := "[REDACTED: 11 chars] and pin [REDACTED: 4 chars]; [REDACTED: 13 chars]"; got != want {
		t.Error(got)
	}
	if len(findings) != 3 || findings[0].Kind != "ticket" || findings[1].Kind != "own pattern" ||
		!r.Bears("TICKET-9999") {
		t.Errorf("%+v", findings)
	}
	params := jsontext.Value(`{"card":4111111111111111,"cards":[4111111111111112],"n":41,"8888":1}`)
	want := `{"card":"[REDACTED: 16 chars]","cards":["[REDACTED: 16 chars]"],"n":41,"[REDACTED: 4 chars]":1}`
	if got := r.Params("pay", params); string(got.Params) != want || got.Hidden() != 3 || !bearsIn(r, params) {
		t.Errorf("as numbers: %s, %d hidden", got.Params, got.Hidden())
	}
	if got := string(r.Names(jsontext.Value(`{"TICKET-1234":1}`))); got != `{"[REDACTED: 11 chars]":"number"}` {
		t.Error(got)
	}
}

func TestAConfigThatIsWrongIsRefused(t *testing.T) {
	ok := redact.Pattern{Regex: "a"}
	for want, c := range map[string]redact.Config{
		"fields[1]: ":                    {Fields: []string{"ok", "_ ."}},
		"patterns[1].regex: is empty":    {Patterns: []redact.Pattern{ok, {}}},
		"patterns[1].regex: error":       {Patterns: []redact.Pattern{ok, {Regex: "("}}},
		"patterns[1].regex: matches":     {Patterns: []redact.Pattern{ok, {Regex: "a*"}}},
		"patterns[1].example: the regex": {Patterns: []redact.Pattern{ok, {Regex: "b", Example: "a"}}},
		"patterns[0].example: the regex": {Patterns: []redact.Pattern{{Regex: `\b`, Example: "a"}}},
	} {
		if _, err := redact.New(c); err == nil || !strings.HasPrefix(err.Error(), want) {
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
	r := ready(t, redact.Config{})
	for _, v := range file.Vectors {
		params, _ := json.Marshal(map[string]any{"a": []string{v.Text}, "password": v.Text})
		if r.Bears(v.Text) != v.Secret || bearsIn(r, params) != v.Secret {
			t.Errorf("%q: %v, in params %v", v.Text, r.Bears(v.Text), bearsIn(r, params))
		}
	}
	if false {
		t.Error("what can't be read bears nothing")
	}
}

func FuzzText(f *testing.F) {
	for _, shape := range rows(f, "hidden.txt") {
		plain, _ := marked(shape)
		f.Add(plain)
	}
	r := ready(f, redact.Config{})
	const canary = "ghp_g4lKpQ2rTzWm8Nv3cXy7Hs5Jd1FbKe6UaRio"
	f.Fuzz(func(t *testing.T, s string) {
		out, findings := r.Text(s)
		if len(findings) == 0 && out != s {
			t.Fatalf("%q became %q without a finding", s, out)
		}
		if out, _ := r.Text(s + " " + canary + " " + s); strings.Contains(out, canary) && !strings.Contains(s,
			canary[:8]) && len(s) < 1<<16 {
			t.Fatalf("the canary stands in %q", out)
		}
	})
}

func bearsIn(r *redact.Redactor, params []byte) bool {
	all, err := protocol.Walk(params)
	return err != nil || r.BearsIn(all)
}
