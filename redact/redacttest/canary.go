// Package redacttest makes secrets for tests to plant, and looks for them in what came out. It is for tests only:
// nothing of the program imports it.
//
// A test plants a [Canary] wherever a secret can come in, runs, and asks a [Trap] about every byte that went out.
package redacttest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
)

// Canary is a secret, and texts that show it in a way that redact promises to see.
type Canary struct {
	Name   string
	Secret string   // in no output, in no form: see [Trap]
	Texts  []string // each holds Secret
}

// Canaries returns one canary of each kind, always the same.
func Canaries() []Canary { return Seeded(1) }

const (
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digit = "0123456789"
	alnum = upper + "abcdefghijklmnopqrstuvwxyz" + digit
)

// maker draws the letters of secrets, the same for the same seed.
type maker struct{ *rand.Rand }

func (m maker) letters(n int, from string) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = from[m.IntN(len(from))]
	}
	return string(out)
}

// token has a digit, as all real ones do.
func (m maker) token(n int) string {
	return m.letters(n-2, alnum) + m.letters(1, digit) + m.letters(1, alnum)
}

// byContext are secrets that only the text around them gives away.
var byContext = [][]string{
	{"assignment", "DB_PASSWORD=SECRET", "export API_KEY='SECRET'; make", `PASS="SECRET" run`, "password: SECRET",
		`{"client_secret": "SECRET"}`, `{\"token\":\"SECRET\"}`},
	{"flag", "tool --password SECRET run", "tool --api-key=SECRET", "tool -token 'SECRET' x"},
	{"argument", "curl -u bob:SECRET https://x.example", "curl --user=bob:SECRET x", "mysql -uroot -pSECRET shop",
		"sshpass -p SECRET ssh h",
		"docker login -u b -p SECRET r", "redis-cli -a SECRET PING", "smbclient //s/x -U bob%SECRET",
		"openssl rsa -passin pass:SECRET -in a"},
	{"header", "curl -H 'Authorization: Bearer SECRET' https://x.example", "Authorization: Basic SECRET",
		"-H 'X-Api-Key: SECRET' -v",
		"Cookie: theme=dark; sid=SECRET", "use bearer SECRET"},
	{"url user-info", "git clone https://bob:SECRET@github.com/a/b", "postgres://u:SECRET@db:5432/shop",
		"redis://:SECRET@r1:6379/0"},
	{"url query", "https://x.example/?access_token=SECRET&b=1", "https://x.example/a?b=1&sig=SECRET",
		"https://x.example/cb?code=SECRET&s=2",
		"/rel?api_key=SECRET#top", "https://x.example/?key=SECRET"},
	{"connection string", "Server=s;User ID=u;Password=SECRET;Encrypt=True", "host=h password=SECRET dbname=d",
		"u:SECRET@tcp(127.0.0.1)/db"},
	{"pem", "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nSECRET\n-----END RSA PRIVATE KEY-----",
		"-----BEGIN OPENSSH PRIVATE KEY-----\nSECRET",
		"SIGNING_KEY=-----BEGIN PRIVATE KEY-----\nMII\nSECRET\n-----END PRIVATE KEY-----"},
}

// Seeded returns other secrets of the same kinds.
func Seeded(seed uint64) (out []Canary) {
	m := maker{rand.New(rand.NewPCG(seed, 0))} //nolint:gosec // no real secret
	for _, c := range byContext {
		secret := "cnry" + m.token(10)
		out = append(out, Canary{c[0], secret, strings.Split(strings.ReplaceAll(strings.Join(c[1:], "\x00"), "SECRET",
			secret), "\x00")})
	}
	for _, c := range [][2]string{ // recognised by themselves
		{"github", "ghp_" + m.token(36)},
		{"gitlab", "glpat-" + m.token(20)},
		{"slack", "xoxb-" + m.letters(12, digit) + "-" + m.letters(12, digit) + "-" + m.token(24)},
		{"openai", "sk-proj-" + m.token(48)},
		{"anthropic", "sk-ant-api03-" + m.token(93) + "AA"},
		{"aws", "AKIA" + m.letters(16, upper+"234567")},
		{"google", "AIza" + m.token(35)},
		{"stripe", "sk_live_" + m.token(24)},
		{"telegram", m.letters(10, "123456789") + ":AA" + m.token(33)},
		{"discord", "MTk4NjIyNDgzNDcxOTI1MjQ4." + m.token(6) + "." + m.token(27)},
		{"jwt", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI" + m.letters(20, alnum) + "In0." + m.token(43)},
		{"npm", "npm_" + m.token(36)},
		{"twilio", "SK" + m.letters(30, digit+"abcdef") + "a1"},
	} {
		s := c[1]
		out = append(out, Canary{c[0], s, []string{s, "use " + s + " for it", `key "` + s + `"`, "x=" + s, "(" + s +
			")"}})
	}
	return out
}

// Percents returns the text as it is and percent-encoded.
func Percents(text string) map[string]string {
	every := strings.Builder{}
	for i := range len(text) {
		fmt.Fprintf(&every, "%%%02x", text[i])
	}
	return map[string]string{"plain": text, "percent": strings.ReplaceAll(url.QueryEscape(text), "+", "%20"),
		"percent all": every.String()}
}

// Disguises returns also the other forms in which redact sees the program's own secrets.
func Disguises(own string) map[string]string {
	all := Percents(own)
	all["hex"] = fmt.Sprintf("%x", own)
	for shift := range 3 {
		b := []byte("\n\n"[:shift] + own + "\nand more")
		all[fmt.Sprint("base64 ", shift)], all[fmt.Sprint("base64 of a URL ", shift)] =
			base64.StdEncoding.EncodeToString(b), url.QueryEscape(base64.URLEncoding.EncodeToString(b))
	}
	return all
}

// Placement is a text somewhere in the params of a call.
type Placement struct {
	Name   string
	Params string // JSON
}

// Placements puts a text wherever JSON can have one.
func Placements(text string) []Placement {
	q := quote(text)
	return []Placement{
		{"value", `{"command":` + q + `}`},
		{"longer text", `{"command":` + quote("first this\n"+text+"\nthen that") + `}`},
		{"nested", `{"a":[1,{"b":[[` + q + `]]}],"c":null}`},
		{"element", `["x",` + q + `,"y"]`},
		{"alone", q},
		{"name", `{"a":{` + q + `:1}}`},
		{"two names", `{` + q + `:{"x":1},` + quote(text+"\n") + `:2}`},
		{"JSON in JSON", `{"body":` + quote(`{"k":1,`+"\n"+text+"\n}") + `}`},
	}
}

// Fields puts a bare secret where the name of a member, or its neighbour, makes it one.
func Fields(secret string) (out []Placement) {
	for _, shape := range []string{
		`{"password":%s}`, `{"a":[{"headers":{"X-Api-Key":%s}}]}`, `{"credentials":{"a":["x",%s]}}`,
		`{"env":{"DB_PASS":%s,"PATH":"/bin"}}`,
		`{"path":"a","content":%s}`, `{"edits":[{"oldText":"x","newText":%s}]}`,
		`{"headers":[{"name":"Authorization","value":%s}]}`,
		`{"headers":[["Cookie",%s]]}`, `{"headers":["Host","x","Authorization",%s]}`,
		`{"argv":["tool","--password",%s,"run"]}`,
		`{"argv":["/usr/bin/redis-cli","-a",%s,"PING"]}`, `{"command":"sshpass","args":["-p",%s,"ssh"]}`,
	} {
		out = append(out, Placement{shape, fmt.Sprintf(shape, quote(secret))})
	}
	return out
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can't fail
	}
	return string(b)
}
