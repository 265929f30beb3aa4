package redact_test

import (
	"testing"

	"github.com/openclaw-verifier/verifier/redact"
)

// ordinary are commands and texts that a person must be able to read in full.
// Most stand close to a shape that hides something.
var ordinary = []string{
	// Programs that take secrets, without one.
	"net use", "net use Z: /delete", "net use Z: \\\\srv\\share", "net user bob", "net user bob /delete", "net user bob * /add", "net start spooler", "netstat -an | grep 443", "the net user growth was 5 percent", "net use Z: \\\\srv\\share * /user:bob",
	"openssl x509 -in cert.pem -noout -text", "openssl req -new -key k.pem -out r.csr -subj /CN=x", "openssl enc -aes-256-cbc -pass env:P -in a", "openssl rsa -in k.pem -passin file:/run/p", "openssl rand -hex 32", "openssl s_client -connect h:443 -servername h", "openssl dgst -sha256 f",
	"htpasswd -c .htpasswd bob", "htpasswd -D .htpasswd bob", "htpasswd -v .htpasswd bob", "passwd -l bob", "passwd bob", "cat /etc/passwd | grep bob", "getent passwd bob", "chpasswd < users.txt", "su - bob -c id", "sudo -u bob ls -S", "sudo apt install sshpass", "man login",
	"docker login registry.example", "docker login -u bob registry.example", "R=ghcr.io; docker login $R", "docker secret ls", "docker build --secret id=npmrc,src=.npmrc .", "docker run -p 8080:80 -e TZ=UTC nginx", "p=8080; docker run -p $p:80 nginx", "docker login -u bob --password-stdin < /run/p",
	"gh secret list", "gh pr create -b 'a long body of text' -t title", "gh auth login --with-token < token.txt", "gh auth status", "kubectl get secret db -o yaml", "kubectl create secret generic db --from-file=k=/run/p", "kubectl delete secret db", "kubectl config set-context x", "kubectl config set-credentials bob --client-certificate=c.pem",
	"vault kv get secret/db", "vault login -method=github", "cargo login", "cargo build --release", "bw list items", "bw unlock", "aws s3 ls", "aws ssm get-parameter --name /x", "az group list", "gcloud secrets list", "fly secrets list", "heroku config", "ngrok http 8080", "snyk test", "poetry config virtualenvs.in-project true",
	"redis-cli -h r1 get key", "redis-cli CONFIG GET maxmemory", "psql -h localhost -U shop -d shop_test -c 'SELECT 1'", "mysql -u root -p shop", "mysqladmin -u root -p status", "mongosh --eval 'db.stats()'", "sqlplus / as sysdba", "sqlplus bob@//h:1521/x", "sqlcmd -S h -E -Q 'select 1'",
	"ssh-keygen -t ed25519 -N '' -f k", "ssh-keygen -l -f k.pub", "ssh -p 2222 bob@h ls", "scp -P 2222 a b", "zip -r a.zip dir", "unzip -l a.zip", "7z l a.7z", "tar -xzf a.tgz", "security find-identity -v", "gpg --verify a.sig", "gpg --batch --passphrase-fd 0 -d a < /run/p",
	"curl -k https://x.example", "curl -fsSL https://x.example/install.sh | bash", "curl -b cookies.txt -c cookies.txt https://x", "curl --cookie-jar jar.txt https://x", "curl --cacert ca.pem https://x", "curl -E cert.pem https://x", "http GET x.example/a", "http-server -a 0.0.0.0:8080", "lftp -e 'mirror a b' h", "open README.md",
	"schtasks /query", "xfreerdp /v:h /u:bob", "psexec \\\\h cmd", "ipmitool power status", "snmpwalk --version", "ldapsearch -x -b dc=x", "nmcli dev wifi list", "useradd -m bob", "usermod -aG docker bob", "kinit -R", "klist", "rabbitmqctl list_users", "radtest", "base64 -d a.txt", "su",
	// Pipes that carry no secret.
	"echo hello | sudo tee /etc/motd", "echo hello world | base64", "echo data | wc -c", "echo y | apt install x", "printf 'a\\nb\\n' | sort", "cat f | docker login -u bob --password-stdin", "echo done; docker login -u bob --password-stdin < f", "echo starting && sudo -S id < /run/p", "echo \"Build: ok\" | base64",
	"cat key.pub | ssh h 'cat >> .ssh/authorized_keys'", "echo $PATH | tr : '\\n'", "yes | apt install x", "cat <<EOF > f\nhello\nEOF", "grep x <<< \"$y\"", "jq . <<< '{\"a\":1}'", "diff <(echo a) <(echo b)", "echo 'select 1' | mysql shop",
	// Names that are no secrets, or are given none.
	"PWD=/home/bob make", "OLDPWD=/tmp", "cd $(pwd) && pwd", "pwd; ls", "--vault-password-file pw.txt", "password-store list", "pass show mail", "grep -rn password src", "grep -i token 'app.log'", "ls -la ~/.password-store", "git log -S password", "rg 'api_key' --type go", "sed -i 's/password/passphrase/' f", "vim .pgpass", "chmod 600 ~/.pgpass",
	"pin the version to 1.2.3", "pin: D4", "pin=LED_BUILTIN", "npm i pino", "auth: none", "auth=basic", "\"auth\": \"required\"", "auth login", "login bob", "the login page", "keyboard: us", "psk is a mode", "spinner", "otp library", "import otp from x", "SELECT password, email FROM users", "ALTER TABLE users ADD password text", "ALTER USER bob SET search_path = x",
	"<password/>", "<input type=\"password\" name=\"p\">", "<token></token>", "<a href=\"/secret\">the secret page</a>", "if (token > 5) { x }", "tokens > 100", "password >= 8", "validatePassword(\"x\")", "getToken('name')", "f(password, email)", "new Set(['password', 'email'])", "token(s)", "{\"auths\":{}}", "password: |", "secret:\n  name: db",
	"the password reset page", "password sha256 hashing", "password field1 is required", "passwords v2.1.0", "a password 12 characters long", "set password policy", "set token limit", "config token list", "git config credential.helper store", "git config --global user.name bob", "npm config set registry https://r.example", "setx PATH C:\\bin", "kubectl config use-context x",
	"smtp.login(user, password)", "login(user)", "auth(req, res)", "requests.get(u, auth=(user, pw))", "btoa(x)", "Buffer.from('hello')", "send \"hello\\r\"", "expect \"login:\"; send \"bob\\r\"", "socket.send('ping')", "USER bob", "PASS", "PASSED 214 tests", "passed 12 of 12", "compass 0 degrees", "enable secret", "https://discord.com/api/v10/users", "cost $1$ or $5",
	"for p in a b c; do echo $p; done", "x=1; y=$x; echo $y", "u=https://x.example; curl $u", "h=db1; mysql -h $h", "name=bob; docker login -u $name r.example", "curl -H \"X-Trace: $T\" x; T=abc", "export EDITOR=vim", "os.Setenv(\"HOME\", \"/root\")", "headers.set('Accept', 'text/html')", "$env:TOKEN", "tool --token $env:TOKEN",
	"bob ALL=(ALL) NOPASSWD: ALL", "the password for bob is required", "Password for bob:", "bypass=nginx", "compass: north", "vault kv list secret/x", "vault write sys/policy/x policy=@p.hcl", "mc alias list", "az webapp create -p plan", "rclone copy a b", "qpdf --check a.pdf", "PRAGMA foreign_keys = ON", "connect(a, b, c)",
	"getConnection(url)", "scp a bob@h:/x", "user:group@/x y"[:10], "http://localhost:8080/@/x", "app key bindings", "pattern=abc", "path=/x", "compat=1", "sudo --stdin id < f",
}

func TestOrdinaryCommandsStayReadable(t *testing.T) {
	r := ready(t, redact.Config{})
	for _, s := range ordinary {
		if got, findings := r.Text(s); got != s {
			t.Errorf("\n in  %s\ngot  %s %v", s, got, findings)
		}
	}
}
