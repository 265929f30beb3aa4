package redact

import (
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// fileTools write what they are given into a file. Other tools do too, if their names say so: see writesFiles.
var fileTools = map[string]bool{
	"write": true, "edit": true, "apply_patch": true, "file_write": true,
	"multiedit": true, "replace": true, "str_replace_based_edit_tool": true, // of coding agents
}

// A tool whose name has one of each writes files: write_file, createFile, mcp__fs__append_to_file, notebookedit.
var (
	writeVerbs = []string{"write", "edit", "create", "save", "append", "replace", "insert", "update", "overwrite", "modify", "patch"}
	fileNouns  = []string{"file", "notebook"}
)

// writesFiles reports whether a tool, by its canonical name, writes what it is given into files.
func writesFiles(tool string) bool {
	if fileTools[tool] {
		return true
	}
	said := strings.ReplaceAll(tool, "profile", "")
	has := func(word string) bool { return strings.Contains(said, word) }
	return slices.ContainsFunc(writeVerbs, has) && slices.ContainsFunc(fileNouns, has)
}

// bodyFields hold file bodies in any tool.
var bodyFields = map[string]bool{"content": true, "contentbase64": true, "edits": true, "patch": true}

// fileFields say of a tool that writes files where and how it writes. Every other text that it is given may be a file's.
var fileFields = setOf(`path paths filepath file filename name target targetpath notebookpath dir directory folder cwd workdir workspace
	node nodeid url owner repo branch ref sha message gatewayurl command action operation mode editmode type celltype cellid encoding mimetype language description instruction explanation`)

func setOf(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}

// secretNames make a member secret when its squashed name ends in one of them,
// or in its plural.
var secretNames = []string{
	"password", "passwd", "pwd", "passphrase", "passcode",
	"secret", "credential", "bearer", "jwt", "cookie", "authorization",
	"apikey", "accesskey", "secretkey", "privatekey", "signingkey", "encryptionkey", "accountkey", "masterkey", "deploykey",
	"keybase", "storepass", "keypass", "userpass", "sshpass", "requirepass",
	"pw", "psk", "presharedkey", "authkey", "sharedkey", "passkey", "secretid", "secretstring", "mnemonic", "seedphrase", "recoveryphrase",
	"mypass", "dbpass", "rootpass", "adminpass", "smbpass", "ftppass", "mailpass", "passw", "pswd", "passwrd", "creds", "appkey",
	"passwort", "kennwort", "wachtwoord", "senha", "contrasena", "contraseña", "motdepasse", "sonarlogin",
}

// kind says why the value of the member is hidden, or "".
func (r *Redactor) kind(tool, name string, value jsontext.Kind) string {
	return r.kindOf(tool, name, squash(name), value)
}

// kindOf is kind for a name that was squashed already.
func (r *Redactor) kindOf(tool, name, s string, value jsontext.Kind) string {
	switch {
	case r.fields[s] || isSecret(s) || isToken(s, value) || endsInPass(name):
		return SecretField
	case !r.showFileBodies && isFileBody(tool, s, value):
		return FileBody
	}
	return ""
}

// isFileBody reports whether a member may hold what is written to a file. Numbers and switches of other names never do.
func isFileBody(tool, squashed string, value jsontext.Kind) bool {
	if bodyFields[squashed] {
		return true
	}
	switch value {
	case jsontext.KindString, jsontext.KindBeginArray, jsontext.KindBeginObject:
		return writesFiles(tool) && !fileFields[squashed]
	}
	return false
}

// secretEnds and qualifierEnds are by their last letter, to ask for few of them.
var secretEnds, qualifierEnds = byLast(secretNames), byLast(qualifiers)

func byLast(names []string) (t [256][]string) {
	for _, n := range names {
		last := n[len(n)-1]
		t[last] = append(t[last], n)
	}
	return t
}

func isSecret(squashed string) bool {
	if endsInSecret(squashed) || endsInSecret(strings.TrimSuffix(squashed, "s")) {
		return true
	}
	bare := unqualified(squashed)
	return len(bare) < len(squashed) && endsInSecret(bare)
}

// NamesSecret reports whether a name is one that secrets have: GITHUB_TOKEN, dbPassword, api_key.
func NamesSecret(name string) bool {
	squashed := squash(name)
	return isSecret(squashed) || isToken(squashed, '"') || endsInPass(name)
}

// qualifiers are what names of secrets end in besides: which one of several it
// is, or that it is the secret itself.
var qualifiers = []string{
	"value", "val", "data", "text", "string", "raw", "plain", "plaintext", "confirmation", "confirm", "again", "repeat", "old", "new", "current",
	"prod", "production", "staging", "stage", "dev", "test", "live", "primary", "secondary", "main", "backup", "default",
}

// unqualified leaves out numbers and one qualifier: DB_PASSWORD_PROD_2, tokenValue.
func unqualified(squashed string) string {
	s := strings.TrimRight(squashed, digits)
	if len(s) < len(squashed) {
		s = strings.TrimSuffix(s, "v") // TOKEN_V2
	}
	if s == "" {
		return s
	}
	for _, q := range qualifierEnds[s[len(s)-1]] {
		if rest, ok := strings.CutSuffix(s, q); ok {
			return strings.TrimRight(rest, digits)
		}
	}
	return s
}

func endsInSecret(s string) bool {
	if s == "" {
		return false
	}
	return slices.ContainsFunc(secretEnds[s[len(s)-1]], func(n string) bool { return strings.HasSuffix(s, n) })
}

// endsInPass is for DB_PASS and dbPass, but not for bypass.
func endsInPass(name string) bool {
	const pass = "pass"
	name = strings.TrimRight(name, digits+"_-")
	n := len(name) - len(pass)
	if n < 0 || !strings.EqualFold(name[n:], pass) {
		return false
	}
	return n == 0 || strings.IndexByte("_-. ", name[n-1]) >= 0 || name[n] == 'P' && 'a' <= name[n-1] && name[n-1] <= 'z'
}

// isToken tells a token from a number of tokens, such as maxTokens.
func isToken(squashed string, value jsontext.Kind) bool {
	return value != jsontext.KindNumber && (strings.HasSuffix(strings.TrimSuffix(squashed, "s"), "token") || strings.HasSuffix(unqualified(squashed), "token"))
}

// maxCount is how many digits a number of tokens has at most.
const maxCount = 8

// isSecretNumber is for the next value of a member such as pin, and of one that
// ends in token: that is no number of tokens if it is long.
func isSecretNumber(squashed string, in scan) bool {
	if in.kind() == jsontext.KindNumber && strings.HasSuffix(squashed, "token") {
		return len(in.value()) > maxCount
	}
	return isCode(squashed) && isShortNumber(strings.Trim(in.value(), `"`))
}

// isLoginOf is for the next value of a member that ends in auth: bob:x, or the two
// in an array.
func isLoginOf(squashed string, in scan) bool {
	if !mayLogIn(squashed) {
		return false
	}
	switch in.kind() {
	case jsontext.KindString:
		user, password, ok := strings.Cut(text(in.value()), ":")
		return ok && user != "" && password != "" && !strings.ContainsAny(user+password, "/ {")
	case jsontext.KindBeginArray:
		return len(stringsOf(in)) == 2
	}
	return false
}

// mayLogIn is for names whose value may be a login.
func mayLogIn(squashed string) bool { return strings.HasSuffix(squashed, "auth") }

// squash makes names comparable: db_password, DB-Password and dbPassword are one,
// also where something that can't be seen is in them.
func squash(name string) string {
	return strings.Map(func(r rune) rune {
		switch r = seenAs(r); r {
		case '-', '_', '.', ' ':
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// isRedacted reports whether the client had hidden something in s.
func isRedacted(s string) bool {
	const start, end = "[REDACTED", " chars]"
	if strings.HasPrefix(s, start) {
		return true
	}
	for {
		_, rest, ok := strings.Cut(s, start+": ")
		if !ok {
			return false
		}
		s = strings.TrimLeft(rest, "0123456789")
		if len(s) < len(rest) && strings.HasPrefix(s, end) {
			return true
		}
	}
}

// HasMask reports whether something is hidden in a text that is shown.
func HasMask(s string) bool { return isRedacted(s) }

// isMask reports whether s is a mask and nothing else, so that showing it shows
// nothing.
func isMask(s string) bool { return s != "" && maskLength(s) == len(s) }

// maskLength returns the length of the mask that s begins with, or 0.
func maskLength(s string) int {
	if !strings.HasPrefix(s, maskStart) {
		return 0
	}
	i := skip(s, len(maskStart), "0123456789", 20)
	if i == len(maskStart) || !strings.HasPrefix(s[i:], maskEnd) {
		return 0
	}
	return i + len(maskEnd)
}
