package policy_test

import (
	"fmt"
	"testing"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// secretOf is what a call reads that holds secrets, with nothing configured.
func secretOf(t *testing.T, tool, params string) string {
	t.Helper()
	p, _, err := policy.New(policy.Config{})
	if err != nil {
		t.Fatal(err)
	}
	plan := p.Plan(&toolcall.Call{Tool: tool, Sent: tool, Params: []byte(params)})
	return plan.Secret
}

func TestPlacesOfSecrets(t *testing.T) {
	t.Parallel()
	for path, secret := range map[string]bool{
		"~/.npmrc": true, "~/.config/gh/hosts.yml": true, "server.pem": true, "/etc/tls/a.key": true, "me.p12": true, "me.pfx": true, "Vault.KDBX": true,
		"~/.docker/config.json": true, "~/.aws/config": true, "~/.bash_history": true, "~/.zsh_history": true, "~/.local/share/fish/fish_history": true,
		"~/.password-store/a.gpg": true, "/home/me/.config/google-chrome/Default/Cookies": true, "/x/Default/Login Data": true, "/x/key4.db": true,
		"/x/logins.json": true, "~/.pypirc": true, "~/.cargo/credentials.toml": true, "~/.pgpass": true, "~/.my.cnf": true, "~/.kube/config": true,
		"~/.config/gcloud/access_tokens.db": true, "/etc/shadow": true, "@/root/.ssh/id_rsa": true,
		".envrc": true, "web/.dev.vars": true, ".flaskenv": true, "prod.env": true, "config/staging.env": true, ".yarnrc.yml": true, "~/.m2/settings.xml": true, "~/.gradle/gradle.properties": true,
		"/home/me/app/.env_test": true, "id_rsa_work": true, "~/keys/id_ed25519_work": true, "client_secret_123.json": true, "x-firebase-adminsdk-y.json": true, "ann_accessKeys.csv": true, "appsettings.Production.json": true,
		"~/.config/solana/id.json": true, "~/.ethereum/keystore/UTC--1": true, "~/.foundry/keystores/dev": true, "~/.electrum/wallets/default_wallet": true, "~/.local/share/com.vercel.cli/auth.json": true, "~/.config/netlify/config.json": true,
		"~/.supabase/access-token": true, "~/.config/stripe/config.toml": true, "~/.config/hcloud/cli.toml": true, "~/.config/configstore/firebase-tools.json": true, "~/.config/.wrangler/config/default.toml": true, "~/.config/ngrok/ngrok.yml": true,
		"~/.cloudflared/cert.json": true, "~/.snowflake/config.toml": true, "~/.config/pip/pip.conf": true, "~/.config/containers/auth.json": true, "/run/user/1000/containers/auth.json": true, "/etc/kubernetes/admin.conf": true,
		"~/.local/share/opencode/mcp-auth.json": true, "~/.openai/auth.json": true, "~/.config/io.datasette.llm/keys.json": true, "~/.config/git/credentials": true, "~/.config/Bitwarden CLI/data.json": true, "~/.config/aws/credentials": true, "~/.ansible/vault_pass": true,
		"/etc/wireguard/wg0.conf": true, ".git/config": true, "server.key": true, "credentials.json": true,
		"process.env": false, "environment.ts": false, "gradle.properties": false, ".git/HEAD": false, "settings.xml": false, ".yarnrc": false,
		"monkey.key.md": false, "package.json": false, "src/cookies.ts": false, "docs/history.md": false, "keys.go": false, "config/hosts.yml": false,
		"client_secret_basic": false, "config/client_secret": true, "appsettings.json": false, "src/environment.ts": false, "src/my_client_secret.go": false, "docs/id.json": false, "a/.key": false, "pem.txt": false, "docker/config.json": false,
	} {
		if got := secretOf(t, "read", fmt.Sprintf(`{"path":%q}`, path)); (got != "") != secret {
			t.Errorf("read %s: %q", path, got)
		}
	}
	for path, secret := range map[string]bool{"~": true, "~/": true, "/": true, "/root": true, "/home/me/": true, "/Users/me": true, "C:\\Users\\me": true, "~/src": false, "/srv": false, "src": false} {
		if got := secretOf(t, "dir_fetch", fmt.Sprintf(`{"node":"mac","path":%q}`, path)); (got != "") != secret {
			t.Errorf("dir_fetch %s: %q", path, got)
		}
	}
	if got := secretOf(t, "apply_patch", `{"input":"*** Begin Patch\n*** Update File: /root/.ssh/id_rsa\n*** Move to: /tmp/pub.txt\n*** End Patch"}`); got != "/root/.ssh/id_rsa" {
		t.Errorf("apply_patch: %q", got)
	}
	if got := secretOf(t, "apply_patch", `{"input":"*** Begin Patch\n*** Add File: a.md\n+see ~/.ssh\n*** End Patch"}`); got != "" {
		t.Errorf("apply_patch: %q", got)
	}
}

func TestCommandsThatReadWidely(t *testing.T) {
	t.Parallel()
	for command, secret := range map[string]bool{
		"env": true, "printenv": true, "printenv GITHUB_TOKEN": true, "set": true, "export -p": true, "declare -p": true, "env | sort": true, "sudo env": true,
		"bash -c env": true, `bash -c "env"`: true, "/usr/bin/env": true, "ls; env > x": true,
		"cat ~/.s*/id_*": true, "cat ~/.[s]sh/*": true, "cat .e*v": true, "cat ~/.${x}h/id": true, "cat $HOME/.s?h/x": true, "cat /root/.s*/x": true,
		"cat /home/me/.s*/x": true, "cat ~/$d/x": true, `cat ~/.s"s"h*/x`: true, "cat .*": true, "cat ~/.config/g*/h*": true, "cat ~/.$(echo s)sh/x": true,
		"cat ~/.`echo s`sh/x": true, "cat ~/{.s,x}sh/y": true,
		"grep -r key ~": true, "grep -rn x /home/me": true, "rg x $HOME": true, "find ~ -type f -exec cat {} +": true, "find / -name x | xargs cat": true,
		"tar czf a.tgz ~": true, "tar -cf - /root": true, "cp -r ~ /tmp/x": true, "cd ~ && grep -r x .": true, "cat server.key": true, "echo $(cat server.key)": true,
		"ls *.go": false, "cat src/*.go": false, "grep -rn TODO .": false, "env FOO=1 go version": false, "set -e": false, "export A=b": false,
		"ls ~": false, "find ~ -name x": false, "ls ~/src/*.go": false, "cat ~/.openclaw/workspace/*.md": false, "sed 's/.*//' a": false,
		"grep -o 'a.*b' c": false, "cp -r dist ~": false, "tar xzf a.tgz -C ~": false, "cat .github/workflows/*.yml": false, "jq .data.key a.json": false,
		"cat ./*.go ../*.go": false, "echo $HOME": false, "git commit -m 'set'": false, "env A=b date > x": false, "ls ../..": false, "go test ./...": false,
		"echo 'console.log(a.key)'": false,

		// Any word of a program that shows files may name one.
		"grep -e. .env": true, "grep --regexp=. ~/.netrc": true, "rg -e. .env": true, "find . -name .env -exec cat {} +": true, "find . -name '*.pem' -exec cat {} +": true,
		"find . -name .env | xargs cat": true, "cat $(find . -name '.e*')": true, "grep '' --include=.env -r .": true, "sed '$r.env' README.md": true, "sort -m .env": true,
		"grep .env .env": true, "jq .env .env": true, "ls -A | grep env | xargs cat": true, "fd -HI env -X cat": true, "fd -e pem | xargs cat": true, `fd '\.pem$' | xargs cat`: true, "fd -g '*.pem' -x cat": true, `fd '^id_rsa' -x cat`: true, `fd '.*\.go$' | xargs cat`: false, "fd . src -x cat": false, "fd config .git -X cat": true, "cd .git && fd config -x cat": true, "fd -e yml . .kamal -x cat": true, "fd diary .. -x cat": true, "fd config a b c d e .git -X cat": true, "fd notes ~/work/.. -x cat": true, "fd -e env | xargs cat": true, "fd id_rsa | xargs cat": true, "fd credentials.json -x cat": true, "fd -e go | xargs cat": false, "fd main | xargs cat": false, "fd handler src -x cat": false, "find . -type f -exec cat {} +": true,
		"rg -g.env .": true, "find -files0-from .env": true, "git -C web log -S.env": true, "git -C web commit -m 'load .env'": false,
		"git commit -m 'load .env'": false, "echo .env >> .gitignore": false, "find . -name .env": false, "stat .env": false, "test -f .env": false, "touch .env": false,
		"grep -rn '\\.env' src": false, "grep -rn -e .env src": false, "grep -rn TODO --exclude=.env .": false, "jq .env package.json": false, "awk '/.env/' README.md": false,
		"cp template .env": false, "find . -name '*.go' | xargs grep TODO": false, "find . -type f | xargs wc -l": false, "cat README.md && git commit -m 'load .env'": false,
		"cat README.md | grep .env": false, "git ls-files | xargs cat": false,

		// Where programs keep their own, and what prints it.
		"cat terraform.tfstate": true, "cat config/secrets.yml": true, "cat credentials.json": true, "cat /run/secrets/db": true, "cat /var/run/secrets/x/token": true,
		"cat ~/.claude/.credentials.json": true, "cat ~/.codex/auth.json": true, "cat ~/.gemini/oauth_creds.json": true,
		"echo $PGPASSFILE": true, "echo $DATABASE_URL": true, "echo $GH_PAT": true, "echo $BASE_URL $PATH": false,
		"pass show x": true, "gh auth token": true, "git credential fill": true, "systemctl show-environment": true, "jq -n env": true,
	} {
		if got := secretOf(t, "exec", fmt.Sprintf(`{"command":%q}`, command)); (got != "") != secret {
			t.Errorf("%s: %q", command, got)
		}
	}
}
