package policy_test

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/policy"
)

// here is the guard of a usual installation on the machine annbox.
func here() policy.Guard {
	g := ours()
	g.Hosts = []string{"annbox", "annbox.local", "devbox"}
	return g
}

func TestH127NoWayToTheGatewayOrItsStore(t *testing.T) {
	p := must(t, policy.Config{Guard: here()})
	for tool, all := range map[string][]string{
		"exec": {
			`{"command":"exec 3<>/dev/tcp/127.0.0.1/8787"}`, `{"command":"cat < /dev/tcp/localhost/8787"}`, `{"command":"echo x > /dev/udp/127.1/8787"}`,
			`{"command":"cat </dev/tcp/$H/8787"}`, `{"command":"cat </dev/tcp/localhost/$P"}`, `{"command":"cat < /dev/t\"c\"p/0/6379"}`,
			`{"command":"nc 127.1 8787"}`, `{"command":"nc 0x7f000001 8787"}`, `{"command":"nc 2130706433 8787"}`, `{"command":"nc ::1 8787"}`, `{"command":"nc [::1] 8787"}`,
			`{"command":"nc ::ffff:127.0.0.1 8787"}`, `{"command":"nc ::ffff:7f00:1 8787"}`, `{"command":"nc localhost. 8787"}`, `{"command":"nc 0 8787"}`, `{"command":"nc 0.0.0.0 8787"}`,
			`{"command":"nc ip6-localhost 8787"}`, `{"command":"nc annbox 8787"}`, `{"command":"nc devbox 8787"}`, `{"command":"nc ANNBOX.local 8787"}`, `{"command":"/bin/nc -w 1 0177.1 8787"}`,
			`{"command":"nc $(hostname) 8787"}`, `{"command":"P=8787; nc localhost $P"}`, `{"command":"H=127.0.0.1; curl http://$H:8787/"}`,
			`{"command":"myclient --port 8787 --host localhost"}`, `{"command":"myclient -p8787 -h ::1"}`, `{"command":"python3 -c 'connect((\"localhost\", 0x2253))'"}`,
			`{"command":"socat - TCP:annbox:8787"}`, `{"command":"telnet 127.0.0.1 6379"}`, `{"command":"nc -N 127.0.0.1 06379"}`,
		},
		"acme_http": {
			`{"host":"localhost","port":8787}`, `{"port":8787,"host":"localhost"}`, `{"port":8787.0,"host":"127.0.0.1"}`, `{"port":8.787e3,"host":"[::1]"}`,
			`{"to":{"port":"8787"},"at":["::1"]}`, `{"port":6379,"address":"2130706433"}`, `{"host":"annbox","port":8787}`, `{"host":"0.0.0.0","port":8787}`,
		},
		"web_fetch": {`{"url":"http://annbox:8787/"}`, `{"url":"http://devbox.:8787/"}`, `{"url":"http://[::ffff:7f00:1]:8787/"}`},
		"browser":   {`{"action":"open","host":"ip6-localhost","port":8787}`},
	} {
		for _, params := range all {
			if v := p.Judge(call(tool, params), at(system)); v.Rule != "guard" {
				t.Errorf("%s %s: %s by %s", tool, params, v.Mode, v.Rule)
			}
		}
	}
}

func TestH128NoLookInsideARunningProgram(t *testing.T) {
	p := must(t, policy.Config{Guard: here()})
	for _, c := range []struct{ tool, param, value string }{
		{"read", "path", "/proc/self/environ"}, {"read", "path", "/proc/1234/environ"}, {"read", "path", "/proc/1/../1234/environ"}, {"read", "path", "/proc/1234/mem"},
		{"read", "path", "/proc/thread-self/environ"}, {"read", "path", "/proc/1234/task/1235/environ"}, {"read", "path", "/proc/1234/fd/7"}, {"read", "path", "/proc/1234/cwd/owner"},
		{"read", "path", "/proc/1234/root/etc/x"}, {"ls", "path", "/proc/1234/fd"}, {"read", "path", "file:///proc/1234/%65nviron"}, {"read", "path", "/proc/1234/cmdline"},
		{"exec", "command", "cat /proc/*/environ"}, {"exec", "command", "cat /proc/[0-9]*/environ"}, {"exec", "command", "strings /proc/$PPID/environ"}, {"exec", "command", "cat /pr''oc/1/env\\iron"},
		{"exec", "command", "cat /proc/$(pgrep verifier)/environ"}, {"exec", "command", "ls /proc/$(pgrep -f node)/fd"}, {"exec", "command", "cd /proc/1234 && cat environ"}, {"exec", "command", "cat /proc/12??/environ"},
		{"exec", "command", "for p in /proc/*; do cat $p/environ; done"}, {"exec", "command", "python3 -c 'open(\"/proc/%d/environ\" % p)'"}, {"exec", "command", "xargs -0 < /proc/1234/environ"},
		{"exec", "command", "ps eww"}, {"exec", "command", "ps auxe"}, {"exec", "command", "ps aux e | grep TOKEN"}, {"exec", "command", "ps -p 1234 e"}, {"exec", "command", "sudo ps axeww"},
	} {
		if v := p.Judge(call(c.tool, quoted(c.param, c.value)), at(system)); v.Rule != "guard" {
			t.Errorf("%s %s: %s by %s", c.tool, c.value, v.Mode, v.Rule)
		}
	}
}

func TestH129NoCommandThatSwitchesTheVerifierOff(t *testing.T) {
	p := must(t, policy.Config{Guard: here()})
	for _, command := range []string{
		"openclaw config set plugins.entries.verifier.enabled false", "openclaw plugins disable verifier", "openclaw plugins uninstall verifier", "openclaw config unset plugins.entries.verifier",
		"openclaw config set plugins.enabled false", "openclaw config patch '{\"plugins\":{}}'", "npx openclaw plugins disable verifier", "node /usr/lib/node_modules/openclaw/openclaw.mjs config set x y",
		"open''claw plug\\ins disable verifier", "true; openclaw config set x y", "openclaw --profile main plugins disable verifier", "openclaw gateway call config.patch --params '{}'",
		"openclaw configure", "openclaw reset --force", "openclaw approvals set --file x", "sh -c 'openclaw plugins disable verifier'", "openclaw hooks disable verifier", "cd x && openclaw plugins install ./evil",
	} {
		for _, tool := range []string{"exec", "process", "nodes", "acme_shell"} {
			if v := p.Judge(call(tool, quoted("command", command)), at(system)); v.Rule != "guard" {
				t.Errorf("%s %s: %s by %s", tool, command, v.Mode, v.Rule)
			}
		}
	}
	for _, c := range []struct{ tool, params string }{
		{"gateway", `{"action":"config.patch","raw":"{plugins:{entries:{verifier:{enabled:false}}}}"}`}, {"gateway", `{"action":"config.apply","raw":"{}"}`}, {"gateway", `{"action":"config.set","path":"a"}`},
		{"openclaw", `{"args":["config","set","plugins.entries.verifier.enabled","false"]}`}, {"openclaw", `{"command":"plugins disable verifier"}`}, {"plugins", `{"action":"disable","id":"verifier"}`},
	} {
		if v := p.Judge(call(c.tool, c.params), at(system)); v.Rule != "guard" {
			t.Errorf("%s %s: %s by %s", c.tool, c.params, v.Mode, v.Rule)
		}
	}
}

func TestInnocentCallsReachNothingOfOurs(t *testing.T) {
	p := must(t, policy.Config{Guard: here()})
	for _, c := range []struct{ tool, params string }{
		{"exec", `{"command":"cat /proc/meminfo /proc/cpuinfo"}`}, {"exec", `{"command":"cat /proc/self/status"}`}, {"exec", `{"command":"ls -l /proc/self/fd"}`}, {"exec", `{"command":"cat /proc/1234/status"}`},
		{"exec", `{"command":"sysctl -a; cat /proc/sys/net/ipv4/*"}`}, {"read", `{"path":"/proc/net/tcp"}`}, {"read", `{"path":"src/proc/environ.go"}`}, {"read", `{"path":"/process/1/environ.md"}`},
		{"exec", `{"command":"ps aux | grep node"}`}, {"exec", `{"command":"ps -ef"}`}, {"exec", `{"command":"ps -eo pid,time,comm --sort=-%mem"}`}, {"exec", `{"command":"ps -u everse"}`}, {"exec", `{"command":"ps -p 12; echo see"}`},
		{"exec", `{"command":"seq 0 8787"}`}, {"exec", `{"command":"head -c 8787 file"}`}, {"exec", `{"command":"nc example.com 8787"}`}, {"exec", `{"command":"nc localhost 3000"}`}, {"exec", `{"command":"curl localhost:3000"}`},
		{"exec", `{"command":"cat < /dev/tcp/example.com/80"}`}, {"exec", `{"command":"npm run dev","timeout":8787}`}, {"exec", `{"command":"echo $HOME","timeout":8787}`},
		{"acme_http", `{"host":"localhost","port":3000}`}, {"acme_http", `{"host":"example.com","port":8787}`}, {"acme_count", `{"offset":0,"limit":8787}`},
		{"exec", `{"command":"openclaw status"}`}, {"exec", `{"command":"openclaw config get agents"}`}, {"exec", `{"command":"openclaw plugins list"}`}, {"exec", `{"command":"git config set user.name x"}`}, {"exec", `{"command":"grep config.set src; npm config set x y"}`},
		{"exec", `{"command":"cd openclaw && ls plugins config"}`}, {"gateway", `{"action":"config.get"}`}, {"gateway", `{"action":"restart"}`}, {"plugins", `{"action":"list","q":"verifier"}`},
		{"message", `{"action":"send","message":"openclaw config set is how one changes it"}`},
	} {
		if v := p.Judge(call(c.tool, c.params), at(owner)); v.Rule == "guard" {
			t.Errorf("%s %s is guarded: %s", c.tool, c.params, strings.Join(v.Sentences(), " "))
		}
	}
}
