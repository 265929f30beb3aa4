package redact_test

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/redact"
)

// shellShapes are commands in spellings that only a shell's own reading undoes. Each row was once shown, whole or in part.
var shellShapes = []string{
	// The program and its flags.
	`cu\rl -u bob:«hunter2» x`, `c'ur'l -u bob:«hunter2» x`, `'curl' -u bob:«hunter2» x`, `"/usr/bin/curl" -u bob:«hunter2» x`, `curl -"u" bob:«hunter2» x`, `curl --us""er bob:«hunter2» x`, "cu\\\nrl -u bob:«hunter2» x",
	// The secret.
	`curl -u 'bob:«it'\''s hunter»' x`, `sshpass -p «hun\;ter2» ssh h`,
	// What is between them.
	`curl $(cat a; echo b) -u bob:«hunter2»`, `curl "$(cat "a b"; echo ")")" -u bob:«hunter2»`, `curl -d "${X:-a;b}" -u bob:«hunter2»`,
	// Pipes.
	"echo «hunter2» |\n docker login --password-stdin", `echo «hunter2» | (cd x; sudo -S id)`, `echo «hunter2» | { cd x; sudo -S id; }`, `if true; then echo «hunter2»; fi | sudo -S id`, `sudo -S id < <(echo «hunter2»)`, `echo hello; echo «hunter2» | su\do -S id`,
	"su\\do -S id <<E\n«hunter2»\nE\nls", `su\do -S id <<< «hunter2»`,
	// Another shell.
	`sh -c "curl -u 'bob:«hunter 2»' x"`, `sh -c 'curl -u '\''bob:«hunter 2»'\'' x'`, `ssh h "sh -c \"cu\\rl -u 'bob:«hunter 2»' x\""`, "bash <<'E'\ncu\\rl -u bob:«hunter2» x\nE", `echo «hunter2» | bash -c 'su\do -S id'`, `eval 'cu\rl -u bob:«hunter2» x'`,
	// In a sentence, in another text, or unfinished.
	`don't run printf '%s' «hunter2» | helm registry login r.example --password-stdin`, `# 'curl' -u bob:«hunter2» x`, "`# curl -u bob:«hunter2» x`", `x=$(echo hi) # curl -u bob:«hunter2»`, "# sudo -S id <<E\n«hunter2»\nE", `x=(curl -u bob:«hunter2» x)`, `alias x='chpasswd <<< 'bob:«hunter2»''`, `sh -c "p='«hunter 2»'; mysql -uroot -p"$p" shop"`,
	`6" disk: cd /x && echo "«hunter2»" | sudo -S apt update`, "if true; then\nprintf '%s' «hunter2» | podman login --password-stdin r", `<code>/bin/echo «hunter2» | sudo -S id</code>`, "| echo «hunter2» | passwd --stdin bob |", "cat <<EOF > f\nc'ur'l -u bob:«hunter2» x\nEOF",
	// Nothing to hide.
	`# curl -u bob:$X x`, `cu\rl https://x.example/a`, `'curl' -u bob:$X x`, `sh -c "curl -d '{\"a\":\"b c\"}' https://x.example"`, `echo hello | (cd x; ls)`, `echo "curl's -u flag takes a name"`, `{"cmd":"curl -s x","user":"bob:x"}`,
}

func TestTextIsReadAsAShellReadsIt(t *testing.T) {
	r := ready(t, redact.Config{})
	for _, shape := range shellShapes {
		plain, want := marked(shape)
		got, _ := r.Text(plain)
		if got != want {
			t.Errorf("\n in  %s\ngot  %s\nwant %s", plain, got, want)
		}
		if again, _ := r.Text(got); again != got {
			t.Errorf("a second time, %s became %s", got, again)
		}
	}
}

// TestAQuoteMayBeHiddenWithTheSecret: the rules for text hide the opening quote as well, so the mask is
// longer than the secret. None of the secret shows.
func TestAQuoteMayBeHiddenWithTheSecret(t *testing.T) {
	r := ready(t, redact.Config{})
	for _, s := range []string{`sshpass -p "hunter\"2 three" ssh h`, `bash -c 'sshpass -p "hunter three" ssh h'`} {
		if got, _ := r.Text(s); strings.Contains(got, "hunter") || strings.Contains(got, "three") || !strings.HasSuffix(strings.TrimSuffix(got, "'"), " ssh h") {
			t.Errorf("%s became %s", s, got)
		}
	}
}

// TestALongTextIsStillReadAsText: a shell's reading has bounds, the rules for text have none of them.
func TestALongTextIsStillReadAsText(t *testing.T) {
	r := ready(t, redact.Config{})
	for _, before := range []string{strings.Repeat("ls -la; ", 1<<14), strings.Repeat("(", 400), "it's "} {
		if got, _ := r.Text(before + "\ncurl -u bob:hunter2 x"); strings.Contains(got, "hunter2") {
			t.Errorf("%.20s… shows it", before)
		}
	}
}
