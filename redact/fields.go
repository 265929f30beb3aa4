package redact

import (
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// fileTools write what they are given into a file. So does a tool whose name has one of writeVerbs and of fileNouns:
// write_file, createFile, mcp__fs__append_to_file, notebookedit.
var (
	fileTools  = setOf("write edit apply_patch file_write multiedit replace str_replace_based_edit_tool")
	writeVerbs = strings.Fields("write edit create save append replace insert update overwrite modify patch")
	fileNouns  = strings.Fields("file notebook")
)

// bodyFields hold file bodies in any tool. fileFields say of a tool that writes files where and how it writes: every
// other text that it is given may be a file's.
var (
	bodyFields = setOf("content contentbase64 edits patch")
	fileFields = setOf(`
		path paths filepath file filename name target targetpath notebookpath dir directory folder cwd workdir
		workspace node nodeid url owner repo branch ref sha message gatewayurl command action operation mode
		editmode type celltype cellid encoding mimetype language description instruction explanation`)
)

// secretNames make a member secret when its name, squashed, ends in one of them, or in its plural, or in one and a
// qualifier: which one of several it is, or that it is the secret itself. They are by their last letter, to ask for
// few.
var (
	secretNames = byLast(`
		password passwd pwd passphrase passcode secret credential bearer jwt cookie authorization apikey accesskey
		secretkey privatekey signingkey encryptionkey accountkey masterkey deploykey keybase storepass keypass
		userpass sshpass requirepass pw psk presharedkey authkey sharedkey passkey secretid secretstring mnemonic
		seedphrase recoveryphrase mypass dbpass rootpass adminpass smbpass ftppass mailpass passw pswd passwrd
		creds appkey passwort kennwort wachtwoord senha contrasena contraseña motdepasse`)
	qualifiers = byLast(`
		value val data text string raw plain plaintext confirmation confirm again repeat old new current prod
		production staging stage dev test live primary secondary main backup default`)
)

func setOf(list string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		out[w] = true
	}
	return out
}

func byLast(list string) (t [256][]string) {
	for w := range strings.FieldsSeq(list) {
		t[w[len(w)-1]] = append(t[w[len(w)-1]], w)
	}
	return t
}

// squash makes names comparable: db_password, DB-Password and dbPassword are one.
func squash(name string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '-', '_', '.', ' ':
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// kind says why the value of the member is hidden, or "". s is the name squashed.
func (r *Redactor) kind(tool, name, s string, value jsontext.Kind) string {
	switch {
	case r.fields[s] || namesSecret(name, s, value == jsontext.KindNumber):
		return SecretField
	case !r.showFileBodies && isFileBody(tool, s, value):
		return FileBody
	}
	return ""
}

// isFileBody reports whether a member may hold what is written to a file. Numbers and switches of other names never do.
func isFileBody(tool, squashed string, value jsontext.Kind) bool {
	isText := value == '"' || value == '[' || value == '{'
	return bodyFields[squashed] || isText && !fileFields[squashed] && writesFiles(tool)
}

// writesFiles reports whether a tool, by its canonical name, writes what it is given into files.
func writesFiles(tool string) bool {
	said := strings.ReplaceAll(tool, "profile", "")
	has := func(word string) bool { return strings.Contains(said, word) }
	return fileTools[tool] || slices.ContainsFunc(fileNouns, has) && slices.ContainsFunc(writeVerbs, has)
}

// NamesSecret reports whether a name is one that secrets have: GITHUB_TOKEN, dbPassword, api_key.
func NamesSecret(name string) bool { return namesSecret(name, squash(name), false) }

// namesSecret knows the name of a number of tokens from that of a token.
func namesSecret(name, squashed string, number bool) bool {
	bare := unqualified(squashed)
	return endsInSecret(squashed) || len(bare) < len(squashed) && endsInSecret(bare) || endsInPass(name) ||
		!number && (isToken(squashed) || strings.HasSuffix(bare, "token"))
}

func endsInSecret(s string) bool {
	hasEnd := func(n string) bool { return strings.HasSuffix(s, n) }
	if s != "" && slices.ContainsFunc(secretNames[s[len(s)-1]], hasEnd) {
		return true
	}
	one, plural := strings.CutSuffix(s, "s")
	return plural && endsInSecret(one)
}

// unqualified leaves out numbers and one qualifier: DB_PASSWORD_PROD_2, tokenValue.
func unqualified(squashed string) string {
	s := strings.TrimRight(squashed, digits)
	if len(s) < len(squashed) {
		s = strings.TrimSuffix(s, "v") // TOKEN_V2
	}
	if s != "" {
		for _, q := range qualifiers[s[len(s)-1]] {
			if rest, ok := strings.CutSuffix(s, q); ok {
				return strings.TrimRight(rest, digits)
			}
		}
	}
	return s
}

// endsInPass is for DB_PASS and dbPass, but not for bypass.
func endsInPass(name string) bool {
	name = strings.TrimRight(name, digits+"_-")
	n := len(name) - len("pass")
	return n >= 0 && strings.EqualFold(name[n:], "pass") &&
		(n == 0 || strings.IndexByte("_-. ", name[n-1]) >= 0 || name[n] == 'P' && 'a' <= name[n-1] && name[n-1] <= 'z')
}

// isToken is for names that end in token: of a number, they say how many.
func isToken(squashed string) bool {
	return strings.HasSuffix(strings.TrimSuffix(squashed, "s"), "token")
}

// mayTell is for names such that the value decides, in [isSecretValue].
func mayTell(squashed string) bool {
	return codes[squashed] || strings.HasSuffix(squashed, "token") || strings.HasSuffix(squashed, "auth")
}

// isSecretValue is for a value as it is written: a short number where a code is, a number too long to count tokens,
// bob:x.
func isSecretValue(squashed, raw string) bool {
	switch {
	case codes[squashed]:
		return isCode(strings.Trim(raw, `"`))
	case strings.HasSuffix(squashed, "token"):
		return isDigit(raw[0]) && len(raw) > 8
	}
	return strings.HasSuffix(squashed, "auth") && raw[0] == '"' && isLogin(raw[1:len(raw)-1])
}

// codes are names of short numbers that are secrets.
var codes = setOf("pin sopin userpin otp totp otpcode tokencode mfacode mfatoken")

func isCode(v string) bool { return len(v) >= 4 && len(v) <= 10 && strings.Trim(v, digits) == "" }

const digits = "0123456789"
