package redact_test

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/redact"
)

// rows are the lines of a file in testdata: a text a line, with its secrets between « and ». ⏎ is a line break and → a
// tab. Lines with # are comments; a text that begins so has \ before it.
func rows(t testing.TB, file string) (out []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		if strings.HasPrefix(line, `\#`) {
			line = line[1:]
		}
		out = append(out, strings.NewReplacer("⏎", "\n", "→", "\t").Replace(line))
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

// TestH40TextHidesTheSecretAndNothingElse: what is marked is hidden, whether a person wrote it or a shell would read it.
func TestH40TextHidesTheSecretAndNothingElse(t *testing.T) {
	r := ready(t, redact.Config{})
	for _, file := range []string{"hidden.txt", "shell.txt", "shown.txt"} {
		for _, shape := range rows(t, file) {
			plain, want := marked(shape)
			if file == "shown.txt" {
				plain, want = shape, shape
			}
			got, findings := r.Text(plain)
			if got != want {
				t.Errorf("\n in  %s\ngot  %s\nwant %s", plain, got, want)
			}
			if n := strings.Count(want, "[REDACTED"); file == "hidden.txt" && len(findings) != n && got == want {
				t.Errorf("%s: %d findings, want %d", plain, len(findings), n)
			}
			if again, _ := r.Text(got); again != got {
				t.Errorf("a second time, %s became %s", got, again)
			}
		}
	}
}

func TestH40SecretsAreFoundInDisguise(t *testing.T) {
	r := ready(t, redact.Config{})
	for _, shape := range rows(t, "hidden.txt") {
		plain, _ := marked(shape)
		if !strings.Contains(shape, "«") || len(plain) < 12 {
			continue
		}
		once := url.QueryEscape(plain)
		for name, s := range map[string]string{
			"percent": strings.ReplaceAll(once, "+", "%20"), "percent twice": url.QueryEscape(strings.ReplaceAll(once, "+", "%20")),
			"base64": base64.StdEncoding.EncodeToString([]byte(plain)), "base64 raw": base64.RawStdEncoding.EncodeToString([]byte(plain)),
			"base64 url": base64.RawURLEncoding.EncodeToString([]byte("x;" + plain)), "base64 in percent": url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(plain))),
			"base64 of percent": base64.StdEncoding.EncodeToString([]byte(url.PathEscape(plain))), "base64 twice": base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte("ab;" + plain)))),
			"base64 of UTF-16": base64.StdEncoding.EncodeToString([]byte(strings.Join(strings.Split(plain, ""), "\x00") + "\x00")),
			"zero width":       strings.Join(strings.Split(plain, ""), "\u200b"), "ANSI": "\x1b[1;31m" + strings.Join(strings.Split(plain, ""), "\x1b[0m"), "full width": wide(plain),
			"glued": "path/to/" + base64.RawStdEncoding.EncodeToString([]byte(plain)),
		} {
			got, _ := r.Text("say:\n" + s + "\nnow")
			if strings.Contains(got, s) || !strings.HasPrefix(got, "say:\n") {
				t.Errorf("%s of %s: %s", name, plain, got)
			}
		}
	}
}

// wide writes letters in full width.
func wide(s string) string {
	return strings.Map(func(r rune) rune {
		if '!' <= r && r <= '~' {
			return r + '！' - '!'
		}
		return r
	}, s)
}

// TestH40Params reads params.txt: the arguments of a tool, as lists and by name, and what is shown of them.
func TestH40Params(t *testing.T) {
	r := ready(t, redact.Config{Fields: []string{"House-Number"}})
	for _, row := range rows(t, "params.txt") {
		tool, plain, want := split(row)
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

// split cuts a row into a tool, its arguments, and what comes of them.
func split(row string) (tool, params, want string) {
	tool, rest, _ := strings.Cut(row, " ")
	params, want, _ = strings.Cut(rest, " => ")
	return tool, params, want
}

func TestWithoutBodies(t *testing.T) {
	t.Parallel()
	for _, row := range rows(t, "bodies.txt") {
		tool, shown, want := split(row)
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

func FuzzWithoutBodies(f *testing.F) {
	f.Add("write", `{"path":"a","content":"hello"}`)
	f.Add("edit", `{"edits":[{"oldText":"a","newText":"b"}]}`)
	f.Fuzz(func(t *testing.T, tool, shown string) {
		kept, _ := redact.WithoutBodies(tool, jsontext.Value(shown))
		if !kept.IsValid(jsontext.AllowInvalidUTF8(true)) {
			t.Fatalf("%q became %q", shown, kept)
		}
		if again, hidden := redact.WithoutBodies(tool, kept); hidden > 0 || string(again) != string(kept) {
			t.Fatalf("%q was hidden again: %q", kept, again)
		}
	})
}

// TestAQuoteMayBeHiddenWithTheSecret: the rules for text hide the opening quote as well, so the mask is
// longer than the secret. None of the secret shows.
func TestAQuoteMayBeHiddenWithTheSecret(t *testing.T) {
	r := ready(t, redact.Config{})
	for _, s := range []string{`sshpass -p "hunter\"2 three" ssh h`, `bash -c 'sshpass -p "hunter three" ssh h'`} {
		if got, _ := r.Text(s); strings.Contains(got, "hunter") || strings.Contains(got, "three") || !strings.HasSuffix(strings.TrimSuffix(got, "'"), " ssh h") {
			t.Errorf("%s became %s", s, got)
		}
	}
}

// TestALongTextIsStillReadAsText: a shell's reading has bounds, the rules for text have none of them.
func TestALongTextIsStillReadAsText(t *testing.T) {
	r := ready(t, redact.Config{})
	for _, before := range []string{strings.Repeat("ls -la; ", 1<<14), strings.Repeat("(", 400), "it's "} {
		if got, _ := r.Text(before + "\ncurl -u bob:hunter2 x"); strings.Contains(got, "hunter2") {
			t.Errorf("%.20s… shows it", before)
		}
	}
}
