package redact_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/redact"
)

// TestH40ArgumentsInArrays holds what a shell would be given against what a
// program is given directly: a list, with its name in front or beside it.
func TestH40ArgumentsInArrays(t *testing.T) {
	r := ready(t, redact.Config{})
	for _, shape := range []string{
		`["docker","login","-u","bob","-p","«hunter2»"]`, `["sudo","mysql","-uroot","-p«hunter2»"]`, `["env","A=b","sshpass","-p","«hunter2»","ssh","h"]`, `["htpasswd","-b","f","bob","«hunter2»"]`, `["/usr/bin/htpasswd","-nb","bob","«hunter2»"]`,
		`["openssl","enc","-k","«hunter2»","-in","a"]`, `["openssl","rsa","-passin","pass:«hunter2»"]`, `["net","use","\\\\h\\s","«hunter2»","/user:bob"]`, `["C:\\Windows\\net.exe","user","bob","«hunter2»"]`, `["kubectl","create","secret","generic","x","--from-literal=k=«hunter2»"]`,
		`{"command":"htpasswd","args":["-b","f","bob","«hunter2»"]}`, `{"args":["-b","f","bob","«hunter2»"],"command":"htpasswd"}`, `{"program":"/usr/bin/redis-cli","argv":["-a","«hunter2»"]}`, `{"cmd":"docker","arguments":["login","-p","«hunter2»"]}`,
		`{"file":"gh","args":["secret","set","X","--body","«hunter2»"]}`, `{"a":{"args":["-k","«hunter2»"],"n":[1,{"x":2}],"command":"openssl"}}`, `["sh","-c","echo «hunter2» | docker login -u b --password-stdin"]`, `["vault","login","«s.abc»"]`,
		`["curl","--oauth2-bearer","«abc»","x"]`, `["curl","-H","Authorization: Bearer «abc»"]`, `["plink","-pw","«hunter2»","h"]`, `["npm","publish","--otp","«123456»"]`, `["setx","API_TOKEN","«hunter2»"]`, `["git","config","http.proxyPassword","«hunter2»"]`,
		`["ls","-la"]`, `["docker","run","-p","8080:80","nginx"]`, `{"command":"ls","args":["-p","x"]}`, `["kubectl","get","secret","db"]`, `["net","start","x"]`, `{"args":["-p","x"]}`, `["vault","token","lookup"]`, `["grep","-rn","password","src"]`,
	} {
		plain, want := marked(shape)
		got := r.Params("exec", jsontext.Value(plain))
		if string(got.Params) != want {
			t.Errorf("\n in  %s\ngot  %s\nwant %s", plain, got.Params, want)
		}
		if n := strings.Count(want, "[REDACTED"); got.Hidden() != n {
			t.Errorf("%s: %d hidden, want %d: %v", plain, got.Hidden(), n, got.Findings)
		}
	}
}
