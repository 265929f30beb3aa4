package redact

import (
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// fileTools write what they are given into a file.
var fileTools = map[string]bool{"write": true, "edit": true, "apply_patch": true, "file_write": true}

// bodyFields hold file bodies in any tool. The value says whether only in a
// tool that writes files.
var bodyFields = map[string]bool{
	"content":       false,
	"contentbase64": false,
	"edits":         false,
	"patch":         false,
	"input":         true,
	"oldtext":       true,
	"newtext":       true,
	"oldstring":     true,
	"newstring":     true,
}

// secretNames make a member secret when its squashed name ends in one of them,
// or in its plural.
var secretNames = []string{
	"password", "passwd", "pwd", "passphrase", "passcode",
	"secret", "credential", "bearer", "jwt", "cookie", "authorization",
	"apikey", "accesskey", "secretkey", "privatekey", "signingkey", "encryptionkey",
}

// kind says why the value of the member is hidden, or "".
func (r *Redactor) kind(tool, name string, value jsontext.Kind) string {
	s := squash(name)
	switch {
	case r.fields[s] || isSecret(s) || isToken(s, value):
		return SecretField
	case !r.showFileBodies && isFileBody(tool, s):
		return FileBody
	}
	return ""
}

func isFileBody(tool, squashed string) bool {
	onlyFileTools, ok := bodyFields[squashed]
	return ok && (!onlyFileTools || fileTools[tool])
}

func isSecret(squashed string) bool {
	singular := strings.TrimSuffix(squashed, "s")
	for _, n := range secretNames {
		if strings.HasSuffix(singular, n) {
			return true
		}
	}
	return false
}

// isToken tells a token from a number of tokens, such as maxTokens.
func isToken(squashed string, value jsontext.Kind) bool {
	return value != jsontext.KindNumber && strings.HasSuffix(strings.TrimSuffix(squashed, "s"), "token")
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

// isMask reports whether s is a mask and nothing else, so that showing it shows
// nothing.
func isMask(s string) bool {
	inside, ok := strings.CutPrefix(s, maskStart)
	if !ok {
		return false
	}
	digits, ok := strings.CutSuffix(inside, maskEnd)
	return ok && digits != "" && len(digits) <= 20 && strings.Trim(digits, "0123456789") == ""
}
