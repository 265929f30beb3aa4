//go:build linux

package main

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

func (n *newcomer) write(name, text string) {
	n.t.Helper()
	path := filepath.Join(n.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		n.t.Fatal(err)
	}
}

func (n *newcomer) read(path string) string {
	n.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		n.t.Fatal(err)
	}
	return string(text)
}

// OpenClaw is a stand-in that loads the plugin from where init put it. What init prints is run as printed.
func TestTheOpenClawPageAsWritten(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("this machine has no node, as CI has")
	}
	n := follows(t, "openclaw.md")
	standin, err := filepath.Abs("testdata/openclaw.mjs")
	if err != nil {
		t.Fatal(err)
	}
	n.program("openclaw", "#!/bin/sh\nexec node "+standin+` "$@"`+"\n")

	printed := n.follow("verifier init --openclaw").ends()
	n.follow("verifier serve").sees("verifier listens on")
	commands := regexp.MustCompile(`(?m)^  (.*)$`).FindAllStringSubmatch(inText(t, printed, `(?s)for OpenClaw:\n(.*)The last one`), -1)
	if len(commands) != 5 {
		t.Fatalf("init does not print five commands:\n%s", printed)
	}
	for _, c := range commands[:4] {
		n.types(c[1]).ends()
	}
	for _, s := range []*screen{n.types(commands[4][1]), n.follow("verifier test")} {
		if shown := s.ends(); !strings.Contains(shown, "\nok      OpenClaw ") {
			t.Errorf("`%s` does not show that OpenClaw asks:\n%s", s.command, shown)
		}
	}
	agent := n.follow("openclaw agent --session-key agent:main:first --message 'Fetch https://example.com/ and then run `touch hello && date`.'")
	agent.sees(`(?m)^web_fetch: ran$`)
	n.follow("verifier watch").allows("touch hello && date")
	agent.sees(`(?m)^exec: ran$`)
	agent.ends()
	n.sawThePage()
}

// The private network is a stand-in: a proxy that speaks TLS and keeps the name that the phone asked for.
func TestThePhonePageAsWritten(t *testing.T) {
	n := follows(t, "phone.md")
	name := "https://laptop.tail1234.ts.net"
	n.program("tailscale", "#!/bin/sh\n[ \"$*\" = 'serve --bg 8787' ] && echo 'Available within your tailnet: "+name+"/'\n")
	n.follow("tailscale serve --bg 8787").ends()
	settings := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(n.page)
	n.write(".config/verifier/verifier.yaml", settings[1])
	n.types("verifier serve").sees("verifier listens on")
	link := n.follow("verifier login").sees(`(` + name + `/page/login#link=\S+)\s`)

	gateway, err := url.Parse("http://" + strings.TrimSpace(n.read(filepath.Join(n.home, ".local/state/verifier/address"))))
	if err != nil {
		t.Fatal(err)
	}
	network := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(gateway)
		r.Out.Host = r.In.Host
		r.SetXForwarded()
	}})
	t.Cleanup(network.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // the stand-in has no certificate for that name
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", network.Listener.Addr().String())
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	phone := &visit{rig: &rig{t: t, url: name}, client: &http.Client{Jar: jar, Transport: transport, Timeout: time.Minute}}
	if page := phone.enter(link); !strings.Contains(page, "Nothing waits") || !strings.Contains(page, "Send a test question") {
		t.Errorf("the phone shows\n%s", page)
	}
	call := n.follow(`verifier send --tool exec --params '{"command":"date"}'`)
	page := ""
	patiently(t, func() bool {
		_, page = phone.load(http.MethodGet, "/page/", nil)
		return strings.Contains(page, ">Allow once<")
	}, func() string { return "the phone shows no question but\n" + page })
	_, page = phone.load(http.MethodPost, "/page/answer", url.Values{"handle": {field(page, "handle", "Allow once")}})
	if !strings.Contains(page, "Look once more") {
		t.Fatalf("the phone does not ask what will run:\n%s", page)
	}
	phone.load(http.MethodPost, "/page/answer", url.Values{"handle": {field(page, "handle", "date</button>")}})
	call.sees(`(?m)^allow$`)
	call.ends()
	n.sawThePage()
}

// Docker is a stand-in that runs this program as the Dockerfile and the compose file say: their user, paths and environment, in a root
// directory that holds nothing else and can't be written to. make test-container does so with the binary that the image has.
func TestTheDockerPageAsWritten(t *testing.T) {
	if err := exec.CommandContext(t.Context(), "unshare", "--mount", "true").Run(); os.Getuid() != 0 || err != nil {
		t.Skipf("this needs root and namespaces, as CI has: %v", err)
	}
	n := follows(t, "docker.md")
	image, service := n.read("../../Dockerfile"), struct {
		Services map[string]struct {
			Command  []string
			ReadOnly bool `yaml:"read_only"`
			Volumes  []string
		}
	}{}
	if err := yaml.Unmarshal([]byte(n.read("../../compose.yaml")), &service); err != nil {
		t.Fatal(err)
	}
	s := service.Services["verifier"]
	volume := inText(t, image, `(?m)^VOLUME (\S+)$`)
	if !s.ReadOnly || len(s.Volumes) != 1 || !strings.HasPrefix(s.Volumes[0], "state:"+volume+" ") && s.Volumes[0] != "state:"+volume {
		t.Fatalf("the stand-in does not know %+v", s)
	}
	root, kept := n.image(image, volume)
	n.program("docker", `#!/bin/sh
set -eu
inside() {
	unshare --mount sh -eu -c '
		mount --bind "`+root+`" "`+root+`"
		mount --bind "`+kept+`" "`+root+volume+`"
		mount -o remount,ro,bind "`+root+`"
		exec env -i GORACE="$GORACE" `+inText(t, image, `(?m)^ENV (\S+)$`)+` "$(command -v chroot)" --userspec=`+inText(t, image, `(?m)^USER (\S+)$`)+` "`+root+`" "$@"
	' sh "$@"
}
case "$*" in
"compose up -d --build")
	setsid sh -c 'echo $$ >"`+n.bin+`/pid"; exec "$0" "$@"' "$0" compose run </dev/null >"`+n.bin+`/log" 2>&1 &
	until [ -s "`+n.bin+`/pid" ]; do sleep 0.05; done ;; # else this terminal's end could be its end
"compose run") inside `+inText(t, image, `(?m)^ENTRYPOINT \["(\S+)"\]$`)+` `+strings.Join(s.Command, " ")+` ;;
"compose exec verifier "*) shift 3; inside "$@" ;;
"compose cp verifier:`+volume+`/"*) cp "`+kept+`/${3#verifier:`+volume+`/}" "$4" ;;
*) echo "the stand-in does not know: $*" >&2; exit 1 ;;
esac
`)
	t.Cleanup(func() { n.stop(filepath.Join(n.bin, "pid")) })
	n.follow("docker compose up -d --build").ends()
	patiently(t, func() bool { _, err := os.Stat(filepath.Join(kept, "address")); return err == nil }, func() string { return "it does not start:\n" + n.read(n.bin+"/log") })
	n.follow("docker compose exec verifier /verifier login").sees(`http://127\.0\.0\.1/page/login#link=`)
	n.follow("docker compose cp verifier:/var/lib/verifier/webhook.secret webhook.secret").ends()
	if n.read(filepath.Join(n.home, "webhook.secret")) == "" {
		t.Error("there is no secret")
	}
	n.follow("docker compose exec verifier /verifier test").ends()
	call := n.follow(`docker compose exec verifier /verifier send --tool exec --params '{"command":"date"}'`)
	call.sees("Waiting for owner")
	n.follow("docker compose exec verifier /verifier watch").allows("date")
	call.sees(`(?m)^allow$`)
	call.ends()
	n.sawThePage()
}

// image is what the Dockerfile makes, and its volume: this program, what it is linked with, and the config.
func (n *newcomer) image(dockerfile, volume string) (root, kept string) {
	n.t.Helper()
	dir := n.t.TempDir()
	root, kept = filepath.Join(dir, "root"), filepath.Join(dir, "volume")
	program, err := exec.LookPath("verifier")
	if err != nil {
		n.t.Fatal(err)
	}
	linked, err := exec.CommandContext(n.t.Context(), "ldd", program).Output() // nothing, if it is static
	if err != nil {
		linked = nil
	}
	config := inText(n.t, dockerfile, `(?m)^COPY .* /src/packaging/docker/published\.yaml (\S+)$`)
	settings := strings.NewReplacer("0.0.0.0:8787", "0.0.0.0:0", "127.0.0.1:8787", "127.0.0.1").Replace(n.read("../../packaging/docker/published.yaml")) // the usual port may be taken
	owner, err := strconv.Atoi(inText(n.t, dockerfile, `(?m)^USER (\d+):\d+$`))
	if err != nil {
		n.t.Fatal(err)
	}
	do := func(name string, args ...string) {
		n.t.Helper()
		if out, err := exec.CommandContext(n.t.Context(), name, args...).CombinedOutput(); err != nil {
			n.t.Fatalf("%s %s: %v\n%s", name, args, err, out)
		}
	}
	for _, parent := range []string{dir, filepath.Dir(dir)} { // another user has to get there
		if err := os.Chmod(parent, 0o711); err != nil {
			n.t.Fatal(err)
		}
	}
	do("install", "-D", "-m", "0755", program, root+"/verifier")
	for _, lib := range regexp.MustCompile(`/\S+`).FindAllString(string(linked), -1) {
		do("install", "-D", "-m", "0755", lib, root+lib)
	}
	n.write("published.yaml", settings)
	do("install", "-D", "-m", "0644", filepath.Join(n.home, "published.yaml"), root+config)
	for _, state := range []string{root + volume, kept} {
		do("install", "-d", "-m", "0700", "-o", strconv.Itoa(owner), "-g", strconv.Itoa(owner), state)
	}
	return root, kept
}

// stop ends the process whose number is in a file.
func (n *newcomer) stop(file string) {
	n.t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		return // it never ran
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		n.t.Fatal(err)
	}
	if err := syscall.Kill(-pid, syscall.SIGTERM); err != nil {
		n.t.Errorf("stop the gateway: %v", err)
		return
	}
	patiently(n.t, func() bool { return syscall.Kill(-pid, 0) != nil }, func() string { return "the gateway does not stop" })
}
