package redact_test

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/openclaw-verifier/verifier/redact"
)

// shapes are texts with their secrets between « and ».
var shapes = []string{
	// Commands.
	`curl -u bob:«hunter2xx» https://x.example/a`,
	`curl -ubob:«hunter2xx» https://x.example/a`,
	`curl -sSu 'bob:«hunter 2»' https://x.example`,
	`curl --user=bob:«hunter2» -d '{"a":"long body with spaces"}' https://x.example`,
	`curl -d '{"a":1}' --proxy-user "bob:«hun;ter2»" https://x.example`,
	"curl https://x.example \\\n  -u bob:«hunter2»",
	`bash -c "curl -u bob:«hunter2» https://x" && ls`,
	`please login to curl -u bob:«hunter2» x`,
	`mysql -uroot -p«s3cret» -h db1 shop`, `mysqldump --all-databases -p'«s3 cret»' | gzip`, `mysql -u root -p shop`,
	`sshpass -p «hunter2» ssh bob@host`, `sshpass -p'«hunter2»' scp a b`, `docker login -u bob -p «hunter2» registry.example`,
	`redis-cli -h r1 -a «hunter2» PING`, `mongosh -u bob -p «hunter2» db`, `smbclient //srv/share -U bob%«hunter2» -c ls`,
	`7z x -p«hunter2» a.7z`, `unzip -P «hunter2» a.zip`, `ldapsearch -x -D cn=a -w «hunter2» -b dc=x`, `openssl rsa -in k.pem -passin pass:«hunter2»`,
	`tool --password «hunter2» run`, `tool --password=«hunter2» run`, `tool --token "«abc def»" run`, `tool -password «hunter2»`,
	`tool --db-password «hunter2»;ls`, `keytool -storepass «changeit» -list`, `gh auth login --with-token < f`, `aws configure set aws_secret_access_key «wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzzz»`,
	// Assignments.
	`DB_PASSWORD=«hunter2» ./run`, `export GITHUB_TOKEN=«abc123»; make`, `API_KEY='«a b c»' x`, `PASS="«a \" b»" x`, `DB_PASS=«x1»&& ls`, `env SECRET_KEY_BASE=«xyz» rails`,
	`password: «hunter2»`, `"password": "«hunter2»", "user": "bob"`, `{\"api_key\": \"«abc»\", \"n\": 1}`, `config['secret'] = '«abc»'`, `client_secret => "«x»"`, `token := "«abc»"`,
	`echo 'password=«hunter2»' > 'my file'`, `say "my password is «Hunter2!» ok"`, `the API key: «abc-def»`, "password=\"«never closed\ttext»\nnext line",
	`PASSWORD=«p@ss"w or d"x»`, `secret=$«ecret123»`[:7] + `«$ecret123»`,
	// Headers.
	`curl -H 'Authorization: Bearer «abc.def-123»' https://x`, `-H "Authorization: Basic «Ym9iOmh1bnRlcjI=»" x`, `Authorization: Bearer «abc» --next`, `-H 'X-Api-Key: «abc»' -v`,
	`-H 'Cookie: «a=b; c=d»' https://x`, "Cookie: «sid=abc; theme=dark»\nHost: x", `Proxy-Authorization: Digest «username="bob", response="abc"»`, `use bearer «abcdef0123456789abcd» here`,
	`{"Authorization":"Token «abc»","n":1}`, `fetch(u, {headers: {authorization: "Bearer «abc»"}})`,
	// URLs.
	`git clone https://bob:«hunter2»@github.com/a/b.git`, `https://«abcdef0123456789abcd»@github.com/a/b`, `postgres://u:«p/w?#x»@db:5432/shop`, `redis://:«hunter2»@r1:6379/0`,
	`mongodb+srv://u:«p@w»@c0.example/db?w=1`, `amqp://u:«pw»@mq:5672`, `https://x.example/cb?state=1&code=«abcdef12»&x=y#frag`, `https://x.example/a?access_token=«abc»&b=1`,
	`https://s3/x?X-Amz-Credential=«AAAAAA/2026»&X-Amz-Signature=«0123abcd»&X=1`, `/rel/path?token=«abc»#top`, `https://x/?sig=«abcdef%2B12»"`, `https://x/?api_key=«a»`, `https://maps/api?key=«abcdefgh»&q=a`,
	`Server=tcp:x;Database=d;User ID=u;Password=«p&w»;Encrypt=True`, `AccountName=n;AccountKey=«abc+def==»;EndpointSuffix=x`, `host=h user=u password=«pw» dbname=d`, `dsn="u:«pw»@tcp(127.0.0.1:3306)/db"`,
	`jdbc:mysql://h/db?user=u&password=«pw»`,
	// Tokens by themselves.
	`see «ghp_0123456789abcdefghijABCDEFGHIJ012345», ok`, `«github_pat_11ABCDEFG0123456789_abcdefghij»`, `«glpat-abcdefghij0123456789»`, `«xoxb-123456789012-abcdefABCDEF0123»`, `«xapp-1-A012-345-abcdef»`,
	`«sk-proj-abcdefghijklmnopqrst0123456789»`, `«sk-ant-api03-abcdefghijklmnop0123456789»`, `«AKIAIOSFODNN7EXAMPLQ» x`, `«AIzaSyA-0123456789abcdefghijklmnopqrstu»`, `bot «123456789:AAEabcdefghijklmnopqrstuvwxyz012345»`,
	`https://api.telegram.org/bot«123456789:AAEabcdefghijklmnopqrstuvwxyz012345»/getMe`, `«MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs»`,
	`a «eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-DEF_123» b`, `«sk_live_0123456789abcdef»`, `«hf_abcdefghij0123456789ABCDEFGHIJ»`,
	"-----BEGIN RSA PRIVATE KEY-----«\nMIIabc\n»-----END RSA PRIVATE KEY----- after", "-----BEGIN OPENSSH PRIVATE KEY-----«\nb3Blbn»",
	// By gitleaks alone.
	`heroku_api = «8b1dd5c0-4f2e-4d3a-9b8e-1234567890ab»`, `«SK0123456789abcdef0123456789abcdef» twilio`, `https://«hooks.slack.com/services/T01ABCDEFGH/B01ABCDEFGH/abcdefghijklmnopqrstuvwx»`[8:],
	`auth = «9f86d081884c7d659a2feaa0c55ad015xx»`,
}

func marked(shape string) (plain, hidden string) {
	for {
		before, rest, ok := strings.Cut(shape, "«")
		plain, hidden = plain+before, hidden+before
		if !ok {
			return plain, hidden
		}
		var secret string
		secret, shape, _ = strings.Cut(rest, "»")
		plain, hidden = plain+secret, hidden+fmt.Sprintf("[REDACTED: %d chars]", utf8.RuneCountInString(secret))
	}
}

func TestH40TextHidesTheSecretAndNothingElse(t *testing.T) {
	r := ready(t, redact.Config{})
	for _, shape := range slices.Concat(shapes, cliShapes, reachShapes, laterShapes) {
		plain, want := marked(shape)
		got, findings := r.Text(plain)
		if got != want {
			t.Errorf("\n in  %s\ngot  %s\nwant %s", plain, got, want)
		}
		if n := strings.Count(want, "[REDACTED"); len(findings) != n && got == want {
			t.Errorf("%s: %d findings, want %d", plain, len(findings), n)
		}
		if again, _ := r.Text(got); again != got {
			t.Errorf("a second time, %s became %s", got, again)
		}
	}
}

func TestH40SecretsAreFoundInDisguise(t *testing.T) {
	r := ready(t, redact.Config{})
	for _, shape := range slices.Concat(shapes, cliShapes, reachShapes, laterShapes) {
		plain, _ := marked(shape)
		if !strings.Contains(shape, "«") || len(plain) < 12 {
			continue
		}
		once := url.QueryEscape(plain)
		for name, s := range map[string]string{
			"percent": strings.ReplaceAll(once, "+", "%20"), "percent twice": url.QueryEscape(strings.ReplaceAll(once, "+", "%20")),
			"base64": base64.StdEncoding.EncodeToString([]byte(plain)), "base64 raw": base64.RawStdEncoding.EncodeToString([]byte(plain)),
			"base64 url": base64.RawURLEncoding.EncodeToString([]byte("x;" + plain)), "base64 in percent": url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(plain))),
			"base64 of percent": base64.StdEncoding.EncodeToString([]byte(url.PathEscape(plain))), "base64 twice": base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte("ab;" + plain)))),
			"base64 of UTF-16": base64.StdEncoding.EncodeToString([]byte(strings.Join(strings.Split(plain, ""), "\x00") + "\x00")),
			"zero width":       strings.Join(strings.Split(plain, ""), "\u200b"), "ANSI": "\x1b[1;31m" + strings.Join(strings.Split(plain, ""), "\x1b[0m"), "full width": wide(plain),
			"glued": "path/to/" + base64.RawStdEncoding.EncodeToString([]byte(plain)),
		} {
			got, _ := r.Text("say:\n" + s + "\nnow")
			if strings.Contains(got, s) || !strings.HasPrefix(got, "say:\n") {
				t.Errorf("%s of %s: %s", name, plain, got)
			}
		}
	}
}

// wide writes letters in full width.
func wide(s string) string {
	return strings.Map(func(r rune) rune {
		if '!' <= r && r <= '~' {
			return r + '！' - '!'
		}
		return r
	}, s)
}

func TestInnocentTextStaysReadable(t *testing.T) {
	r := ready(t, redact.Config{})
	for _, s := range []string{
		"git checkout 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "550e8400-e29b-41d4-a716-446655440000", "/usr/local/share/doc/openssl/html/man3/SSL_CTX_set_options.html",
		"12345678901234567890123456789012345678901234567890", "maxTokens: 4000", "max_tokens=4_096 tokens: 12k", "sha512-9ZfPzmGsQ7yH4p0v6zQxJ1mCqkN6sV5yqCqgD9c6k2Lw3l8m7n5b4v3c2x1z0A9S8D7F6G5H4J3K2L1==",
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"curl -H \"Authorization: Bearer $TOKEN\" https://api.example/v1/users?page=2&limit=50", "PASSWORD=${DB_PASSWORD} make", "export TOKEN=$(cat /run/secret)", "mysql -u root -p$MYSQL_PWD db", "password: {{ vault_password }}",
		"https://bob@host.example/x", "ssh -p 2222 git@github.com", "http://localhost:8080/@scope/pkg", "docker run -p 8080:80 --user 1000:1000 nginx", "postgres://localhost:5432/shop",
		"the secretary bypasses passwordless keyboards", "use a token for this; the password is required", "Basic authentication with a bearer token authentication scheme", "a Basic knowledge of keys",
		"cat ~/.ssh/id_rsa.pub | wc -c", "kubectl get secret my-secret -o yaml", "vault token lookup", "git config credential.helper store", "npm i passport@0.7.0 jsonwebtoken@9.0.2 cookie-parser",
		"tokenizer.encode(text)", "std::token::Kind", "sk-learn is not a key", "task-force-something-really-long-2026-edition", "monkey=banana", "hotkey: ctrl+k", "find . -name '*.key' -print",
		"ls -la /home/bob/projects/very/long/path/with/many/segments/and/a/file-name_v2.tar.gz", "100% of 50%25", "echo %PATH% %20", "SELECT * FROM users WHERE id = 42 AND name = 'bob'", "x-request-id: 0HMVFE0A284AM:00000001",
		"for f in *.go; do gofmt -l \"$f\"; done", "ffmpeg -i in.mp4 -c:v libx264 -crf 23 -preset slow out.mp4", "aws s3 cp s3://bucket/key/file.txt .", "0x9f86d081884c7d659a2feaa0c55ad015", "+49 170 1234567",
		"pip install -r requirements.txt --index-url https://pypi.org/simple", "rm -rf ./build && go test ./... -run 'TestAuth|TestToken' -count=1", "2026-10-01T12:34:56.789Z", "user=bob&page=3",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0m8yW2b6g8F0nX3v7k2q9s5t1u4w6y8z0a2c4e6g8i bob@host", "AGE: 42, API: v2, key concepts: access control, auth flow", "[REDACTED: 12 chars]", "",
	} {
		if got, findings := r.Text(s); got != s {
			t.Errorf("\n in  %s\ngot  %s %v", s, got, findings)
		}
	}
}
