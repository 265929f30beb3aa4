package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/openclaw-verifier/verifier/command"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// readBy is what a command reads that holds secrets, or may; "" for any other. It is sure where the command names the place.
func (s *secretIndex) readBy(does *command.Command) (secret string, sure bool) {
	for i := range does.Reads {
		if place := s.secretAt(&does.Reads[i]); place != "" {
			return place, true
		}
	}
	for _, word := range does.Words {
		if place := s.placeIn(word); place != "" {
			return place, true
		}
	}
	if does.Environment || slices.ContainsFunc(does.Variables, holdsSecret) {
		return ofCommands, true
	}
	if does.Stores {
		return keptSecrets, true
	}
	if does.Settings {
		return ofSettings, len(does.Programs) > 1 // alone, it shows them and sends nothing
	}
	switch {
	case slices.ContainsFunc(does.Seeks, seeksSecret):
		return ofSearch, true
	case does.Code || does.Opaque != "":
		return ofCode, false
	case slices.ContainsFunc(does.Reads, func(r command.Read) bool { return r.Unknown() && !r.Name }):
		return ofShell, false
	}
	return "", false
}

// holdsSecret reports whether a variable of this name usually holds a secret, or an address with one in it.
func holdsSecret(name string) bool {
	upper := strings.ToUpper(name)
	return redact.NamesSecret(name) || strings.HasPrefix(upper, "PGPASS") ||
		slices.ContainsFunc(secretVariables, func(end string) bool { return strings.HasSuffix("_"+upper, end) })
}

// secretVariables are how the names of such variables end.
var secretVariables = strings.Fields("_DATABASE_URL _DB_URL _REDIS_URL _MONGO_URI _MONGODB_URI _MONGO_URL _DSN _WEBHOOK_URL _PAT _SK")

// secretAt is a place that a command reads and where secrets are kept, or "".
func (s *secretIndex) secretAt(r *command.Read) string {
	name := strings.ReplaceAll(r.Path, "\x00", "?")
	switch {
	case r.Name:
		return ""
	case find(s.places, name) != nil || endsAsKey(path.Base(name)) || namesSecretFile(name) || r.Deep && isGits(name):
		return bounded(strings.ReplaceAll(name, "**/", ""), "")
	case r.Deep && isAllOfHome(name):
		return homeFiles
	case !isPattern(name):
		return ""
	case findsInHome(name):
		return homeFiles
	case hiddenPattern(name):
		return hiddenFiles
	case !r.Some && s.mayFind(name):
		return anyFiles
	}
	return ""
}

// namesSecretFile reports whether a path is that of a file with keys or passwords of whose name a part differs: .env_test, id_rsa_work. Case makes no difference.
func namesSecretFile(name string) bool {
	base := command.Fold(name[strings.LastIndexByte(name, '/')+1:])
	if slices.ContainsFunc(secretBeginnings, func(begin string) bool { return strings.HasPrefix(base, begin) }) || strings.HasSuffix(base, "_accesskeys.csv") {
		return true
	}
	name, isJSON := strings.CutSuffix(base, ".json")
	return isJSON && (strings.Contains(name, "firebase-adminsdk") || len(name) > len("appsettings.") && strings.HasPrefix(name, "appsettings."))
}

var (
	// secretBeginnings are how such names begin.
	secretBeginnings = strings.Fields(".env id_rsa id_dsa id_ecdsa id_ed25519 client_secret")
	// secretNameParts are in all such names.
	secretNameParts = append(strings.Fields("_accesskeys.csv firebase-adminsdk appsettings."), secretBeginnings...)
)

// isGits reports whether a path is a directory in which git keeps its settings and what it has fetched, or in it. Windows leaves dots and blanks at the end out.
func isGits(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.EqualFold(strings.TrimRight(part, ". "), ".git") {
			return true
		}
	}
	return false
}

// findsInHome reports whether a path is a pattern of files anywhere below a home directory.
func findsInHome(name string) bool {
	root, _, found := strings.Cut(name, "/**")
	return found && (root == "" || isAllOfHome(root))
}

// mayFind reports whether a path is a pattern that may find a place where secrets are kept, or a file of keys with a usual name.
func (s *secretIndex) mayFind(name string) bool {
	if strings.HasPrefix(name, ".github/") {
		return false
	}
	parts := strings.Split(strings.ToLower(withoutClasses(name)), "/")
	if len(parts) > mostParts {
		return true
	}
	ends := make([]string, len(parts))
	for i, part := range parts {
		ends[i] = literalEnd(part)
	}
	return slices.ContainsFunc(s.samples, func(sample []string) bool {
		for at := range len(parts) - len(sample) + 1 {
			if strings.HasSuffix(sample[0], ends[at]) && fits(parts[at:at+len(sample)], sample, at+len(sample) == len(parts)) {
				return true
			}
		}
		return false
	})
}

// literalEnd is how every name ends that a part of a pattern finds: what is behind its last sign.
func literalEnd(part string) string {
	if strings.ContainsAny(part, `[\`) { // it may be none that can be read
		return ""
	}
	return part[strings.LastIndexAny(part, "*?")+1:]
}

// fits reports whether parts of a pattern may be a place. Before the last of them a star alone is any directory, and says nothing.
func fits(parts, place []string, last bool) bool {
	for i, part := range parts {
		found, err := path.Match(part, place[i])
		switch {
		case !found && err == nil,
			strings.HasPrefix(place[i], ".") && !strings.HasPrefix(part, "."), // a shell leaves hidden files out
			!last && strings.Trim(part, "*?") == "":
			return false
		}
	}
	return true
}

// mostParts is how many parts a pattern has; a longer one may find anything.
const mostParts = 32

// isPattern reports whether a path, or a part of one, may find files of several names.
func isPattern(name string) bool {
	for i := range len(name) {
		switch name[i] {
		case '*', '?', '[':
			return true
		}
	}
	return false
}

// withoutClasses is a pattern in which each class of characters is a question mark. A class has no slash.
func withoutClasses(pattern string) string {
	if !strings.Contains(pattern, "[") {
		return pattern
	}
	return anyOfClass.ReplaceAllString(pattern, "?")
}

var anyOfClass = regexp.MustCompile(`\[[!^]?\]?(\[:[^\]/]*:\]|[^\]/])*\]`)

// samplesOf are the places where secrets are kept, in parts, and usual names of files with keys.
func samplesOf(places [][]byte) (out [][]string) {
	for _, place := range places {
		out = append(out, strings.Split(string(place), "/"))
	}
	for _, end := range secretEndings {
		for _, name := range []string{"server", "client", "private", "privkey", "key", "tls", "ssl", "ca", "cert", "prod", "app"} {
			out = append(out, []string{name + end})
		}
	}
	return out
}

// seeksSecret reports whether a pattern finds the lines where a password, a key or a token is set.
func seeksSecret(pattern string) bool {
	lower := strings.ToLower(pattern)
	return slices.ContainsFunc(secretSigns, func(sign string) bool { return strings.Contains(lower, sign) }) || slices.ContainsFunc(strings.FieldsFunc(pattern, func(c rune) bool {
		return c != '_' && c != '-' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	}), holdsSecret)
}

// secretSigns are in what people look for who look for secrets, and in secrets themselves.
var secretSigns = append(strings.Fields("_key key= apikey assword passwd secret token credential akia ghp_ gho_ github_pat_ glpat- xoxb- xoxp- sk- sk_live postgres:// postgresql:// mysql:// mongodb redis://"), "private key")

// outside is a file that a command reads and that is in none of the owner's directories, or commits of others; "" where
// there is neither. What only the shell knows may be anywhere.
func (p *Policy) outside(does *command.Command) string {
	if does.Others != "" {
		return does.Others
	}
	if len(p.inside) == 0 {
		return ""
	}
	for i := range does.Reads {
		r := &does.Reads[i]
		if r.Unknown() {
			return "a file"
		}
		if !within(fixedPart(r.Path), p.inside) {
			return path.Base(r.Path)
		}
	}
	return ""
}

// staysInside reports whether all that a command reads and runs is in the agent's workspace: below where it starts, or in the
// owner's directories.
func staysInside(does *command.Command, places []string) bool {
	return does.Others == "" && !slices.ContainsFunc(does.Reads, func(r command.Read) bool {
		return r.Unknown() || onDrive(r.Path) || !within(fixedPart(r.Path), places)
	})
}

// looksInside reports whether all that a command reads is in the workspace and may be shown: none of git's own files, no device, no variable, no lines as files with secrets have them.
func looksInside(does *command.Command, places []string) bool {
	return staysInside(does, places) && !does.Device && !does.Climbs && len(does.Variables) == 0 && !does.Environment && !slices.ContainsFunc(does.Reads, func(r command.Read) bool { return !r.Name && isGits(r.Path) }) &&
		!slices.ContainsFunc(does.Seeks, findsSecret)
}

// findsSecret reports whether a pattern finds lines as they are in files with passwords or keys, read as each of the languages of patterns that grep knows.
func findsSecret(pattern string) bool {
	for _, p := range []string{pattern, basicSigns.Replace(pattern), regexp.QuoteMeta(pattern)} {
		if re, err := regexp.Compile("(?i)" + p); err != nil || slices.ContainsFunc(secretLines, re.MatchString) {
			return true
		}
	}
	return false
}

// basicSigns turn a basic pattern into an extended one.
var basicSigns = strings.NewReplacer(`\|`, "|", `\(`, "(", `\)`, ")", `\{`, "{", `\}`, "}", `\+`, "+", `\?`, "?", "|", `\|`, "(", `\(`, ")", `\)`, "{", `\{`, "}", `\}`, "+", `\+`, "?", `\?`)

// secretLines are such lines.
var secretLines = strings.Split(`export DATABASE_URL="postgres://app:hunter2@db.example.com:5432/app"
MYSQL_PWD=hunter2 REDIS_HOST=cache DB_USER=root DB_PASS=hunter2
AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY region = us-east-1
//registry.npmjs.org/:_authToken=npm_0123456789abcdefABCDEF
machine api.example.com login ann password hunter2 account x
[remote "origin"] url = https://ann:ghp_0123456789abcdef@github.com/ann/app.git fetch = +refs/heads/*
extraheader = AUTHORIZATION: basic YW5uOmh1bnRlcjI= insteadOf = ssh://
Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.e30.x cookie: session=x
-----BEGIN OPENSSH PRIVATE KEY----- -----END RSA PRIVATE KEY-----
"client_secret": "GOCSPX-x", "private_key_id": "AIzaSyx", "api_key": "sk-ant-x", "webhook": "https://hooks.slack.com/services/x"
xoxb-1 glpat-x hf_x SG.x ya29.x sk_live_x whsec_x credentials: {username: admin, passwd: x, pin: 1234}`, "\n")

// runsOthers reports whether a command works in a directory where a project keeps code of others. What builds and tests there is theirs.
func runsOthers(does *command.Command) bool {
	return slices.ContainsFunc(does.Runs, func(what string) bool { return !strings.HasPrefix(what, "git ") }) && slices.ContainsFunc(does.Reads, func(r command.Read) bool {
		return slices.ContainsFunc(strings.Split(strings.ToLower(r.Path), "/"), func(part string) bool { return vendored[part] })
	})
}

var vendored = words("vendor node_modules third_party third-party thirdparty bower_components site-packages .venv venv pods carthage .tox .yarn")

// isGitAtHome reports whether git works where the agent's workspace begins. In any other directory there may be a repository whose settings name programs to run, be it
// only files of the workspace that look like one. What changes the directory on the way counts as another.
func isGitAtHome(does *command.Command, places []string) bool {
	return !slices.ContainsFunc(does.GitIn, func(dir string) bool { return dir != "" && dir != "." && !slices.Contains(places, dir) })
}

// onDrive reports whether a path names a drive of Windows or of PowerShell, or another machine's share: C:, C:/x, env:PATH, \\server\x, //server/x. It may have
// been joined to the directory that the command runs in.
func onDrive(name string) bool {
	return strings.Contains(name, `\\`) || strings.HasPrefix(name, "//") || strings.Contains(name, ":") && drive.MatchString(name)
}

var drive = regexp.MustCompile(`(^|[/\\])[A-Za-z]+:`)

// insideOf are the owner's directories, and where a coding agent was started, as its hook says. That is no workspace if it holds the
// files of everything: a home directory, or one above.
func (p *Policy) insideOf(c *toolcall.Call) []string {
	clean, ok := cleanPath(c.Context.Workspace)
	if !ok || !isWorkspace(clean) {
		return p.inside
	}
	return append(slices.Clone(p.inside), clean)
}

// isWorkspace reports whether a directory may be one project's. A home directory is none, wherever homes are, nor is a disk or what belongs to the system.
func isWorkspace(clean string) bool {
	parts := strings.Split(strings.ToLower(clean), "/")
	n := len(parts) - 1 // before the first slash there is nothing
	if parts[0] != "" || n < 2 {
		return false
	}
	if parts[n] == "home" || parts[n] == "users" || parts[n-1] == "home" || parts[n-1] == "users" {
		return false
	}
	if least, mounted := disks[parts[1]]; mounted && n < least {
		return false
	}
	return !systemDirectories[parts[1]] || slices.ContainsFunc(inSystem, func(place string) bool { return strings.HasPrefix(strings.ToLower(clean), place) })
}

var (
	// disks are where disks are mounted, and how many parts a directory on one has at least.
	disks = map[string]int{"mnt": 3, "volumes": 3, "media": 4, "net": 4}
	// systemDirectories belong to the system.
	systemDirectories = words("bin boot dev etc lib lib32 lib64 nix proc run sbin snap sys usr var system library applications private cores efi lost+found")
	// inSystem are the places there where people have projects.
	inSystem = strings.Fields("/usr/src/ /usr/local/src/ /usr/home/ /var/home/ /var/www/ /var/tmp/ /var/folders/ /private/tmp/ /private/var/tmp/ /private/var/folders/ /system/volumes/data/users/")
)

// fixedPart is a path up to the first part that is a pattern.
func fixedPart(name string) string {
	at := strings.IndexAny(name, "*?[{")
	if at < 0 {
		return name
	}
	if dir, _ := path.Split(name[:at]); dir != "" {
		return dir
	}
	return "."
}

// isAllOfHome is [isHome] for a word that may end in a pattern.
func isAllOfHome(word string) bool {
	for _, end := range []string{"/*", "/.*", "/.[!.]*", "/.??*"} {
		word = strings.TrimSuffix(word, end)
	}
	return strings.HasPrefix(word, "/") && strings.Trim(word, "/") == "" || isHome(word)
}

// hiddenPattern reports whether a path is a pattern that may find hidden files where secrets are kept: ~/.s*/x, .e*v, .*
func hiddenPattern(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if hidden, found := strings.CutPrefix(part, "."); found && isPattern(hidden) {
			return true
		}
	}
	first, rest, _ := strings.Cut(name, "/")
	if !isHome(first) {
		for _, root := range []string{"/root/", "/home/", "/Users/"} {
			if below, ok := strings.CutPrefix(name, root); ok {
				if rest = below; root != "/root/" {
					_, rest, _ = strings.Cut(below, "/")
				}
				first = "~"
			}
		}
	}
	return isHome(first) && strings.HasPrefix(rest, ".") && !strings.HasPrefix(rest, ".openclaw/") && isPattern(rest)
}

// deviceReads are actions that show what is on a screen: texts by anyone, and secrets.
var deviceReads = map[string]string{
	"nodes notifications_list": ofDevice, "nodes screen_snapshot": ofDevice, "nodes screen_record": ofDevice, "terminal read": ofTerminal,
}

// pictured are actions that bring in pictures, which may hold texts by anyone.
var pictured = words("camera_snap camera_clip photos_latest")

// shownBy is what a call of OpenClaw's tools for devices and terminals shows, and how far that is trusted.
func (pl *Plan) shownBy(tool string, t *text) (secret string) {
	action := strings.ToLower(strings.TrimSpace(t.param(paramAction)))
	secret = deviceReads[tool+" "+action]
	invoked := tool == "nodes" && action == "invoke" && !strings.HasPrefix(strings.ToLower(strings.TrimSpace(t.param(paramInvoke))), "system.")
	if secret != "" || invoked || tool == "nodes" && pictured[action] {
		pl.Raise = taint.Worse(pl.Raise, external)
	}
	return secret
}
