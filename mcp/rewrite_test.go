package mcp_test

import (
	"testing"

	"github.com/openclaw-verifier/verifier/mcp"
)

func gate(server string) []string { return []string{"/bin/verifier", "mcp", "--name", server, "--"} }

func TestAClientsConfigIsRewrittenAndUndone(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"Claude Desktop, Cursor": {
			`{ "x": 1.50,` + "\n" + ` "mcpServers": {"files": {"command": "npx", "args": ["-y", "server", "a \"b\""], "env": {"A": "é"}}, "web": {"url": "https://x.example/mcp"}} }` + "\n",
			`{ "x": 1.50,` + "\n" + ` "mcpServers": {"files": {"command": "/bin/verifier", "args": ["mcp", "--name", "files", "--", "npx", "-y", "server", "a \"b\""], "env": {"A": "é"}}, "web": {"url": "https://x.example/mcp"}} }` + "\n",
		},
		"VS Code":  {`{"servers":{"a":{"type":"stdio","args":[],"command":"s"}}}`, `{"servers":{"a":{"type":"stdio","args":["mcp", "--name", "a", "--", "s"],"command":"/bin/verifier"}}}`},
		"opencode": {`{"mcp":{"a":{"type":"local","command":["bun", "x"]}}}`, `{"mcp":{"a":{"type":"local","command":["/bin/verifier", "mcp", "--name", "a", "--", "bun", "x"]}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			out, found, err := mcp.Rewrite([]byte(c.before), gate, false)
			if err != nil || string(out) != c.after || !found[0].Changed {
				t.Fatalf("got %s %v, want %s", out, err, c.after)
			}
			if again, found, _ := mcp.Rewrite(out, gate, false); string(again) != c.after || found[0].Changed {
				t.Errorf("once more: %s", again)
			}
			if back, _, err := mcp.Rewrite(out, gate, true); err != nil || string(back) != c.before {
				t.Errorf("undone: %s %v", back, err)
			}
		})
	}
	out, _, err := mcp.Rewrite([]byte(`{"mcpServers":{"a":{"command":"s"}}}`), gate, false)
	if want := `{"mcpServers":{"a":{"command":"/bin/verifier", "args": ["mcp", "--name", "a", "--", "s"]}}}`; err != nil || string(out) != want {
		t.Errorf("without arguments: %s %v", out, err)
	}
	for command, changed := range map[string]bool{"/usr/bin/verifier": false, "other": true} {
		for _, flag := range []string{`"--url","https://x.example/mcp"`, `"--config=servers.json"`} {
			before := `{"mcpServers":{"a":{"command":"` + command + `","args":["mcp",` + flag + `]}}}`
			if out, found, err := mcp.Rewrite([]byte(before), gate, false); err != nil || found[0].Changed != changed || !changed && string(out) != before {
				t.Errorf("%s became %s %v", before, out, err)
			}
		}
	}
	for _, none := range []string{"", "[]", `{}`, `{"mcpServers":[]}`, `{"mcpServers":{}, "mcpServers":{}}`, `{"servers": {"a":{"command":"s"}} // x` + "\n}", `{"mcpServers":{"a":{"command":"s"}}`} {
		if out, _, err := mcp.Rewrite([]byte(none), gate, false); err == nil {
			t.Errorf("%q became %q", none, out)
		}
	}
}

func FuzzRewrite(f *testing.F) {
	f.Add([]byte(`{"mcpServers":{"a":{"command":"s","args":["x"]}},"servers":{"a":{"command":"s"}},"mcp":{"a":{"command":["s"]}}}`))
	f.Add([]byte(`{"mcpServers":{"a":{"command":"v","args":["mcp","--"]}}}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		out, _, err := mcp.Rewrite(file, gate, false)
		if err != nil {
			return
		}
		again, found, err := mcp.Rewrite(out, gate, false)
		if err != nil || string(again) != string(out) {
			t.Errorf("%q became %q and then %q, %v", file, out, again, err)
		}
		for _, s := range found {
			if s.Changed {
				t.Errorf("%q: %v was not before a gate", out, s)
			}
		}
	})
}
