package main

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
	gw "github.com/openclaw-verifier/verifier/test/gateway"
)

// What holds a secret, and the labels that a config includes (H317), the agent neither reads nor writes, by no name of
// it.
func TestH30FilesAndVariablesThatHoldSecretsAreGuarded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	labels, link := filepath.Join(dir, "kept.yaml"), filepath.Join(dir, "labels.yaml") // a link, as with dotfiles
	if err := os.Symlink(labels, link); err != nil {
		t.Fatal(err)
	}
	token, file := filepath.Join(dir, "approver.txt"), filepath.Join(dir, "verifier.yaml")
	for path, text := range map[string]string{
		token:  "8c1f0a77d2e94b5c9e21a7f3b6d4405e\n",
		labels: "tools: {}\n",
		file: "include: [labels.yaml]\nownerToken: file:" + token +
			"\nwebhook: {secret: \"${WHSEC}\"}\nstore: {url: \"redis://127.0.0.1:7391/0\"}\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, _, err := config.Load(
		file,
		func(string) (string, bool) { return "5b7e2d9041c84f3fa6d0c3917e8b25d4", true },
		builtin.platforms(),
	)
	if err != nil {
		t.Fatal(err)
	}
	state, err := config.OpenState(filepath.Join(dir, "state"))
	if err != nil {
		t.Fatal(err)
	}
	rules, _, err := policy.New(
		policy.Config{Guard: guard(cfg, file, state, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8787})},
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []gw.Call{
		{Tool: "read", Params: `{"path":"` + token + `"}`},
		{Tool: "exec", Params: `{"command":"echo $WHSEC"}`},
		{Tool: "exec", Params: `{"command":"redis-cli -p 7391 set a b"}`},
		{Tool: "write", Params: `{"path":"` + labels + `","content":"x"}`}, {Tool: "write", Params: `{"path":"` + link +
			`","content":"x"}`},
		{Tool: "edit", Params: `{"path":"` + link + `","edits":[{"oldText":"a","newText":"b"}]}`},
		{Tool: "exec", Params: `{"command":"sed -i s/sink/x/ ` + labels + `"}`}, {Tool: "exec",
			Params: `{"command":"mv evil.yaml ` + link + `"}`},
		{Tool: "exec", Params: `{"command":"verifier label evil.json --out ` + link + `"}`},
	} {
		decoded, err := protocol.Decode(c.Body())
		if err != nil {
			t.Fatal(err)
		}
		if v := rules.Judge(&decoded, policy.View{Level: taint.Owner}); v.Mode != taint.Restrict {
			t.Errorf("%s: %s", c.Params, v.Mode)
		}
	}
}
