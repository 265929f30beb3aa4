package mcp_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/mcp"
)

func gate(server string) []string {
	return []string{"/bin/verifier", "mcp", "--state", "/s", "--name", server, "--"}
}

func TestAClientsConfigIsRewrittenAndUndone(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"Claude Desktop, Cursor": {
			`{ "x": 1.50,` + "\n" + ` "mcpServers": {"files": {"command": "npx", "args": ["-y", "server", "a \"b\""], "env": {"A": "é"}}, "web": {"url": "https://x.example/mcp"}} }` + "\n",
			`{ "x": 1.50,` + "\n" + ` "mcpServers": {"files": {"command": "/bin/verifier", "args": ["mcp", "--state", "/s", "--name", "files", "--", "npx", "-y", "server", "a \"b\""], "env": {"A": "é"}}, "web": {"url": "https://x.example/mcp"}} }` + "\n",
		},
		"Claude Desktop, no arguments": {
			`{"mcpServers":{"a":{"command":"s"}}}`,
			`{"mcpServers":{"a":{"command":"/bin/verifier", "args":["mcp", "--state", "/s", "--name", "a", "--", "s"]}}}`,
		},
		"VS Code with comments": {
			"{ // mine\n \"servers\": {\"a\": {\"command\": \"npx\", // run\n \"args\": [ /* yes */ \"-y\", // quick\n \"s\", ], }, /* \"b\": {} */ }, }\n",
			"{ // mine\n \"servers\": {\"a\": {\"command\": \"/bin/verifier\", // run\n \"args\": [ /* yes */ \"mcp\", \"--state\", \"/s\", \"--name\", \"a\", \"--\", \"npx\", \"-y\", // quick\n \"s\", ], }, /* \"b\": {} */ }, }\n",
		},
		"VS Code's settings": {
			`{"editor.tabSize": 2, "mcp": {"servers": {"a": {"command": "s", "args": [ ]}}}}`,
			`{"editor.tabSize": 2, "mcp": {"servers": {"a": {"command": "/bin/verifier", "args": ["mcp", "--state", "/s", "--name", "a", "--", "s" ]}}}}`,
		},
		"opencode with comments": {
			"{\n  // mine\n  \"mcp\": {\"a\": {\"type\": \"local\", \"command\": [\"bun\", \"x\"], },},\n}",
			"{\n  // mine\n  \"mcp\": {\"a\": {\"type\": \"local\", \"command\": [\"/bin/verifier\", \"mcp\", \"--state\", \"/s\", \"--name\", \"a\", \"--\", \"bun\", \"x\"], },},\n}",
		},
		"Codex": {
			"model = \"x\" # mine\n\n[mcp_servers.a] # files\n  command = 'npx'  # run\nargs = [\n  # quick\n  \"-y\",\n  's \\d', # \"all\"\n]\n[mcp_servers.a.env]\ncommand = \"none\"\n[other]\ncommand = \"o\"\n[[mcp_servers_too]]\ncommand = \"t\"\n",
			"model = \"x\" # mine\n\n[mcp_servers.a] # files\n  command = \"/bin/verifier\"  # run\nargs = [\n  # quick\n  \"mcp\", \"--state\", \"/s\", \"--name\", \"a\", \"--\", 'npx', \"-y\",\n  's \\d', # \"all\"\n]\n[mcp_servers.a.env]\ncommand = \"none\"\n[other]\ncommand = \"o\"\n[[mcp_servers_too]]\ncommand = \"t\"\n",
		},
		"Codex, no arguments": {
			"[mcp_servers.a]\n\tcommand = \"s\" # run\n",
			"[mcp_servers.a]\n\tcommand = \"/bin/verifier\"\n\targs =[\"mcp\", \"--state\", \"/s\", \"--name\", \"a\", \"--\", \"s\"] # run\n",
		},
		"Codex on Windows": {
			"[mcp_servers.a]\r\ncommand = \"s\"\r\n",
			"[mcp_servers.a]\r\ncommand = \"/bin/verifier\"\r\nargs =[\"mcp\", \"--state\", \"/s\", \"--name\", \"a\", \"--\", \"s\"]\r\n",
		},
		"Codex, in other ways": {
			"mcp_servers.a.command = \"s\"\nmcp_servers.b = { command = \"t\", env = { A = \"b\" } }\n[mcp_servers.c]\ncommand = \"u\"\nargs = []\n",
			"mcp_servers.a.command = \"/bin/verifier\"\nmcp_servers.a.args =[\"mcp\", \"--state\", \"/s\", \"--name\", \"a\", \"--\", \"s\"]\nmcp_servers.b = { command = \"/bin/verifier\", args =[\"mcp\", \"--state\", \"/s\", \"--name\", \"b\", \"--\", \"t\"], env = { A = \"b\" } }\n[mcp_servers.c]\ncommand = \"/bin/verifier\"\nargs = [\"mcp\", \"--state\", \"/s\", \"--name\", \"c\", \"--\", \"u\"]\n",
		},
		"VS Code":  {`{"servers":{"a":{"type":"stdio","args":[],"command":"s"}}}`, `{"servers":{"a":{"type":"stdio","args":["mcp", "--state", "/s", "--name", "a", "--", "s"],"command":"/bin/verifier"}}}`},
		"opencode": {`{"mcp":{"a":{"type":"local","command":["bun", "x"]}}}`, `{"mcp":{"a":{"type":"local","command":["/bin/verifier", "mcp", "--state", "/s", "--name", "a", "--", "bun", "x"]}}}`},
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
	for _, none := range []string{"", "[]", `{}`, `{"mcpServers":[]}`, `{"mcpServers":{}, "mcpServers":{}}`, `{"servers": {"a":{"command":"s"}} # x` + "\n}", `{"mcpServers":{"a":{"command":"s"}}`, "[mcp_servers.a]\ncommand = s\n", "[mcp_servers.a]\ncommand = \"s\"\ncommand = \"t\"\n", "[[mcp_servers.a]]\ncommand = \"s\"\n"} {
		if out, _, err := mcp.Rewrite([]byte(none), gate, false); err == nil {
			t.Errorf("%q became %q", none, out)
		}
	}
}

// Each server is gated, as its command then shows, or it is named as open.
func TestNoServerOfAConfigIsTakenForGatedThatIsNot(t *testing.T) {
	const own = "/bin/verifier mcp --state /s --name a -- "
	json := func(members string) string { return `{"mcpServers":{"a":{` + members + `}}}` }
	for name, c := range map[string]struct{ config, command, open string }{
		"gated":                       {json(`"command":"/bin/verifier","args":["mcp","--state","/s","--name","a","--","s"]`), own + "s", ""},
		"another gateway":             {json(`"command":"/bin/verifier","args":["mcp","--config","./evil/verifier.yaml","--name","a","--","s"]`), "", "runs another gate"},
		"another name":                {json(`"command":"/bin/verifier","args":["mcp","--state","/s","--name","b","--","s"]`), "", "runs another gate"},
		"one more flag":               {json(`"command":"/bin/verifier","args":["mcp","--state","/s","--name","a","--gateway","https://evil.example","--","s"]`), "", "runs another gate"},
		"no server":                   {json(`"command":"/bin/verifier","args":["mcp","--state","/s","--name","a","--"]`), "", "runs another gate"},
		"a program of its name":       {json(`"command":"/tmp/evil/verifier","args":["mcp","--state","/s","--name","a","--","s"]`), "", "runs another gate"},
		"by an address":               {json(`"command":"verifier","args":["mcp","--url","https://evil.example"]`), "", "runs another gate"},
		"a program that looks alike":  {json(`"command":"sh","args":["mcp","--","x"]`), own + "sh mcp -- x", ""},
		"a url beside the command":    {json(`"url":"https://evil.example","command":"s"`), "", "is reached by an address"},
		"a httpUrl":                   {json(`"httpUrl":"https://evil.example","command":"s"`), "", "is reached by an address"},
		"a serverUrl":                 {json(`"serverUrl":"https://evil.example","command":["s"]`), "", "is reached by an address"},
		"a url, and gated":            {json(`"url":"https://evil.example","command":"/bin/verifier","args":["mcp","--state","/s","--name","a","--","s"]`), "", "is reached by an address"},
		"a type":                      {json(`"type":"http","command":"s"`), "", "is reached by an address"},
		"a type that is no text":      {json(`"type":["http"],"command":"s"`), "", "is reached by an address"},
		"a type that starts programs": {json(`"type":"stdio","command":"s"`), own + "s", ""},
		"an argument that is no text": {json(`"command":"s","args":["-p",8080]`), "", "has no command that we can read"},
		"a command that is no text":   {json(`"command":8`), "", "has no command that we can read"},
		"an empty list":               {json(`"command":[]`), "", "has no command that we can read"},
		"no command":                  {json(`"enabled":true`), "", "has no command that we can read"},
		"settings with inputs":        {`{"mcp":{"inputs":[{"id":"k"}],"servers":{"a":{"command":"s"}}}}`, own + "s", ""},
		"a project of Claude Code":    {`{"projects":{"/home/me/app":{"mcpServers":{"a":{"command":"s"}}}}}`, own + "s", ""},
		"Codex, a url too":            {"[mcp_servers.a]\ncommand = 's'\nurl = 'https://evil.example'\n", "", "is reached by an address"},
		"Codex, a url first":          {"[mcp_servers]\na = {url = 'https://evil.example', command = 's'}\n", "", "is reached by an address"},
		"Codex, a type":               {"[mcp_servers.a]\ncommand = 's'\ntype = 'http'\n", "", "is reached by an address"},
		"Codex, a number":             {"[mcp_servers.a]\ncommand = 's'\nargs = [1]\n", "", "has no command that we can read"},
		"Codex, arguments in a text":  {"[mcp_servers.a]\ncommand = 's'\nargs = 'x'\n", "", "has no command that we can read"},
		"Codex, no command":           {"[mcp_servers.a]\nenabled = true\n", "", "has no command that we can read"},
		"Codex, another gate":         {"[mcp_servers.a]\ncommand = 'verifier'\nargs = ['mcp', '--', 's']\n", "", "runs another gate"},
	} {
		t.Run(name, func(t *testing.T) {
			out, found, err := mcp.Rewrite([]byte(c.config), gate, false)
			if err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			if s := found[0]; s.Open != c.open || s.Open == "" && strings.Join(s.Command, " ") != c.command || s.Open != "" && (s.Changed || string(out) != c.config) {
				t.Errorf("became %s, %+v", out, s)
			}
		})
	}
}

func TestOnlyAGateThatWasPutThereIsTakenOut(t *testing.T) {
	json := func(command, args string) string {
		return `{"mcpServers":{"a":{"command":"` + command + `","args":[` + args + `]}}}`
	}
	for before, after := range map[string]string{
		json("/old/verifier", `"mcp","--config","/x.yaml","--name","b","--","s","x"`):                                                          json("s", `"x"`),
		json("firebase", `"mcp","--state","x","--name","x","--","extra"`):                                                                      "",
		json("/bin/verifier", `"mcp","--only","x","--name","x","--","extra"`):                                                                  "",
		json("/bin/verifier", `"mcp","--state","x","--name","x","--"`):                                                                         "",
		json("/bin/verifier", `"mcp","--state","/s","--name","a","--","s"  , `):                                                                "{\"mcpServers\":{\"a\":{\"command\":\"s\",\"args\":[ ]}}}",
		"[mcp_servers.a]\ncommand = \"/bin/verifier\"\nargs =[\"mcp\", \"--state\", \"/s\", \"--name\", \"a\", \"--\", \"s\",]\n":              "[mcp_servers.a]\ncommand = \"s\"\n",
		"[mcp_servers.a]\ncommand = \"/bin/verifier\"\nargs = [\n  \"mcp\",\n  \"--state\", \"/s\", \"--name\", \"a\", \"--\",\n  \"s\",\n]\n": "[mcp_servers.a]\ncommand = \"s\"\nargs = [\n  \n]\n",
	} {
		out, found, err := mcp.Rewrite([]byte(before), gate, true)
		if after == "" {
			after = before
		}
		if err != nil || string(out) != after || found[0].Changed != (after != before) {
			t.Errorf("%s became %s %v", before, out, err)
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
			if n := len(gate("")); s.Changed || s.Open == "" && (len(s.Command) <= n || !slices.Equal(s.Command[:n], gate(s.Name))) {
				t.Errorf("%q: %v was not before a gate", out, s)
			}
		}
	})
}
