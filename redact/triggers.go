package redact

import "strings"

// look is what is done where a word is.
type look func(f *finder, start, end int)

// looks are the looks that find secrets by the text around a word. Where a command is to be read, the [finder] looks.
type looks struct{ hits }

// trigger is a word, and the look that is taken where it is.
type trigger struct {
	word string
	look look
}

// triggers is the table of our own shapes.
func triggers() []trigger {
	out := all((*finder).name,
		"pass", "pwd", "pw", "secret", "token", "key", "credential", "bearer", "jwt", "cookie", "authorization", "auth", "psk", "otp", "pin",
		"mnemonic", "phrase", "sonar.login", "creds", "pswd", "kennwort", "wachtwoord", "senha", "contrasena")
	out = append(out, all((*finder).url, "://")...)
	out = append(out, all((*finder).dsn, "@tcp(", "@unix(", "@/")...)
	out = append(out, all((*finder).bearer, "bearer ")...)
	out = append(out, all((*finder).basic, "basic ")...)
	out = append(out, all((*finder).pem, "----begin", "---- begin")...)
	out = append(out, all((*finder).putty, "private-lines:")...)
	out = append(out, all((*finder).jwt, "eyj")...)
	out = append(out, all((*finder).telegram, ":aa")...)
	for _, q := range queryNames {
		out = append(out, trigger{q + "=", (*finder).query})
	}
	for _, p := range prefixes {
		out = append(out, trigger{p.text, p.look})
	}
	for name := range programs {
		out = append(out, trigger{strings.TrimSuffix(name, "*"), (*finder).command})
	}
	return append(out, inScripts()...)
}

// inScripts are shapes of scripts, queries and files.
func inScripts() []trigger {
	out := all((*finder).place, "stdin", "--with-token", "passphrase-fd", "password-fd", "pass-fd", "<(echo", "<(printf", "$(echo ", "$(printf ")
	out = append(out, all((*finder).identified, "identified ")...)
	out = append(out, all((*finder).nextWord, "nickserv identify", "pragma key", "pragma rekey", "pragma hexkey")...)
	out = append(out, all((*finder).pgpass, ".pgpass")...)
	out = append(out, all((*finder).hook, "/api/webhooks/", "/with/key/", "/webhookb2/", "/hooks/catch/")...)
	out = append(out, all((*finder).callOfTwo, "auth=(", "auth(", "login(", "authenticate(", "credential(", "credentials(")...)
	out = append(out, all((*finder).callOfThree, "getconnection(", "mysqli_connect(", "mysql_connect(", "pymysql.connect(", "pdo(")...)
	out = append(out, all((*finder).passwordFor, "password for ")...)
	out = append(out, all((*finder).oracle, ":thin:")...)
	out = append(out, all((*finder).encoder, "btoa(", "b64encode(", "buffer.from(")...)
	out = append(out, all((*finder).sends, "send ", "sendline(", "send(")...)
	return append(out, all((*finder).crypted, "$1$", "$5$", "$6$", "$y$", "$2a$", "$2b$", "$2y$", "$apr1$", "$argon2", "$pbkdf2", "{ssha}")...)
}

// all makes a trigger of each word.
func all(look look, words ...string) []trigger {
	out := make([]trigger, len(words))
	for i, w := range words {
		out[i] = trigger{w, look}
	}
	return out
}

// The kinds of what our own shapes find.
const (
	assignedKind = "secret value"
	headerKind   = "authorization"
	urlKind      = "password in a URL"
	queryKind    = "token in a URL"
	flagKind     = "secret argument"
	pemKind      = "PEM block"
	tokenKind    = "token"
	hashKind     = "hash of a password"
)
