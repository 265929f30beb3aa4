package e2e_test

import (
	"os"
	"path/filepath"
	"testing"
)

// known are well-known servers, as they are started, and where they are installed. None of them gets a key that is worth something.
var known = map[string][]string{
	"filesystem": {"mcp", "mcp-server-filesystem", os.TempDir()}, "github": {"known", "mcp-server-github"}, "slack": {"known", "mcp-server-slack"}, "gmail": {"known", "gmail-mcp"},
	"memory": {"known", "mcp-server-memory"}, "postgres": {"known", "mcp-server-postgres", "postgresql://127.0.0.1:1/none"}, "puppeteer": {"known", "mcp-server-puppeteer"},
	"playwright": {"known", "playwright-mcp"}, "notion": {"known", "notion-mcp-server"}, "context7": {"known", "context7-mcp"},
}

// TestTheLabelsKnowWellKnownServers compares the labels that this program ships with the lists of tools that the real servers give.
func TestTheLabelsKnowWellKnownServers(t *testing.T) {
	s := newScene(t, "")
	home := t.TempDir()
	s.env = append(s.env, "HOME="+home, "GITHUB_PERSONAL_ACCESS_TOKEN=none", "SLACK_BOT_TOKEN=none", "SLACK_TEAM_ID=none", "NOTION_TOKEN=none")
	if err := os.Mkdir(filepath.Join(home, ".gmail-mcp"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.put(filepath.Join(home, ".gmail-mcp/gcp-oauth.keys.json"), `{"installed":{"client_id":"none","client_secret":"none"}}`)
	for name, how := range known {
		t.Run(name, func(t *testing.T) {
			program := filepath.Join(s.cache, how[0], "node_modules/.bin", how[1])
			if _, err := os.Stat(program); err != nil {
				t.Skipf("where time counts, %s is not installed", name)
			}
			s := &scene{T: t, cache: s.cache, env: s.env, root: s.root}
			list := filepath.Join(t.TempDir(), "list.json")
			s.put(list, s.probe("catalogue", append([]string{"node", program}, how[2:]...)))
			t.Log(s.run(os.Getenv("MCP_CATALOGUE"), "-dir", "../../../packaging/catalogue", "mcp/"+name, list))
		})
	}
}
