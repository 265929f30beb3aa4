package main

import (
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
)

// restricted sends a call that even the owner's own conversation may not make.
func (r *rig) restricted(c call) {
	r.t.Helper()
	a := r.deny(c)
	if a.Ref != "" && !strings.HasPrefix(a.Reason, "Not permitted here") {
		r.t.Errorf("%s %s: %s", c.tool, c.params, a.raw)
	}
	if e := r.last(); e.Mode != "restrict" {
		r.t.Errorf("%s %s: mode %s, %q", c.tool, c.params, e.Mode, e.Why)
	}
}

func (r *rig) port() string {
	r.t.Helper()
	u, err := url.Parse(r.url)
	if err != nil {
		r.t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(u.Host)
	if err != nil {
		r.t.Fatal(err)
	}
	return port
}

func TestH127TheAgentReachesNeitherTheGatewayNorItsStore(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		ports := []string{r.port()}
		if r.redis != nil {
			ports = append(ports, hosts(r.cfg.Store.URL.Reveal())[0][strings.LastIndexByte(hosts(r.cfg.Store.URL.Reveal())[0], ':')+1:])
		}
		name, err := os.Hostname()
		if err != nil {
			t.Fatal(err)
		}
		for _, port := range ports {
			for _, host := range []string{"127.0.0.1", "127.1", "0x7f000001", "2130706433", "::1", "[::1]", "::ffff:127.0.0.1", "localhost", "localhost.", "0", "0.0.0.0", "ip6-localhost", name} {
				r.restricted(sh("nc "+host+" "+port, ownerIn("m")))
				r.restricted(sh("exec 3<>/dev/tcp/"+host+"/"+port, ownerIn("m")))
			}
			number, err := strconv.Atoi(port)
			if err != nil {
				t.Fatal(err)
			}
			r.restricted(call{tool: "browser", params: `{"action":"open","host":"localhost","port":` + strconv.Itoa(number) + `}`, context: ownerIn("m")})
			r.restricted(call{tool: "canvas", params: `{"port":` + strconv.Itoa(number) + `,"host":"127.1"}`, context: ownerIn("m")})
		}
	})
}

func TestH128TheAgentDoesNotLookInsideRunningPrograms(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	pid := strconv.Itoa(os.Getpid())
	for _, path := range []string{"/proc/self/environ", "/proc/" + pid + "/environ", "/proc/" + pid + "/mem", "/proc/" + pid + "/fd/7", "/proc/" + pid + "/cwd/x", "/proc/" + pid + "/root/etc/passwd", "/proc/" + pid + "/cmdline"} {
		r.restricted(call{tool: "read", params: `{"path":` + quoted(path) + `}`, context: ownerIn("m")})
		r.restricted(sh("cat "+path, ownerIn("m")))
	}
	r.restricted(sh("cat /proc/*/environ", ownerIn("m")))
	r.restricted(sh("ps eww", ownerIn("m")))
	r.allow(sh("cat /proc/meminfo", ownerIn("m")))
}

func TestH129TheAgentDoesNotSwitchTheVerifierOff(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	for _, command := range []string{"openclaw config set plugins.entries.verifier.enabled false", "openclaw plugins disable verifier", "npx openclaw plugins uninstall verifier"} {
		r.restricted(sh(command, ownerIn("m")))
		r.restricted(call{tool: "process", params: `{"action":"write","data":` + quoted(command) + `}`, context: ownerIn("m")})
	}
	r.restricted(call{tool: "gateway", params: `{"action":"config.patch","raw":"{plugins:{entries:{verifier:{enabled:false}}}}"}`, context: ownerIn("m")})
	r.restricted(call{tool: "gateway", params: `{"action":"config.apply","raw":"{}"}`, context: ownerIn("m")})
	r.allow(sh("openclaw plugins list", ownerIn("m")))
}
