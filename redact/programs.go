package redact

import (
	"slices"
	"strings"
)

// usage is one way in which a program takes a secret that no name tells.
type usage struct {
	under    string // the bare words it begins with: secret set
	next     string // letters: -p x
	attached string // letters, or words: -px
	long     string // words: --user x, --user=x, -user x, /user:x
	bare     string // which of the bare words, see [usage.takes]
	with     string // bare: only with one of these letters, or this flag, before
	stdin    string // it is read from a pipe, with one of these letters among the flags; *: always
	after    string // hide only what follows the first of these characters
	upTo     string // and what is before the last of these
	login    bool   // only where it reads name:password
	host     bool   // only where it reads name:password@host
	run      bool   // only where the program is run, not in a sentence: its name is a word
	variable bool   // only where it is a variable: its value is hidden

	prefix, pattern []string // under and bare in words
}

// secretArguments are the programs by their names; a name that ends in * is the beginning
// of several.
var secretArguments = []struct {
	names  string
	usages []usage
}{
	// HTTP and file transfer.
	{"curl", []usage{
		{next: "uUE", attached: "u U E", long: "user proxy-user cert proxy-cert", after: ":"},
		{next: "b", attached: "b", after: "="},
		{long: "proxy-pass pass tlspassword proxy-tlspassword"},
	}},
	{"http https xh xhs", []usage{{next: "a", long: "auth", after: ":"}}},
	{"lftp open", []usage{{next: "u", long: "user", after: ","}}}, // open: in the scripts of lftp
	{"smbclient rpcclient", []usage{{next: "U", attached: "U", long: "user", after: "%"}}},
	{"ncftp* smbmap nxc crackmapexec netexec evil-winrm hydra medusa", []usage{{next: "p"}}},
	{"impacket-* psexec.py wmiexec.py secretsdump.py", []usage{{bare: "> ?", after: ":", upTo: "@"}}},
	{"rclone", []usage{{bare: "> pass ?"}}},
	{"mc", []usage{{bare: "alias set _ _ _ ?"}}},

	{"curl wget sftp ftp lftp xh", []usage{{bare: "?*", after: ":", upTo: "@", host: true}}},

	// Databases.
	{"mysql*", []usage{{attached: "p"}, {bare: "> password ?"}}}, // mysqldump, mysqladmin
	{"mysqlsh", []usage{{attached: "p"}, {bare: "?", after: ":", upTo: "@"}}},
	{"mariadb*", []usage{{attached: "p"}}},
	{"mongo*", []usage{{next: "p", attached: "p"}}},
	{"redis-cli", []usage{{next: "a"}, {bare: "> auth ? $"}, {bare: "> auth _ ? $"}, {bare: "> requirepass ?"}, {bare: "> masterauth ?"}}},
	{"sqlcmd bcp isql osql tsql", []usage{{next: "P", attached: "P"}}},
	{"sqlplus sqlldr impdp expdp", []usage{{bare: "?", after: "/", upTo: "@"}}},
	{"db2", []usage{{bare: "> using ?"}}},
	{"cqlsh cypher-shell", []usage{{next: "p", attached: "p"}}},
	{"etcdctl", []usage{{long: "user", after: ":"}}},

	// Accounts.
	{"login", []usage{{next: "p", attached: "p"}, {bare: "?", variable: true, run: true}}}, // docker login, podman login, az login
	{"sshpass", []usage{{next: "p", attached: "p"}}},
	{"sudo", []usage{{stdin: "S"}}},
	{"su passwd kinit cryptsetup", []usage{{stdin: "*"}}},
	{"chpasswd chgpasswd newusers", []usage{{stdin: "*", after: ":"}}},
	{"smbpasswd", []usage{{stdin: "s"}}},
	{"useradd usermod adduser rabbitmqadmin", []usage{{next: "p"}}},
	{"htpasswd", []usage{{bare: "_ _ ?", with: "b"}, {bare: "_ ? $", with: "b"}, {stdin: "i"}}},
	{"mosquitto_passwd", []usage{{bare: "_ _ ?", with: "b"}}},
	{"mosquitto*", []usage{{next: "P"}}},
	{"ldap*", []usage{{next: "w"}}}, // ldapsearch, ldapmodify
	{"ldappasswd", []usage{{next: "was"}}},
	{"radtest", []usage{{bare: "_ ?"}, {bare: "_ _ _ _ ?"}}},
	{"rabbitmqctl", []usage{{bare: "add_user _ ?"}, {bare: "change_password _ ?"}, {bare: "authenticate_user _ ?"}}},
	{"security", []usage{{next: "wpP"}}},
	{"ipmitool", []usage{{next: "P", attached: "P"}}},
	{"snmp*", []usage{{next: "AXc"}}},
	{"wpa_passphrase", []usage{{bare: "_ ?"}}},
	{"nmcli", []usage{{bare: "> password ?"}, {bare: "> wifi-sec.psk ?"}, {bare: "> 802-11-wireless-security.psk ?"}}},

	// Windows.
	{"net", []usage{{bare: `use \ ?`}, {bare: `use _ \ ?`}, {bare: "user _ ? $", run: true}, {bare: "user _ ? /"}}},
	{"psexec psexec64 rdesktop", []usage{{next: "p"}}},
	{"schtasks", []usage{{long: "p rp"}}},
	{"winrs xfreerdp xfreerdp3 wlfreerdp", []usage{{long: "p"}}},
	{"convertto-securestring", []usage{{bare: "?"}, {long: "string"}}},

	// Keys and archives.
	{"openssl", []usage{{next: "kK", long: "hmac psk"}, {long: "macopt", after: ":"}, {bare: "passwd ?*"}}},
	{"ssh-keygen", []usage{{next: "NP", attached: "N P"}}},
	{"ccrypt", []usage{{next: "K"}}},
	{"mcrypt", []usage{{next: "k"}}},
	{"veracrypt steghide aescrypt", []usage{{next: "p"}}},
	{"7z 7za 7zr 7zz unrar", []usage{{attached: "p"}}},
	{"rar", []usage{{attached: "hp p"}}},
	{"zip unzip", []usage{{next: "P", attached: "P"}}},
	{"qpdf", []usage{{long: "encrypt"}, {bare: "?", with: "--encrypt"}}},
	{"pdftk", []usage{{bare: "> user_pw ?"}, {bare: "> owner_pw ?"}, {bare: "> input_pw ?"}}},
	{"pdftotext pdfimages pdftoppm", []usage{{long: "upw opw"}}},
	{"base64", []usage{{stdin: "*", after: ":", login: true}}},

	// Services.
	{"ansible-vault", []usage{{bare: "encrypt_string ?*"}, {under: "encrypt_string", stdin: "*"}}},
	{"cargo", []usage{{bare: "login ? $", run: true}}},
	{"vault", []usage{
		{bare: "login ? $", run: true}, {under: "login", stdin: "*"},
		{bare: "kv put _ ?*", after: "="}, {bare: "kv patch _ ?*", after: "="}, {bare: "write secret/* ?*", after: "="},
	}},
	{"bw", []usage{{bare: "unlock ?"}, {bare: "login _ ?"}}},
	{"ngrok", []usage{{bare: "authtoken ?"}, {bare: "config add-authtoken ?"}}},
	{"snyk", []usage{{bare: "auth ? $", run: true}}},
	{"nuget", []usage{{bare: "setapikey ?"}, {next: "k"}}},
	{"poetry", []usage{{bare: "config http-basic* _ ?"}, {bare: "config pypi-token* ?"}}},
	{"twine", []usage{{next: "p"}}},
	{"doctl vercel", []usage{{next: "t"}}},
	{"gh", []usage{{under: "secret set", next: "b", long: "body", stdin: "*"}}},
	{"docker", []usage{{under: "secret create", stdin: "*"}}},
	{"gcloud", []usage{{under: "secrets", stdin: "*"}}},
	{"wrangler", []usage{{under: "secret put", stdin: "*"}}},
	{"kubectl oc", []usage{{under: "create secret", long: "from-literal", after: "="}}},
	{"az", []usage{
		{under: "keyvault secret set", long: "value"},
		{under: "sql", next: "p"}, {under: "mysql", next: "p"}, {under: "postgres", next: "p"}, {under: "ad", next: "p"},
	}},
	{"aws", []usage{{under: "ssm put-parameter", long: "value"}, {under: "secretsmanager", long: "secret-string"}}},
	{"fly flyctl doppler supabase", []usage{{bare: "secrets set ?*", after: "="}}},
	{"heroku", []usage{{bare: "config:set ?*", after: "="}}},
}

// programs are the takers by name, with the words of under and bare taken apart.
var programs = func() map[string][]usage {
	out := make(map[string][]usage)
	for _, t := range secretArguments {
		for i := range t.usages {
			u := &t.usages[i]
			u.prefix, u.pattern = strings.Fields(u.under), strings.Fields(u.bare)
		}
		for name := range strings.FieldsSeq(t.names) {
			out[name] = append(out[name], t.usages...)
		}
	}
	return out
}()

// prefixed are the names that are the beginning of several, longest first.
var prefixed = func() (out []string) {
	for name := range programs {
		if begin, ok := strings.CutSuffix(name, "*"); ok {
			out = append(out, begin)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}()

// usagesOf returns how a program takes secrets, by the name it is called by.
func usagesOf(name string) []usage {
	name = strings.ToLower(name)
	name = strings.TrimSuffix(name, ".exe")
	if u, ok := programs[name]; ok {
		return u
	}
	for _, begin := range prefixed {
		if strings.HasPrefix(name, begin) {
			return programs[begin+"*"]
		}
	}
	return nil
}

// takes reports whether the bare word after these is the secret. In a pattern,
// _ is any word and ? the secret, ?* all that follow are; \ a share, a word that ends in * is the beginning of one; > is any
// words, and at most two follow before the secret. What may follow the secret: $ nothing, / a flag.
func (u *usage) takes(line *walk, follow follow) bool {
	p, words := u.pattern, line.words
	if len(p) == 0 {
		return false
	}
	if p[0] == ">" {
		p = p[1:]
		last := [2]string{line.last[1], line.last[0]}
		words = last[2-slices.Index(p, "?"):]
	}
	for i, w := range p {
		switch {
		case w == "?*" && len(words) >= i:
			return true
		case w == "?":
			return len(words) == i && follows(p[i+1:], follow)
		case i == len(words) || !matches(w, words[i]):
			return false
		}
	}
	return false
}

// follow is what is behind a bare word.
type follow byte

const (
	followEnd follow = iota
	followFlag
	followWord
)

func follows(rest []string, f follow) bool {
	if len(rest) == 0 {
		return true
	}
	return rest[0] == "$" && f == followEnd || rest[0] == "/" && f == followFlag
}

func matches(pattern, word string) bool {
	begin, some := strings.CutSuffix(pattern, "*")
	switch {
	case word == "":
		return false
	case pattern == "_":
		return true
	case pattern == `\`:
		return strings.HasPrefix(word, `\`) || strings.HasPrefix(word, "http")
	case some:
		return len(word) >= len(begin) && strings.EqualFold(word[:len(begin)], begin)
	}
	return strings.EqualFold(pattern, word)
}

// isUnder reports whether the bare words begin as the usage demands.
func (u *usage) isUnder(words []string) bool {
	if len(words) < len(u.prefix) {
		return false
	}
	for i, w := range u.prefix {
		if !strings.EqualFold(w, words[i]) {
			return false
		}
	}
	return true
}
