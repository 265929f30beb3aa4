package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestH204ProgramsThatPrintSecretsAskAtOnce, and files that hold some by their name count as read, with nothing configured.
func TestH204ProgramsThatPrintSecretsAskAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	for i, command := range []string{
		"docker compose config", "docker compose -f prod.yml config", "docker-compose config", "docker exec c env", "docker exec -it c sh -c 'echo $DB_PASSWORD'", "podman exec c printenv",
		"kubectl exec p -- printenv", "kubectl exec -n prod p -c web -- env", "direnv export json", "systemctl show web", "systemctl --user show-environment", "systemctl cat web",
		"git-credential-store get", "git credential-cache get", "wg showconf wg0", "docker exec c cat /app/.env",
	} {
		r.asks(bash(t, command, with(ownerIn(fmt.Sprint("h204-", i)), "waitMs", 5001)))
	}
	for i, path := range []string{
		".envrc", ".dev.vars", ".flaskenv", "prod.env", ".yarnrc.yml", "~/.m2/settings.xml", "~/.gradle/gradle.properties", "/etc/wireguard/wg0.conf", ".git/config", "server.key", "credentials.json",
	} {
		for j, c := range []call{bash(t, "cat "+path, nil), {tool: "read", params: fmt.Sprintf(`{"path":%q}`, path)}} {
			c.context = with(ownerIn(fmt.Sprint("h204-file-", i, "-", j)), "waitMs", 5001)
			r.allow(c)
			if why := r.asks(post("hello", c.context)); !strings.Contains(why, "The agent has read "+path) {
				t.Errorf("after %s: %s", c.params, why)
			}
		}
	}
	m := with(ownerIn("h204-calm"), "waitMs", 5001)
	for _, command := range []string{
		"docker ps", "systemctl status web", "direnv allow", "grep -rn process.env src", "git log -S process.env", "git commit -m 'read prod.env'",
		"cat docker-compose.yml", "cat src/environment.ts", "ls -la .git/config",
	} {
		r.allow(bash(t, command, m))
	}
	r.allow(post("hello", m))
}
