package main

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// What a reviewer got through once, and must not again.

func TestH30FilesAndVariablesThatHoldSecretsAreGuarded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	token, file := filepath.Join(dir, "approver.txt"), filepath.Join(dir, "verifier.yaml")
	for path, text := range map[string]string{
		token: "8c1f0a77d2e94b5c9e21a7f3b6d4405e\n",
		file:  "ownerToken: file:" + token + "\nwebhook: {secret: \"${WHSEC}\"}\nstore: {url: \"redis://127.0.0.1:7391/0\"}\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, _, err := config.Load(file, func(string) (string, bool) { return "5b7e2d9041c84f3fa6d0c3917e8b25d4", true }, builtin.platforms())
	if err != nil {
		t.Fatal(err)
	}
	state, err := config.OpenState(filepath.Join(dir, "state"))
	if err != nil {
		t.Fatal(err)
	}
	rules, _, err := policy.New(policy.Config{Guard: guard(cfg, file, state, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8787})})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []call{
		{tool: "read", params: `{"path":"` + token + `"}`},
		{tool: "exec", params: `{"command":"echo $WHSEC"}`},
		{tool: "exec", params: `{"command":"redis-cli -p 7391 set a b"}`},
	} {
		decoded, err := toolcall.Decode(c.body())
		if err != nil {
			t.Fatal(err)
		}
		if v := rules.Judge(&decoded, session.View{Level: taint.Owner}); v.Mode != taint.Restrict {
			t.Errorf("%s: %s", c.params, v.Mode)
		}
	}
}
