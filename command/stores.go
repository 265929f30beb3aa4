package command

import (
	"strings"
)

// printing says which arguments make a program print something. Its zero value prints nothing.
type printing struct {
	prints *pattern
	unless *pattern
}

func (p printing) shows(said string) bool {
	return p.prints != nil && p.prints.MatchString(said) && (p.unless == nil || !p.unless.MatchString(said))
}

// when is a printing by words that are side by side among the arguments.
func when(words string) printing {
	return printing{prints: match(` (` + words + `)[ =]`)}
}

// except is a printing whatever the arguments are, but for these first words.
func except(first string) printing {
	return printing{prints: match(`^ [^-\x00 ]`), unless: match(`^ (` + first + `) `)}
}

// line is the arguments in a line, with a space before and behind.
func line(args []arg) string {
	var b strings.Builder
	b.Grow(64)
	b.WriteString(" ")
	for i := range args {
		if i > 0 {
			b.WriteString(" ")
		}
		b.WriteString(args[i].text)
	}
	b.WriteString(" ")
	return b.String()
}

var (
	// stores are programs that print what is in a store of secrets.
	stores = map[string]printing{
		"pass": except("ls|list|init|insert|edit|rm|mv|cp|git|find|search|help|version"), "gopass": except("ls|list|init|insert|edit|rm|mv|cp|git|find|search|help|version|sync|setup|mounts|recipients"),
		"gh": when(`auth token|auth status .*(-t|--show-token)`), "git": when(`credential\S*`),
		"systemctl": when(`show|show-environment|cat`), "direnv": when(`export|exec|dump`), "launchctl": when(`export|getenv|print`), "wg": when(`showconf|show .*(private-key|preshared-keys|dump)`), "gpg": when(gpgShows), "gpg2": when(gpgShows), "sops": when(`-d|--decrypt|decrypt|exec-env|exec-file|--extract|-i -d`), "age": when(`-d|--decrypt`), "rage": when(`-d|--decrypt`),
		"getent": when(`shadow|gshadow`), "security": when(`find-generic-password|find-internet-password|dump-keychain|export`), "secret-tool": when(`lookup|search`),
		"terraform": when(terraformShows), "tofu": when(terraformShows), "ansible-vault": when(`view|decrypt|edit`), "pulumi": when(`config .*--show-secrets|stack output|stack export|config get`),
		"heroku": when(`config|config:get`), "vercel": when(`env`), "netlify": when(`env:list|env:get`), "railway": when(`variables|run`), "supabase": when(`secrets`), "pm2": when(`env`), "doppler": when(`secrets|run|configure get`),
		"infisical": when(`secrets|export|run`), "fly": when(`secrets`), "flyctl": when(`secrets`), "firebase": when(`functions:config:get|functions:secrets:access`), "chamber": when(`read|exec|export|env`),
		"op": when(`read|item|document|inject|run`), "bw": when(`get|list|export`), "lpass": when(`show|export`), "keepassxc-cli": when(`show|clip|export`), "vault": when(`read|kv|token|login|print`),
		"kubectl": when(kubernetesShows), "oc": when(kubernetesShows + `|whoami -t|whoami --show-token`), "docker": when(`compose .*config|compose config`), "docker-compose": when(`config|convert`),
		"podman": when(`compose .*config|compose config|secret inspect .*--showsecret`), "nerdctl": when(`compose .*config|compose config`), "podman-compose": when(`config`),
		"gcloud": when(`auth (application-default )?print-(access|identity)-token|secrets versions access|config config-helper`),
		"aws":    when(`configure (get|export-credentials)|sts (get-session-token|assume-role\S*|get-federation-token)|secretsmanager (get-secret-value|batch-get-secret-value)|ssm get-parameters?(-by-path|-history)?|ecr get-login-password|codeartifact get-authorization-token|iam create-access-key`),
		"az":     when(`account get-access-token|keyvault secret (show|download)|acr (credential show|login)|storage account (keys list|show-connection-string)|ad sp create-for-rbac|webapp config appsettings list`),
		"npm":    when(`run env|token`), "rclone": when(`config (show|dump)`), "keyring": when(`get`),
	}

	// settings are programs that print settings which may hold a secret among others.
	settings = map[string]printing{
		"git": when(`config .*(-l|--list|--get-regexp|--get-urlmatch)|config (-l|--list|list|\S*(token|password|extraheader|insteadof|credential)\S*)|config .*get\S* \S*(token|password|extraheader|insteadof|credential)\S*`),
		"npm": when(configShows), "pnpm": when(configShows), "yarn": when(configShows), "pip": when(`config (list|debug)`), "pip3": when(`config (list|debug)`), "poetry": when(`config .*--list|config --list`), "composer": when(`config .*(-l|--list|auth)|config (-l|--list)`),
		"docker": when(`inspect|history|config inspect`), "podman": when(`inspect|history`), "nerdctl": when(`inspect|history`), "kubectl": when(objectShows), "oc": when(objectShows), "aws": when(`configure list`), "stripe": when(`config .*--list|config --list`), "snyk": when(`config`),
	}

	// logs are programs that print what other people's requests put into a log.
	logs = map[string]printing{
		"docker": when(`logs|attach`), "podman": when(`logs|attach`), "nerdctl": when(`logs`), "docker-compose": when(`logs`), "kubectl": when(`logs|attach`), "oc": when(`logs`), "journalctl": {prints: match(``), unless: when(journalQuiet).prints},
		"heroku": when(`logs`), "fly": when(`logs`), "flyctl": when(`logs`), "pm2": when(`logs?`), "adb": when(`logcat`), "log": when(`show|stream`), "vercel": when(`logs?`),
	}
)

const (
	gpgShows        = `--export-secret-(sub)?keys|-\w*d\w*|--decrypt|--export-ssh-key`
	terraformShows  = `output|show|console|state (pull|show)`
	kubernetesShows = `get .*secrets?(/\S+)?|get secrets?(/\S+|,\S+)?|config view .*--raw|create token`
	objectShows     = `describe|get .*(-o|--output)[ =]?(yaml|json|go-template|jsonpath|custom)\S*`
	configShows     = `config (ls|list|edit|get \S*(auth|password|token)\S*)|config .*(-l|--list)`
	journalQuiet    = `--disk-usage|--vacuum-\S+|--rotate|--list-boots|--version|--help`
)
