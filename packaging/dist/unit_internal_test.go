package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
)

// units are those that we ship.
var units = []string{"packaging/verifier.service", "packaging/replicas/verifier@.service"}

// settings reads a unit: by section, what each name says, line by line.
func settings(t *testing.T, text string) map[string]map[string][]string {
	t.Helper()
	out := map[string]map[string][]string{}
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]")
			out[section] = map[string][]string{}
			continue
		}
		name, value, isSetting := strings.Cut(line, "=")
		if !isSetting || section == "" || strings.ContainsAny(name, " \t") {
			t.Fatalf("systemd would not read the line %q", line)
		}
		out[section][name] = append(out[section][name], value)
	}
	return out
}

// A unit without systemd: it starts the program where docs/installation.md puts it, as the user that is made there, and writes where
// the product looks for its state under systemd.
func TestTheUnitsFitTheProduct(t *testing.T) {
	doc := repository(t, "docs/installation.md")
	for _, name := range units {
		unit := settings(t, repository(t, name))
		service := unit["Service"]
		for setting, want := range map[string]string{
			"Type": "exec", "User": "verifier", "Group": "verifier", "ExecReload": "/bin/kill -HUP $MAINPID", "StateDirectoryMode": "0700", "UMask": "0077",
			"ProtectSystem": "strict", "ProtectHome": "yes", "NoNewPrivileges": "yes", "CapabilityBoundingSet": "", "AmbientCapabilities": "",
		} {
			if !slices.Equal(service[setting], []string{want}) {
				t.Errorf("%s: %s is %q, want %q", name, setting, service[setting], want)
			}
		}
		if len(service["ExecStart"]) != 1 || !strings.HasPrefix(service["ExecStart"][0], "/usr/local/bin/verifier serve --config /etc/verifier/verifier.yaml") {
			t.Errorf("%s starts %q", name, service["ExecStart"])
		}
		if len(unit["Install"]["WantedBy"]) != 1 || len(unit["Unit"]["Description"]) != 1 {
			t.Errorf("%s: %v %v", name, unit["Install"], unit["Unit"])
		}
		for setting, values := range service {
			if len(values) > 1 && setting != "SystemCallFilter" {
				t.Errorf("%s: %s is set %d times", name, setting, len(values))
			}
		}
	}
	for _, must := range []string{
		"install -m 0755 verifier /usr/local/bin/verifier\n", "useradd --system --home-dir /var/lib/verifier", "-o verifier -g verifier -m 0750 /etc/verifier\n",
		"init --config /etc/verifier/verifier.yaml\n", "install -m 0644 verifier.service /etc/systemd/system/verifier.service\n",
	} {
		if !strings.Contains(doc, must) {
			t.Errorf("docs/installation.md does not say %s", must)
		}
	}
	dir := filepath.Join(t.TempDir(), "verifier")
	t.Setenv("VERIFIER_STATE", "")
	t.Setenv("STATE_DIRECTORY", dir) // as systemd says where StateDirectory= is
	if state, err := config.OpenState(""); err != nil || state.Dir() != dir {
		t.Errorf("the state is not where the unit makes it: %v", err)
	}
}

// systemd itself reads the units, where it is installed.
func TestSystemdTakesTheUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed; TestTheUnitsFitTheProduct looks at the units without it")
	}
	for _, name := range units {
		// It wants to find the program, which is not installed here.
		text := strings.NewReplacer("/usr/local/bin/verifier ", "/bin/true ").Replace(repository(t, name))
		path := filepath.Join(t.TempDir(), strings.Replace(filepath.Base(name), "@", "@8787", 1))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", path).CombinedOutput(); err != nil || strings.Contains(string(out), filepath.Base(path)) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
