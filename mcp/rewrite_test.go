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
		"Claude Desktop, no arguments": {
			`{"mcpServers":{"a":{"command":"s"}}}`,
			`{"mcpServers":{"a":{"command":"/bin/verifier", "args":["mcp", "--name", "a", "--", "s"]}}}`,
		},
		"VS Code with comments": {
			"{ // mine\n \"servers\": {\"a\": {\"command\": \"npx\", // run\n \"args\": [ /* yes */ \"-y\", // quick\n \"s\", ], }, /* \"b\": {} */ }, }\n",
			"{ // mine\n \"servers\": {\"a\": {\"command\": \"/bin/verifier\", // run\n \"args\": [ /* yes */ \"mcp\", \"--name\", \"a\", \"--\", \"npx\", \"-y\", // quick\n \"s\", ], }, /* \"b\": {} */ }, }\n",
		},
		"VS Code's settings": {
			`{"editor.tabSize": 2, "mcp": {"servers": {"a": {"command": "s", "args": [ ]}}}}`,
			`{"editor.tabSize": 2, "mcp": {"servers": {"a": {"command": "/bin/verifier", "args": ["mcp", "--name", "a", "--", "s" ]}}}}`,
		},
		"opencode with comments": {
			"{\n  // mine\n  \"mcp\": {\"a\": {\"type\": \"local\", \"command\": [\"bun\", \"x\"], },},\n}",
			"{\n  // mine\n  \"mcp\": {\"a\": {\"type\": \"local\", \"command\": [\"/bin/verifier\", \"mcp\", \"--name\", \"a\", \"--\", \"bun\", \"x\"], },},\n}",
		},
		"Codex": {
			"model = \"x\" # mine\n\n[mcp_servers.a] # files\n  command = 'npx'  # run\nargs = [\n  # quick\n  \"-y\",\n  's \\d', # \"all\"\n]\n[mcp_servers.a.env]\ncommand = \"none\"\n[other]\ncommand = \"o\"\n[[mcp_servers_too]]\ncommand = \"t\"\n",
			"model = \"x\" # mine\n\n[mcp_servers.a] # files\n  command = \"/bin/verifier\"  # run\nargs = [\n  # quick\n  \"mcp\", \"--name\", \"a\", \"--\", 'npx', \"-y\",\n  's \\d', # \"all\"\n]\n[mcp_servers.a.env]\ncommand = \"none\"\n[other]\ncommand = \"o\"\n[[mcp_servers_too]]\ncommand = \"t\"\n",
		},
		"Codex, no arguments": {
			"[mcp_servers.a]\n\tcommand = \"s\" # run\n",
			"[mcp_servers.a]\n\tcommand = \"/bin/verifier\"\n\targs =[\"mcp\", \"--name\", \"a\", \"--\", \"s\"] # run\n",
		},
		"Codex, in other ways": {
			"mcp_servers.a.command = \"s\"\nmcp_servers.b = { command = \"t\", env = { A = \"b\" } }\n[mcp_servers.c]\ncommand = \"u\"\nargs = []\n",
			"mcp_servers.a.command = \"/bin/verifier\"\nmcp_servers.a.args =[\"mcp\", \"--name\", \"a\", \"--\", \"s\"]\nmcp_servers.b = { command = \"/bin/verifier\", args =[\"mcp\", \"--name\", \"b\", \"--\", \"t\"], env = { A = \"b\" } }\n[mcp_servers.c]\ncommand = \"/bin/verifier\"\nargs = [\"mcp\", \"--name\", \"c\", \"--\", \"u\"]\n",
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
	for command, changed := range map[string]bool{"/usr/bin/verifier": false, "other": true} {
		for _, flag := range []string{`"--url","https://x.example/mcp"`, `"--config=servers.json"`} {
			before := `{"mcpServers":{"a":{"command":"` + command + `","args":["mcp",` + flag + `]}}}`
			if out, found, err := mcp.Rewrite([]byte(before), gate, false); err != nil || found[0].Changed != changed || !changed && string(out) != before {
				t.Errorf("%s became %s %v", before, out, err)
			}
		}
	}
	for _, none := range []string{"", "[]", `{}`, `{"mcpServers":[]}`, `{"mcpServers":{}, "mcpServers":{}}`, `{"servers": {"a":{"command":"s"}} # x` + "\n}", `{"mcpServers":{"a":{"command":"s"}}`, "[mcp_servers.a]\ncommand = s\n", "[mcp_servers.a]\ncommand = \"s\"\nargs = [1]\n", "[mcp_servers.a]\ncommand = \"s\"\ncommand = \"t\"\n", "[[mcp_servers.a]]\ncommand = \"s\"\n"} {
		if out, _, err := mcp.Rewrite([]byte(none), gate, false); err == nil {
			t.Errorf("%q became %q", none, out)
		}
	}
}

func FuzzRewrite(f *testing.F) {
	f.Add([]byte(`{"mcpServers":{"a":{"command":"s","args":["x"]}},"servers":{"a":{"command":"s"}},"mcp":{"a":{"command":["s"]}}}`))
	f.Add([]byte(`{"mcpServers":{"a":{"command":"v","args":["mcp","--"]}}}`))
	f.Add([]byte("[mcp_servers.a]\ncommand = 's' # x\nargs = [\n'x', # y\n]\n[mcp_servers]\nb = {command = \"t\"}\n"))
	f.Add([]byte("{ // x\n\"mcp\": {\"servers\": {\"a\": {\"command\": \"s\", /* y */},},},}"))
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
