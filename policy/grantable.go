package policy

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/openclaw-verifier/verifier/toolcall"
)

// destructiveActions can't be undone, where a tool takes an action.
var destructiveActions = words("delete remove purge wipe destroy uninstall reset kill ban kick unsend")

// destructive reports whether any word of an action is a destructive one: tools name
// theirs channel-delete, role_remove or removeParticipant. What is between
// signs is also read as one word, so that odd case (dELETE) hides none.
func destructive(action string) bool {
	for part := range strings.FieldsFuncSeq(action, func(c rune) bool { return !unicode.IsLetter(c) }) {
		if destructiveActions[strings.ToLower(part)] {
			return true
		}
		letters, from := []rune(part), 0
		for i := 1; i <= len(letters); i++ {
			if i < len(letters) && !startsWord(letters, i) {
				continue
			}
			if destructiveActions[strings.ToLower(string(letters[from:i]))] {
				return true
			}
			from = i
		}
	}
	return false
}

// startsWord reports whether case says that a word begins at i, as both do in
// kickURLUser.
func startsWord(letters []rune, i int) bool {
	return unicode.IsUpper(letters[i]) &&
		(!unicode.IsUpper(letters[i-1]) || i+1 < len(letters) && !unicode.IsUpper(letters[i+1]))
}

// secretPlaces are where people keep secrets.
var secretPlaces = append(strings.Fields(`.ssh id_rsa id_dsa id_ecdsa id_ed25519 .gnupg .netrc .pgpass .my.cnf .mylogin.cnf .aws .azure .git-credentials
	.kube/config .docker/config.json gh/hosts.yml .config/gcloud application_default_credentials.json .npmrc .pypirc .cargo/credentials .gem/credentials
	.terraform.d/credentials .vault-token rclone.conf .password-store .openclaw/credentials auth-profiles.json /etc/shadow /etc/gshadow .env keychain
	.bash_history .zsh_history .zhistory .sh_history .histfile fish_history .python_history .psql_history .mysql_history .node_repl_history .rediscli_history
	key4.db logins.json cookies.sqlite default/cookies network/cookies .mozilla .config/chromium .config/google-chrome .config/microsoft-edge .config/bravesoftware
	terraform.tfstate terraform.tfvars secrets.yaml secrets.yml credentials.json service-account.json /run/secrets /var/run/secrets .credentials.json .codex/auth.json
	opencode/auth.json oauth_creds.json .local/share/keyrings .envrc .dev.vars .flaskenv .yarnrc.yml .m2/settings.xml .gradle/gradle.properties /etc/wireguard .git/config
	.git/modules .git/worktrees .git/credentials .htpasswd .htdigest wp-config.php wp-config-local.php kubeconfig .s3cfg .boto _netrc .authinfo .dockercfg .terraformrc .mcp.json mcp.json .claude.json
	claude_desktop_config.json .aider.conf.yml .vault_pass .vault_password .composer/auth.json composer/auth.json .bundle/config nuget.config .config/hub .config/glab-cli .config/github-copilot doctl/config.yaml
	secrets.toml secrets.json secrets.env .secrets .envs .env_local .env_prod .env_production client_secret.json client_secrets.json service_account.json serviceaccountkey.json service-account-key.json
	config/database.yml local.settings.json sftp.json sftp-config.json .ftpconfig sitemanager.xml recentservers.xml .msmtprc .fetchmailrc .mbsyncrc .offlineimaprc .subversion/auth .svn/auth .cvspass
	.sentryclirc .databrickscfg .snowsql/config .dbt/profiles.yml .oci/config .aliyun/config.json .fly/config.yml kaggle.json .huggingface/token huggingface/token .age/keys.txt age/keys.txt .credentials
	key.properties keystore.properties signing.properties credentials.yml credentials.yaml credentials.toml credentials.csv rootkey.csv /etc/ssl/private /etc/sudoers networkmanager/system-connections .irssi/config .gitconfig .sqlite_history .irb_history
	token.json cookies.txt wallet.dat solana/id.json .ethereum/keystore .foundry/keystores .electrum/wallets com.vercel.cli/auth.json netlify/config.json .supabase/access-token stripe/config.toml
	hcloud/cli.toml configstore/firebase-tools.json .wrangler/config ngrok/ngrok.yml ngrok2/ngrok.yml .cloudflared .snowflake/config.toml .snowflake/connections.toml pip/pip.conf .pip/pip.conf containers/auth.json
	/etc/kubernetes opencode/mcp-auth.json .openai/auth.json io.datasette.llm/keys.json .config/git/credentials .config/aws .ansible/vault_pass`),
	"login data", "bitwarden cli", "profile 1/cookies", "application support/google/chrome", "application support/firefox", "chrome/user data", "edge/user data")

// secretEndings are how the names of files end that hold keys or passwords. In code some names end like that, too.
var (
	secretEndings = strings.Fields(".pem .key .p12 .p8 .pfx .kdbx .kdb .ppk .jks .keystore .keytab .ovpn .env .tfvars .tfvars.json .tfstate .tfstate.backup")
	codeEndings   = strings.Fields("process.env meta.env rails.env deno.env bun.env")
)

// secretEndingsBy are the endings by the letter after their dot.
var secretEndingsBy = func() (by [256][]string) {
	for _, end := range secretEndings {
		by[end[1]] = append(by[end[1]], end)
	}
	return by
}()

// weigh says how much is at stake: whether a lasting grant may cover the call, and
// whether secrets come in.
// Where it errs, the owner is asked once more.
func (p *Policy) weigh(pl *Plan, c *toolcall.Call, t *text, destroys bool) {
	r := pl.rule
	t.place = find(p.secrets.places, t.lower) != nil
	switch {
	case r.dangerous || r.destructive || r.secret || r.money || destroys && !r.writes:
	case r.safe:
		pl.Grantable = true // it is never asked for
	default:
		pl.Grantable = !t.place && !destructive(t.param(paramAction)) && !pl.writesForLater(c, t)
	}
	if pl.Grantable {
		pl.Destinations, pl.Content = r.goes, r.content
	}
	if pl.Attaches = attaches(t.lower); pl.Attaches {
		pl.Content = nil
	}
}

// attaches reports whether a line of a text begins with MEDIA:, after which OpenClaw
// attaches a file: then the text is more than what is said.
func attaches(lower []byte) bool {
	if !bytes.Contains(lower, []byte("media:")) {
		return false
	}
	for line := range bytes.FieldsFuncSeq(lower, func(c rune) bool { return c == 0 || c == '\n' || c == '\r' }) {
		start := bytes.TrimLeftFunc(line, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune("`*_>-\"'", c) })
		if bytes.HasPrefix(start, []byte("media:")) {
			return true
		}
	}
	return false
}
