package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// typed runs `verifier-hook send`, without the program verifier beside it.
func (r *rig) typed(more ...string) result {
	r.t.Helper()
	c := r.command("send", append([]string{"--tool", "exec", "--params", date, "--session", "agent:main:s1", "--context", `{"senderIsOwner":true}`, "--url", r.g.URL, "--secret", secret}, more...)...)
	c.Dir = r.dir
	return r.end(c)
}

func TestSendPrintsAFinalAnswer(t *testing.T) {
	r := newRig(t)
	if got := r.typed(); got.code != 0 || got.stdout != "allow\n" {
		t.Errorf("an allow: %+v", got)
	}
	if h := r.g.last(t, "/verify").body; h.Tool.Name != "exec" || string(h.Tool.Params) != date || h.Context["sessionKey"] != "agent:main:s1" || h.Context["senderIsOwner"] != true || h.Context["waitMs"] != 1.0 {
		t.Errorf("it sends %+v", h)
	}
	r.g.says(`{"decision":"deny","reason":"Not permitted\u0007 here (ref 7Q4K)."}`)
	if got := r.typed(); got.code != 3 || got.stdout != "deny: Not permitted\ufffd here (ref 7Q4K).\n" {
		t.Errorf("a deny: %+v", got)
	}
	if got := r.typed("--json"); got.code != 3 || got.stdout != r.g.text+"\n" {
		t.Errorf("as JSON: %+v", got)
	}
}

// H286: what `verifier-hook send` can't answer for certain it leaves to the program verifier, which is not here: it never says allow by itself.
func TestH286SendSaysNothingThatIsNotSignedAndFinal(t *testing.T) {
	r := newRig(t)
	never := func(what string, got result) {
		t.Helper()
		if got.code != 1 || strings.Contains(got.stdout, "allow") || !strings.Contains(got.stderr, "needs the program verifier") {
			t.Errorf("%s: %+v", what, got)
		}
	}
	r.g.says(`{"decision":"deny","reason":"Owner approval required.","ref":"7Q4K","question":"q1"}`)
	never("a person is asked", r.typed())
	r.g.says("")
	never("another flag", r.typed("--wait", "1s"))
	never("a word too many", r.typed("now"))
	never("another secret", r.typed("--secret", "another-secret-0123456789"))
	never("a session twice", r.typed("--context", `{"sessionKey":"agent:main:s2"}`))
	never("no object", r.typed("--params", `[]`))
	r.g.answers(func(w http.ResponseWriter, _, _ string, _ []byte) { io.WriteString(w, `{"decision":"allow"}`) }) //nolint:errcheck // the test says what came
	never("an answer that is not signed", r.typed())
	r.g.answers(nil)
	before := len(r.g.got)
	for _, path := range []string{"verifier.yaml", ".config/verifier/verifier.yaml"} {
		path = filepath.Join(r.dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("listen: 127.0.0.1:1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		never("a config that may name another gateway", r.typed())
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	r.env = []string{"VERIFIER_CONFIG=/etc/x.yaml"}
	never("a config that a variable names", r.typed())
	if len(r.g.got) != before {
		t.Error("a call went out although a config may name another gateway")
	}
}
