package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/internal/store/redistest"
)

// blanks are what differs from run to run in the README's transcript.
var blanks = []struct {
	what *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`), "DATE"},
	{regexp.MustCompile(`\d\d:\d\d:\d\d( UTC|Z)`), "TIME"},
	{regexp.MustCompile(`at \d\d:\d\d the agent`), "at TIME the agent"},
	{regexp.MustCompile(`until \d\d:\d\d \w+`), "until TIME"},
	{regexp.MustCompile(`29 min \d+ s`), "LEFT"},
	{regexp.MustCompile(`waited \S+`), "WAITED"},
	{regexp.MustCompile(`\b[0-9a-f]{8}\b`), "CODE"},
	{regexp.MustCompile(`\b[0-9A-F]{8}\b`), "SESSION"},
	{regexp.MustCompile(`(pending |ref +|approve |deny )[0-9A-Z]{4}\b`), "${1}REF"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "ADDRESS"},
	{regexp.MustCompile(`/\S+/state(/verifier)?`), "STATE"},
	{regexp.MustCompile(`(?m)^  go run ./cmd/verifier `), "  verifier "}, // how a test is started
}

func blanked(text string) string {
	for _, b := range blanks {
		text = b.what.ReplaceAllString(text, b.to)
	}
	return strings.TrimSpace(text)
}

// The README's transcript is what the program prints.
func TestTheREADMEsTranscriptIsWhatTheProgramPrints(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("VERIFIER_STATE", t.TempDir()+"/state")
	ctx, stop := context.WithCancel(t.Context())
	served, stderr, done := &output{}, &output{}, make(chan int, 1)
	go func() { done <- run(ctx, []string{"serve", "--listen", "127.0.0.1:0"}, served, stderr) }()
	defer func() {
		stop()
		if code := <-done; code != exitOK {
			t.Errorf("serve ended with %d:\n%s", code, stderr)
		}
	}()
	redistest.Eventually(t, "it listens", func() bool { return strings.Contains(served.String(), "Answer from a third") })

	readme := blanked(string(page))
	inReadme := func(what, printed string) {
		t.Helper()
		if printed = blanked(printed); printed == "" || !strings.Contains(readme, printed) {
			t.Errorf("%s prints what the README does not show:\n%s", what, printed)
		}
	}
	do := func(args ...string) string {
		out := &bytes.Buffer{}
		run(t.Context(), args, out, out)
		return out.String()
	}
	send := func(tool, params string) string {
		out, waits := &bytes.Buffer{}, &bytes.Buffer{}
		run(t.Context(), []string{"send", "--session", "agent:main:main", "--context", `{"senderId":"7","senderIsOwner":true}`, "--tool", tool, "--params", params}, out, waits)
		if waits.Len() > 0 {
			inReadme("send, which waits,", waits.String())
		}
		return out.String()
	}
	held := func() (ref string, answer <-chan string) {
		t.Helper()
		sent, pending := make(chan string, 1), ""
		go func() { sent <- send("exec", `{"command":"make deploy"}`) }()
		redistest.Eventually(t, "a call waits", func() bool {
			pending = do("pending")
			return strings.Contains(pending, "verifier pending ")
		})
		if !strings.Contains(pending, "the agent fetched") {
			inReadme("pending", pending)
		}
		_, rest, _ := strings.Cut(pending, "verifier pending ")
		return rest[:4], sent
	}

	inReadme("serve", served.String())
	inReadme("send", send("exec", `{"command":"date"}`))
	inReadme("send", send("web_fetch", `{"url":"https://example.com/"}`))
	ref, answer := held()
	inReadme("approve", do("approve", ref))
	inReadme("send", <-answer)
	ref, answer = held()
	inReadme("deny", do("deny", ref, "--reason", "Not on a Friday."))
	inReadme("send", <-answer)
	inReadme("audit show", do("audit", "show", "--decision", "deny", "--kind", "decision"))
	if verified := do("audit", "verify"); !strings.HasPrefix(verified, "ok: 10 lines in 1 file, 9 entries, ") {
		t.Errorf("audit verify prints\n%s", verified)
	}
}

// What init prints for OpenClaw is what the README tells, with paths of its own.
func TestTheREADMEsCommandsForOpenClawAreThoseThatInitPrints(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"init", "--openclaw", "--config", dir + "/verifier.yaml"}, &stdout, &stderr); code != exitOK {
		t.Fatalf("init: %d\n%s", code, &stderr)
	}
	printed := strings.NewReplacer(dir+"/openclaw-plugin", "./integrations/openclaw", dir+"/openclaw.secret", "$HOME/.local/state/verifier/webhook.secret").Replace(stdout.String())
	commands := regexp.MustCompile(`(?m)^\$ (openclaw (?:plugins|config|gateway) .*)$`).FindAllStringSubmatch(string(page), -1)
	if len(commands) != 4 {
		t.Errorf("the README has %d commands for OpenClaw", len(commands))
	}
	if !strings.Contains(string(page), "\n$ verifier test\n") || !strings.Contains(printed, " test --config "+dir+"/verifier.yaml\n") {
		t.Errorf("the README, or init, does not say how to see that the plugin is loaded:\n%s", printed)
	}
	for _, c := range commands {
		if !strings.Contains(printed, "\n  "+c[1]+"\n") {
			t.Errorf("init does not print %q:\n%s", c[1], printed)
		}
	}
	for _, name := range []string{"index.js", "openclaw.plugin.json", "package.json", "relay.js"} {
		want, _ := os.ReadFile("../../integrations/openclaw/" + name)
		if got, err := os.ReadFile(dir + "/openclaw-plugin/" + name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v, or not the plugin's", name, err)
		}
	}
}
