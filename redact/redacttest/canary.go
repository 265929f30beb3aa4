// Package redacttest makes secrets for tests to plant, and looks for them in
// what came out. It is for tests only: nothing of the program imports it.
//
// A test plants a [Canary] wherever a secret can come in, runs, and asks [Leaks]
// about every byte that went out. The canaries are of each kind that redact
// promises to hide, in each place and each disguise.
package redacttest

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
)

// Canary is a secret, and texts that show it in a way that redact promises to
// see.
type Canary struct {
	Name   string
	Secret string   // in no output, in no form: see [Leaks]
	Texts  []string // each holds Secret
}

// Canaries returns one canary of each kind, always the same.
func Canaries() []Canary { return Seeded(1) }

const (
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower = "abcdefghijklmnopqrstuvwxyz"
	digit = "0123456789"
	alnum = upper + lower + digit
	hexa  = digit + "abcdef"
)

// maker draws the letters of secrets, the same for the same seed.
type maker struct {
	seed, drawn uint64
	left        []byte
}

func (m *maker) letters(n int, from string) string {
	out := make([]byte, n)
	for i := range out {
		if len(m.left) == 0 {
			m.drawn++
			sum := sha256.Sum256(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, m.seed), m.drawn))
			m.left = sum[:]
		}
		out[i], m.left = from[int(m.left[0])%len(from)], m.left[1:]
	}
	return string(out)
}

// token has a digit, as all real ones do.
func (m *maker) token(n int) string {
	return m.letters(n-2, alnum) + m.letters(1, digit) + m.letters(1, alnum)
}

// Seeded returns other secrets of the same kinds.
func Seeded(seed uint64) []Canary {
	m := &maker{seed: seed}
	return append(m.byContext(), m.byShape()...)
}

// byContext are secrets that only the text around them gives away.
func (m *maker) byContext() []Canary {
	word := func() string { return "cnry" + m.token(10) }
	of := func(name string, texts ...string) Canary {
		c := Canary{Name: name, Secret: word()}
		for _, t := range texts {
			c.Texts = append(c.Texts, strings.ReplaceAll(t, "SECRET", c.Secret))
		}
		return c
	}
	return []Canary{
		of("assignment", "DB_PASSWORD=SECRET", "export API_KEY='SECRET'; make", `PASS="SECRET" run`, "password: SECRET", `{"client_secret": "SECRET"}`, `{\"token\":\"SECRET\"}`, "my password is SECRET.", `{"name":"DB_PASSWORD","value":"SECRET"}`, "- name: API_TOKEN\n  value: SECRET\n"),
		of("flag", "tool --password SECRET run", "tool --api-key=SECRET", "tool -token 'SECRET' x"),
		of("command", "curl -u bob:SECRET https://x.example", "curl --user=bob:SECRET x", "mysql -uroot -pSECRET shop", "sshpass -p SECRET ssh h", "docker login -u b -p SECRET r", "redis-cli -a SECRET PING", "smbclient //s/x -U bob%SECRET"),
		of("place", "htpasswd -b f bob SECRET", `net use \\srv\share SECRET /user:bob`, "openssl enc -k SECRET -in a", "openssl rsa -passin pass:SECRET", "rabbitmqctl add_user bob SECRET", "sqlplus bob/SECRET@db"),
		of("pipe", "echo SECRET | docker login -u bob --password-stdin", "echo bob:SECRET | chpasswd", "sudo -S id <<< SECRET", "docker login --password-stdin <<EOF\nSECRET\nEOF"),
		of("variable", "p=SECRET; sshpass -p $p ssh h", "X='SECRET' && curl -u bob:$X https://x.example", "p=SECRET; docker login -u bob -p \"$p\""),
		of("script", "smtp.login('bob', 'SECRET')", "ALTER USER bob PASSWORD 'SECRET'", "<password>SECRET</password>", "machine h login bob password SECRET"),
		of("header", "curl -H 'Authorization: Bearer SECRET' https://x.example", "Authorization: Basic SECRET", "-H 'X-Api-Key: SECRET' -v", "Cookie: theme=dark; sid=SECRET", "use bearer SECRET"),
		of("url user-info", "git clone https://bob:SECRET@github.com/a/b", "postgres://u:SECRET@db:5432/shop", "redis://:SECRET@r1:6379/0", "mongodb+srv://u:SECRET@c0.example/db", "amqp://u:SECRET@mq"),
		of("url query", "https://x.example/?access_token=SECRET&b=1", "https://x.example/a?b=1&sig=SECRET", "https://x.example/cb?code=SECRET&state=2", "/rel?api_key=SECRET#top", "https://x.example/?key=SECRET"),
		of("connection string", "Server=s;Database=d;User ID=u;Password=SECRET;Encrypt=True", "AccountName=n;AccountKey=SECRET;EndpointSuffix=x", "host=h password=SECRET dbname=d", "u:SECRET@tcp(127.0.0.1:3306)/db"),
		of("pem", "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nSECRET\n-----END RSA PRIVATE KEY-----", "-----BEGIN OPENSSH PRIVATE KEY-----\nSECRET", "SIGNING_KEY=-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nSECRET\n-----END PRIVATE KEY-----"),
	}
}

// byShape are secrets that are recognised by themselves.
func (m *maker) byShape() []Canary {
	all := map[string]string{
		"github":    "ghp_" + m.token(36),
		"gitlab":    "glpat-" + m.token(20),
		"slack":     "xoxb-" + m.letters(12, digit) + "-" + m.letters(12, digit) + "-" + m.token(24),
		"openai":    "sk-proj-" + m.token(48),
		"anthropic": "sk-ant-api03-" + m.token(93) + "AA",
		"aws":       "AKIA" + m.letters(16, upper+"234567"),
		"google":    "AIza" + m.token(35),
		"stripe":    "sk_live_" + m.token(24),
		"telegram":  m.letters(10, "123456789") + ":AA" + m.token(33),
		"discord":   "MTk4NjIyNDgzNDcxOTI1MjQ4." + m.token(6) + "." + m.token(27),
		"jwt":       "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI" + m.letters(20, alnum) + "In0." + m.token(43),
		"npm":       "npm_" + m.token(36),
		"twilio":    "SK" + m.letters(30, hexa) + "a1",
	}
	var out []Canary
	for _, name := range []string{"github", "gitlab", "slack", "openai", "anthropic", "aws", "google", "stripe", "telegram", "discord", "jwt", "npm", "twilio"} {
		s := all[name]
		out = append(out, Canary{Name: name, Secret: s, Texts: []string{s, "use " + s + " for it", `key "` + s + `"`, "x=" + s, "(" + s + ")"}})
	}
	return out
}
